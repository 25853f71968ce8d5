//! Events of a job stream.

use crate::actions::LogEntry;
use papertape_core::record::JobStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What an event of a job's stream says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamData {
    /// The job, as it was when the event was read from the record.
    pub job: StreamedJob,
    /// The row of the action log, in a `log_entry`; `null` there where retention has removed it.
    pub log_entry: Option<LogEntry>,
    /// The event's number; send it as `after`, or as `Last-Event-ID`, to go on behind it.
    pub cursor: i64,
    /// What happened, by reference to the rows of the record; `null` in a `snapshot`.
    pub event: Option<Value>,
}

/// A job in its stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamedJob {
    /// The job.
    pub job_id: String,
    /// `simulate`.
    pub kind: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it stopped before its end.
    pub error: Option<String>,
}
