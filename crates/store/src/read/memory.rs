//! Read access to the trader's memory: rounds, open positions, reflections, and what each session recalled.

use crate::db::{Backend, Db, Statement};
use crate::error::{Result, StoreError};
use crate::page::{List, Page, PageRequest};
use crate::rows::memory::{CONTEXT, GIVEN, REFLECTION, ROUND};
use crate::search;
use crate::store::Store;
use crate::texts;
use crate::value::{FromRow, Row, columns, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::ledger::Direction;
use papertape_core::record::{
    ErrorTag, OpenPositionContextRow, RecalledMemoryRow, ReflectionRow, RoundMemoryRow, SessionId,
};
use papertape_core::tape::StepPath;
use papertape_core::time::{Timestamp, to_micros};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

const ROUNDS: List = List::descending("rounds", (50, 500), "id");
const OPEN: List = List::descending("open_positions", (50, 500), "id");
const TRADES: List = List::descending("trades", (50, 500), "exit_time, id");
const ARCHIVES: List = List::ascending("archives", (50, 500), "id");

/// A stored memory with the session that wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRound<T> {
    /// Row ID, in commit order.
    pub id: i64,
    /// The job.
    pub job: JobId,
    /// The agent.
    pub agent: AgentName,
    /// The session.
    pub session: SessionId,
    /// When it was written.
    pub created_at: Timestamp,
    /// The memory.
    pub row: T,
}

/// Filter by owner of the memories.
#[derive(Clone, Debug, Default)]
pub struct MemoryFilter {
    /// Of this job.
    pub job: Option<JobId>,
    /// Of this agent.
    pub agent: Option<AgentName>,
}

/// Filter for reflections; conditions are ANDed.
#[derive(Clone, Debug, Default)]
pub struct TradeFilter {
    /// Of this job and agent.
    pub of: MemoryFilter,
    /// Containing all of these words.
    pub query: Option<String>,
    /// On this instrument.
    pub symbol: Option<Symbol>,
    /// Long or short.
    pub side: Option<Direction>,
    /// With this tag.
    pub tag: Option<ErrorTag>,
    /// With at least this PnL.
    pub min_pnl: Option<Decimal>,
    /// With at most this PnL.
    pub max_pnl: Option<Decimal>,
    /// Closed at or after this instant.
    pub from: Option<Timestamp>,
    /// Closed before this instant.
    pub before: Option<Timestamp>,
    /// Known by this instant: what a simulation may see at that time.
    pub known_by: Option<Timestamp>,
}

/// The memory that a step recalled for its trader.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenMemory {
    /// The step.
    pub path: StepPath,
    /// The whole block, as it appears in the prompt.
    pub text: String,
    /// The recalled items, each with its text.
    pub items: Vec<(RecalledMemoryRow, String)>,
}

/// Compacted reflections of a period.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchiveRow {
    /// The job.
    pub job: JobId,
    /// The agent.
    pub agent: AgentName,
    /// `quarter` or `half-year`.
    pub length: String,
    /// `2012-Q4`.
    pub period: String,
    /// The instrument.
    pub symbol: Symbol,
    /// Their aggregate.
    pub body: serde_json::Value,
}

impl Store {
    /// Stored rounds, newest first.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn memory_rounds(
        &self,
        filter: &MemoryFilter,
        page: &PageRequest,
    ) -> Result<Page<StoredRound<RoundMemoryRow>>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| rounds(db, filter, page).boxed())
            .await
    }

    /// Contexts of open positions, newest first.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn memory_open(
        &self,
        filter: &MemoryFilter,
        page: &PageRequest,
    ) -> Result<Page<StoredRound<OpenPositionContextRow>>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| open(db, filter, page).boxed())
            .await
    }

    /// Reflections, newest exit first.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn memory_trades(
        &self,
        filter: &TradeFilter,
        page: &PageRequest,
    ) -> Result<Page<StoredRound<ReflectionRow>>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| trades(db, filter, page).boxed())
            .await
    }

    /// The memory that a session's traders recalled, in step order.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn session_memory(&self, session: SessionId) -> Result<Vec<GivenMemory>> {
        self.read(move |db| given(db, session).boxed()).await
    }

    /// The distinct IDs of the reflections that a job's sessions recalled for an agent, each with the job from
    /// which it was taken over.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn lessons_given(
        &self,
        job: &JobId,
        agent: &AgentName,
    ) -> Result<Vec<(String, Option<JobId>)>> {
        let sql = "SELECT DISTINCT m.memory_id, m.job FROM session_memory m
            JOIN trading_sessions s ON s.id = m.session_id
            WHERE s.job_id = $1 AND s.model = $2 AND m.kind = 'trade'";
        self.all(sql, params![job, agent]).await
    }

    /// Replaces all compacted reflections of these jobs, agents and lengths in one transaction.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn store_archives(
        &self,
        replaced: Vec<(JobId, AgentName, String)>,
        rows: Vec<ArchiveRow>,
    ) -> Result<()> {
        self.write_with((replaced, rows), |db, (replaced, rows)| {
            async move {
                for (job, agent, length) in replaced {
                    let sql = "DELETE FROM trade_reflection_archives
                        WHERE job_id = $1 AND model = $2 AND length = $3";
                    db.execute(sql, params![job, agent, length]).await?;
                }
                for row in rows {
                    let columns = columns! {
                        job_id: &row.job, model: &row.agent, length: &row.length, period: &row.period,
                        symbol: &row.symbol, body: &row.body,
                    };
                    let changes = " ON CONFLICT (job_id, model, length, period, symbol)
                        DO UPDATE SET body = excluded.body";
                    Statement::insert("trade_reflection_archives", columns)
                        .add(changes, [])
                        .execute(db)
                        .await?;
                }
                Ok(())
            }
            .boxed()
        })
        .await
    }

    /// Compacted reflections, in the order in which they were first created.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn memory_archives(
        &self,
        filter: &MemoryFilter,
        page: &PageRequest,
    ) -> Result<Page<ArchiveRow>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| {
            archives(db, filter, page).boxed()
        })
        .await
    }
}

async fn rounds(
    db: &mut dyn Db,
    filter: &MemoryFilter,
    page: &PageRequest,
) -> Result<Page<StoredRound<RoundMemoryRow>>> {
    let mut statement = Statement::new(format!(
        "SELECT id, job_id, model, session_id, created_at, {ROUND} FROM trader_round_memory WHERE pruned = 0"
    ));
    add_owner(&mut statement, filter);
    ROUNDS.fetch(db, statement, page, |item: &StoredRound<_>| (item.id,)).await
}

async fn open(
    db: &mut dyn Db,
    filter: &MemoryFilter,
    page: &PageRequest,
) -> Result<Page<StoredRound<OpenPositionContextRow>>> {
    let mut statement = Statement::new(format!(
        "SELECT id, job_id, model, session_id, created_at, {CONTEXT} FROM open_position_contexts c
         WHERE c.state <> 'closed' AND NOT EXISTS (SELECT 1 FROM open_position_contexts n
             WHERE n.job_id = c.job_id AND n.model = c.model AND n.position_id = c.position_id AND n.id > c.id)"
    ));
    add_owner(&mut statement, filter);
    OPEN.fetch(db, statement, page, |item: &StoredRound<_>| (item.id,)).await
}

impl<T: FromRow> FromRow for StoredRound<T> {
    fn from_row(row: &mut Row) -> Result<Self> {
        Ok(from_row!(row => Self { id, job, agent, session, created_at, row }))
    }
}

pub(crate) fn add_owner(statement: &mut Statement, filter: &MemoryFilter) {
    statement.add_some(" AND job_id = ?", filter.job.as_ref());
    statement.add_some(" AND model = ?", filter.agent.as_ref());
}

async fn trades(
    db: &mut dyn Db,
    filter: &TradeFilter,
    page: &PageRequest,
) -> Result<Page<StoredRound<ReflectionRow>>> {
    let mut statement = Statement::new(format!(
        "SELECT id, job_id, model, session_id, created_at, {REFLECTION} FROM trade_reflections WHERE 1 = 1"
    ));
    if let Some(query) = &filter.query {
        let Some((condition, words)) = search::condition(db.backend(), "text_id", query) else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        statement.add(&format!(" AND {condition}"), [words]);
    }
    add_filter(&mut statement, db.backend(), filter);
    let key = |item: &StoredRound<ReflectionRow>| (to_micros(item.row.exit_time), item.id);
    TRADES.fetch(db, statement, page, key).await
}

/// Adds the filter's conditions, except full text search.
pub(crate) fn add_filter(statement: &mut Statement, backend: Backend, filter: &TradeFilter) {
    add_owner(statement, &filter.of);
    statement.add_some(" AND symbol = ?", filter.symbol.as_ref());
    statement.add_some(" AND side = ?", filter.side);
    if let Some(tag) = filter.tag {
        // The list is canonical JSON, and tags contain no quotes.
        let word = format!("\"{tag}\"");
        let find = match backend {
            Backend::Sqlite => " AND instr(error_tags, ?) > 0",
            Backend::Postgres => " AND strpos(error_tags, CAST(? AS TEXT)) > 0",
        };
        statement.add(find, [word.into()]);
    }
    let pnl = match backend {
        Backend::Sqlite => ("pnl_real", "CAST(? AS REAL)"),
        Backend::Postgres => ("pnl", "CAST(? AS NUMERIC)"),
    };
    for (bound, sign) in [(filter.min_pnl, ">="), (filter.max_pnl, "<=")] {
        if let Some(bound) = bound {
            statement.add(&format!(" AND {} {sign} {}", pnl.0, pnl.1), [bound.into()]);
        }
    }
    statement.add_some(" AND exit_time >= ?", filter.from);
    statement.add_some(" AND exit_time < ?", filter.before);
    statement.add_some(" AND known_at <= ?", filter.known_by);
}

async fn given(db: &mut dyn Db, session: SessionId) -> Result<Vec<GivenMemory>> {
    let sql = format!(
        "SELECT m.step_id, s.path, s.outcome_ref, {} FROM session_memory m JOIN steps s ON s.id = m.step_id
         WHERE m.session_id = $1 ORDER BY m.step_id, m.ord",
        GIVEN.split(", ").map(|column| format!("m.{column}")).collect::<Vec<_>>().join(", ")
    );
    let mut steps: BTreeMap<i64, (StepPath, ContentHash, Vec<RecalledMemoryRow>)> = BTreeMap::new();
    for ((step, path, outcome), item) in db.all::<((i64, _, _), _)>(&sql, params![session]).await? {
        steps.entry(step).or_insert_with(|| (path, outcome, Vec::new())).2.push(item);
    }
    let outcomes: BTreeSet<ContentHash> = steps.values().map(|step| step.1).collect();
    let outcomes = texts::documents(db, &outcomes).await?;
    let read_step = |(path, outcome, rows): (StepPath, ContentHash, Vec<RecalledMemoryRow>)| {
        let document = outcomes
            .get(&outcome)
            .ok_or_else(|| StoreError::inconsistent(format!("the outcome of {path} is gone")))?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let items = rows.into_iter().enumerate();
        let items = items.map(|(at, row)| (row, text(&document["shown"][at]["text"]))).collect();
        Ok(GivenMemory { text: text(&document["text"]), path, items })
    };
    steps.into_values().map(read_step).collect()
}

async fn archives(db: &mut dyn Db, filter: &MemoryFilter, page: &PageRequest) -> Result<Page<ArchiveRow>> {
    let mut statement = Statement::new(
        "SELECT id, job_id, model, length, period, symbol, body FROM trade_reflection_archives WHERE 1 = 1",
    );
    add_owner(&mut statement, filter);
    let page = ARCHIVES.fetch(db, statement, page, |item: &(i64, ArchiveRow)| (item.0,)).await?;
    Ok(Page { items: page.items.into_iter().map(|item| item.1).collect(), next: page.next })
}

from_row! { impl row => ArchiveRow { job, agent, length, period, symbol, body } }
