//! `papertape export state`

use super::draft_path;
use crate::failure::not_found;
use crate::output::{count, json, note};
use crate::record_access::find_job;
use crate::{Common, Outcome, record_access};
use anyhow::{Context as _, Result, bail};
use clap::Args;
use papertape_core::id::{AgentName, JobId};
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view::{DeskStateResponse, desk_states};
use papertape_store::{PageRequest, ResultFilter};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Sessions are read in pages of this many.
const PAGE: u32 = 50;

#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// The job, or `latest`
    job: String,
    /// Directory for `results/TICKER/TradingAgentsStrategy_logs/full_states_log_DATE.json`
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Only this instrument
    #[arg(long, value_name = "SYMBOL")]
    ticker: Option<String>,
    /// Only this agent; required if the job has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

pub(super) async fn export(common: &Common, config: Config, args: StateArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
    let agent = resolve_agent(&app, &job, args.agent).await?;
    let filter = ResultFilter { from: None, to: None, agent: Some(agent), job: Some(job) };
    let mut request = PageRequest::first(PAGE);
    let mut written = Vec::new();
    loop {
        let page = app.store.results(&filter, &request).await?;
        for session in &page.items {
            for state in desk_states(&app, session).await? {
                if args.ticker.as_ref().is_none_or(|ticker| state.ticker.as_str() == ticker) {
                    written.push(write(&args.output, &state)?);
                }
            }
        }
        match page.next {
            Some(cursor) => request = PageRequest::after(PAGE, &cursor),
            None => break,
        }
    }
    if written.is_empty() {
        return Err(not_found("no desk state matches; only desks (`papertape run --kind desk`) have one"));
    }
    if common.json {
        json(&json!({ "files": written, "count": written.len() }))?;
    }
    note!("{} file(s) written to {}", count(written.len() as u64), args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// The named agent, or the job's only one. Files of two agents would have the same names.
async fn resolve_agent(app: &App, job: &JobId, name: Option<String>) -> Result<AgentName> {
    if let Some(name) = name {
        return Ok(AgentName::new(name));
    }
    let details = app.store.job_details(job).await?.context("the job was deleted")?;
    let agents: BTreeSet<AgentName> = details.days.into_iter().map(|day| day.agent).collect();
    let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
    match &names[..] {
        [only] => Ok(AgentName::new(only)),
        [] => bail!("the job has no agents"),
        several => bail!("the job has several agents; set --agent to one of {}", several.join(", ")),
    }
}

fn write(dir: &Path, response: &DeskStateResponse) -> Result<PathBuf> {
    let folder =
        dir.join("results").join(folder_name(response.ticker.as_str())).join("TradingAgentsStrategy_logs");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join(format!("full_states_log_{}.json", response.date));
    let draft = draft_path(&path);
    let text = serde_json::to_string_pretty(&response.state)?;
    // Renamed once it is complete.
    let written = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &path));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// A symbol as a folder name that cannot leave its parent.
fn folder_name(symbol: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '^' | '=');
    let name: String = symbol.chars().map(|c| if safe(c) { c } else { '_' }).collect();
    if name.chars().all(|c| c == '.') { "_".to_owned() } else { name }
}
