//! The jobs that an assistant job has started, and their cancellation. Any other kind of job starts none.

use crate::cancellation::CancelToken;
use crate::retry::poll_interval;
use crate::services::Services;
use futures::FutureExt as _;
use papertape_core::action::Origin;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::{RecordError, RecordFuture};
use papertape_core::record::{JobRow, JobStatus};
use papertape_core::time::Date;

/// The agent and the date of an assistant job's only session.
pub(crate) fn session_key(job: &JobRow) -> (AgentName, Date) {
    (AgentName::new("assistant"), job.created_at.to_zoned(jiff::tz::TimeZone::UTC).date())
}

/// The jobs that a job's actions have started, according to its tape.
pub(crate) async fn started(services: &Services, job: &JobRow) -> Result<Vec<JobRow>, RecordError> {
    let mut found = Vec::new();
    if !job.kind.is_assistant() {
        return Ok(found);
    }
    let (agent, date) = session_key(job);
    let Some(session) = services.record.find_session(&job.id, &agent, date).await? else { return Ok(found) };
    for row in services.record.load_tape(session.id, false).await? {
        if row.path.kind() != "action" {
            continue;
        }
        for nth in 0.. {
            let id = Origin::new(&job.id, row.path.as_str(), nth).job_id();
            match services.queue.get_job(&id).await? {
                Some(row) => found.push(row),
                None => break,
            }
        }
    }
    Ok(found)
}

/// Requests cancellation of a job of any kind, like [`papertape_core::ports::Queue::cancel`]. The jobs that it
/// has started are canceled too, and it is canceled once they have stopped.
///
/// # Errors
/// Returns an error if the record fails.
pub fn cancel<'a>(services: &'a Services, job: &'a JobId) -> RecordFuture<'a, Option<JobStatus>> {
    async move {
        let queue = &services.queue;
        let Some(row) = queue.get_job(job).await? else { return Ok(None) };
        if row.status.is_stopped() || unfinished(services, &row).await?.is_empty() {
            return queue.cancel(job).await;
        }
        // If a worker has the job, it cancels them after stopping: earlier, it would treat them as failed.
        let status = queue.request_cancel(job).await?;
        if status != Some(JobStatus::Queued) {
            return Ok(status);
        }
        // If they cannot be canceled immediately, the worker that claims the job waits for them.
        if cancel_started(services, &row).await? { queue.cancel(job).await } else { Ok(status) }
    }
    .boxed()
}

async fn unfinished(services: &Services, job: &JobRow) -> Result<Vec<JobId>, RecordError> {
    let started = started(services, job).await?;
    Ok(started.into_iter().filter(|row| !row.status.is_stopped()).map(|row| row.id).collect())
}

/// Requests cancellation of the unfinished jobs that a job has started. Returns whether all have stopped.
pub(crate) async fn cancel_started(services: &Services, job: &JobRow) -> Result<bool, RecordError> {
    let mut have_all = true;
    for started in unfinished(services, job).await? {
        let status = cancel(services, &started).await?;
        have_all &= status.is_none_or(JobStatus::is_stopped);
    }
    Ok(have_all)
}

/// Cancels the jobs that a canceled job has started, and waits until each has stopped. Returns `false` if a
/// shutdown came first; the next worker of the job then continues.
pub(crate) async fn stop_started(
    services: &Services,
    job: &JobRow,
    shutdown: &CancelToken,
) -> Result<bool, RecordError> {
    let mut polls = 0;
    while !cancel_started(services, job).await? {
        if shutdown.unless_stopped(services.clock.sleep(poll_interval(polls))).await.is_err() {
            return Ok(false);
        }
        polls += 1;
    }
    Ok(true)
}
