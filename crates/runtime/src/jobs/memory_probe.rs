//! `memory_probe`: tests whether a model recalls the prices of a dataset.

use crate::job_runner::{ClaimedJob, JobOutcome, JobRunner, JobSpec};
use crate::memory_probe;
use futures::FutureExt as _;
use papertape_core::action::ActionKind;
use papertape_core::ports::BoxFuture;
use papertape_core::record::JobKind;
use papertape_core::tape::SessionStop;

pub(super) struct MemoryProbe;

impl JobRunner for MemoryProbe {
    fn spec(&self) -> JobSpec {
        let action = (ActionKind::SystemOperation, "memory_probe");
        JobSpec { kind: JobKind::MemoryProbe, action, needs_slot: true }
    }

    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>> {
        memory_probe::run(job).boxed()
    }
}
