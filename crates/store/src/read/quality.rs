//! Failed and degraded model-days, and order counts by session.

use super::by_key;
use crate::db::{Backend, Db};
use crate::error::Result;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{DayStatus, SessionId};
use papertape_core::time::Date;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model-day that failed or is degraded.
#[derive(Clone, Debug, PartialEq)]
pub struct DegradedDay {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// Its final or current status.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// Metadata and provenance; `None` while the session is open.
    pub metadata: Option<serde_json::Value>,
}

/// How many model-days of a job failed or are degraded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DegradedDays {
    /// Failed days.
    pub failed: u64,
    /// Days that completed but are degraded.
    pub degraded: u64,
    /// The first failed or degraded day, by day and agent.
    pub first: Option<DegradedDay>,
}

/// A session's order counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderCounts {
    /// Orders placed or ended in the session.
    pub orders: u64,
    /// Rejected ones among them.
    pub rejected: u64,
}

const DAY: &str = "s.date, s.model, s.status, s.error, s.metadata";

/// SQL condition of the index `degraded_sessions`; must match its text.
fn is_degraded(backend: Backend, table: &str) -> String {
    match backend {
        Backend::Sqlite => format!(
            "({table}.status = 'failed' OR coalesce(CASE WHEN json_valid({table}.metadata)
                THEN json_extract({table}.metadata, '$.data_quality.state') END, 'ok') <> 'ok')"
        ),
        Backend::Postgres => format!(
            "({table}.status = 'failed'
                OR coalesce({table}.metadata::jsonb #>> '{{data_quality,state}}', 'ok') <> 'ok')"
        ),
    }
}

impl Store {
    /// The number of failed or degraded model-days of each job, and the first of them. Jobs without any are left
    /// out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn degraded_counts(&self, jobs: &[JobId]) -> Result<BTreeMap<JobId, DegradedDays>> {
        let jobs: Arc<[JobId]> = jobs.into();
        self.read_with(jobs, |db, jobs| counts(db, jobs).boxed()).await
    }

    /// A job's failed or degraded model-days, by day and agent.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn degraded_days(&self, job: &JobId) -> Result<Vec<DegradedDay>> {
        self.read_with(job.clone(), |db, job| {
            async move {
                let condition = is_degraded(db.backend(), "s");
                let sql = format!(
                    "SELECT {DAY} FROM trading_sessions s WHERE s.job_id = $1 AND {condition}
                     ORDER BY s.date, s.model"
                );
                db.all(&sql, params![job]).await
            }
            .boxed()
        })
        .await
    }

    /// Order counts of these sessions. Sessions without orders are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn order_counts(&self, sessions: &[SessionId]) -> Result<BTreeMap<SessionId, OrderCounts>> {
        let sessions: Arc<[SessionId]> = sessions.into();
        self.read_with(sessions, |db, sessions| {
            async move {
                let sql = "SELECT session_id, status, count(*) FROM orders WHERE session_id IN (?)
                    GROUP BY session_id, status";
                let rows: BTreeMap<SessionId, Vec<(String, u64)>> = by_key(db, sql, sessions).await?;
                let mut found = BTreeMap::new();
                for (session, rows) in rows {
                    let counts: &mut OrderCounts = found.entry(session).or_default();
                    for (status, count) in rows {
                        counts.orders += count;
                        counts.rejected += if status == "rejected" { count } else { 0 };
                    }
                }
                Ok(found)
            }
            .boxed()
        })
        .await
    }
}

async fn counts(db: &mut dyn Db, jobs: &[JobId]) -> Result<BTreeMap<JobId, DegradedDays>> {
    let condition = is_degraded(db.backend(), "s");
    let sql = format!(
        "SELECT s.job_id, sum(CASE WHEN s.status = 'failed' THEN 1 ELSE 0 END), count(*)
         FROM trading_sessions s WHERE s.job_id IN (?) AND {condition} GROUP BY s.job_id"
    );
    let rows: BTreeMap<JobId, Vec<(u64, u64)>> = by_key(db, &sql, jobs).await?;
    let mut found: BTreeMap<JobId, DegradedDays> = BTreeMap::new();
    for (job, rows) in rows {
        for (failed, all) in rows {
            let degraded = all.saturating_sub(failed);
            found.insert(job.clone(), DegradedDays { failed, degraded, first: None });
        }
    }
    for (job, days) in &mut found {
        let sql = format!(
            "SELECT {DAY} FROM trading_sessions s WHERE s.job_id = $1 AND {condition}
             ORDER BY s.date, s.model LIMIT 1"
        );
        days.first = db.first(&sql, params![job]).await?;
    }
    Ok(found)
}

from_row! { impl row => DegradedDay { date, agent, status, error, metadata } }
