//! Actions: the named steps of a job that a user can follow, and their log.
//!
//! The log has one row per state of an action: `running` before it, `completed` or `failed` after it. A row
//! that cannot be written stops the action. The log is separate from the tape: rows are truncated to a
//! bounded size, and retention removes old ones.

mod log;
mod open;
mod origin;
mod summary;

pub use crate::language::Language;
pub use log::{ActionRow, CleanupReport, LogPage, LogPosition, MAX_ROWS, PlanJob, USUAL_ROWS};
pub use open::{WHOLE_JOB, is_started, is_whole_job, still_open, stopped_words};
pub use origin::{IdKind, Origin};
pub use summary::{ActionRef, ActionSummary, summarize};

use crate::id::ChatId;
use crate::id::PlanId;
use papertape_redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What an action acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// A plan: `create_plan`, `execute_plan`, …
    PlanOperation,
    /// A task of a plan: `create_task`, `decompose_task`, …
    TaskOperation,
    /// A tool: `run_simulation`, `web_search`, …
    ToolOperation,
    /// A request for more of a plan, to be shown to the model.
    ContextRequest,
    /// The product itself: `help`.
    SystemOperation,
}

/// The status of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// Waiting for other actions.
    Queued,
    /// Started, or about to start.
    Running,
    /// Succeeded.
    Completed,
    /// It could not be done.
    Failed,
}

crate::words!(ActionKind {
    PlanOperation = "plan_operation", TaskOperation = "task_operation",
    ToolOperation = "tool_operation", ContextRequest = "context_request",
    SystemOperation = "system_operation",
});
crate::words!(ActionStatus {
    Queued = "queued", Running = "running", Completed = "completed", Failed = "failed",
});

impl ActionStatus {
    /// Whether the action succeeded; `None` while it has not ended.
    #[must_use]
    pub const fn success(self) -> Option<bool> {
        match self {
            Self::Queued | Self::Running => None,
            Self::Completed => Some(true),
            Self::Failed => Some(false),
        }
    }
}

/// A row of the action log before redaction.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionDraft {
    /// The plan it belongs to; `None` when it has none, or none yet.
    pub plan: Option<PlanId>,
    /// The chat session it comes from.
    pub chat_session: Option<ChatId>,
    /// The user's message that led to it.
    pub user_message: Option<String>,
    /// What it acts on.
    pub kind: ActionKind,
    /// The action's name, such as `run_simulation`.
    pub name: String,
    /// Its status.
    pub status: ActionStatus,
    /// A sentence with the result, or with the reason for the failure.
    pub message: Option<String>,
    /// Details for programs.
    pub details: Option<Value>,
}

/// A redacted and truncated row of the action log. `ActionEntry::redacted` is the only way to make one.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionEntry {
    draft: ActionDraft,
    redactions: u32,
}

impl ActionEntry {
    /// Redacts every text of the row, truncates long ones, and counts the redactions.
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

    /// Whether the action succeeded; `None` while it has not ended.
    #[must_use]
    pub fn success(&self) -> Option<bool> {
        self.draft.status.success()
    }

    /// How many secrets were redacted.
    #[must_use]
    pub fn redactions(&self) -> u32 {
        self.redactions
    }
}

/// The name of a chat turn's own rows, of kind `system_operation`. They bracket the turn's actions and do not
/// count as actions.
pub const CHAT_TURN: &str = "chat_action";

/// The key in `details` that links the rows of one action. Its value is the action's step path.
pub const ACTION_KEY: &str = "action";

impl ActionDraft {
    /// A row for an action without a plan or chat session. `action` is its step path.
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
