//! How a command fails: its exit code, and what it says.

use super::output::note;
use papertape_core::json::canonical;
use papertape_service::trigger::TriggerError;
use papertape_service::view::ViewError;
use papertape_store::StoreError;
use serde_json::json;
use std::process::ExitCode;

/// Ended with a failure that has been told.
pub(super) const FAILED: u8 = 1;
/// Asked wrongly.
pub(super) const USAGE: u8 = 2;
/// Stopped before its end, and can be resumed.
pub(super) const STOPPED: u8 = 3;
/// There is nothing of that name.
pub(super) const NOT_FOUND: u8 = 4;

/// A failure that has an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// There is nothing of that name.
    #[error("{0}")]
    NotFound(String),
    /// Asked wrongly.
    #[error("{0}")]
    Usage(String),
}

/// Asked wrongly.
pub(super) fn usage(what: impl Into<String>) -> anyhow::Error {
    CliError::Usage(what.into()).into()
}

/// There is nothing of that name.
pub(super) fn not_found(what: impl Into<String>) -> anyhow::Error {
    CliError::NotFound(what.into()).into()
}

/// There is no such job.
pub(super) fn no_job(job: &str) -> anyhow::Error {
    not_found(format!("there is no job {}; `papertape jobs` lists them", job.escape_default()))
}

/// Why there is no job, in the command line's words.
pub(super) fn of_trigger(error: TriggerError) -> anyhow::Error {
    match error {
        TriggerError::Bad { field, message } => usage(format!("{}: {message}", option(field))),
        TriggerError::NotFound(job) => no_job(&job),
        TriggerError::Missing(message) => not_found(message),
        TriggerError::Conflict(message) => anyhow::anyhow!(message),
        TriggerError::Record(error) => error,
    }
}

/// Why there is no answer, in the command line's words.
pub(super) fn of_view(error: ViewError) -> anyhow::Error {
    match error {
        ViewError::Bad { field, message } => usage(format!("{}: {message}", option(field))),
        ViewError::NotFound(message) => not_found(message),
        ViewError::Busy(message) => anyhow::anyhow!(message),
        ViewError::Record(error) => error,
    }
}

/// The option that gives a field of a request.
fn option(field: &str) -> &str {
    match field {
        "start_date" => "--start",
        "end_date" => "--end",
        "models" | "model" => "--model",
        "symbols" => "--symbols",
        "universe" => "--universe",
        "dataset" => "--dataset",
        "market" => "--market",
        "initial_cash" => "--cash",
        "benchmark" => "--benchmark",
        "agent" => "--agent",
        "date" => "--date",
        "node" => "--at",
        "symbol" => "--symbol",
        "limit" => "--limit",
        "cursor" => "--cursor",
        "before" => "--before",
        "memory_from" => "--memory-from",
        "read_window" => "--read-window",
        "read_window_after_loss" => "--read-window-after-loss",
        "from" => "--from",
        "to" => "--to",
        other => other,
    }
}

/// Says what went wrong, and gives the exit code.
pub(super) fn report(error: &anyhow::Error, as_json: bool) -> ExitCode {
    let (code, name) = match error.downcast_ref::<CliError>() {
        Some(CliError::NotFound(_)) => (NOT_FOUND, "not_found"),
        Some(CliError::Usage(_)) => (USAGE, "usage"),
        None => (FAILED, "failed"),
    };
    if as_json {
        note!("{}", canonical(&json!({ "error": name, "message": format!("{error:#}") })));
    } else {
        note!("error: {}", causes(error));
    }
    if let Some(StoreError::Older { .. }) = error.downcast_ref::<StoreError>() {
        note!("hint: `papertape serve` or any command that writes brings it to the newest version");
    }
    ExitCode::from(code)
}

/// The error in one line, its causes in the lines below.
fn causes(error: &anyhow::Error) -> String {
    let mut lines: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Some errors repeat their cause in their own text.
        if !lines.last().is_some_and(|last| last.ends_with(&text)) {
            lines.push(text);
        }
    }
    lines.join("\n  because ")
}
