//! The limits that jobs, or the parts of one, share: `papertape_core::ports::SharedBudgets`.
//!
//! Whoever spends has one share, which includes its usage: a job in its row of `experiment_jobs`, a part in its row of
//! `job_parts`. A share counts against every limit above it: a part's against its job's limit, and both against the
//! limit of their experiment. A request locks these limits from the top down, so that requests under one limit are
//! answered one after the other.

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::leases::hold;
use crate::read::UsageCost;
use crate::read::jobs::used;
use crate::store::{Store, port};
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::budget::{Grant, JobBudget, Limit, ShareOutcome, ShareRequest, SharedLimit};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::ports::{RecordFuture, SharedBudgets};
use papertape_core::record::{JobStatus, Lease};
use rust_decimal::Decimal;

/// What a share contains beyond the next call is at most this fraction of what is left, for all shares together…
const OF_LEFT: u32 = 2;
/// …and at most this fraction of the limit: when the limit is used up, the shares hold no more than that unused.
const OF_LIMIT: u32 = 16;

impl SharedBudgets for Store {
    fn experiment_limit<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<(ExperimentId, Limit)>> {
        port(self.read_with(job.clone(), |db, job| {
            async move { Ok(experiment(db, job, "").await?.filter(|(_, limit)| *limit != Limit::default())) }
                .boxed()
        }))
    }

    fn request_share<'a>(
        &'a self,
        lease: &'a Lease,
        request: ShareRequest,
    ) -> RecordFuture<'a, ShareOutcome> {
        let answered = self.write_with(lease.clone(), move |db, lease| answer(db, lease, request).boxed());
        port(async move { answered.await.map_err(StoreError::under_lease) }.boxed())
    }
}

/// A limit above a share.
struct Parent {
    of: SharedLimit,
    limit: Limit,
    /// What the other shares hold.
    others: Grant,
    /// The number of shares, including this one.
    shares: u32,
}

async fn answer(db: &mut dyn Db, lease: &Lease, request: ShareRequest) -> Result<ShareOutcome> {
    let ShareRequest { line, held, needed, job_limit } = request;
    let mut parents = Vec::new();
    // Only the parts of a job share its summaries' line.
    if line == JobBudget::Sessions {
        let lock = match db.backend() {
            Backend::Postgres => "FOR UPDATE",
            // Only one writer at a time.
            Backend::Sqlite => "",
        };
        if let Some((experiment, limit)) = experiment(db, &lease.job, lock).await? {
            let (others, shares) = held_by_jobs(db, &experiment, lease).await?;
            parents.push(Parent { of: SharedLimit::Experiment, limit, others, shares });
        }
    }
    if lease.part > 0 {
        hold(db, &lease.job).await?;
        let (others, shares) = held_by_parts(db, lease, line).await?;
        parents.push(Parent { of: SharedLimit::Job, limit: job_limit, others, shares });
    }
    check_lease(db, lease).await?;
    let wanted = held.and(needed);
    if let Some(parent) = parents.iter().find(|parent| !parent.others.and(wanted).is_within(parent.limit)) {
        // What it had beyond that is free for the others.
        store(db, (&lease.job, lease.part), line, held).await?;
        let Parent { of: by, limit, others, .. } = *parent;
        return Ok(ShareOutcome::Denied { by, committed: others.and(held), limit });
    }
    let tokens = parents.iter().filter_map(|parent| parent.more_tokens(wanted)).min();
    let usd = parents.iter().filter_map(|parent| parent.more_usd(wanted)).min();
    let share = wanted.and(Grant { tokens: tokens.unwrap_or_default(), usd: usd.unwrap_or_default() });
    store(db, (&lease.job, lease.part), line, share).await?;
    Ok(ShareOutcome::Granted(Limit { tokens: tokens.map(|_| share.tokens), usd: usd.map(|_| share.usd) }))
}

impl Parent {
    /// How many tokens a share may contain beyond `wanted`; `None` if the limit has none.
    fn more_tokens(&self, wanted: Grant) -> Option<u64> {
        let max = self.limit.tokens?;
        let left = max.saturating_sub(self.others.and(wanted).tokens);
        let part =
            |amount: u64, fraction: u32| amount / u64::from(self.shares.max(1).saturating_mul(fraction));
        Some(part(left, OF_LEFT).min(part(max, OF_LIMIT)))
    }

    /// The same in US dollars.
    fn more_usd(&self, wanted: Grant) -> Option<Decimal> {
        let max = self.limit.usd?;
        let left = (max - self.others.and(wanted).usd).max(Decimal::ZERO);
        let part = |amount: Decimal, fraction: u32| {
            amount / Decimal::from(self.shares.max(1).saturating_mul(fraction))
        };
        Some(part(left, OF_LEFT).min(part(max, OF_LIMIT)))
    }
}

/// A job's experiment and its limit. `lock`: what locks the row until the transaction ends.
async fn experiment(db: &mut dyn Db, job: &JobId, lock: &str) -> Result<Option<(ExperimentId, Limit)>> {
    let sql = format!(
        "SELECT experiment_id, max_tokens, max_usd FROM experiments
         WHERE experiment_id = (SELECT experiment_id FROM experiment_jobs WHERE job_id = $1) {lock}"
    );
    let found: Option<(ExperimentId, Option<u64>, Option<Decimal>)> = db.first(&sql, params![job]).await?;
    Ok(found.map(|(experiment, tokens, usd)| (experiment, Limit { tokens, usd })))
}

/// A job of an experiment, with its share if it is not split.
struct JobShare {
    job: JobId,
    status: JobStatus,
    parts: u32,
    share: Grant,
}

from_row! { impl row => JobShare { job, status, parts, share: Grant { tokens: row.get()?, usd: row.get()? } } }

/// What an experiment's jobs hold, without this one or this part of one, and the number of shares.
async fn held_by_jobs(db: &mut dyn Db, experiment: &ExperimentId, lease: &Lease) -> Result<(Grant, u32)> {
    let sql = "SELECT e.job_id, j.status, j.parts, e.granted_tokens, e.granted_usd
        FROM experiment_jobs e JOIN jobs j ON j.job_id = e.job_id WHERE e.experiment_id = $1";
    let mut jobs: Vec<JobShare> = db.all(sql, params![experiment]).await?;
    let shares = jobs.iter().map(|job| job.parts).sum();
    jobs.retain(|job| job.parts == 1 && job.job != lease.job);
    let ids: Vec<JobId> = jobs.iter().map(|job| job.job.clone()).collect();
    let mut used = used(db, &ids).await?;
    let mut held = Grant::default();
    for JobShare { job, status, share, .. } in jobs {
        // Summaries have their own line. A call may have used more than was reserved for it.
        let used = used.remove(&job).map(|(own, _)| grant(own)).unwrap_or_default();
        held = held.and(if status == JobStatus::Running { used.max(share) } else { used });
    }
    let sql = "SELECT p.tokens, p.usd FROM job_parts p JOIN experiment_jobs e ON e.job_id = p.job_id
        WHERE e.experiment_id = $1 AND NOT (p.job_id = $2 AND p.part = $3)";
    let parts: Vec<(u64, Decimal)> = db.all(sql, params![experiment, &lease.job, lease.part]).await?;
    Ok((held.and(sum(parts)), shares))
}

/// What the other parts of a job hold, and the number of its parts.
async fn held_by_parts(db: &mut dyn Db, lease: &Lease, line: JobBudget) -> Result<(Grant, u32)> {
    let (tokens, usd) = columns(line);
    let sql = format!("SELECT {tokens}, {usd} FROM job_parts WHERE job_id = $1 AND part <> $2");
    let parts: Vec<(u64, Decimal)> = db.all(&sql, params![&lease.job, lease.part]).await?;
    let shares = u32::try_from(parts.len()).unwrap_or(u32::MAX).saturating_add(1);
    Ok((sum(parts), shares))
}

fn sum(shares: Vec<(u64, Decimal)>) -> Grant {
    shares.into_iter().fold(Grant::default(), |sum, (tokens, usd)| sum.and(Grant { tokens, usd }))
}

fn grant(used: UsageCost) -> Grant {
    let tokens = used.usage.input_tokens.saturating_add(used.usage.output_tokens);
    Grant { tokens, usd: used.cost_usd }
}

async fn check_lease(db: &mut dyn Db, lease: &Lease) -> Result<()> {
    let found = match lease.part {
        0 => {
            let sql = "SELECT 1 FROM jobs WHERE job_id = $1 AND lease_epoch = $2";
            db.row(sql, params![&lease.job, lease.epoch]).await?
        }
        part => {
            let sql = "SELECT 1 FROM job_parts WHERE job_id = $1 AND lease_epoch = $2 AND part = $3";
            db.row(sql, params![&lease.job, lease.epoch, part]).await?
        }
    };
    found.map(drop).ok_or(StoreError::LostLease)
}

/// Frees what a part that ends has not used of its shares. The caller has locked the job's row.
pub(crate) async fn release(db: &mut dyn Db, lease: &Lease) -> Result<()> {
    let sql =
        "SELECT tokens, usd, summary_tokens, summary_usd FROM job_parts WHERE job_id = $1 AND part = $2";
    let shares = db.first::<(u64, Decimal, u64, Decimal)>(sql, params![&lease.job, lease.part]).await?;
    if shares.is_none_or(|shares| shares == Default::default()) {
        return Ok(());
    }
    let sql = "SELECT s.input_tokens, s.cached_tokens, s.output_tokens, s.cost_usd, s.estimated_calls,
            s.unpriced_calls, s.detached_input_tokens, s.detached_cached_tokens, s.detached_output_tokens,
            s.detached_cost_usd, s.detached_estimated_calls, s.detached_unpriced_calls
        FROM trading_sessions s JOIN job_details d
            ON d.job_id = s.job_id AND d.date = s.date AND d.model = s.model
        WHERE s.job_id = $1 AND d.part = $2";
    let mut used = (UsageCost::default(), UsageCost::default());
    for (own, summaries) in db.all::<(UsageCost, UsageCost)>(sql, params![&lease.job, lease.part]).await? {
        used = (used.0.and(own), used.1.and(summaries));
    }
    let part = (&lease.job, lease.part);
    store(db, part, JobBudget::Sessions, grant(used.0)).await?;
    store(db, part, JobBudget::Summaries, grant(used.1)).await
}

async fn store(db: &mut dyn Db, (job, part): (&JobId, u32), line: JobBudget, share: Grant) -> Result<()> {
    if part == 0 {
        // A job that is not split shares only the limit of its experiment.
        let sql = "UPDATE experiment_jobs SET granted_tokens = $1, granted_usd = $2 WHERE job_id = $3";
        return db.execute(sql, params![share.tokens, share.usd, job]).await.map(drop);
    }
    let (tokens, usd) = columns(line);
    let sql = format!("UPDATE job_parts SET {tokens} = $1, {usd} = $2 WHERE job_id = $3 AND part = $4");
    db.execute(&sql, params![share.tokens, share.usd, job, part]).await.map(drop)
}

const fn columns(line: JobBudget) -> (&'static str, &'static str) {
    match line {
        JobBudget::Sessions => ("tokens", "usd"),
        JobBudget::Summaries => ("summary_tokens", "summary_usd"),
    }
}
