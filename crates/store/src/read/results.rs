//! Session results.

use super::accounts::all_done;
use super::by_key;
use crate::db::{Backend, Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::rows::derived::{ORDER, POSITION, SNAPSHOT};
use crate::store::Store;
use crate::value::{Value, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::money::Money;
use papertape_core::record::{
    DayStatus, HoldingRow, OrderRow, PositionRow, SessionId, SnapshotRow, StartingPosition,
};
use papertape_core::time::{Date, Timestamp};
use std::collections::BTreeMap;

const RESULTS: List = List::ascending("results", (50, 200), "s.date, s.model, s.id");

/// Filter for sessions; conditions are ANDed.
#[derive(Clone, Debug, Default)]
pub struct ResultFilter {
    /// On this day or later.
    pub from: Option<Date>,
    /// On this day or earlier.
    pub to: Option<Date>,
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// Of this job.
    pub job: Option<JobId>,
}

/// Filter for a desk's analyses of an instrument; conditions are ANDed.
#[derive(Clone, Debug)]
pub struct AnalysisFilter {
    /// The instrument.
    pub symbol: Symbol,
    /// On this day.
    pub date: Option<Date>,
    /// Of this job.
    pub job: Option<JobId>,
    /// Of this agent.
    pub agent: Option<AgentName>,
}

/// A session's result. Fields written at the close are `None` until then.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionResult {
    /// The session.
    pub id: SessionId,
    /// Its job.
    pub job: JobId,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// `running` until it is closed.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// The agent's session before this one in the same job.
    pub previous_date: Option<Date>,
    /// The position at the start of the day.
    pub starting: Option<StartingPosition>,
    /// Holdings at the close, by symbol.
    pub holdings: Vec<HoldingRow>,
    /// Cash at the close.
    pub cash: Option<Money>,
    /// Value at the close.
    pub portfolio_value: Option<Money>,
    /// Its actions.
    pub positions: Vec<PositionRow>,
    /// Its orders with their outcomes, including rejections.
    pub orders: Vec<OrderRow>,
    /// Every open position at the close, by symbol.
    pub snapshots: Vec<SnapshotRow>,
    /// Metadata and provenance.
    pub metadata: Option<serde_json::Value>,
    /// Its summary.
    pub session_summary: Option<String>,
}

/// An agent's account at a day's close.
#[derive(Clone, Debug, PartialEq)]
pub struct DailyValue {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// How the day ended.
    pub status: DayStatus,
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// Value at the start of the day.
    pub starting_value: Money,
    /// Metadata and provenance.
    pub metadata: serde_json::Value,
}

impl Store {
    /// Sessions with their results, by day, agent and ID.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn results(&self, filter: &ResultFilter, page: &PageRequest) -> Result<Page<SessionResult>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| results(db, filter, page).boxed())
            .await
    }

    /// One session's result; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn result(&self, session: SessionId) -> Result<Option<SessionResult>> {
        self.read(move |db| {
            async move {
                let mut statement = Statement::new(SESSIONS);
                statement.add(" AND s.id = ?", [session.into()]);
                let mut found = statement.all(db).await?;
                add_rows(db, &mut found).await?;
                Ok(found.pop())
            }
            .boxed()
        })
        .await
    }

    /// When a session was closed; `None` if it is open or does not exist.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn closed_at(&self, session: SessionId) -> Result<Option<Timestamp>> {
        let sql = "SELECT completed_at FROM trading_sessions WHERE id = $1";
        Ok(self.first::<Option<Timestamp>>(sql, params![session]).await?.flatten())
    }

    /// The newest session in which a desk analyzed the instrument, or was about to when its job stopped. `None`
    /// if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn newest_analysis(&self, filter: &AnalysisFilter) -> Result<Option<SessionId>> {
        self.read_with(filter.clone(), |db, filter| newest_analysis(db, filter).boxed()).await
    }

    /// For each agent, the newest stopped simulation that has not been superseded for it and in which all of its
    /// days are done, at least one of them in the job itself and at least one within the filter's days; by agent.
    /// The filter's `job` is ignored.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn newest_results(&self, filter: &ResultFilter) -> Result<Vec<(AgentName, JobId)>> {
        self.read_with(filter.clone(), |db, filter| newest_results(db, filter).boxed()).await
    }

    /// The account values at the closes of a job's sessions, by agent and day: one row per closed model-day.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn daily_values(&self, job: &JobId, agent: Option<&AgentName>) -> Result<Vec<DailyValue>> {
        self.read_with((job.clone(), agent.cloned()), |db, (job, agent)| {
            daily_values(db, job, agent.as_ref()).boxed()
        })
        .await
    }
}

async fn newest_results(db: &mut dyn Db, filter: &ResultFilter) -> Result<Vec<(AgentName, JobId)>> {
    let mut statement = Statement::new("SELECT d.model, d.job_id FROM (");
    for (at, rows) in
        ["trading_sessions WHERE 1 = 1", "job_details WHERE status = 'skipped'"].iter().enumerate()
    {
        let union = if at == 0 { "" } else { " UNION " };
        statement.add(&format!("{union}SELECT job_id, model FROM {rows}"), []);
        statement.add_some(" AND date >= ?", filter.from);
        statement.add_some(" AND date <= ?", filter.to);
        statement.add_some(" AND model = ?", filter.agent.as_ref());
    }
    statement.add(") d JOIN jobs j ON j.job_id = d.job_id WHERE 1 = 1", []);
    all_done(&mut statement);
    statement.add(" ORDER BY d.model, j.created_at DESC, d.job_id DESC", []);
    let mut newest: Vec<(AgentName, JobId)> = statement.all(db).await?;
    newest.dedup_by(|next, kept| next.0 == kept.0);
    Ok(newest)
}

/// The columns that [`result`] reads.
const SESSIONS: &str = "SELECT s.id, s.job_id, s.date, s.model, s.status, s.error,
    (SELECT max(b.date) FROM trading_sessions b
        WHERE b.job_id = s.job_id AND b.model = s.model AND b.date < s.date),
    s.starting_position, s.cash, s.portfolio_value, s.metadata, s.session_summary
    FROM trading_sessions s WHERE 1 = 1";

async fn newest_analysis(db: &mut dyn Db, filter: &AnalysisFilter) -> Result<Option<SessionId>> {
    // A closed session records what it analyzed; for one left open by a stopped job, use the job's config.
    let (analysed, left) = match db.backend() {
        Backend::Sqlite => (
            "EXISTS (SELECT 1 FROM json_each(s.metadata, '$.by_symbol') WHERE key = ?)",
            "EXISTS (SELECT 1 FROM json_each(c.config, '$.symbols') WHERE value = ?)
             AND EXISTS (SELECT 1 FROM json_each(c.config, '$.agents')
                 WHERE json_extract(value, '$.name') = s.model AND json_extract(value, '$.kind') = 'desk')",
        ),
        Backend::Postgres => (
            "jsonb_exists(s.metadata::jsonb -> 'by_symbol', ?)",
            "jsonb_exists(c.config::jsonb -> 'symbols', ?)
             AND EXISTS (SELECT 1 FROM jsonb_array_elements(c.config::jsonb -> 'agents') a
                 WHERE a ->> 'name' = s.model AND a ->> 'kind' = 'desk')",
        ),
    };
    let symbol = Value::from(filter.symbol.as_str());
    let mut statement = Statement::new(
        "SELECT s.id FROM trading_sessions s JOIN jobs j ON j.job_id = s.job_id
            JOIN job_configs c ON c.job_id = s.job_id WHERE (",
    );
    statement.add(&format!("(s.completed_at IS NOT NULL AND {analysed})"), [symbol.clone()]);
    let stopped = "s.completed_at IS NULL AND j.status NOT IN ('queued', 'running')";
    statement.add(&format!(" OR ({stopped} AND {left}))"), [symbol]);
    statement.add_some(" AND s.date = ?", filter.date);
    statement.add_some(" AND s.job_id = ?", filter.job.as_ref());
    statement.add_some(" AND s.model = ?", filter.agent.as_ref());
    statement.add(" ORDER BY s.started_at DESC, s.id DESC LIMIT 1", []);
    statement.first(db).await
}

async fn results(db: &mut dyn Db, filter: &ResultFilter, page: &PageRequest) -> Result<Page<SessionResult>> {
    let mut statement = Statement::new(SESSIONS);
    statement.add_some(" AND s.date >= ?", filter.from);
    statement.add_some(" AND s.date <= ?", filter.to);
    statement.add_some(" AND s.model = ?", filter.agent.as_ref());
    statement.add_some(" AND s.job_id = ?", filter.job.as_ref());
    let key = |item: &SessionResult| (item.date.to_string(), item.agent.clone(), item.id.0);
    let mut page = RESULTS.fetch(db, statement, page, key).await?;

    add_rows(db, &mut page.items).await?;
    Ok(page)
}

/// Loads the rows that belong to the sessions.
async fn add_rows(db: &mut dyn Db, sessions: &mut [SessionResult]) -> Result<()> {
    let ids: Vec<SessionId> = sessions.iter().map(|item| item.id).collect();
    let sql =
        format!("SELECT session_id, {POSITION} FROM positions WHERE session_id IN (?) ORDER BY action_id");
    let mut positions: BTreeMap<_, Vec<PositionRow>> = by_key(db, &sql, &ids).await?;
    let sql = format!("SELECT session_id, {ORDER} FROM orders WHERE session_id IN (?) ORDER BY n");
    let mut orders: BTreeMap<_, Vec<OrderRow>> = by_key(db, &sql, &ids).await?;
    let sql = "SELECT session_id, symbol, quantity, price FROM holdings WHERE session_id IN (?)
        ORDER BY symbol";
    let mut holdings: BTreeMap<_, Vec<HoldingRow>> = by_key(db, sql, &ids).await?;
    let sql = format!(
        "SELECT session_id, {SNAPSHOT} FROM position_snapshots WHERE session_id IN (?) ORDER BY symbol, id"
    );
    let mut snapshots: BTreeMap<_, Vec<SnapshotRow>> = by_key(db, &sql, &ids).await?;
    for item in sessions {
        item.snapshots = snapshots.remove(&item.id).unwrap_or_default();
        item.positions = positions.remove(&item.id).unwrap_or_default();
        item.orders = orders.remove(&item.id).unwrap_or_default();
        item.holdings = holdings.remove(&item.id).unwrap_or_default();
    }
    Ok(())
}

from_row! { impl row => SessionResult {
    id, job, date, agent, status, error, previous_date, starting: row.document()?, holdings: Vec::new(), cash,
    portfolio_value, positions: Vec::new(), orders: Vec::new(), snapshots: Vec::new(), metadata, session_summary,
} }

from_row! { impl row => HoldingRow { symbol, quantity, price } }

from_row! { impl row => DailyValue {
    agent, date, status, cash, portfolio_value,
    starting_value: row.document::<StartingPosition>()?.portfolio_value, metadata,
} }

async fn daily_values(db: &mut dyn Db, job: &JobId, agent: Option<&AgentName>) -> Result<Vec<DailyValue>> {
    let mut statement = Statement::default();
    statement.add(
        "SELECT model, date, status, cash, portfolio_value, starting_position, metadata
         FROM trading_sessions WHERE job_id = ? AND completed_at IS NOT NULL",
        [job.into()],
    );
    statement.add_some(" AND model = ?", agent);
    statement.add(" ORDER BY model, date", []);
    statement.all(db).await
}
