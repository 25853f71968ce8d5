//! The first statement of every transaction of a job, or of a part of one: it checks the lease against the database's, blocks other
//! of its transactions until this one ends, and reserves the numbers of its events.

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::value::params;
use papertape_core::id::JobId;
use papertape_core::json;
use papertape_core::part::event_number;
use papertape_core::record::Lease;
use papertape_core::time::Timestamp;
use serde_json::Value;

/// A job, or a part of one, to which this transaction has exclusive access.
#[derive(Debug)]
pub(crate) struct Fence {
    job: JobId,
    /// 0: the job itself.
    part: u32,
    next: i64,
    end: i64,
}

impl Fence {
    /// Locks the job and reserves numbers for at most `events` events.
    pub(crate) async fn take(db: &mut dyn Db, lease: &Lease, events: usize) -> Result<Self> {
        Self::take_for(db, lease, events, false).await
    }

    /// Like `take`; if the transaction makes progress, it also resets the job's count of crashes.
    pub(crate) async fn take_for(
        db: &mut dyn Db,
        lease: &Lease,
        events: usize,
        is_progress: bool,
    ) -> Result<Self> {
        let count = i64::try_from(events).unwrap_or(i64::MAX);
        let is_progress = i64::from(!is_progress);
        let row = if lease.part == 0 {
            let sql = "UPDATE jobs SET next_seq = next_seq + $1, crashes = crashes * $4
                 WHERE job_id = $2 AND lease_epoch = $3 RETURNING next_seq";
            db.row(sql, params![count, &lease.job, lease.epoch, is_progress]).await?
        } else {
            let sql = "UPDATE job_parts SET next_seq = next_seq + $1, crashes = crashes * $4
                 WHERE job_id = $2 AND lease_epoch = $3 AND part = $5 RETURNING next_seq";
            db.row(sql, params![count, &lease.job, lease.epoch, is_progress, lease.part]).await?
        };
        let end: i64 = row.ok_or(StoreError::LostLease)?.get()?;
        Ok(Self { job: lease.job.clone(), part: lease.part, next: end - count, end })
    }

    /// A job that an earlier statement of this transaction has changed; reserves numbers for at most `events`
    /// events.
    pub(crate) async fn held(db: &mut dyn Db, job: &JobId, events: usize) -> Result<Self> {
        let count = i64::try_from(events).unwrap_or(i64::MAX);
        let sql = "UPDATE jobs SET next_seq = next_seq + $1 WHERE job_id = $2 RETURNING next_seq";
        let missing = || StoreError::inconsistent(format!("the job {job} is not there"));
        let end = db.row(sql, params![count, job]).await?.ok_or_else(missing)?.get()?;
        Ok(Self::of(job.clone(), end, count))
    }

    /// The job after a statement that set `next_seq` to `end`, which reserves `count` numbers.
    pub(crate) fn of(job: JobId, end: i64, count: i64) -> Self {
        Self { job, part: 0, next: end - count, end }
    }

    /// The job.
    pub(crate) fn job(&self) -> &JobId {
        &self.job
    }

    /// The number of the next event.
    pub(crate) fn next(&self) -> i64 {
        event_number(self.part, self.next)
    }

    /// Adds an event and returns its number.
    pub(crate) async fn event(
        &mut self,
        db: &mut dyn Db,
        kind: &str,
        data: &Value,
        at: Timestamp,
    ) -> Result<i64, StoreError> {
        self.event_text(db, kind, json::canonical(data), at).await
    }

    /// Like [`Self::event`], with the data's canonical JSON.
    pub(crate) async fn event_text(
        &mut self,
        db: &mut dyn Db,
        kind: &str,
        data: String,
        at: Timestamp,
    ) -> Result<i64, StoreError> {
        if self.next >= self.end {
            return Err(StoreError::inconsistent("a transaction has more events than it has reserved"));
        }
        let n = event_number(self.part, self.next);
        self.next += 1;
        db.execute(
            "INSERT INTO job_events (job_id, n, kind, data, created_at) VALUES ($1, $2, $3, $4, $5)",
            params![&self.job, n, kind, data, at],
        )
        .await?;
        Ok(n)
    }

    /// Returns unused numbers. The job's row is locked, so no other transaction has taken a later number.
    pub(crate) async fn settle(self, db: &mut dyn Db) -> Result<()> {
        if self.next == self.end {
            return Ok(());
        }
        if self.part == 0 {
            let sql = "UPDATE jobs SET next_seq = $1 WHERE job_id = $2";
            db.execute(sql, params![self.next, &self.job]).await?;
        } else {
            let sql = "UPDATE job_parts SET next_seq = $1 WHERE job_id = $2 AND part = $3";
            db.execute(sql, params![self.next, &self.job, self.part]).await?;
        }
        Ok(())
    }
}
