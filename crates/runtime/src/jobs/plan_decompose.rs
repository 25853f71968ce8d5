//! `plan_decompose`: decomposes a plan into tasks.

use crate::assistant_job::{Assistant, AssistantSession, SessionResult};
use crate::job_runner::{ClaimedJob, JobOutcome, JobRunner, JobSpec};
use futures::FutureExt as _;
use papertape_assistant::decompose::{StoppedReason, decompose};
use papertape_core::action::ActionKind;
use papertape_core::json::to_value;
use papertape_core::ports::BoxFuture;
use papertape_core::record::{JobKind, JobStatus};
use papertape_core::tape::SessionStop;
use std::sync::Arc;

pub(super) struct PlanDecompose(pub(super) Arc<Assistant>);

impl JobRunner for PlanDecompose {
    fn spec(&self) -> JobSpec {
        let action = (ActionKind::TaskOperation, "decompose_task");
        JobSpec { kind: JobKind::PlanDecompose, action, needs_slot: false }
    }

    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>> {
        AssistantSession::run(job, &self.0, false, |session| run(session).boxed()).boxed()
    }
}

async fn run(session: &mut AssistantSession) -> Result<SessionResult, SessionStop> {
    let AssistantSession { root, config, assistant, .. } = session;
    let Some(plan) = &config.decompose else { return Ok(session.without_parameters()) };
    let done = match decompose(root, plan, &config.settings, &assistant.prompts).await? {
        Ok(done) => done,
        Err(why) => return Ok(SessionResult::failed(why)),
    };
    let failed = done.failed.len();
    let status = match done.stopped_reason {
        StoppedReason::Failed => JobStatus::Failed,
        _ if failed > 0 => JobStatus::Partial,
        _ => JobStatus::Completed,
    };
    let error =
        done.failed.first().map(|first| format!("{failed} node(s) failed, the first: {}", first.error));
    let mut outcome =
        JobOutcome { note: Some(done.sentence(config.language)), ..JobOutcome::of(status, error) };
    if !done.left_out.is_empty() {
        outcome.details.insert("left_out".to_owned(), to_value(&done.left_out));
    }
    Ok(SessionResult { outcome, result: to_value(&done), writes: Vec::new() })
}
