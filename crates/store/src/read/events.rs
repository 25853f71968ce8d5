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
use papertape_core::part::{EventPosition, event_number};
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
    /// Its number: the sequence number, from 1 without gaps, of an event of the job itself; see
    /// [`papertape_core::part::part_of_event`] for one of a part.
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
    /// The position after its newest events.
    pub newest: EventPosition,
    /// The events: those of the job itself and of each part, oldest first. The end of a job comes last.
    pub events: Vec<JobEvent>,
    /// The position after them. There are more up to `newest` if it is another one.
    pub read: EventPosition,
}

impl Store {
    /// A job with its events after a position, at most `limit` and 1,000, and none after `until`; `None` if there is
    /// no such job.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn tail(
        &self,
        job: &JobId,
        after: &EventPosition,
        until: Option<&EventPosition>,
        limit: u32,
    ) -> Result<Option<JobTail>> {
        let args = (job.clone(), after.clone(), until.cloned());
        self.read_with(args, move |db, (job, after, until)| {
            async move {
                let sql = "SELECT kind, status, error, next_seq - 1, parts FROM jobs WHERE job_id = $1";
                let Some(mut row) = db.row(sql, params![job]).await? else { return Ok(None) };
                let (kind, status, error): (String, JobStatus, Option<String>) =
                    (row.get()?, row.get()?, row.get()?);
                let mut newest = EventPosition::from(row.get::<i64>()?);
                if row.get::<u32>()? > 1 {
                    let sql = "SELECT part, next_seq - 1 FROM job_parts WHERE job_id = $1";
                    for (part, sequence) in db.all(sql, params![job]).await? {
                        newest.set(part, sequence);
                    }
                }
                let pending = Pending::of(after, &newest, until.as_ref(), status.is_stopped());
                let (events, read) = pending.read(db, job, (after, limit)).await?;
                Ok(Some(JobTail { kind, status, error, newest, events, read }))
            }
            .boxed()
        })
        .await
    }

    /// A job's own events after number `after` (0: from the beginning), without those of its parts, at most `limit`
    /// and 1,000. Numbers become visible in ascending order, so a reader that continues from the last number misses
    /// nothing.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn events(&self, job: &JobId, after: i64, limit: u32) -> Result<Vec<JobEvent>> {
        let pending = Pending { ranges: vec![(after, event_number(1, 0) - 1)], end: None };
        let read = self.read_with((job.clone(), pending), move |db, (job, pending)| {
            async move { pending.read(db, job, (&EventPosition::default(), limit)).await }.boxed()
        });
        Ok(read.await?.0)
    }
}

/// The stored data of a message's event: the session, and the message's number there. Readers add what is in the
/// message's row.
pub(crate) fn message_event(session: SessionId, index: i64) -> String {
    format!("[{session},{index}]")
}

/// Numbers to read: after the first of each pair, up to the second.
struct Pending {
    ranges: Vec<(i64, i64)>,
    /// The end of the job, which comes after everything else.
    end: Option<(i64, i64)>,
}

impl Pending {
    fn of(
        after: &EventPosition,
        newest: &EventPosition,
        until: Option<&EventPosition>,
        has_stopped: bool,
    ) -> Self {
        let number = |position: &EventPosition, part| event_number(part, position.of_part(part));
        let last = |part| until.map_or(i64::MAX, |until| number(until, part)).min(number(newest, part));
        let mut ranges: Vec<_> = (0..newest.parts()).map(|part| (number(after, part), last(part))).collect();
        let own = ranges.first_mut().filter(|own| has_stopped && own.0 < own.1);
        let end = own.filter(|own| own.1 == number(newest, 0)).map(|own| {
            own.1 -= 1;
            (own.1, own.1 + 1)
        });
        ranges.retain(|(after, last)| after < last);
        Self { ranges, end }
    }

    /// Reads the events after a position, and returns the position after them. If there are more than the limit,
    /// each range gets a share of it.
    async fn read(
        &self,
        db: &mut dyn Db,
        job: &JobId,
        (after, limit): (&EventPosition, u32),
    ) -> Result<(Vec<JobEvent>, EventPosition)> {
        let (mut events, mut at) = (Vec::new(), after.clone());
        let mut left = limit.clamp(1, MOST);
        let mut is_complete = true;
        for (place, (after, last)) in self.ranges.iter().enumerate() {
            let share = left.div_ceil(u32::try_from(self.ranges.len() - place).unwrap_or(u32::MAX));
            let found = range(db, job, (*after, *last), share).await?;
            let is_whole = u32::try_from(found.len()).is_ok_and(|found| found < share);
            left -= share.min(u32::try_from(found.len()).unwrap_or(share));
            // Even if retention has removed some.
            at.pass(if is_whole { *last } else { found.last().map_or(*after, |event| event.n) });
            is_complete &= at.includes(*last);
            events.extend(found);
            if left == 0 {
                is_complete &= place + 1 == self.ranges.len();
                break;
            }
        }
        if let Some(end) = self.end.filter(|_| is_complete && left > 0) {
            events.extend(range(db, job, end, left).await?);
            at.pass(end.1);
        }
        with_log(db, job, &mut events).await?;
        Ok((events, at))
    }
}

async fn range(db: &mut dyn Db, job: &JobId, (after, last): (i64, i64), limit: u32) -> Result<Vec<JobEvent>> {
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
         WHERE e.job_id = $1 AND e.n > $2 AND e.n <= $3 ORDER BY e.n LIMIT $4"
    );
    db.all(&sql, params![job, after, last, limit]).await
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
