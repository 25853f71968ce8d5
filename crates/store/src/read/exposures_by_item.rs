//! From a datum to the sessions that saw it.

use super::by_key;
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::rows::derived::EXPOSURE;
use crate::store::Store;
use crate::value::Value;
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::{DayStatus, ExposureRow, MemoryKind, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::{Date, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

const SHOWN: List = List::descending("shown", (50, 200), "e.session_id");
/// Max reads listed per session; the rest is only counted.
const MAX_READS: usize = 20;

/// Filter for rows of the exposure record.
#[derive(Clone)]
pub struct ShownFilter {
    /// The dataset's content hash.
    pub dataset: ContentHash,
    /// The series that contain it.
    pub series: Vec<String>,
    /// The read's rows begin on or before this day…
    pub to: Date,
    /// …and end on or after it.
    pub from: Date,
    /// The newest of them became known at or after this instant.
    pub known_from: Option<Timestamp>,
    /// The newest of them became known before this instant.
    pub known_before: Option<Timestamp>,
    /// Of sessions of this job.
    pub job: Option<JobId>,
    /// Of sessions of this agent.
    pub agent: Option<AgentName>,
    /// Predicate for what days and instants cannot decide: whether the read contains the datum.
    pub shows: Option<ExposurePredicate>,
}

/// Whether a read contains the datum.
pub type ExposurePredicate = Arc<dyn Fn(&ExposureRow) -> bool + Send + Sync>;

/// Filter for sessions that recalled one memory.
#[derive(Clone, Debug)]
pub struct GivenFilter {
    /// What kind.
    pub kind: MemoryKind,
    /// ID of the round, position or trade.
    pub memory_id: String,
    /// The job whose memory it is.
    pub job: JobId,
    /// The agent whose memory it is.
    pub agent: AgentName,
}

/// A session that saw a datum.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSession {
    /// The session.
    pub session: SessionId,
    /// Its job.
    pub job: JobId,
    /// Its trading day.
    pub date: Date,
    /// Its agent.
    pub agent: AgentName,
    /// Its status.
    pub status: DayStatus,
    /// The first reads of the datum, in commit order.
    pub reads: Vec<ShownRead>,
    /// Number of reads of the datum.
    pub read_count: usize,
}

/// One read of a datum.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownRead {
    /// The step that read.
    pub path: StepPath,
    /// The message that contains it: the tool's result, or the prompt.
    pub message_index: Option<u32>,
    /// The tool that read.
    pub tool: Option<String>,
    /// The row of the exposure record; `None` for a memory.
    pub shown: Option<ExposureRow>,
    /// When the newest row read, or the memory, became known.
    pub known_at: Option<Timestamp>,
}

impl Store {
    /// The sessions whose agent saw the datum, most recently opened first. Data read only for bookkeeping or
    /// order sizing was not seen by an agent. A page may be short or empty if `shows` filters sessions out; there
    /// are more pages as long as there is a cursor.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn shown_to(&self, filter: &ShownFilter, page: &PageRequest) -> Result<Page<ShownSession>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| {
            shown_to(db, filter, page).boxed()
        })
        .await
    }

    /// The sessions whose trader recalled this memory, most recently opened first: those of its own job, and of
    /// jobs that took its memory over.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn given_to(&self, filter: &GivenFilter, page: &PageRequest) -> Result<Page<ShownSession>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| {
            given_to(db, filter, page).boxed()
        })
        .await
    }
}

/// The columns that [`read`] reads, after the session.
const READ: &str = "s.path,
    (SELECT min(m.message_index) FROM reasoning_log_rows m
        WHERE m.session_id = e.session_id AND m.step_id = e.step_id),
    (SELECT min(m.tool_name) FROM reasoning_log_rows m
        WHERE m.session_id = e.session_id AND m.step_id = e.step_id)";

/// Excludes steps whose reads reach no agent.
const TOLD: &str = "s.kind NOT IN ('book', 'sizing')";

async fn shown_to(db: &mut dyn Db, filter: &ShownFilter, page: &PageRequest) -> Result<Page<ShownSession>> {
    let before = SHOWN.key::<(i64,)>(page)?.map(|(session,)| session);
    let limit = SHOWN.limit(page) + 1;
    // One index scan per series, so that each can stop at the end of the page.
    let mut ids: BTreeSet<SessionId> = BTreeSet::new();
    for series in &filter.series {
        let mut statement = Statement::new("SELECT DISTINCT e.session_id FROM exposures e WHERE 1 = 1");
        statement.add(
            " AND e.dataset_id = (SELECT d.id FROM exposure_datasets d WHERE d.hash = ?) AND e.series = ?",
            [filter.dataset.into(), series.into()],
        );
        statement.add_some(" AND e.session_id < ?", before);
        conditions(&mut statement, filter);
        statement.add(&format!(" AND EXISTS (SELECT 1 FROM steps s WHERE s.id = e.step_id AND {TOLD})"), []);
        statement.add(" ORDER BY e.session_id DESC LIMIT ?", [limit.into()]);
        ids.extend(statement.all::<SessionId>(db).await?);
    }
    let newest: Vec<SessionId> = ids.into_iter().rev().take(limit).collect();
    let Page { items: ids, next } = SHOWN.page(page, newest, |id| (id.0,));
    let mut reads = reads_of(db, filter, &ids).await?;
    if let Some(shows) = &filter.shows {
        for reads in reads.values_mut() {
            reads.retain(|read| read.shown.as_ref().is_some_and(|shown| shows(shown)));
        }
    }
    Ok(Page { items: sessions(db, &ids, reads).await?, next })
}

/// The filter's conditions on a row `e` of the exposure record.
fn conditions(statement: &mut Statement, filter: &ShownFilter) {
    statement.add(" AND e.first_date <= ? AND e.last_date >= ?", [filter.to.into(), filter.from.into()]);
    statement.add_some(" AND e.latest_known_at >= ?", filter.known_from);
    statement.add_some(" AND e.latest_known_at < ?", filter.known_before);
    if filter.job.is_none() && filter.agent.is_none() {
        return;
    }
    statement.add(" AND EXISTS (SELECT 1 FROM trading_sessions t WHERE t.id = e.session_id", []);
    statement.add_some(" AND t.job_id = ?", filter.job.as_ref());
    statement.add_some(" AND t.model = ?", filter.agent.as_ref());
    statement.add(")", []);
}

async fn reads_of(
    db: &mut dyn Db,
    filter: &ShownFilter,
    sessions: &[SessionId],
) -> Result<BTreeMap<SessionId, Vec<ShownRead>>> {
    let mut found: BTreeMap<SessionId, Vec<ShownRead>> = BTreeMap::new();
    for session in sessions {
        let mut statement = Statement::new(format!(
            "SELECT {READ}, {EXPOSURE} FROM exposures e JOIN steps s ON s.id = e.step_id WHERE {TOLD}"
        ));
        statement.add(
            " AND e.session_id = ?
            AND e.dataset_id = (SELECT d.id FROM exposure_datasets d WHERE d.hash = ?)",
            [session.into(), filter.dataset.into()],
        );
        let marks = vec!["?"; filter.series.len()].join(", ");
        statement.add(&format!(" AND e.series IN ({marks})"), filter.series.iter().map(Value::from));
        conditions(&mut statement, filter);
        statement.add(" ORDER BY e.id", []);
        for (path, message_index, tool, shown) in statement.all::<(_, _, _, ExposureRow)>(db).await? {
            let known_at = shown.latest_known_at;
            let read = ShownRead { path, message_index, tool, shown: Some(shown), known_at };
            found.entry(*session).or_default().push(read);
        }
    }
    Ok(found)
}

async fn given_to(db: &mut dyn Db, filter: &GivenFilter, page: &PageRequest) -> Result<Page<ShownSession>> {
    let of = |statement: &mut Statement| {
        let kind = Value::from(filter.kind.as_str());
        statement.add(" AND e.kind = ? AND e.memory_id = ?", [kind, (&filter.memory_id).into()]);
        statement.add(
            " AND EXISTS (SELECT 1 FROM trading_sessions t WHERE t.id = e.session_id AND t.model = ?
                AND coalesce(e.job, t.job_id) = ?)",
            [(&filter.agent).into(), (&filter.job).into()],
        );
    };
    let mut statement = Statement::new("SELECT DISTINCT e.session_id FROM session_memory e WHERE 1 = 1");
    of(&mut statement);
    let Page { items: ids, next } = SHOWN.fetch(db, statement, page, |id: &SessionId| (id.0,)).await?;

    let mut reads: BTreeMap<SessionId, Vec<ShownRead>> = BTreeMap::new();
    let sql = "SELECT m.session_id, s.path, m.message_index
        FROM reasoning_log_rows m JOIN steps s ON s.id = m.step_id
        WHERE m.session_id IN (?) AND m.role = 'user' ORDER BY m.message_index";
    let prompts: BTreeMap<SessionId, Vec<(StepPath, u32)>> = by_key(db, sql, &ids).await?;
    for session in &ids {
        let mut statement = Statement::new(
            "SELECT s.path, e.known_at FROM session_memory e JOIN steps s ON s.id = e.step_id WHERE 1 = 1",
        );
        statement.add(" AND e.session_id = ?", [session.into()]);
        of(&mut statement);
        statement.add(" ORDER BY e.id", []);
        for (path, known_at) in statement.all::<(StepPath, Option<Timestamp>)>(db).await? {
            // A memory is in the first prompt of its scope.
            let mut messages = prompts.get(session).into_iter().flatten();
            let message_index =
                messages.find(|(message, _)| message.scope() == path.scope()).map(|(_, index)| *index);
            let read = ShownRead { path, message_index, tool: None, shown: None, known_at };
            reads.entry(*session).or_default().push(read);
        }
    }
    Ok(Page { items: sessions(db, &ids, reads).await?, next })
}

/// The sessions that have reads, in the order of the IDs.
async fn sessions(
    db: &mut dyn Db,
    ids: &[SessionId],
    mut reads: BTreeMap<SessionId, Vec<ShownRead>>,
) -> Result<Vec<ShownSession>> {
    let sql = "SELECT id, job_id, date, model, status FROM trading_sessions WHERE id IN (?)";
    let mut heads: BTreeMap<SessionId, Vec<_>> = by_key(db, sql, ids).await?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let mut reads = reads.remove(id).unwrap_or_default();
        let head = heads.remove(id).and_then(|mut heads| heads.pop());
        let (Some((job, date, agent, status)), false) = (head, reads.is_empty()) else { continue };
        let read_count = reads.len();
        reads.truncate(MAX_READS);
        found.push(ShownSession { session: *id, job, date, agent, status, reads, read_count });
    }
    Ok(found)
}

impl fmt::Debug for ShownFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownFilter")
            .field("dataset", &self.dataset)
            .field("series", &self.series)
            .field("from", &self.from)
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}
