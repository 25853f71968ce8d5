//! `papertape data remove`

use super::super::output::{json, say};
use super::super::{Common, Outcome, record_access};
use super::of_market;
use anyhow::{Result, bail};
use papertape_core::id::{ContentHash, JobId};
use papertape_market::Catalogue;
use papertape_service::app::{App, database_file};
use papertape_service::config::Config;
use papertape_store::{JobFilter, PageRequest};
use serde_json::json;
use std::process::ExitCode;

/// How many jobs are read at a time.
const PAGE: u32 = 200;

/// Takes it away, unless a job of this record needs it to be shown, replayed or resumed.
pub(super) async fn remove(common: &Common, config: Config, catalogue: &Catalogue, wanted: &str) -> Outcome {
    let entry = catalogue.find(wanted).map_err(of_market)?;
    let others = catalogue.list()?;
    let has_another_name =
        others.iter().any(|one| one.hash == entry.hash && !one.replaced && one.name != entry.name);
    let there_is_a_record =
        config.database_url.is_some() || database_file(&config.data_dir, config.mode).is_file();
    if there_is_a_record && !has_another_name {
        let app = record_access::to_read(common, config).await?;
        if let Some(job) = user(&app, entry.hash).await? {
            bail!(
                "job {job} uses {} ({}): without it the job cannot be shown or replayed",
                entry.name,
                entry.hash
            );
        }
    }
    let entry = catalogue.remove(wanted).map_err(of_market)?;
    if common.json {
        json(&json!({ "name": entry.name, "hash": entry.hash, "removed": true }))?;
    } else {
        say(format!("{} {} is removed", entry.name, &entry.hash.to_hex()[..12]))?;
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
