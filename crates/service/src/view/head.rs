//! Heads of jobs: publish one to prove later that nothing was rewritten.

use crate::app::App;
use crate::view::deployment;
use papertape_core::json::to_value;
use papertape_core::record::JobHead;
use papertape_protocol::head::HeadResponse;

/// The response for a head.
#[must_use]
pub fn head_response(app: &App, head: &JobHead) -> HeadResponse {
    let hash = head.hash();
    HeadResponse {
        job_id: head.job.to_string(),
        hash: hash.to_hex(),
        document: to_value(head),
        verify: format!("papertape verify {} --expect {hash}", head.job),
        deployment: deployment(app),
    }
}
