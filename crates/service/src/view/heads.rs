//! Heads of jobs: what somebody publishes to show later that nothing was rewritten.

use super::Deployment;
use crate::app::App;
use papertape_core::json::to_value;
use papertape_core::record::JobHead;
use serde::Serialize;
use utoipa::ToSchema;

/// A job's head.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HeadResponse {
    /// The job.
    pub job_id: String,
    /// Hash of the document's canonical JSON, 64 hex digits: what to publish.
    pub hash: String,
    /// The document: `job`, `rules_version`, `anchor` (hash of what the job was to do), `status`, and by agent
    /// `days`, `head` and the session that is `open`.
    #[schema(value_type = Object)]
    pub document: serde_json::Value,
    /// The command that holds a record against it.
    pub verify: String,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The head as the API says it.
#[must_use]
pub fn head_answer(app: &App, head: &JobHead) -> HeadResponse {
    let hash = head.hash();
    HeadResponse {
        job_id: head.job.to_string(),
        hash: hash.to_hex(),
        document: to_value(head),
        verify: format!("papertape verify {} --expect {hash}", head.job),
        deployment: Deployment::of(app),
    }
}
