//! `papertape export state`

use super::beside;
use crate::failure::not_found;
use crate::output::{count, json, note};
use crate::record_access::job_named;
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

/// Which states.
#[derive(Debug, Args)]
pub(crate) struct StateArgs {
    /// The job, or `latest`
    job: String,
    /// Where to write `results/TICKER/TradingAgentsStrategy_logs/full_states_log_DATE.json`
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Of this instrument alone
    #[arg(long, value_name = "SYMBOL")]
    ticker: Option<String>,
    /// Of this agent; must be given where the job has several desks
    #[arg(long, value_name = "AGENT")]
    model: Option<String>,
}

/// Writes them.
pub(super) async fn export(common: &Common, config: Config, args: StateArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = job_named(&app, &args.job).await?;
    let agent = the_agent(&app, &job, args.model).await?;
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
        return Err(not_found("no state of a desk's analysis matches".to_owned()));
    }
    if common.json {
        json(&json!({ "files": written, "count": written.len() }))?;
    }
    note!("{} file(s) written under {}", count(written.len() as u64), args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// The desk that is meant: two of them have the same instruments and days.
async fn the_agent(app: &App, job: &JobId, wanted: Option<String>) -> Result<AgentName> {
    if let Some(wanted) = wanted {
        return Ok(AgentName::new(wanted));
    }
    let details = app.store.job_details(job).await?.context("the job is gone")?;
    let agents: BTreeSet<AgentName> = details.days.into_iter().map(|day| day.agent).collect();
    let names: Vec<&str> = agents.iter().map(AgentName::as_str).collect();
    match &names[..] {
        [only] => Ok(AgentName::new(only)),
        [] => bail!("the job has no agents"),
        several => bail!("the job has several agents; --model takes one of: {}", several.join(", ")),
    }
}

fn write(dir: &Path, answer: &DeskStateResponse) -> Result<PathBuf> {
    let folder =
        dir.join("results").join(component(answer.ticker.as_str())).join("TradingAgentsStrategy_logs");
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let path = folder.join(format!("full_states_log_{}.json", answer.date));
    let draft = beside(&path);
    let text = serde_json::to_string_pretty(&answer.state).context("a state cannot be written as JSON")?;
    // Half a file never bears the name of a whole one.
    let kept = std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &path));
    kept.with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path)
}

/// A symbol as the name of a folder: it can lead nowhere else.
fn component(symbol: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '^' | '=');
    let name: String = symbol.chars().map(|c| if safe(c) { c } else { '_' }).collect();
    if name.chars().all(|c| c == '.') { "_".to_owned() } else { name }
}
