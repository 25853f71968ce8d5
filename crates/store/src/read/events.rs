//! A job's events: the stream, as rows.

use crate::error::StoreError;
use crate::store::Store;
use crate::value::{Row, params};
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::time::Timestamp;
use serde_json::Value;

/// The most events of one answer.
const MOST: u32 = 1000;

/// A row of `job_events`.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEvent {
    /// Its number, from 1, without gaps.
    pub n: i64,
    /// `message`, `order`, `node`, `progress`, `job` or `end`.
    pub kind: String,
    /// What happened, by reference to the rows.
    pub data: Value,
    /// When.
    pub at: Timestamp,
}

impl Store {
    /// A job's events after number `after` (0: from the beginning), at most `limit` and a thousand.
    /// Numbers become visible in their order, so that nothing is missed by asking on from the last.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn events(&self, job: &JobId, after: i64, limit: u32) -> Result<Vec<JobEvent>, StoreError> {
        let job = job.clone();
        self.read(move |db| {
            let job = job.clone();
            async move {
                let sql = "SELECT n, kind, data, created_at FROM job_events
                    WHERE job_id = $1 AND n > $2 ORDER BY n LIMIT $3";
                let rows = db.query(sql, params![&job, after, limit.clamp(1, MOST)]).await?;
                let read = |mut row: Row| {
                    Ok(JobEvent { n: row.get()?, kind: row.get()?, data: row.get()?, at: row.get()? })
                };
                rows.into_iter().map(read).collect()
            }
            .boxed()
        })
        .await
    }
}
