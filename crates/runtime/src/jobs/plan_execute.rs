//! `plan_execute`: runs a plan's tasks.

use crate::assistant_job::{Assistant, AssistantSession, SessionResult};
use crate::job_runner::{ClaimedJob, JobOutcome, JobRunner, JobSpec};
use futures::FutureExt as _;
use papertape_assistant::execute::execute;
use papertape_core::action::ActionKind;
use papertape_core::json::to_value;
use papertape_core::ports::BoxFuture;
use papertape_core::record::JobKind;
use papertape_core::tape::SessionStop;
use std::sync::Arc;

pub(super) struct PlanExecute(pub(super) Arc<Assistant>);

impl JobRunner for PlanExecute {
    fn spec(&self) -> JobSpec {
        let action = (ActionKind::PlanOperation, "execute_plan");
        JobSpec { kind: JobKind::PlanExecute, action, needs_slot: false }
    }

    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>> {
        AssistantSession::run(job, &self.0, false, |session| run(session).boxed()).boxed()
    }
}

async fn run(session: &mut AssistantSession) -> Result<SessionResult, SessionStop> {
    let AssistantSession { root, config, assistant, .. } = session;
    let Some(plan) = &config.execute else { return Ok(session.without_parameters()) };
    Ok(match execute(root, plan, &config.settings, &assistant.prompts).await? {
        Ok(done) => {
            let failed = done.failed.len();
            let error = done.failed.first().map(|first| {
                format!("{failed} task(s) failed, the first {}: {}", first.task_id, first.error)
            });
            SessionResult { result: to_value(&done), ..SessionResult::of(done.status, error) }
        }
        Err(why) => SessionResult::failed(why),
    })
}
