//! The budget that an experiment's jobs share: `papertape_core::ports::ExperimentBudget`.
//!
//! A running job is granted a part of the limit and spends it without asking again. The parts of running jobs and the
//! usage of the others never add up to more than the limit, whichever processes run them: grants of one experiment
//! are made one after the other.

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::read::jobs::used;
use crate::store::{Store, port};
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::budget::{Grant, Limit};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::ports::{ExperimentBudget, RecordFuture};
use papertape_core::record::{GrantOutcome, GrantRequest, JobStatus, Lease};
use rust_decimal::Decimal;

impl ExperimentBudget for Store {
    fn open_share<'a>(&'a self, lease: &'a Lease) -> RecordFuture<'a, Option<(Limit, u32)>> {
        port(self.write_with(lease.clone(), |db, lease| open(db, lease).boxed()))
    }

    fn grant<'a>(&'a self, lease: &'a Lease, request: GrantRequest) -> RecordFuture<'a, GrantOutcome> {
        port(self.write_with(lease.clone(), move |db, lease| grant(db, lease, request).boxed()))
    }
}

/// What a job of an experiment holds.
struct Share {
    job: JobId,
    used: Grant,
    granted: Grant,
    is_running: bool,
}

impl Share {
    fn held(&self) -> Grant {
        if !self.is_running {
            return self.used;
        }
        // A call may have used more than was reserved for it.
        Grant { tokens: self.granted.tokens.max(self.used.tokens), usd: self.granted.usd.max(self.used.usd) }
    }
}

async fn open(db: &mut dyn Db, lease: &Lease) -> Result<Option<(Limit, u32)>> {
    let Some((experiment, limit)) = hold(db, lease).await? else { return Ok(None) };
    if limit == Limit::default() {
        return Ok(None);
    }
    let shares = shares(db, &experiment).await?;
    let count = u32::try_from(shares.len()).unwrap_or(u32::MAX);
    if let Some(own) = shares.into_iter().find(|share| share.job == lease.job) {
        store(db, &lease.job, own.used).await?;
    }
    Ok(Some((limit, count)))
}

async fn grant(db: &mut dyn Db, lease: &Lease, request: GrantRequest) -> Result<GrantOutcome> {
    let Some((experiment, limit)) = hold(db, lease).await? else {
        return Err(StoreError::inconsistent(format!("the job {} belongs to no experiment", lease.job)));
    };
    let shares = shares(db, &experiment).await?;
    let mut committed = Grant::default();
    let mut own = Grant::default();
    for share in &shares {
        let held = share.held();
        committed.tokens = committed.tokens.saturating_add(held.tokens);
        committed.usd = committed.usd.saturating_add(held.usd);
        if share.job == lease.job {
            own = held;
        }
    }
    let GrantRequest { needed, preferred } = request;
    let tokens = match limit.tokens {
        Some(max) => part(needed.tokens, preferred.tokens, max.saturating_sub(committed.tokens)),
        None => Some(needed.tokens),
    };
    let usd = match limit.usd {
        Some(max) => part(needed.usd, preferred.usd, (max - committed.usd).max(Decimal::ZERO)),
        None => Some(needed.usd),
    };
    let (Some(tokens), Some(usd)) = (tokens, usd) else {
        return Ok(GrantOutcome::Denied { committed, limit });
    };
    let held = Grant { tokens: own.tokens.saturating_add(tokens), usd: own.usd.saturating_add(usd) };
    store(db, &lease.job, held).await?;
    Ok(GrantOutcome::Granted(Grant { tokens, usd }))
}

/// The preferred amount while there is plenty, the needed one when little is left; `None` if even that is too much.
fn part<T: Ord + Default + Copy>(needed: T, preferred: T, left: T) -> Option<T> {
    match needed {
        needed if needed == T::default() => Some(needed),
        needed if preferred.max(needed) <= left => Some(preferred.max(needed)),
        needed => (needed <= left).then_some(needed),
    }
}

/// The experiment of a claimed job and its limit, locked until the transaction ends. SQLite has only one writer at a
/// time and needs no lock.
async fn hold(db: &mut dyn Db, lease: &Lease) -> Result<Option<(ExperimentId, Limit)>> {
    let lock = match db.backend() {
        Backend::Postgres => "FOR UPDATE",
        Backend::Sqlite => "",
    };
    let sql = format!(
        "SELECT experiment_id, max_tokens, max_usd FROM experiments
         WHERE experiment_id = (SELECT experiment_id FROM experiment_jobs WHERE job_id = $1) {lock}"
    );
    let found: Option<(ExperimentId, Option<u64>, Option<Decimal>)> =
        db.first(&sql, params![&lease.job]).await?;
    let Some((experiment, tokens, usd)) = found else { return Ok(None) };
    let sql = "SELECT 1 FROM jobs WHERE job_id = $1 AND lease_epoch = $2";
    if db.row(sql, params![&lease.job, lease.epoch]).await?.is_none() {
        return Err(StoreError::LostLease);
    }
    Ok(Some((experiment, Limit { tokens, usd })))
}

async fn shares(db: &mut dyn Db, experiment: &ExperimentId) -> Result<Vec<Share>> {
    let sql = "SELECT e.job_id, j.status, e.granted_tokens, e.granted_usd
        FROM experiment_jobs e JOIN jobs j ON j.job_id = e.job_id WHERE e.experiment_id = $1";
    let rows: Vec<(JobId, JobStatus, u64, Decimal)> = db.all(sql, params![experiment]).await?;
    let jobs: Vec<JobId> = rows.iter().map(|(job, ..)| job.clone()).collect();
    let mut used = used(db, &jobs).await?;
    let share = |(job, status, tokens, usd): (JobId, JobStatus, u64, Decimal)| {
        // Summaries have their own line.
        let (own, _) = used.remove(&job).unwrap_or_default();
        let tokens_used = own.usage.input_tokens.saturating_add(own.usage.output_tokens);
        Share {
            job,
            used: Grant { tokens: tokens_used, usd: own.cost_usd },
            granted: Grant { tokens, usd },
            is_running: status == JobStatus::Running,
        }
    };
    Ok(rows.into_iter().map(share).collect())
}

async fn store(db: &mut dyn Db, job: &JobId, held: Grant) -> Result<()> {
    let sql = "UPDATE experiment_jobs SET granted_tokens = $1, granted_usd = $2 WHERE job_id = $3";
    db.execute(sql, params![held.tokens, held.usd, job]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::part;

    /// Goal: a job gets what it prefers while there is plenty, what it needs when little is left, and nothing beyond.
    #[test]
    fn a_grant_never_exceeds_what_is_left() {
        assert_eq!(part(10, 100, 1_000), Some(100));
        assert_eq!(part(10, 100, 100), Some(100));
        assert_eq!(part(10, 100, 99), Some(10));
        assert_eq!(part(10, 100, 9), None);
        assert_eq!(part(200, 100, 250), Some(200));
        assert_eq!(part(0, 100, 0), Some(0), "nothing is needed of this kind");
    }
}
