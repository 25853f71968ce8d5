//! A job's events: the live stream as stored rows.

use crate::action;
use crate::db::{Backend, Db};
use crate::error::Result;
use crate::store::Store;
use crate::value::{FromRow, Row, from_row, params};
use futures::FutureExt as _;
use papertape_core::action::ActionRow;
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::Role;
use papertape_core::record::{JobStatus, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::{Date, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Event kind for rows of the action log.
const LOG_ENTRY: &str = "log_entry";
/// Max events per page.
const MOST: u32 = 1000;

/// A row of `job_events`.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEvent {
    /// Sequence number, from 1, without gaps.
    pub n: i64,
    /// `log_entry`, `message`, `order`, `node`, `progress`, `job` or `end`.
    pub kind: String,
    /// What happened, as references to rows.
    pub data: Value,
    /// When it was recorded.
    pub at: Timestamp,
    /// The action log row that a `log_entry` refers to; `None` if retention has removed it.
    pub log: Option<ActionRow>,
}

/// A job's status and the requested part of its events, on one snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTail {
    /// `simulate`, …
    pub kind: String,
    /// Its status.
    pub status: JobStatus,
    /// Why it stopped.
    pub error: Option<String>,
    /// The number of its newest event.
    pub newest: i64,
    /// The events, oldest first.
    pub events: Vec<JobEvent>,
}

impl Store {
    /// A job with its events after number `after`, at most `limit` and 1,000; `None` if there is no such job.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn tail(&self, job: &JobId, after: i64, limit: u32) -> Result<Option<JobTail>> {
        self.read_with(job.clone(), move |db, job| {
            async move {
                let sql = "SELECT kind, status, error, next_seq - 1 FROM jobs WHERE job_id = $1";
                let found = db.first(sql, params![job]).await?;
                let Some((kind, status, error, newest)) = found else { return Ok(None) };
                let events = if after < newest { events(db, job, after, limit).await? } else { Vec::new() };
                Ok(Some(JobTail { kind, status, error, newest, events }))
            }
            .boxed()
        })
        .await
    }

    /// A job's events after number `after` (0: from the beginning), at most `limit` and 1,000. Numbers become
    /// visible in ascending order, so a reader that continues from the last number misses nothing.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn events(&self, job: &JobId, after: i64, limit: u32) -> Result<Vec<JobEvent>> {
        self.read_with(job.clone(), move |db, job| events(db, job, after, limit).boxed()).await
    }
}

/// The stored data of a message's event: the session, and the message's number there. Readers add what is in the
/// message's row.
pub(crate) fn message_event(session: SessionId, index: i64) -> String {
    format!("[{session},{index}]")
}

async fn events(db: &mut dyn Db, job: &JobId, after: i64, limit: u32) -> Result<Vec<JobEvent>> {
    let (session, index) = match db.backend() {
        Backend::Sqlite => ("json_extract(e.data, '$[0]')", "json_extract(e.data, '$[1]')"),
        Backend::Postgres => {
            ("CAST(CAST(e.data AS JSON) ->> 0 AS BIGINT)", "CAST(CAST(e.data AS JSON) ->> 1 AS BIGINT)")
        }
    };
    let sql = format!(
        "SELECT e.n, e.kind, e.data, e.created_at, m.session_id, m.message_index, m.role, m.tool_name,
            (SELECT s.path FROM steps s WHERE s.id = m.step_id),
            (SELECT t.model FROM trading_sessions t WHERE t.id = m.session_id),
            (SELECT t.date FROM trading_sessions t WHERE t.id = m.session_id)
         FROM job_events e LEFT JOIN reasoning_log_rows m
            ON e.kind = 'message' AND m.session_id = {session} AND m.message_index = {index}
         WHERE e.job_id = $1 AND e.n > $2 ORDER BY e.n LIMIT $3"
    );
    let mut events = db.all(&sql, params![job, after, limit.clamp(1, MOST)]).await?;
    with_log(db, job, &mut events).await?;
    Ok(events)
}

impl FromRow for JobEvent {
    fn from_row(row: &mut Row) -> Result<Self> {
        let mut event = from_row!(row => Self { n, kind, data, at, log: None });
        if let Some(session) = row.get::<Option<SessionId>>()? {
            let (index, role, tool): (i64, Role, Option<String>) = row.get()?;
            let (path, agent, date): (StepPath, AgentName, Date) = row.get()?;
            event.data = json!({
                "session": session, "message_index": index, "role": role, "tool_name": tool, "path": path,
                "agent": agent, "date": date,
            });
        }
        Ok(event)
    }
}

/// Loads the action log rows that the events refer to.
async fn with_log(db: &mut dyn Db, job: &JobId, events: &mut [JobEvent]) -> Result<()> {
    let sequence =
        |event: &JobEvent| (event.kind == LOG_ENTRY).then(|| event.data["sequence"].as_i64()).flatten();
    let sequences = || events.iter().filter_map(sequence);
    let (Some(first), Some(last)) = (sequences().min(), sequences().max()) else { return Ok(()) };
    let sql = format!(
        "SELECT {} FROM plan_action_logs WHERE job_id = $1 AND sequence >= $2 AND sequence <= $3",
        action::ROW
    );
    let rows = db.all::<ActionRow>(&sql, params![job, first, last]).await?;
    let mut rows: BTreeMap<i64, _> = rows.into_iter().map(|row| (row.sequence, row)).collect();
    for event in events {
        event.log = sequence(event).and_then(|sequence| rows.remove(&sequence));
    }
    Ok(())
}
