//! Claims jobs from the queue, renews their leases, and records how they ended.

use crate::actions;
use crate::assistant_job;
use crate::cancellation::{CancelSource, CancelToken, StopReason};
use crate::config::SimulationConfig;
use crate::services::Services;
use crate::simulate::{self, JobOutcome, NoopObserver, Observer};
use crate::tape_reader::stop_of;
use futures::future::{Either, select};
use papertape_core::id::JobId;
use papertape_core::ports::RecordError;
use papertape_core::record::{ASSISTANT_JOB_KINDS, JobRow, JobStatus, Lease};
use papertape_core::tape::SessionStop;
use papertape_core::{OLDER_RULES, RULES_VERSION};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// The kind of jobs that simulate trading days.
pub const SIMULATE: &str = "simulate";
/// The kind of jobs that time one desk on one day.
pub const PROFILE: &str = "profile";
/// Prefix of the error of a profile that reached its overall timeout.
pub const TOO_LATE: &str = "overall timeout";

/// Log target for leases, separate from jobs.
const LEASES: &str = "papertape_runtime::leases";

/// Settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Owner of its leases: globally unique, human-readable.
    pub owner: String,
    /// Duration of a lease; it is renewed three times as often. After this time, a dead worker's job can be
    /// claimed again.
    pub lease_for: Duration,
    /// How often the queue is polled without a notification.
    pub poll_every: Duration,
    /// Max concurrent simulations. The assistant's jobs, which wait for other jobs, do not count.
    pub parallel_jobs: usize,
    /// A job fails after this many consecutive crashes of its process without progress; 0: never.
    pub max_crashes_per_step: u32,
}

/// Runs jobs.
#[derive(Clone)]
pub struct Worker {
    services: Services,
    options: WorkerOptions,
    bell: Arc<Notify>,
}

impl Worker {
    /// A worker with these services.
    #[must_use]
    pub fn new(services: Services, options: WorkerOptions) -> Self {
        Self { services, options, bell: Arc::default() }
    }

    /// The same worker, which can also run the assistant's jobs. Keeps its notifier.
    #[must_use]
    pub fn assisted(mut self, assistant: assistant_job::Assistant) -> Self {
        self.services.assistant = Some(assistant);
        self
    }

    /// Notify this when a job may have been queued: the worker then checks the queue immediately.
    #[must_use]
    pub fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.bell)
    }

    /// Claims and runs one job. `None` if it cannot be claimed: it does not exist, has stopped, or another worker
    /// has it.
    ///
    /// # Errors
    /// Returns an error if the record fails.
    pub async fn run_job(
        &self,
        job: &JobId,
        shutdown: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<Option<JobOutcome>, RecordError> {
        let queue = &self.services.queue;
        match queue.claim(&self.options.owner, self.options.lease_for, Some(job)).await? {
            Some((lease, row)) => self.run_claimed(&lease, &row, shutdown, observer).await.map(Some),
            None => Ok(None),
        }
    }

    /// Claims jobs until shutdown, then waits for running ones to stop after their current step.
    pub async fn serve(&self, shutdown: CancelToken) {
        let places = Arc::new(Semaphore::new(self.options.parallel_jobs.max(1)));
        let mut running = tokio::task::JoinSet::new();
        let mut listening = shutdown.clone();
        loop {
            while running.try_join_next().is_some() {}
            if listening.reason().is_some() {
                break;
            }
            let place = Arc::clone(&places).try_acquire_owned().ok();
            match self.claim(place.is_some()).await {
                Ok(Some((lease, row))) => {
                    let (worker, shutdown, bell) = (self.clone(), shutdown.clone(), self.bell());
                    // It waits for jobs that it starts, which need slots of their own.
                    let place = place.filter(|_| !assistant_job::is_assistants(&row.kind));
                    running.spawn(async move {
                        match worker.run_claimed(&lease, &row, &shutdown, &NoopObserver).await {
                            // Expected: another worker has claimed the job or stopped it.
                            Ok(_) | Err(RecordError::LostLease) => {}
                            Err(error) => {
                                tracing::error!(job = %row.id, error = %error, "cannot end a job");
                            }
                        }
                        drop(place);
                        bell.notify_one();
                    });
                    continue;
                }
                Ok(None) => {}
                Err(error) => tracing::error!(error = %error, "cannot read the queue"),
            }
            drop(place);
            let wake =
                select(Box::pin(self.bell.notified()), self.services.clock.sleep(self.options.poll_every));
            if let Either::Left(_) = select(Box::pin(listening.stopped()), wake).await {
                break;
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// Claims a job. The assistant's jobs do not count toward `parallel_jobs`, so that users do not wait for
    /// simulations; without a free slot, only they are claimed.
    async fn claim(&self, has_place: bool) -> Result<Option<(Lease, JobRow)>, RecordError> {
        let (queue, owner) = (&self.services.queue, &self.options.owner);
        if has_place {
            return queue.claim(owner, self.options.lease_for, None).await;
        }
        if self.services.assistant.is_none() {
            return Ok(None);
        }
        queue.claim_of(owner, self.options.lease_for, &ASSISTANT_JOB_KINDS).await
    }

    async fn run_claimed(
        &self,
        lease: &Lease,
        row: &JobRow,
        shutdown: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<JobOutcome, RecordError> {
        tracing::info!(job = %row.id, kind = %row.kind, epoch = lease.epoch, "job started");
        let ended = self.run_leased(lease, row, shutdown, observer).await;
        if matches!(ended, Err(RecordError::LostLease)) {
            tracing::info!(
                target: LEASES,
                job = %row.id,
                epoch = lease.epoch,
                "lease lost: another worker owns the job, or it was stopped"
            );
            // The worker that has it now counted a crash.
            if let Err(error) = self.services.queue.survived(lease).await {
                tracing::warn!(job = %lease.job, error = %error, "a lost lease may count as a crash");
            }
        }
        ended
    }

    async fn run_leased(
        &self,
        lease: &Lease,
        row: &JobRow,
        shutdown: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<JobOutcome, RecordError> {
        // Its last worker was told to stop it and died first: do no more work.
        let is_cancelled = self.services.queue.renew(lease, self.options.lease_for).await?;
        if !is_cancelled {
            if let Some(end) = self.unfit(row).await? {
                return self.end(lease, row, end).await;
            }
            actions::started(&self.services, lease, row).await?;
        }
        let stopper = CancelSource::default();
        let work = async {
            let end = match is_cancelled {
                true => JobOutcome::of(JobStatus::Cancelled, None),
                false => self.work((lease, row), stopper.signal(), observer).await?,
            };
            // A job is canceled once the jobs that it started are. When it is resumed, it resumes them too.
            let is_whole = end.status != JobStatus::Cancelled
                || assistant_job::stop_started(&self.services, row, shutdown).await.map_err(stop_of)?;
            Ok(if is_whole { end } else { JobOutcome::of(JobStatus::Queued, None) })
        };
        let watch = self.watch(lease, shutdown.clone(), &stopper);
        let end = match select(Box::pin(work), Box::pin(watch)).await {
            Either::Left((end, _)) => end,
            Either::Right(((), _)) => Err(SessionStop::LostLease),
        };
        let end = match end {
            Ok(end) => end,
            Err(SessionStop::LostLease) => return Err(RecordError::LostLease),
            Err(stop) => JobOutcome::failed(stop.to_string()),
        };
        self.end(lease, row, end).await
    }

    /// The end of a job that must not run.
    async fn unfit(&self, row: &JobRow) -> Result<Option<JobOutcome>, RecordError> {
        if row.rules_version < RULES_VERSION {
            // From here on, this program would send different requests and book differently.
            assistant_job::cancel_started(&self.services, row).await?;
            return Ok(Some(JobOutcome::failed(OLDER_RULES.to_owned())));
        }
        let most = self.options.max_crashes_per_step;
        Ok((most > 0 && row.crashes >= most).then(|| {
            JobOutcome::failed(format!(
                "the process died {} times in a row at the same step, without any progress of the job; resume it \
                 once the cause is found (worker.max_crashes_per_step is {most})",
                row.crashes
            ))
        }))
    }

    async fn work(
        &self,
        (lease, row): (&Lease, &JobRow),
        signal: CancelToken,
        observer: &dyn Observer,
    ) -> Result<JobOutcome, SessionStop> {
        match row.kind.as_str() {
            SIMULATE => simulate::run(&self.services, (lease, row), signal, observer).await,
            PROFILE => self.profile((lease, row), signal, observer).await,
            kind if assistant_job::is_assistants(kind) => {
                assistant_job::run(&self.services, (lease, row), signal).await
            }
            other => Ok(JobOutcome::failed(format!("this version cannot run jobs of the kind `{other}`"))),
        }
    }

    /// Records how a job ended.
    async fn end(&self, lease: &Lease, row: &JobRow, end: JobOutcome) -> Result<JobOutcome, RecordError> {
        let end = JobOutcome { error: end.error.map(|error| self.fit_to_keep(error)), ..end };
        if assistant_job::is_assistants(&row.kind) && end.status.is_stopped() {
            actions::close_open(&self.services, lease, row).await?;
        }
        actions::ended(&self.services, lease, row, &end).await?;
        self.services.queue.finish(lease, end.status, end.error.clone()).await?;
        tracing::info!(job = %row.id, status = %end.status, error = end.error.as_deref(), "job ended");
        Ok(end)
    }

    /// An error as stored: redacted, and truncated if it is long.
    fn fit_to_keep(&self, error: String) -> String {
        match self.services.redactor.redact_log_payload(error.into()).value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// A profile is a simulation that ends at its overall timeout, wherever it is: the time limit of an agent's
    /// session. Work in progress is dropped, which cancels its calls.
    async fn profile(
        &self,
        (lease, row): (&Lease, &JobRow),
        signal: CancelToken,
        observer: &dyn Observer,
    ) -> Result<JobOutcome, SessionStop> {
        let run = simulate::run(&self.services, (lease, row), signal, observer);
        let config: Option<SimulationConfig> = serde_json::from_value(row.config.clone()).ok();
        let bound = config.iter().flat_map(|config| &config.agents);
        let Some(secs) = bound.map(|agent| agent.limits.session_timeout_secs).min() else {
            return run.await;
        };
        let late = self.services.clock.sleep(Duration::from_secs(secs));
        match select(late, Box::pin(run)).await {
            Either::Left(_) => {
                Ok(JobOutcome::failed(format!("{TOO_LATE}: the run did not end within {secs} s")))
            }
            Either::Right((end, _)) => end,
        }
    }

    /// Renews the lease and forwards every reason to stop the job. Ends when the lease is lost.
    async fn watch(&self, lease: &Lease, mut shutdown: CancelToken, stopper: &CancelSource) {
        // Often enough for a cancellation to take effect quickly.
        let every = (self.options.lease_for / 3).min(Duration::from_secs(1));
        let mut going_down = false;
        loop {
            let pause = self.services.clock.sleep(every);
            if going_down {
                pause.await;
            } else if let Either::Left((reason, _)) = select(Box::pin(shutdown.stopped()), pause).await {
                stopper.stop(reason);
                going_down = true;
            }
            match self.services.queue.renew(lease, self.options.lease_for).await {
                Ok(true) => stopper.stop(StopReason::Cancelled),
                Ok(false) => {}
                Err(RecordError::LostLease) => {
                    stopper.stop(StopReason::LostLease);
                    return;
                }
                // The lease's own expiry decides when it is too late.
                Err(error) => tracing::warn!(job = %lease.job, error = %error, "the lease was not renewed"),
            }
        }
    }
}
