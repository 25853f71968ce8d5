//! `simulate`: runs trading days.

use crate::job_runner::{ClaimedJob, JobOutcome, JobRunner, JobSpec};
use crate::simulate;
use futures::FutureExt as _;
use papertape_core::action::ActionKind;
use papertape_core::ports::BoxFuture;
use papertape_core::record::JobKind;
use papertape_core::tape::SessionStop;

pub(super) struct Simulate;

impl JobRunner for Simulate {
    fn spec(&self) -> JobSpec {
        let action = (ActionKind::ToolOperation, "run_simulation");
        JobSpec { kind: JobKind::Simulate, action, needs_slot: true }
    }

    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>> {
        simulate::run(job).boxed()
    }
}
