//! Read access to the trader's memory: rounds, open positions, reflections, and what each session recalled.

use crate::db::{Backend, Db, Statement};
use crate::error::StoreError;
use crate::page::{List, Page, PageRequest, number};
use crate::rows::memory::{
    CONTEXT, GIVEN, REFLECTION, ROUND, read_context, read_given, read_reflection, read_round, side,
};
use crate::search;
use crate::store::Store;
use crate::texts;
use crate::value::{Row, Value, from_row, params};
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

const ROUNDS: List = List { name: "rounds", default: 50, max_limit: 500 };
const OPEN: List = List { name: "open_positions", default: 50, max_limit: 500 };
const TRADES: List = List { name: "trades", default: 50, max_limit: 500 };
const ARCHIVES: List = List { name: "archives", default: 50, max_limit: 500 };

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
    ) -> Result<Page<StoredRound<RoundMemoryRow>>, StoreError> {
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
    ) -> Result<Page<StoredRound<OpenPositionContextRow>>, StoreError> {
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
    ) -> Result<Page<StoredRound<ReflectionRow>>, StoreError> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| trades(db, filter, page).boxed())
            .await
    }

    /// The memory that a session's traders recalled, in step order.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn session_memory(&self, session: SessionId) -> Result<Vec<GivenMemory>, StoreError> {
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
    ) -> Result<Vec<(String, Option<JobId>)>, StoreError> {
        self.read_with((job.clone(), agent.clone()), |db, (job, agent)| {
            async move {
                let sql = "SELECT DISTINCT m.memory_id, m.job FROM session_memory m
                    JOIN trading_sessions s ON s.id = m.session_id
                    WHERE s.job_id = $1 AND s.model = $2 AND m.kind = 'trade'";
                let rows = db.query(sql, params![job, agent]).await?;
                rows.into_iter().map(|mut row| Ok((row.get()?, row.get()?))).collect()
            }
            .boxed()
        })
        .await
    }

    /// Replaces all compacted reflections of these jobs, agents and lengths in one transaction.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn store_archives(
        &self,
        replaced: Vec<(JobId, AgentName, String)>,
        rows: Vec<ArchiveRow>,
    ) -> Result<(), StoreError> {
        self.write_with((replaced, rows), |db, (replaced, rows)| {
            async move {
                for (job, agent, length) in replaced {
                    let sql = "DELETE FROM trade_reflection_archives
                        WHERE job_id = $1 AND model = $2 AND length = $3";
                    db.execute(sql, params![job, agent, length]).await?;
                }
                for row in rows {
                    let sql = "INSERT INTO trade_reflection_archives
                        (job_id, model, length, period, symbol, body) VALUES ($1, $2, $3, $4, $5, $6)
                        ON CONFLICT (job_id, model, length, period, symbol)
                        DO UPDATE SET body = excluded.body";
                    let values =
                        params![&row.job, &row.agent, &row.length, &row.period, &row.symbol, &row.body];
                    db.execute(sql, values).await?;
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
    ) -> Result<Page<ArchiveRow>, StoreError> {
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
) -> Result<Page<StoredRound<RoundMemoryRow>>, StoreError> {
    let mut statement = Statement::new(format!(
        "SELECT id, job_id, model, session_id, created_at, {ROUND} FROM trader_round_memory WHERE pruned = 0"
    ));
    add_owner(&mut statement, filter);
    newest(db, statement, ROUNDS, page, read_round).await
}

async fn open(
    db: &mut dyn Db,
    filter: &MemoryFilter,
    page: &PageRequest,
) -> Result<Page<StoredRound<OpenPositionContextRow>>, StoreError> {
    let mut statement = Statement::new(format!(
        "SELECT id, job_id, model, session_id, created_at, {CONTEXT} FROM open_position_contexts c
         WHERE c.state <> 'closed' AND NOT EXISTS (SELECT 1 FROM open_position_contexts n
             WHERE n.job_id = c.job_id AND n.model = c.model AND n.position_id = c.position_id AND n.id > c.id)"
    ));
    add_owner(&mut statement, filter);
    newest(db, statement, OPEN, page, read_context).await
}

/// A page of rows by ID, newest first.
async fn newest<T>(
    db: &mut dyn Db,
    mut statement: Statement,
    list: List,
    page: &PageRequest,
    read: fn(&mut Row) -> Result<T, StoreError>,
) -> Result<Page<StoredRound<T>>, StoreError> {
    if let Some([id]) = list.key(page)? {
        statement.add(" AND id < ?", [number(&id)?.into()]);
    }
    statement.add(" ORDER BY id DESC LIMIT ?", [Value::from(list.limit(page) + 1)]);
    let rows = statement.query(db).await?;
    let items = rows.into_iter().map(|row| read_stored(row, read)).collect::<Result<Vec<_>, _>>()?;
    Ok(list.page(page, items, |item| vec![item.id.into()]))
}

pub(crate) fn read_stored<T>(
    mut row: Row,
    read: fn(&mut Row) -> Result<T, StoreError>,
) -> Result<StoredRound<T>, StoreError> {
    Ok(from_row!(row => StoredRound {
        id, job, agent, session, created_at, row: read(&mut row)?,
    }))
}

pub(crate) fn add_owner(statement: &mut Statement, filter: &MemoryFilter) {
    statement.add_some(" AND job_id = ?", filter.job.as_ref());
    statement.add_some(" AND model = ?", filter.agent.as_ref());
}

async fn trades(
    db: &mut dyn Db,
    filter: &TradeFilter,
    page: &PageRequest,
) -> Result<Page<StoredRound<ReflectionRow>>, StoreError> {
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
    if let Some([exit, id]) = TRADES.key(page)? {
        statement.add(" AND (exit_time, id) < (?, ?)", [number(&exit)?.into(), number(&id)?.into()]);
    }
    statement.add(" ORDER BY exit_time DESC, id DESC LIMIT ?", [Value::from(TRADES.limit(page) + 1)]);
    let rows = statement.query(db).await?;
    let items =
        rows.into_iter().map(|row| read_stored(row, read_reflection)).collect::<Result<Vec<_>, _>>()?;
    Ok(TRADES.page(page, items, |item| vec![to_micros(item.row.exit_time).into(), item.id.into()]))
}

/// Adds the filter's conditions, except full text search.
pub(crate) fn add_filter(statement: &mut Statement, backend: Backend, filter: &TradeFilter) {
    add_owner(statement, &filter.of);
    statement.add_some(" AND symbol = ?", filter.symbol.as_ref());
    if let Some(direction) = filter.side {
        statement.add(" AND side = ?", [side(direction).into()]);
    }
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

async fn given(db: &mut dyn Db, session: SessionId) -> Result<Vec<GivenMemory>, StoreError> {
    let sql = format!(
        "SELECT m.step_id, s.path, s.outcome_ref, {} FROM session_memory m JOIN steps s ON s.id = m.step_id
         WHERE m.session_id = $1 ORDER BY m.step_id, m.ord",
        GIVEN.split(", ").map(|column| format!("m.{column}")).collect::<Vec<_>>().join(", ")
    );
    let mut steps: BTreeMap<i64, (StepPath, ContentHash, Vec<RecalledMemoryRow>)> = BTreeMap::new();
    for mut row in db.query(&sql, params![session]).await? {
        let (step, path, outcome): (i64, StepPath, ContentHash) = (row.get()?, row.get()?, row.get()?);
        let item = read_given(&mut row)?;
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

async fn archives(
    db: &mut dyn Db,
    filter: &MemoryFilter,
    page: &PageRequest,
) -> Result<Page<ArchiveRow>, StoreError> {
    let mut statement = Statement::new(
        "SELECT id, job_id, model, length, period, symbol, body FROM trade_reflection_archives WHERE 1 = 1",
    );
    add_owner(&mut statement, filter);
    if let Some([id]) = ARCHIVES.key(page)? {
        statement.add(" AND id > ?", [number(&id)?.into()]);
    }
    statement.add(" ORDER BY id LIMIT ?", [Value::from(ARCHIVES.limit(page) + 1)]);
    let read = |mut row: Row| {
        let id: i64 = row.get()?;
        let row = from_row!(row => ArchiveRow {
            job, agent, length, period, symbol, body,
        });
        Ok((id, row))
    };
    let rows = statement.query(db).await?;
    let items = rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
    let page = ARCHIVES.page(page, items, |item| vec![item.0.into()]);
    Ok(Page { items: page.items.into_iter().map(|item| item.1).collect(), next: page.next })
}
