//! `papertape data remove`

use super::super::output::{json, say};
use super::super::{Common, Outcome, record_access};
use super::market_error;
use anyhow::{Result, bail};
use papertape_core::id::{ContentHash, JobId};
use papertape_market::Catalogue;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_store::{JobFilter, PageRequest};
use serde_json::json;
use std::process::ExitCode;

/// How many jobs are read per page.
const PAGE: u32 = 200;

/// Removes a dataset, unless a job in the database needs it to be shown, replayed or resumed.
pub(super) async fn remove(common: &Common, config: Config, catalogue: &Catalogue, dataset: &str) -> Outcome {
    let entry = catalogue.find(dataset).map_err(market_error)?;
    let others = catalogue.list()?;
    let has_another_name =
        others.iter().any(|one| one.hash == entry.hash && !one.replaced && one.name != entry.name);
    if record_access::has_database(&config)? && !has_another_name {
        let app = record_access::open_read_only(common, config).await?;
        if let Some(job) = user(&app, entry.hash).await? {
            bail!("job {job} uses {} ({}); delete the job first", entry.name, entry.hash);
        }
    }
    let entry = catalogue.remove(dataset).map_err(market_error)?;
    if common.json {
        json(&json!({ "name": entry.name, "hash": entry.hash, "removed": true }))?;
    } else {
        say(format!("removed {} {}", entry.name, &entry.hash.to_hex()[..12]))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The newest job that uses a dataset.
async fn user(app: &App, hash: ContentHash) -> Result<Option<JobId>> {
    let hash = hash.to_hex();
    let mut page = PageRequest::first(PAGE);
    loop {
        let jobs = app.store.jobs(&JobFilter::default(), &page).await?;
        let uses = |config: &serde_json::Value| config["dataset"]["hash"] == hash.as_str();
        if let Some(found) = jobs.items.iter().find(|one| uses(&one.job.config)) {
            return Ok(Some(found.job.id.clone()));
        }
        match jobs.next {
            Some(next) => page = PageRequest::after(PAGE, &next),
            None => return Ok(None),
        }
    }
}
