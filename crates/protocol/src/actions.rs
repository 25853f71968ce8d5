//! The action log of a job, by job and by plan.

use crate::deployment::Deployment;
use papertape_core::action::{ActionKind, ActionStatus};
use papertape_core::action::{ActionRow, ActionSummary};
use papertape_core::record::JobStatus;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A row of the action log: one state of one action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LogEntry {
    /// Its id in this record.
    pub id: i64,
    /// The plan that the job belongs to; `null`: none.
    pub plan_id: Option<i64>,
    /// The job.
    pub job_id: String,
    /// The conversation that it comes from.
    pub session_id: Option<String>,
    /// What was asked for, in the asker's words.
    pub user_message: Option<String>,
    /// What the action is about.
    #[schema(schema_with = crate::vocabulary::action_kind)]
    pub action_kind: ActionKind,
    /// Which action it is: `run_simulation`.
    pub action_name: String,
    /// How far it is.
    #[schema(schema_with = crate::vocabulary::action_status)]
    pub status: ActionStatus,
    /// Did it succeed? `null` until it has ended.
    pub success: Option<bool>,
    /// What came of it, or why it failed.
    pub message: Option<String>,
    /// More, for programs.
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
    /// Its number in the job's log, from 1, without gaps.
    pub sequence: i64,
    /// How many secrets were removed from it before it was written.
    pub redactions: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was changed: where its job got a plan later.
    pub updated_at: Timestamp,
}

/// An action in its last state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SummaryItem {
    /// The how-manieth action of the job it is, from 1.
    pub order: usize,
    /// What it is about.
    #[schema(schema_with = crate::vocabulary::action_kind)]
    pub kind: ActionKind,
    /// Which it is.
    pub name: String,
    /// For people.
    #[schema(example = "plan_operation/create_plan → 成功")]
    pub display: String,
    /// Did it succeed? `null`: it has not ended.
    pub success: Option<bool>,
    /// What came of it, or why it failed.
    pub message: Option<String>,
    /// What it has made or started, or was about.
    pub refs: Vec<ActionRefResponse>,
}

/// Something that an action has made or started, or was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ActionRefResponse {
    /// `job` or `plan`.
    #[serde(rename = "type")]
    #[schema(example = "job")]
    pub what: String,
    /// Its id.
    pub id: String,
}

/// A part of a job's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ActionsResponse {
    /// The plan that the job belongs to; `null`: none.
    pub plan_id: Option<i64>,
    /// The job.
    pub job_id: String,
    /// The rows, oldest first.
    pub logs: Vec<LogEntry>,
    /// How many there are on this page.
    pub count: usize,
    /// Send it as `cursor` for newer rows, those that are still to be written included.
    pub next_cursor: String,
    /// Send it as `before` for older rows; `null`: there are none.
    pub before: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A job of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanJobResponse {
    /// The job.
    pub job_id: String,
    /// `plan_execute`, `plan_decompose`, `chat_action`, `simulate`, …
    pub job_type: String,
    /// Its status.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// How many rows of its action log are kept.
    pub rows: i64,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// A page of a plan's jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanJobsResponse {
    /// The plan.
    pub plan_id: i64,
    /// The jobs, newest first.
    pub jobs: Vec<PlanJobResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

impl From<ActionRow> for LogEntry {
    fn from(row: ActionRow) -> Self {
        let success = row.success();
        Self {
            id: row.id,
            plan_id: row.row.plan.map(|plan| plan.0),
            job_id: row.job.to_string(),
            session_id: row.row.chat_session.map(|session| session.to_string()),
            user_message: row.row.user_message,
            action_kind: row.row.kind,
            action_name: row.row.name,
            status: row.row.status,
            success,
            message: row.row.message,
            details: row.row.details,
            sequence: row.sequence,
            redactions: row.redactions,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl From<ActionSummary> for SummaryItem {
    fn from(item: ActionSummary) -> Self {
        let ActionSummary { order, kind, name, display, success, message, refs } = item;
        let refs =
            refs.into_iter().map(|one| ActionRefResponse { what: one.what.to_owned(), id: one.id }).collect();
        Self { order, kind, name, display, success, message, refs }
    }
}
