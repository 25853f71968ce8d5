//! The input of the metrics: a job's closed model-days with as few columns as possible, because there may be tens
//! of thousands of them.

use super::results::ResultFilter;
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::rows::derived::{ORDER, POSITION};
use crate::store::Store;
use crate::value::{FromRow, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId};
use papertape_core::money::{Money, Quantity};
use papertape_core::record::{DayStatus, HoldingRow, OrderRow, PositionRow, SessionId};
use papertape_core::time::{Date, Timestamp};
use serde::Deserialize;
use std::collections::HashMap;

/// A closed model-day.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedDay {
    /// The session.
    pub id: SessionId,
    /// Its job.
    pub job: JobId,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// How it ended.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// The portfolio value at the start of the day.
    pub starting_value: Money,
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// Gross exposure at the close: long plus short.
    pub gross_exposure: Money,
    /// Metadata and provenance as stored JSON.
    pub metadata: Option<String>,
    /// Its summary.
    pub session_summary: Option<String>,
    /// Its fills, in order.
    pub fills: Vec<PositionRow>,
    /// Its filled orders, in order.
    pub filled: Vec<OrderRow>,
}

/// A stopped job at one epoch: its sessions cannot change without a new epoch, because a job must be claimed to
/// be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoppedJob {
    job: JobId,
    epoch: i64,
    created_at: Timestamp,
}

/// The needed part of a session's starting position: the rest is skipped.
#[derive(Deserialize)]
struct Before {
    portfolio_value: Money,
}

/// SQL condition: the rows of `positions` that are fills.
const IS_FILL: &str = "symbol IS NOT NULL
    AND action_type IN ('buy', 'sell', 'short', 'cover', 'stop', 'target', 'liquidation', 'delisting')";

impl Store {
    /// The closed days that match the filter, by agent, day and job, read on one snapshot.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn closed_days(&self, filter: &ResultFilter) -> Result<Vec<ClosedDay>> {
        self.read_with(filter.clone(), |db, filter| closed_days(db, filter).boxed()).await
    }

    /// The job, if it has stopped; `None` if it does not exist or may still be written.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn stopped(&self, job: &JobId) -> Result<Option<StoppedJob>> {
        let sql = "SELECT lease_epoch, created_at FROM jobs
            WHERE job_id = $1 AND status NOT IN ('queued', 'running')";
        let stopped = self.first(sql, params![job]).await?;
        Ok(stopped.map(|(epoch, created_at)| StoppedJob { job: job.clone(), epoch, created_at }))
    }
}

async fn closed_days(db: &mut dyn Db, filter: &ResultFilter) -> Result<Vec<ClosedDay>> {
    let mut statement = Statement::new(
        "SELECT s.id, s.job_id, s.date, s.model, s.status, s.error, s.starting_position, s.cash, s.portfolio_value,
             s.metadata, s.session_summary",
    );
    from_closed_sessions(&mut statement, filter);
    statement.add(" ORDER BY s.model, s.date, s.job_id", []);
    let mut days = statement.all::<ClosedDay>(db).await?;
    let places: HashMap<SessionId, usize> = days.iter().enumerate().map(|(at, day)| (day.id, at)).collect();
    let sql = "SELECT session_id, symbol, quantity, price FROM holdings WHERE";
    for (session, held) in belonging::<HoldingRow>(db, filter, sql, "symbol").await? {
        if let Some(at) = places.get(&session) {
            days[*at].gross_exposure += (held.price * Quantity(held.quantity.0)).abs();
        }
    }
    let sql = format!("SELECT session_id, {POSITION} FROM positions WHERE {IS_FILL} AND");
    for (session, fill) in belonging(db, filter, &sql, "action_id").await? {
        if let Some(at) = places.get(&session) {
            days[*at].fills.push(fill);
        }
    }
    let sql = format!("SELECT session_id, {ORDER} FROM orders WHERE status = 'filled' AND");
    for (session, order) in belonging(db, filter, &sql, "n").await? {
        if let Some(at) = places.get(&session) {
            days[*at].filled.push(order);
        }
    }
    Ok(days)
}

/// Rows of another table that belong to the filter's sessions, ordered within each session.
async fn belonging<T: FromRow>(
    db: &mut dyn Db,
    filter: &ResultFilter,
    select: &str,
    order: &str,
) -> Result<Vec<(SessionId, T)>> {
    let mut statement = Statement::new(format!("{select} session_id IN (SELECT s.id"));
    from_closed_sessions(&mut statement, filter);
    statement.add(&format!(") ORDER BY session_id, {order}"), []);
    statement.all(db).await
}

/// Adds the condition for the filter's closed sessions.
fn from_closed_sessions(statement: &mut Statement, filter: &ResultFilter) {
    statement.add(
        " FROM trading_sessions s WHERE s.completed_at IS NOT NULL AND s.starting_position IS NOT NULL
            AND s.cash IS NOT NULL AND s.portfolio_value IS NOT NULL",
        [],
    );
    statement.add_some(" AND s.job_id = ?", filter.job.as_ref());
    statement.add_some(" AND s.model = ?", filter.agent.as_ref());
    statement.add_some(" AND s.date >= ?", filter.from);
    statement.add_some(" AND s.date <= ?", filter.to);
}

from_row! { impl row => ClosedDay {
    id, job, date, agent, status, error, starting_value: row.document::<Before>()?.portfolio_value, cash,
    portfolio_value, gross_exposure: Money::ZERO, metadata, session_summary, fills: Vec::new(), filled: Vec::new(),
} }
