//! `papertape actions`

use super::args::whole;
use super::failure::service_error;
use super::output::{note, only_json, say, table, text_of};
use super::record_access::find_any_job;
use super::{Common, Outcome, record_access};
use clap::Args;
use papertape_protocol::actions::{ActionsQuery, LogEntry};
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ActionsArgs {
    /// The job, or `latest` of any kind
    job: String,
    /// Max rows, 1 to 500 [default: the newest 200]
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=500))]
    limit: Option<u32>,
    /// Show the rows after a cursor from an earlier page
    #[arg(long, conflicts_with = "before")]
    cursor: Option<String>,
    /// Show the rows before a cursor from an earlier page
    #[arg(long)]
    before: Option<String>,
}

pub(super) async fn actions(common: &Common, config: Config, args: ActionsArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_any_job(&app, &args.job).await?;
    let query = ActionsQuery { cursor: args.cursor, before: args.before, limit: args.limit };
    let response = view::actions(&app, None, job.as_str(), query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    if response.logs.is_empty() {
        note!("no rows");
    } else {
        let mut table = table([">#", "time (UTC)", "action", "status", "~message"]);
        for row in &response.logs {
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
    if let Some(before) = response.before {
        note!("older rows: papertape actions {job} --before {before}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The message on one line.
fn message(row: &LogEntry) -> String {
    row.message.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
