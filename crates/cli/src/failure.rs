//! Exit codes and error messages.

use super::output::note;
use papertape_core::json::canonical;
use papertape_service::ServiceError;
use papertape_store::StoreError;
use serde_json::json;
use std::process::ExitCode;

/// Any failure without a code of its own.
pub const FAILED: u8 = 1;
/// An unknown option, an invalid value or an unusable config.
pub(super) const USAGE: u8 = 2;
/// Stopped early; can be resumed.
pub(super) const STOPPED: u8 = 3;
/// The named job, day or database does not exist.
pub(super) const NOT_FOUND: u8 = 4;

/// An error with an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Usage(String),
}

/// A usage error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    CliError::Usage(message.into()).into()
}

pub(super) fn not_found(message: impl Into<String>) -> anyhow::Error {
    CliError::NotFound(message.into()).into()
}

pub(super) fn no_job(job: &str) -> anyhow::Error {
    not_found(format!("unknown job {}; run `papertape jobs`", job.escape_default()))
}

/// Maps fields to options, and errors to exit codes.
pub fn service_error(error: ServiceError) -> anyhow::Error {
    match error {
        ServiceError::Invalid { field, message } => {
            usage(format!("{}: {}", option(field), message.replace("start_date", "--start")))
        }
        ServiceError::UnknownJob(job) => no_job(&job),
        ServiceError::NotFound(message) => not_found(message),
        ServiceError::Conflict(message) => anyhow::anyhow!(message),
        ServiceError::Internal(error) => error,
    }
}

/// The option that sets a field of a request.
fn option(field: &str) -> &str {
    match field {
        "start_date" => "--start",
        "end_date" => "--end",
        "models" | "model" => "--model",
        "output" => "--output",
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
        "trials" => "--trials",
        "windows" => "--windows",
        "compare" => "--compare",
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

/// Prints the error and returns the exit code.
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
        note!("hint: to upgrade the database, run `papertape serve` or any command that writes");
    }
    ExitCode::from(code)
}

/// The error on the first line, its causes on the following lines.
fn causes(error: &anyhow::Error) -> String {
    let mut lines: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Some errors include their cause in their own text.
        if !lines.last().is_some_and(|last| last.ends_with(&text)) {
            lines.push(text);
        }
    }
    lines.join("\n  caused by: ")
}
