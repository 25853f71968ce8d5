//! The action log of a job, by job and by plan.

use crate::deployment::Deployment;
use crate::query::log_rows;
use papertape_core::action::{ActionKind, ActionStatus};
use papertape_core::action::{ActionRow, ActionSummary};
use papertape_core::record::JobStatus;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// The page of the log; `cursor` or `before`, not both.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ActionsQuery {
    /// `next_cursor` of an earlier response: newer rows.
    pub cursor: Option<String>,
    /// `before` of an earlier response: older rows.
    pub before: Option<String>,
    /// Max rows; 200 by default.
    #[serde(default, deserialize_with = "log_rows")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

/// The rows of the job's action log to include.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LogQuery {
    /// `next_cursor` of an earlier response: the rows after it; absent: the newest rows.
    pub cursor: Option<String>,
    /// `before` of an earlier response: the rows before it. Not together with `cursor`.
    pub before: Option<String>,
    /// Max rows; 50 by default.
    #[serde(default, deserialize_with = "log_rows")]
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    /// The number of polls since the client's stream failed, including this one. It is counted in the telemetry.
    #[param(minimum = 0, maximum = 1_000_000)]
    pub retries: Option<u32>,
}

/// A row of the action log: one state of one action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LogEntry {
    /// Its id in this record.
    pub id: i64,
    /// The plan that the job belongs to; `null`: none.
    pub plan_id: Option<i64>,
    /// The job.
    pub job_id: String,
    /// The conversation that started it.
    pub session_id: Option<String>,
    /// The request, in the user's words.
    pub user_message: Option<String>,
    /// The kind of the action.
    #[schema(schema_with = crate::vocabulary::action_kind)]
    pub action_kind: ActionKind,
    /// The name of the action, such as `run_simulation`.
    pub action_name: String,
    /// Its status.
    #[schema(schema_with = crate::vocabulary::action_status)]
    pub status: ActionStatus,
    /// Whether it succeeded; `null` until it has ended.
    pub success: Option<bool>,
    /// The result, or why it failed.
    pub message: Option<String>,
    /// Structured details.
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
    /// Its number in the job's log, from 1, without gaps.
    pub sequence: i64,
    /// How many secrets were removed from it before it was written.
    pub redactions: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed, such as when its job was assigned to a plan.
    pub updated_at: Timestamp,
}

/// An action in its latest state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SummaryItem {
    /// 1-based position among the actions of the job.
    pub order: usize,
    /// Its kind.
    #[schema(schema_with = crate::vocabulary::action_kind)]
    pub kind: ActionKind,
    /// Its name.
    pub name: String,
    /// A human-readable message.
    #[schema(example = "plan_operation/create_plan → 成功")]
    pub display: String,
    /// Whether it succeeded; `null` until it has ended.
    pub success: Option<bool>,
    /// The result, or why it failed.
    pub message: Option<String>,
    /// The jobs and plans that it created, started or refers to.
    pub refs: Vec<ActionRefResponse>,
}

/// A job or a plan that an action created, started or refers to.
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
    /// The number of rows on this page.
    pub count: usize,
    /// Send it as `cursor` for newer rows, including those that are not yet written.
    pub next_cursor: String,
    /// Send it as `before` for older rows; `null` if there are none.
    pub before: Option<String>,
    /// The mode that the server runs in.
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
    /// The number of stored rows of its action log.
    pub rows: i64,
    /// When it was requested.
    pub created_at: Timestamp,
}

/// A page of a plan's jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanJobsResponse {
    /// The plan.
    pub plan_id: i64,
    /// The jobs, newest first.
    pub jobs: Vec<PlanJobResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mode that the server runs in.
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
