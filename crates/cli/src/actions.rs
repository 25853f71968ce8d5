//! `papertape actions`

use super::failure::of_view;
use super::output::{json, note, say, table, text_of};
use super::record_access::any_job_named;
use super::{Common, Outcome, record_access};
use clap::Args;
use papertape_service::config::Config;
use papertape_service::view::{self, ActionsQuery, LogEntry};
use std::process::ExitCode;

/// Which actions.
#[derive(Debug, Args)]
pub(super) struct ActionsArgs {
    /// The job, or `latest` of any kind
    job: String,
    /// How many rows at most, 1 to 500 [default: the newest 200]
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Rows that are newer than those of an earlier page
    #[arg(long, conflicts_with = "before")]
    cursor: Option<String>,
    /// Rows that are older than those of an earlier page
    #[arg(long)]
    before: Option<String>,
}

/// Shows a job's action log.
pub(super) async fn actions(common: &Common, config: Config, args: ActionsArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = any_job_named(&app, &args.job).await?;
    let query = ActionsQuery { cursor: args.cursor, before: args.before, limit: args.limit };
    let answer = view::actions(&app, None, job.as_str(), query).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    if answer.logs.is_empty() {
        note!("there are no rows");
    } else {
        let mut table = table([">#", "at (UTC)", "action", "status", "~message"]);
        for row in &answer.logs {
            table.add_row([
                row.sequence.to_string(),
                row.created_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                format!("{}/{}", row.action_kind, row.action_name),
                row.status.to_string(),
                message(row),
            ]);
        }
        say(text_of(&table))?;
    }
    if let Some(before) = answer.before {
        note!("there are older ones: papertape actions {job} --before {before}");
    }
    Ok(ExitCode::SUCCESS)
}

/// A row's message in one line.
fn message(row: &LogEntry) -> String {
    row.message.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
