//! `profile`: times one desk on one day. It is a simulation that ends at its overall timeout, the time limit of
//! an agent's session, wherever it is. Work in progress is dropped, which cancels its calls.

use crate::config::{SimulationConfig, decode};
use crate::job_runner::{ClaimedJob, JobOutcome, JobRunner, JobSpec};
use crate::simulate;
use futures::FutureExt as _;
use futures::future::{Either, select};
use papertape_core::action::ActionKind;
use papertape_core::ports::BoxFuture;
use papertape_core::record::JobKind;
use papertape_core::tape::SessionStop;
use std::time::Duration;

/// Prefix of the error of a profile that reached its overall timeout.
pub const TOO_LATE: &str = "overall timeout";

pub(super) struct Profile;

impl JobRunner for Profile {
    fn spec(&self) -> JobSpec {
        let action = (ActionKind::SystemOperation, "profile");
        JobSpec { kind: JobKind::Profile, action, needs_slot: true }
    }

    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>> {
        let run = simulate::run(job).boxed();
        let config: Option<SimulationConfig> = decode(job.row).ok();
        let agents = config.iter().flat_map(|config| &config.agents);
        let Some(secs) = agents.map(|agent| agent.limits.session_timeout_secs).min() else { return run };
        let timeout = job.services.clock.sleep(Duration::from_secs(secs));
        select(timeout, run)
            .map(move |ended| match ended {
                Either::Left(_) => {
                    Ok(JobOutcome::failed(format!("{TOO_LATE}: the run did not end within {secs} s")))
                }
                Either::Right((outcome, _)) => outcome,
            })
            .boxed()
    }
}
