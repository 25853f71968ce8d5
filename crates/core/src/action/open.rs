//! Actions that started and did not end, and how a canceled job closes them.

use super::{ACTION_KEY, ActionDraft, ActionEntry, ActionRow, ActionStatus};
use crate::job::JobStatus;
use crate::language::Language;
use serde_json::Value;

/// The [`ACTION_KEY`] of rows about the job as a whole: all its runs count as one action.
pub const WHOLE_JOB: &str = "job";

/// The last row of each action that started and did not end. `rows` are a job's rows in order; rows of one
/// action share an [`ACTION_KEY`].
#[must_use]
pub fn still_open(rows: impl IntoIterator<Item = ActionRow>) -> Vec<ActionRow> {
    let mut open: Vec<ActionRow> = Vec::new();
    for row in rows {
        open.retain(|other| key(&other.row) != key(&row.row));
        if matches!(row.status(), ActionStatus::Queued | ActionStatus::Running) {
            open.push(row);
        }
    }
    open
}

fn key(row: &ActionDraft) -> Option<&Value> {
    row.details.as_ref().and_then(|details| details.get(ACTION_KEY))
}

/// Whether the row is about the job as a whole and not about one of its actions.
#[must_use]
pub fn is_whole_job(row: &ActionDraft) -> bool {
    key(row).and_then(Value::as_str) == Some(WHOLE_JOB)
}

/// Whether the log says that the job is running.
#[must_use]
pub fn is_started(rows: impl IntoIterator<Item = ActionRow>) -> bool {
    let is_running = |open: &ActionRow| is_whole_job(&open.row) && open.row.status == ActionStatus::Running;
    still_open(rows).iter().any(is_running)
}

/// The log message for an action whose job was canceled, in the language of the job's config.
#[must_use]
pub fn stopped_words(config: &Value) -> &'static str {
    match config["language"].as_str().and_then(|language| language.parse().ok()) {
        Some(Language::En) => "stopped; it continues if the job is resumed",
        _ => "已停止；恢复任务后继续",
    }
}

impl ActionEntry {
    /// The closing row for an open one whose job was canceled and has no worker any more. The open row was
    /// redacted before it was written, and the text added here is our own, so neither needs redaction.
    #[must_use]
    pub fn cancelled(open: &ActionRow, config: &Value) -> Self {
        let words =
            if is_whole_job(&open.row) { JobStatus::Cancelled.as_str() } else { stopped_words(config) };
        let draft =
            ActionDraft { status: ActionStatus::Failed, message: Some(words.to_owned()), ..open.row.clone() };
        Self { draft, redactions: open.redactions }
    }

    /// The closing row for the open row of a job that its parts have ended. `reason` is redacted already.
    #[must_use]
    pub fn ended(open: &ActionRow, status: JobStatus, reason: Option<&str>) -> Self {
        let action = match status {
            JobStatus::Completed => ActionStatus::Completed,
            JobStatus::Queued | JobStatus::Running => ActionStatus::Queued,
            JobStatus::Partial | JobStatus::Failed | JobStatus::Cancelled => ActionStatus::Failed,
        };
        let message = reason.map_or_else(|| status.to_string(), |reason| format!("{status}: {reason}"));
        let draft = ActionDraft { status: action, message: Some(message), ..open.row.clone() };
        Self { draft, redactions: open.redactions }
    }
}
