//! Events of a job stream.

use crate::actions::LogEntry;
use papertape_core::record::JobStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// An event of a job stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamData {
    /// The job, as it was when the event was read from the record.
    pub job: StreamedJob,
    /// The row of the action log, in a `log_entry`; `null` if retention has removed it.
    pub log_entry: Option<LogEntry>,
    /// The number of the event; send it as `after`, or as `Last-Event-ID`, to continue after it.
    pub cursor: i64,
    /// What happened, as references to rows of the database; `null` in a `snapshot`.
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
    /// Why it stopped early.
    pub error: Option<String>,
}
