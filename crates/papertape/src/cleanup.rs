//! `papertape cleanup`

use super::{Common, Outcome, record_access};
use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use papertape_cli::failure::{of_view, usage};
use papertape_cli::output::{count, json, note};
use papertape_integrations::ai_trader::tidy::{self, Said};
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_service::retention::{self, MAX_ROWS};
use papertape_service::view::{self, ReasoningQuery, ViewError};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to clean up.
#[derive(Debug, Args)]
pub(super) struct CleanupArgs {
    /// What.
    #[command(subcommand)]
    command: CleanupCommand,
}

/// What.
#[derive(Debug, Subcommand)]
enum CleanupCommand {
    /// Remove rows of the action log that are too old or too many, of jobs that have stopped
    Jobs(JobsArgs),
    /// Remove AI-Trader's logs of which the record has every message, after a backup
    Jsonl(JsonlArgs),
}

/// Whose logs.
#[derive(Debug, Args)]
struct JsonlArgs {
    /// AI-Trader's data folder; only AGENT/log/**/*.jsonl goes, and folders that are empty by that
    dir: PathBuf,
    /// Where the tar.gz of what goes is written [default: backups/ in the data directory]
    #[arg(long, value_name = "FILE")]
    backup: Option<PathBuf>,
    /// Say what would go, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// How.
#[derive(Debug, Args)]
struct JobsArgs {
    /// Say what would go, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

/// Cleans up.
pub(super) async fn cleanup(common: &Common, config: Config, args: CleanupArgs) -> Outcome {
    let dry_run = match args.command {
        CleanupCommand::Jobs(JobsArgs { dry_run }) => dry_run,
        CleanupCommand::Jsonl(args) => return jsonl(common, config, args).await,
    };
    let app = match dry_run {
        true => record_access::to_read(common, config).await?,
        false => record_access::open_exclusive(common, config, Access::Own).await?,
    };
    let removed = retention::clean_up(&app, dry_run).await?;
    app.flush().await;
    let days = app.config.settings.jobs.log_retention_days;
    if common.json {
        json(&json!({
            "dry_run": dry_run,
            "log_retention_days": days,
            "most_rows": MAX_ROWS,
            "rows_removed_by_age": removed.by_age,
            "rows_removed_by_count": removed.by_count,
            "jobs": removed.jobs,
        }))?;
    }
    let verb = if dry_run { "would be removed" } else { "removed" };
    note!(
        "{verb}: {} row(s) older than {days} days and {} beyond {} a job, of {} job(s)",
        count(removed.by_age),
        count(removed.by_count),
        count(u64::from(MAX_ROWS)),
        count(removed.jobs)
    );
    Ok(ExitCode::SUCCESS)
}

/// A log that stays, and why.
#[derive(Serialize)]
struct RetainedLogs {
    file: String,
    reason: String,
}

async fn jsonl(common: &Common, config: Config, args: JsonlArgs) -> Outcome {
    let dir = args.dir.display();
    let logs = tidy::logs(&args.dir).map_err(|error| usage(error.to_string()))?;
    if logs.is_empty() {
        return Err(usage(format!("{dir} has no AGENT/log/**/*.jsonl, nor has its agent_data")));
    }
    let backup = match args.backup {
        Some(path) => path,
        None => {
            let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
            config.data_dir.join("backups").join(format!("ai-trader-logs-{now}.tar.gz"))
        }
    };
    // Nothing of the record is changed, so a server may go on meanwhile.
    let app = record_access::to_read(common, config).await?;
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for log in logs {
        let missing = match tidy::read(&log).with_context(|| log.name.clone())? {
            Ok(said) => missing(&app, &log.agent, &said).await?,
            Err(reason) => Some(reason),
        };
        match missing {
            Some(reason) => kept.push(RetainedLogs { file: log.name, reason }),
            None => gone.push(log),
        }
    }
    let removes = !args.dry_run && !gone.is_empty();
    let mut folders = Vec::new();
    if removes {
        if let Some(folder) = backup.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        tidy::back_up(&gone, &backup).context("backup")?;
        folders = tidy::remove(&gone)?;
    }
    if common.json {
        json(&json!({
            "dry_run": args.dry_run,
            "backup": removes.then(|| backup.display().to_string()),
            "removed": gone.iter().map(|log| &log.name).collect::<Vec<_>>(),
            "folders_removed": folders.len(),
            "kept": kept,
        }))?;
    }
    for RetainedLogs { file, reason } in &kept {
        note!("kept {file}: {reason}");
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    note!(
        "{verb}: {} file(s) and {} folder(s); kept: {} file(s)",
        count(gone.len() as u64),
        count(folders.len() as u64),
        count(kept.len() as u64)
    );
    if removes {
        note!("backup: {}", backup.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What of a log the record does not have; `None` where one session has all of it, in its order.
async fn missing(app: &App, agent: &str, said: &Said) -> Result<Option<String>> {
    let redactor = &app.services.redactor;
    let clean = |text: &str| redactor.redact_text(text).value;
    let wanted: Vec<_> = said
        .day
        .messages
        .iter()
        .map(|message| {
            let input = message.tool_input.clone().map(|input| redactor.redact_value(input).value);
            (message.role, clean(&message.content), message.tool_name.as_deref().map(clean), input)
        })
        .collect();
    let instructions = said.day.instructions.as_deref().map(clean);
    let mut query = ReasoningQuery {
        model: Some(agent.to_owned()),
        date: Some(said.date),
        include_full_conversation: true,
        ..ReasoningQuery::default()
    };
    let mut best = 0;
    loop {
        let page = match view::reasoning(app, query.clone()).await {
            Ok(page) => page,
            Err(ViewError::NotFound(_)) => {
                return Ok(Some(format!("the record has no session of {agent} on {}", said.date)));
            }
            Err(error) => return Err(of_view(error)),
        };
        for session in &page.sessions {
            let told = session.instructions.as_deref().unwrap_or_default();
            let is_told =
                instructions.as_ref().is_none_or(|text| told.iter().any(|one| one.content == *text));
            let mut rest = wanted.iter().peekable();
            for message in session.conversation.iter().flatten() {
                let is_next = rest.peek().is_some_and(|(role, content, tool, input)| {
                    *role == message.role
                        && *content == message.content
                        && (tool.is_none() || *tool == message.tool_name)
                        && (input.is_none() || *input == message.tool_input)
                });
                if is_next {
                    rest.next();
                }
            }
            let left = rest.count();
            if left == 0 && is_told {
                return Ok(None);
            }
            best = best.max(wanted.len() - left);
        }
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(Some(format!("the record has {best} of its {} messages", wanted.len())))
}
