//! The data of a job's charts: as few columns as possible, because there may be tens of thousands of model-days.

use super::by_key;
use crate::db::Db;
use crate::error::Result;
use crate::rows::JOB;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId};
use papertape_core::money::Money;
use papertape_core::record::{DayStatus, JobRow, SessionId, StartingPosition};
use papertape_core::time::Date;
use std::collections::BTreeMap;

/// A job's model-days and their closes.
#[derive(Clone, Debug)]
pub struct JobCurves {
    /// The job.
    pub job: JobRow,
    /// Whether cancellation was requested.
    pub cancel_requested: bool,
    /// Its model-days, by date and agent; a skipped day has the job that completed it.
    pub days: Vec<(Date, AgentName, DayStatus, Option<JobId>)>,
    /// Each agent's portfolio value before its first closed day.
    pub starts: Vec<(AgentName, Money)>,
    /// The closes, unordered.
    pub closes: Vec<Close>,
}

/// An account at a close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// Cash plus holdings.
    pub portfolio_value: Money,
    /// The session's metadata as stored JSON.
    pub metadata: String,
}

from_row! { impl row => Close { agent, date, portfolio_value, metadata } }

/// SQL: a job's closed sessions, including those of other jobs that completed its skipped days.
const CLOSED: &str = "WITH closed (id, model, date) AS (
    SELECT id, model, date FROM trading_sessions WHERE job_id = $1 AND completed_at IS NOT NULL
    UNION ALL
    SELECT skipped_session, model, date FROM job_details
    WHERE job_id = $1 AND skipped_session IS NOT NULL)";

impl Store {
    /// The data of a job's charts; `None` if there is no such job.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_curves(&self, job: &JobId) -> Result<Option<JobCurves>> {
        self.read_with(job.clone(), |db, id| { async move {
                let sql = format!("SELECT {JOB}, CASE WHEN cancel_requested = 1 THEN 1 ELSE 0 END FROM jobs WHERE job_id = $1");
                let found = db.first::<(JobRow, bool)>(&sql, params![id]).await?;
                let Some((job, cancel_requested)) = found else { return Ok(None) };
                let sql = "SELECT date, model, status, skipped_job FROM job_details
                    WHERE job_id = $1 ORDER BY date, model";
                let days = db.all(sql, params![id]).await?;
                let sql = format!(
                    "{CLOSED} SELECT s.id, s.model, s.date, s.portfolio_value, s.metadata
                     FROM closed c JOIN trading_sessions s ON s.id = c.id"
                );
                let found: Vec<(SessionId, Close)> = db.all(&sql, params![id]).await?;
                let mut first: BTreeMap<&AgentName, (Date, SessionId)> = BTreeMap::new();
                for (session, close) in &found {
                    let at = (close.date, *session);
                    first.entry(&close.agent).and_modify(|first| *first = at.min(*first)).or_insert(at);
                }
                let first: Vec<SessionId> = first.into_values().map(|(_, session)| session).collect();
                let starts = starting_values(db, &first).await?;
                let closes = found.into_iter().map(|(_, close)| close).collect();
                Ok(Some(JobCurves { job, cancel_requested, days, starts, closes }))
            }.boxed() })
        .await
    }
}

/// The agents' portfolio values at the start of these sessions.
async fn starting_values(db: &mut dyn Db, sessions: &[SessionId]) -> Result<Vec<(AgentName, Money)>> {
    let sql = "SELECT id, model, starting_position FROM trading_sessions WHERE id IN (?)";
    let found: BTreeMap<SessionId, Vec<Start>> = by_key(db, sql, sessions).await?;
    Ok(found
        .into_values()
        .flatten()
        .map(|Start { agent, portfolio_value }| (agent, portfolio_value))
        .collect())
}

struct Start {
    agent: AgentName,
    portfolio_value: Money,
}

from_row! { impl row => Start { agent, portfolio_value: row.document::<StartingPosition>()?.portfolio_value } }
