//! Claims jobs from the queue, renews their leases, and records how they ended.

use crate::actions;
use crate::cancellation::{CancelSource, CancelToken, StopReason};
use crate::child_jobs;
use crate::heartbeats::{Heartbeats, HeldLease};
use crate::job_runner::{ClaimedJob, JobAction, JobOutcome, JobRunner, JobRunners, NoopObserver, Observer};
use crate::jobs;
use crate::services::Services;
use crate::tape_reader::stop_of;
use futures::future::{Either, select};
use papertape_core::action::ActionKind;
use papertape_core::id::JobId;
use papertape_core::ports::RecordError;
use papertape_core::record::{JobRow, JobStatus, Lease, LeaseState, PartEnd};
use papertape_core::tape::SessionStop;
use papertape_core::{OLDER_RULES, RULES_VERSION};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// Log target for leases, separate from jobs.
const LEASES: &str = "papertape_runtime::leases";

/// Settings of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Owner of its leases: globally unique, human-readable.
    pub owner: String,
    /// Duration of a lease; the worker's heartbeat comes at least three times as often. After this time, a dead worker's job can be
    /// claimed again.
    pub lease_for: Duration,
    /// How often the queue is polled without a notification.
    pub poll_every: Duration,
    /// Max concurrent jobs. Those that wait for other jobs do not count.
    pub parallel_jobs: usize,
    /// A job fails after this many consecutive crashes of its process without progress; 0: never.
    pub max_crashes_per_step: u32,
}

/// Runs jobs.
#[derive(Clone)]
pub struct Worker {
    services: Services,
    runners: JobRunners,
    options: WorkerOptions,
    heartbeats: Heartbeats,
    notifier: Arc<Notify>,
}

impl Worker {
    /// A worker for the [standard kinds](jobs::standard).
    #[must_use]
    pub fn new(services: Services, options: WorkerOptions) -> Self {
        let heartbeats = Heartbeats::new(services.clone(), options.owner.clone(), options.lease_for);
        let (runners, notifier) = (JobRunners::default(), Arc::default());
        let worker = Self { services, runners, options, heartbeats, notifier };
        worker.with_runners(jobs::standard())
    }

    /// The same worker, for more kinds. [`Self::notify`] on either reaches both.
    #[must_use]
    pub fn with_runners(mut self, runners: Vec<Arc<dyn JobRunner>>) -> Self {
        self.runners.extend(runners);
        self
    }

    /// Reports that a job may have been queued: the worker then checks the queue immediately.
    pub fn notify(&self) {
        self.notifier.notify_one();
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
        let Some((lease, row)) = self.claim_of_job(job).await? else { return Ok(None) };
        if lease.part == 0 {
            return self.run_claimed(&lease, &row, shutdown, observer).await.map(Some);
        }
        // Its parts run side by side, except those that other workers have.
        let mut parts = vec![(lease, row)];
        while let Some(next) = self.claim_of_job(job).await? {
            parts.push(next);
        }
        let running = parts.iter().map(|(lease, row)| self.run_claimed(lease, row, shutdown, observer));
        for ended in futures::future::join_all(running).await {
            ended?;
        }
        let row = self.services.queue.get_job(job).await?;
        let ended = row.filter(|row| row.status != JobStatus::Running);
        // Otherwise other workers run the rest.
        Ok(ended.map(|row| JobOutcome::of(row.status, row.error)))
    }

    async fn claim_of_job(&self, job: &JobId) -> Result<Option<(Lease, JobRow)>, RecordError> {
        self.services.queue.claim(&self.options.owner, self.options.lease_for, Some(job)).await
    }

    /// Claims jobs until shutdown, then waits for running ones to stop after their current step.
    pub async fn serve(&self, shutdown: CancelToken) {
        let slots = Arc::new(Semaphore::new(self.options.parallel_jobs.max(1)));
        let mut running = tokio::task::JoinSet::new();
        while shutdown.reason().is_none() {
            while running.try_join_next().is_some() {}
            let slot = Arc::clone(&slots).try_acquire_owned().ok();
            match self.claim(slot.is_some()).await {
                Ok(Some((lease, row))) => {
                    let (worker, shutdown) = (self.clone(), shutdown.clone());
                    let slot = slot.filter(|_| {
                        self.runners.get(&row.kind).is_none_or(|runner| runner.spec().needs_slot)
                    });
                    running.spawn(async move {
                        match worker.run_claimed(&lease, &row, &shutdown, &NoopObserver).await {
                            // Expected: another worker has claimed the job or stopped it.
                            Ok(_) | Err(RecordError::LostLease) => {}
                            Err(error) => {
                                tracing::error!(job = %row.id, error = %error, "cannot end a job");
                            }
                        }
                        drop(slot);
                        worker.notify();
                    });
                    continue;
                }
                Ok(None) => {}
                Err(error) => tracing::error!(error = %error, "cannot read the queue"),
            }
            drop(slot);
            let poll = self.services.clock.sleep(self.options.poll_every);
            let wake = select(Box::pin(self.notifier.notified()), poll);
            if shutdown.unless_stopped(wake).await.is_err() {
                break;
            }
        }
        while running.join_next().await.is_some() {}
    }

    /// Claims a job; without a free slot, only one that needs none, so that users of the assistant do not wait
    /// for simulations.
    async fn claim(&self, has_slot: bool) -> Result<Option<(Lease, JobRow)>, RecordError> {
        let (queue, WorkerOptions { owner, lease_for, .. }) = (&self.services.queue, &self.options);
        if has_slot {
            return queue.claim(owner, *lease_for, None).await;
        }
        let kinds = self.runners.without_slot();
        if kinds.is_empty() { Ok(None) } else { queue.claim_of(owner, *lease_for, &kinds).await }
    }

    async fn run_claimed(
        &self,
        lease: &Lease,
        row: &JobRow,
        shutdown: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<JobOutcome, RecordError> {
        tracing::info!(job = %row.id, part = lease.part, kind = %row.kind, epoch = lease.epoch, "job started");
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
        let services = &self.services;
        let mut held = self.heartbeats.hold(lease);
        // A stop was requested, and its last worker died first: do no more work.
        let is_cancelled = services.queue.renew(lease, self.options.lease_for).await?;
        if !is_cancelled {
            if let Some(end) = self.unfit(row).await? {
                return self.end(lease, row, end).await;
            }
            actions::started(services, lease, (row, self.action(row))).await?;
        }
        let source = CancelSource::default();
        let work = async {
            let end = match (is_cancelled, self.runners.get(&row.kind)) {
                (true, _) => JobOutcome::of(JobStatus::Cancelled, None),
                (false, Some(runner)) => {
                    runner
                        .run(ClaimedJob { services, lease, row, cancel: &source.signal(), observer })
                        .await?
                }
                (false, None) => {
                    JobOutcome::failed(format!("this version cannot run jobs of the kind `{}`", row.kind))
                }
            };
            // A job is canceled once the jobs that it started are. When it is resumed, it resumes them too.
            let is_whole = end.status != JobStatus::Cancelled
                || child_jobs::stop_started(services, row, shutdown).await.map_err(stop_of)?;
            Ok(if is_whole { end } else { JobOutcome::of(JobStatus::Queued, None) })
        };
        let watch = watch(&mut held, shutdown, &source);
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

    fn action<'a>(&self, row: &'a JobRow) -> JobAction<'a> {
        match self.runners.get(&row.kind) {
            Some(runner) => runner.spec().action,
            None => (ActionKind::SystemOperation, row.kind.as_str()),
        }
    }

    /// The end of a job that must not run.
    async fn unfit(&self, row: &JobRow) -> Result<Option<JobOutcome>, RecordError> {
        if row.rules_version < RULES_VERSION {
            // From here on, this program would send different requests and book differently.
            child_jobs::cancel_started(&self.services, row).await?;
            return Ok(Some(JobOutcome::failed(OLDER_RULES.to_owned())));
        }
        let max = self.options.max_crashes_per_step;
        Ok((max > 0 && row.crashes >= max).then(|| {
            JobOutcome::failed(format!(
                "the process died {} times in a row at the same step, without any progress of the job; resume it \
                 once the cause is found (worker.max_crashes_per_step is {max})",
                row.crashes
            ))
        }))
    }

    /// Records how a job ended.
    async fn end(&self, lease: &Lease, row: &JobRow, end: JobOutcome) -> Result<JobOutcome, RecordError> {
        let end = JobOutcome { error: end.error.map(|error| self.storable(error)), ..end };
        if lease.part > 0 {
            let reasons = end.reasons.iter().map(|reason| self.storable(reason.clone())).collect();
            self.services.queue.finish_part(lease, PartEnd { status: end.status, reasons }).await?;
            let (part, error) = (lease.part, end.error.as_deref());
            tracing::info!(job = %row.id, part, status = %end.status, error, "part ended");
            return Ok(end);
        }
        if end.status.is_stopped() {
            actions::close_open(&self.services, lease, row).await?;
        }
        actions::ended(&self.services, lease, (row, self.action(row)), &end).await?;
        self.services.queue.finish(lease, end.status, end.error.clone()).await?;
        tracing::info!(job = %row.id, status = %end.status, error = end.error.as_deref(), "job ended");
        Ok(end)
    }

    /// An error as stored: redacted, and truncated if it is long.
    fn storable(&self, error: String) -> String {
        match self.services.redactor.redact_log_payload(error.into()).value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

/// Forwards every reason to stop the job. Ends when the lease is lost.
async fn watch(held: &mut HeldLease, shutdown: &CancelToken, source: &CancelSource) {
    let mut is_shutting_down = false;
    loop {
        tokio::select! {
            reason = shutdown.stopped(), if !is_shutting_down => {
                source.stop(reason);
                is_shutting_down = true;
            }
            state = held.next_state() => match state {
                LeaseState::Held => {}
                LeaseState::Cancelled => source.stop(StopReason::Cancelled),
                LeaseState::Lost => {
                    source.stop(StopReason::LostLease);
                    return;
                }
            },
        }
    }
}
