//! Removes logs of AI-Trader whose messages are all in the database.

use anyhow::{Context as _, Result};
use papertape_cli::cleanup::JsonlArgs;
use papertape_cli::failure::{service_error, usage};
use papertape_cli::output::{count, json, note};
use papertape_cli::{Common, Outcome, record_access};
use papertape_integrations::ai_trader::tidy::{self, LogContent};
use papertape_protocol::reasoning::ReasoningQuery;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view;
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;

/// A log that is not removed.
#[derive(Serialize)]
struct RetainedLogs {
    file: String,
    reason: String,
}

/// Removes them, after a backup.
pub(crate) async fn remove(common: &Common, config: Config, args: JsonlArgs) -> Outcome {
    let dir = args.dir.display();
    let logs = tidy::logs(&args.dir).map_err(|error| usage(error.to_string()))?;
    if logs.is_empty() {
        return Err(usage(format!("no AGENT/log/**/*.jsonl in {dir} or {dir}/agent_data")));
    }
    let backup = match args.backup {
        Some(path) => path,
        None => {
            let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
            config.data_dir.join("backups").join(format!("ai-trader-logs-{now}.tar.gz"))
        }
    };
    // The database does not change, so a server may own it.
    let app = record_access::open_read_only(common, config).await?;
    let (mut removed, mut retained) = (Vec::new(), Vec::new());
    for log in logs {
        let missing = match tidy::read(&log).with_context(|| log.name.clone())? {
            Ok(content) => missing(&app, &log.agent, &content).await?,
            Err(reason) => Some(reason),
        };
        match missing {
            Some(reason) => retained.push(RetainedLogs { file: log.name, reason }),
            None => removed.push(log),
        }
    }
    let removes = !args.dry_run && !removed.is_empty();
    let mut folders = Vec::new();
    if removes {
        if let Some(folder) = backup.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        tidy::back_up(&removed, &backup).context("backup")?;
        folders = tidy::remove(&removed)?;
    }
    if common.json {
        json(&json!({
            "dry_run": args.dry_run,
            "backup": removes.then(|| backup.display().to_string()),
            "removed": removed.iter().map(|log| &log.name).collect::<Vec<_>>(),
            "folders_removed": folders.len(),
            "retained": retained,
        }))?;
    }
    for RetainedLogs { file, reason } in &retained {
        note!("not removed: {file}: {reason}");
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    note!(
        "{verb}: {} file(s) and {} folder(s); not removed: {} file(s)",
        count(removed.len() as u64),
        count(folders.len() as u64),
        count(retained.len() as u64)
    );
    if removes {
        note!("backup: {}", backup.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What the database lacks of a log; `None` if one session has all its messages in order.
async fn missing(app: &App, agent: &str, log: &LogContent) -> Result<Option<String>> {
    let redactor = &app.services.redactor;
    let clean = |text: &str| redactor.redact_text(text).value;
    let expected: Vec<_> = log
        .day
        .messages
        .iter()
        .map(|message| {
            let input = message.tool_input.clone().map(|input| redactor.redact_value(input).value);
            (message.role, clean(&message.content), message.tool_name.as_deref().map(clean), input)
        })
        .collect();
    let instructions = log.day.instructions.as_deref().map(clean);
    let mut query = ReasoningQuery {
        model: Some(agent.to_owned()),
        date: Some(log.date),
        include_full_conversation: true,
        ..ReasoningQuery::default()
    };
    let mut best = 0;
    loop {
        let page = match view::reasoning(app, query.clone()).await {
            Ok(page) => page,
            Err(ServiceError::NotFound(_)) => {
                return Ok(Some(format!("the database has no session of {agent} on {}", log.date)));
            }
            Err(error) => return Err(service_error(error)),
        };
        for session in &page.sessions {
            let recorded = session.instructions.as_deref().unwrap_or_default();
            let has_instructions =
                instructions.as_ref().is_none_or(|text| recorded.iter().any(|one| one.content == *text));
            let mut rest = expected.iter().peekable();
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
            if left == 0 && has_instructions {
                return Ok(None);
            }
            best = best.max(expected.len() - left);
        }
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(Some(format!("the database has {best} of its {} messages", expected.len())))
}
