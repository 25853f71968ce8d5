//! Actions that were begun and not ended, and how a job that is stopped ends them.

use super::{ACTION_KEY, ActionDraft, ActionEntry, ActionRow, ActionStatus, Language};
use crate::record::JobStatus;
use serde_json::Value;

/// The [`ACTION_KEY`] of a whole job's own rows: all its runs are one action.
pub const WHOLE_JOB: &str = "job";

/// The last rows of the actions that have begun and not ended, given a job's rows in their order. Rows of one
/// action are those with the same [`ACTION_KEY`].
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

/// Is it a row of the whole job, and not of one of its actions?
#[must_use]
pub fn is_whole_job(row: &ActionDraft) -> bool {
    key(row).and_then(Value::as_str) == Some(WHOLE_JOB)
}

/// What the log says of an action whose job was stopped, in the language of the job's config.
#[must_use]
pub fn stopped_words(config: &Value) -> &'static str {
    match config["language"].as_str().and_then(|language| language.parse().ok()) {
        Some(Language::En) => "it was stopped; it goes on if the job is resumed",
        _ => "已停止；恢复任务后继续",
    }
}

impl ActionEntry {
    /// The row that ends an open one, because its job was cancelled and nobody works on it any more. What the
    /// open row says was redacted before it was written; the words that are added are the product's own.
    #[must_use]
    pub fn cancelled(open: &ActionRow, config: &Value) -> Self {
        let words =
            if is_whole_job(&open.row) { JobStatus::Cancelled.as_str() } else { stopped_words(config) };
        let draft =
            ActionDraft { status: ActionStatus::Failed, message: Some(words.to_owned()), ..open.row.clone() };
        Self { draft, redactions: open.redactions }
    }
}
