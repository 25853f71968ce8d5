//! Claims: a candidate is found by a plain query, and claimed by one row's update, which fails if another worker was
//! faster.

use super::candidate::{Attempt, Candidate};
use super::{micros, parts};
use crate::db::Db;
use crate::enqueue::status_event;
use crate::error::Result;
use crate::exclusivity;
use crate::fence::Fence;
use crate::leases::{has_expired, hold};
use crate::rows::JOB;
use crate::value::{Value, from_row, params};
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
    let candidate = candidates.swap_remove(at);
    if candidate.part > 0 {
        hold(db, &candidate.job).await?;
        return parts::claim(db, (owner, lease_for), candidate).await;
    }
    let (now, expired) = (db.backend().now(), has_expired(db, "jobs"));
    let sql = format!(
        "UPDATE jobs SET status = 'running', lease_owner = $1, lease_epoch = lease_epoch + 1,
             lease_until = {now} + $2, next_seq = next_seq + 1, error = NULL, completed_at = NULL,
             started_at = coalesce(started_at, {now}),
             crashes = crashes + CASE WHEN status = 'running' THEN 1 ELSE 0 END
         WHERE job_id = $3 AND lease_epoch = $4 AND (status = 'queued' OR (status = 'running' AND {expired}))
         RETURNING lease_epoch, next_seq, {now}, {JOB}"
    );
    let values = params![owner, micros(lease_for), &candidate.job, candidate.epoch];
    let claimed = db.first::<(i64, i64, Timestamp, JobRow)>(&sql, values).await?;
    let Some((epoch, end, at, job)) = claimed else { return Ok(Attempt::TooLate) };
    let mut fence = Fence::of(job.id.clone(), end, 1);
    status_event(db, &mut fence, JobStatus::Running, None, at).await?;
    if job.kind == JobKind::PlanExecute {
        exclusivity::mark_plan_running(db, &job.id, at).await?;
    }
    Ok(Attempt::Claimed(Box::new((Lease { job: job.id.clone(), part: 0, epoch }, job))))
}

/// The jobs and parts that can be claimed: the assistant's first, then the oldest.
async fn candidates(db: &mut dyn Db, filter: &ClaimFilter) -> Result<Vec<Candidate>> {
    let (only_these, values): (String, Vec<Value>) = match filter {
        ClaimFilter::Any => (String::new(), Vec::new()),
        ClaimFilter::Job(job) => {
            // When this very job is requested, wait for a transaction that is still open.
            hold(db, job).await?;
            ("AND j.job_id = $1".to_owned(), vec![job.into()])
        }
        ClaimFilter::Kinds(kinds) => {
            let places: Vec<String> = (1..=kinds.len()).map(|place| format!("${place}")).collect();
            (format!("AND j.kind IN ({})", places.join(", ")), kinds.iter().map(Value::from).collect())
        }
    };
    let (job_expired, part_expired) = (has_expired(db, "j"), has_expired(db, "p"));
    let assistants = exclusivity::sql_list(JobKind::ASSISTANT);
    let sql = format!(
        "SELECT job_id, part, lease_epoch FROM (
             SELECT j.job_id, 0 AS part, j.lease_epoch, j.kind, j.created_at FROM jobs j
             WHERE (j.status = 'queued' OR (j.status = 'running' AND {job_expired})) AND j.parts = 1
                 AND j.rules_version <= {RULES_VERSION} {only_these}
             UNION ALL
             SELECT j.job_id, p.part, p.lease_epoch, j.kind, j.created_at
             FROM job_parts p JOIN jobs j ON j.job_id = p.job_id
             WHERE (p.status = 'queued' OR (p.status = 'running' AND {part_expired}))
                 AND j.rules_version <= {RULES_VERSION} {only_these}) candidates
         ORDER BY CASE WHEN kind IN ({assistants}) THEN 0 ELSE 1 END, created_at, job_id, part LIMIT {SPREAD}"
    );
    db.all(&sql, &values).await
}

from_row! { impl row => Candidate { job, part, epoch } }
