//! Claims: a candidate is found by a plain query, and claimed by one row's update, which fails if another worker was
//! faster.

use super::heartbeat::has_expired;
use super::micros;
use crate::db::{Backend, Db};
use crate::enqueue::status_event;
use crate::error::Result;
use crate::exclusivity;
use crate::fence::Fence;
use crate::rows::JOB;
use crate::value::{Value, params};
use papertape_core::RULES_VERSION;
use papertape_core::id::JobId;
use papertape_core::record::{JobKind, JobRow, JobStatus, Lease};
use papertape_core::time::Timestamp;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// How many of the oldest candidates workers spread over that were too late for the oldest one.
const SPREAD: u32 = 16;

/// Which jobs a worker would claim.
pub(super) enum ClaimFilter {
    Any,
    Job(JobId),
    /// Of one of these kinds.
    Kinds(Vec<JobKind>),
}

/// The outcome of an attempt to claim a job.
pub(super) enum Attempt {
    Claimed(Box<(Lease, JobRow)>),
    /// Another worker was faster. There may be more jobs.
    TooLate,
    /// There is no job to claim.
    Nothing,
}

/// Tries to claim one job: the oldest, or after a failed attempt any of the oldest ones, so that workers that are
/// woken at once do not all try the same. Each attempt needs a transaction of its own, which locks one row.
pub(super) async fn claim(
    db: &mut dyn Db,
    owner: &str,
    lease_for: Duration,
    (filter, was_late): (&ClaimFilter, bool),
) -> Result<Attempt> {
    let mut candidates = candidates(db, filter).await?;
    if candidates.is_empty() {
        return Ok(Attempt::Nothing);
    }
    let at = match was_late {
        true => usize::try_from(RandomState::new().build_hasher().finish()).unwrap_or(0) % candidates.len(),
        false => 0,
    };
    let (id, seen) = candidates.swap_remove(at);
    let (now, expired) = (db.backend().now(), has_expired(db, "jobs"));
    let sql = format!(
        "UPDATE jobs SET status = 'running', lease_owner = $1, lease_epoch = lease_epoch + 1,
             lease_until = {now} + $2, next_seq = next_seq + 1, error = NULL, completed_at = NULL,
             started_at = coalesce(started_at, {now}),
             crashes = crashes + CASE WHEN status = 'running' THEN 1 ELSE 0 END
         WHERE job_id = $3 AND lease_epoch = $4 AND (status = 'queued' OR (status = 'running' AND {expired}))
         RETURNING lease_epoch, next_seq, {now}, {JOB}"
    );
    let values = params![owner, micros(lease_for), &id, seen];
    let claimed = db.first::<(i64, i64, Timestamp, JobRow)>(&sql, values).await?;
    let Some((epoch, end, at, job)) = claimed else { return Ok(Attempt::TooLate) };
    let mut fence = Fence::of(job.id.clone(), end, 1);
    status_event(db, &mut fence, JobStatus::Running, None, at).await?;
    if job.kind == JobKind::PlanExecute {
        exclusivity::mark_plan_running(db, &job.id, at).await?;
    }
    Ok(Attempt::Claimed(Box::new((Lease { job: job.id.clone(), epoch }, job))))
}

/// The jobs that can be claimed, with their epochs: the assistant's first, then the oldest.
async fn candidates(db: &mut dyn Db, filter: &ClaimFilter) -> Result<Vec<(JobId, i64)>> {
    let (only_these, values): (String, Vec<Value>) = match filter {
        ClaimFilter::Any => (String::new(), Vec::new()),
        ClaimFilter::Job(job) => ("AND job_id = $1".to_owned(), vec![job.into()]),
        ClaimFilter::Kinds(kinds) => {
            let places: Vec<String> = (1..=kinds.len()).map(|place| format!("${place}")).collect();
            (format!("AND kind IN ({})", places.join(", ")), kinds.iter().map(Value::from).collect())
        }
    };
    let lock = match (db.backend(), filter) {
        // When this very job is requested, wait for a transaction that is still open.
        (Backend::Postgres, ClaimFilter::Job(_)) => "FOR UPDATE",
        _ => "",
    };
    let (expired, assistants) = (has_expired(db, "jobs"), exclusivity::sql_list(JobKind::ASSISTANT));
    let sql = format!(
        "SELECT job_id, lease_epoch FROM jobs
         WHERE (status = 'queued' OR (status = 'running' AND {expired}))
             AND rules_version <= {RULES_VERSION} {only_these}
         ORDER BY CASE WHEN kind IN ({assistants}) THEN 0 ELSE 1 END, created_at, job_id LIMIT {SPREAD} {lock}"
    );
    db.all(&sql, &values).await
}
