//! Actions: what a job does in named steps that a person follows, and the log of them.
//!
//! The log has one row a state of an action: `running` before it, `completed` or `failed` after it. A row
//! that cannot be written stops the action. Rows are not the tape: they are cut to a bounded size, and
//! retention removes old ones.

mod log;
mod open;
mod origin;
mod summary;

pub use log::{ActionRow, LogFrom, LogPage, MOST_ROWS, PlanJob, Removed, USUAL_ROWS};
pub use open::{WHOLE_JOB, is_whole_job, still_open, stopped_words};
pub use origin::{IdKind, Origin};
pub use summary::{ActionRef, ActionSummary, Language, summarise};

use crate::chat::ChatId;
use crate::plan::PlanId;
use papertape_redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// What an action is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// A plan: `create_plan`, `execute_plan`, …
    PlanOperation,
    /// A task of a plan: `create_task`, `decompose_task`, …
    TaskOperation,
    /// A tool: `run_simulation`, `web_search`, …
    ToolOperation,
    /// More of a plan is to be shown to the model.
    ContextRequest,
    /// The product itself: `help`.
    SystemOperation,
}

/// How far an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// It waits for others.
    Queued,
    /// It has begun, or is about to.
    Running,
    /// It is done.
    Completed,
    /// It could not be done.
    Failed,
}

crate::record::words!(ActionKind {
    PlanOperation = "plan_operation",
    TaskOperation = "task_operation",
    ToolOperation = "tool_operation",
    ContextRequest = "context_request",
    SystemOperation = "system_operation",
});
crate::record::words!(ActionStatus {
    Queued = "queued",
    Running = "running",
    Completed = "completed",
    Failed = "failed",
});

impl ActionStatus {
    /// Did the action succeed? `None` until it has ended.
    #[must_use]
    pub const fn success(self) -> Option<bool> {
        match self {
            Self::Queued | Self::Running => None,
            Self::Completed => Some(true),
            Self::Failed => Some(false),
        }
    }
}

/// A row of the action log as somebody wants it, before redaction.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionDraft {
    /// The plan that it belongs to; `None`: none, or none yet.
    pub plan: Option<PlanId>,
    /// The conversation that it comes from.
    pub chat_session: Option<ChatId>,
    /// What was asked for, in the asker's words.
    pub user_message: Option<String>,
    /// What it is about.
    pub kind: ActionKind,
    /// Which it is, `run_simulation`.
    pub name: String,
    /// How far it is.
    pub status: ActionStatus,
    /// A sentence on what came of it, or why it failed.
    pub message: Option<String>,
    /// More, for programs.
    pub details: Option<Value>,
}

/// A row of the action log, redacted and cut to size: there is no other way to make one.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionEntry {
    draft: ActionDraft,
    redactions: u32,
}

impl ActionEntry {
    /// Redacts every text of the row and cuts what is long; counts what was removed.
    #[must_use]
    pub fn redacted(redactor: &Redactor, draft: ActionDraft) -> Self {
        let mut redactions = 0_u32;
        let mut clean = |value: Value| {
            let redacted = redactor.redact_log_payload(value);
            redactions = redactions.saturating_add(redacted.removed);
            redacted.value
        };
        let mut text = |text: Option<String>| match text.map(|text| clean(text.into())) {
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
            None => None,
        };
        let (chat_session, user_message, message) =
            (draft.chat_session, text(draft.user_message), text(draft.message));
        let name = text(Some(draft.name)).unwrap_or_default();
        let details = draft.details.map(clean);
        let draft = ActionDraft { chat_session, user_message, name, message, details, ..draft };
        Self { draft, redactions }
    }

    /// What the row says.
    #[must_use]
    pub fn row(&self) -> &ActionDraft {
        &self.draft
    }

    /// Did the action succeed? `None` until it has ended.
    #[must_use]
    pub fn success(&self) -> Option<bool> {
        self.draft.status.success()
    }

    /// How many secrets were removed from it.
    #[must_use]
    pub fn redactions(&self) -> u32 {
        self.redactions
    }
}

/// The name of a chat turn's own rows, of the kind `system_operation`: what holds the turn's actions and is
/// none of them.
pub const CHAT_TURN: &str = "chat_action";

/// The key of `details` by which rows of one action know each other: the action's step path.
pub const ACTION_KEY: &str = "action";

impl ActionDraft {
    /// A row of an action that belongs to no plan and no conversation. `action` is its step path.
    #[must_use]
    pub fn of(kind: ActionKind, name: &str, status: ActionStatus, action: &str) -> Self {
        Self {
            plan: None,
            chat_session: None,
            user_message: None,
            kind,
            name: name.to_owned(),
            status,
            message: None,
            details: Some(json!({ ACTION_KEY: action })),
        }
    }
}
