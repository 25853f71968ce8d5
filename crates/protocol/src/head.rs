//! A job's head: the hash to publish.

use crate::deployment::Deployment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A job's head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HeadResponse {
    /// The job.
    pub job_id: String,
    /// Hash of the document's canonical JSON, 64 hex digits: what to publish.
    pub hash: String,
    /// The document: `job`, `rules_version`, `anchor` (hash of what the job was to do), `status`, and by agent
    /// `days`, `head` and the session that is `open`.
    #[schema(value_type = Object)]
    pub document: Value,
    /// The command that verifies a record against it.
    pub verify: String,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}
