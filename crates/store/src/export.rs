//! A job as lines for comparison: two runs are equal if their lines are. One canonical JSON object
//! per line, sorted by agent, day and path, so that `diff` shows where two runs diverge.
//!
//! Left out is everything that may differ between equal runs: IDs, the order of commits, chain hashes, attempts,
//! usage, cost, wall time, the job's ID, the origin of copied steps, and summaries.

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::rows::derived;
use crate::store::Store;
use crate::texts;
use crate::value::{Row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::{DerivedRow, HoldingRow, PositionRow, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

/// Number of steps whose texts are in memory at a time.
const GROUP: usize = 32;

impl Store {
    /// Writes a job's canonical form. Returns `false` if there is no such job. At most one session's rows and a
    /// few texts are in memory.
    ///
    /// Returns an error if the database or the writer fails.
    /// A database or a writer that fails.
    pub async fn canonical_export(&self, job: &JobId, out: &mut (dyn Write + Send)) -> Result<bool> {
        let found = self.read_with(job.clone(), |db, job| outline(db, job).boxed()).await?;
        let Some((head, days)) = found else {
            return Ok(false);
        };
        line(out, &head)?;
        for day in days {
            line(out, &day.line)?;
            if let Some(session) = day.session {
                self.export_session(session, &day, out).await?;
            }
        }
        Ok(true)
    }

    async fn export_session(&self, id: SessionId, day: &Day, out: &mut (dyn Write + Send)) -> Result<()> {
        let session = self.read(move |db| session(db, id).boxed()).await?;
        for value in session.lines {
            line(out, &day.of(value))?;
        }
        let steps = Arc::new(session.steps);
        for first in (0..steps.len()).step_by(GROUP) {
            let group = self
                .read_with(Arc::clone(&steps), move |db, all| {
                    step_lines(db, &all[first..all.len().min(first + GROUP)]).boxed()
                })
                .await?;
            for value in group {
                line(out, &day.of(value))?;
            }
        }
        Ok(())
    }
}

fn line(out: &mut (dyn Write + Send), value: &Value) -> Result<()> {
    writeln!(out, "{}", json::canonical(value)).map_err(|error| StoreError::file("the export", &error))
}

struct Day {
    agent: AgentName,
    date: Date,
    session: Option<SessionId>,
    line: Value,
}

impl Day {
    /// Adds the day to a line.
    fn of(&self, mut line: Value) -> Value {
        line["agent"] = json!(self.agent);
        line["date"] = json!(self.date);
        line
    }
}

struct Session {
    lines: Vec<Value>,
    steps: Vec<ExportedStep>,
}

struct ExportedStep {
    path: StepPath,
    line: Value,
    outcome: Option<ContentHash>,
    implied: Vec<DerivedRow>,
}

async fn outline(db: &mut dyn Db, job: &JobId) -> Result<Option<(Value, Vec<Day>)>> {
    let sql = "SELECT kind, status, error, fingerprint FROM jobs WHERE job_id = $1";
    let Some(mut row) = db.row(sql, params![job]).await? else {
        return Ok(None);
    };
    let (kind, status, error): (String, String, Option<String>) = (row.get()?, row.get()?, row.get()?);
    let fingerprint: ContentHash = row.get()?;
    let head =
        json!({ "row": "job", "kind": kind, "status": status, "error": error, "fingerprint": fingerprint });
    // A session without a row in `job_details` was imported; a row without a session has not started.
    let sql = "SELECT d.model, d.date, s.id, d.status, d.error FROM job_details d
        LEFT JOIN trading_sessions s ON s.job_id = d.job_id AND s.date = d.date AND s.model = d.model
        WHERE d.job_id = $1
        UNION ALL
        SELECT s.model, s.date, s.id, s.status, s.error FROM trading_sessions s
        WHERE s.job_id = $1 AND NOT EXISTS (
            SELECT 1 FROM job_details d WHERE d.job_id = s.job_id AND d.date = s.date AND d.model = s.model)";
    let mut days = Vec::new();
    for mut row in db.query(sql, params![job]).await? {
        let (agent, date, session): (AgentName, Date, _) = (row.get()?, row.get()?, row.get()?);
        let (status, error): (String, Option<String>) = (row.get()?, row.get()?);
        let line = json!({ "row": "day", "agent": agent, "date": date, "status": status, "error": error });
        days.push(Day { agent, date, session, line });
    }
    days.sort_by(|left, right| (&left.agent, left.date).cmp(&(&right.agent, right.date)));
    Ok(Some((head, days)))
}

async fn session(db: &mut dyn Db, id: SessionId) -> Result<Session> {
    let mut lines = Vec::new();
    let sql = "SELECT status, error, metadata, starting_position, cash, portfolio_value, state_hash,
        total_messages FROM trading_sessions WHERE id = $1";
    if let Some(mut row) = db.row(sql, params![id]).await? {
        let (status, error): (String, Option<String>) = (row.get()?, row.get()?);
        let (metadata, starting): (Option<Value>, Option<Value>) = (row.get()?, row.get()?);
        let (cash, value): (Option<rust_decimal::Decimal>, Option<rust_decimal::Decimal>) =
            (row.get()?, row.get()?);
        let (state, messages): (Option<ContentHash>, Option<i64>) = (row.get()?, row.get()?);
        let daily = derived::daily_figures(db, id).await?;
        lines.push(json!({
            "row": "session", "daily_profit": daily.profit, "daily_return_pct": daily.return_pct, "status": status, "error": error, "metadata": metadata,
            "starting_position": starting, "cash": cash, "portfolio_value": value, "state": state,
            "total_messages": messages,
        }));
    }
    let sql = "SELECT node, hash FROM session_instructions WHERE session_id = $1 ORDER BY node";
    for (node, hash) in db.all::<(String, ContentHash)>(sql, params![id]).await? {
        lines.push(json!({ "row": "instructions", "node": node, "text": hash }));
    }
    let sql = "SELECT symbol, quantity, price FROM holdings WHERE session_id = $1 ORDER BY symbol";
    for holding in db.all::<HoldingRow>(sql, params![id]).await? {
        let mut line = json::to_value(&holding);
        line["row"] = json!("holding");
        lines.push(line);
    }
    // Imported actions have no step.
    let sql = format!(
        "SELECT {} FROM positions WHERE session_id = $1 AND step_id IS NULL ORDER BY action_id",
        derived::POSITION
    );
    for position in db.all::<PositionRow>(&sql, params![id]).await? {
        lines.push(json::to_value(&DerivedRow::Position(position)));
    }
    let steps = steps(db, id).await?;
    Ok(Session { lines, steps })
}

async fn steps(db: &mut dyn Db, session: SessionId) -> Result<Vec<ExportedStep>> {
    let mut implied = derived::load_session(db, session).await?;
    let sql = "SELECT id, path, class, digest, state, outcome_kind, outcome_ref FROM steps
        WHERE session_id = $1 AND detached = 0";
    let mut steps = Vec::new();
    for mut row in db.query(sql, params![session]).await? {
        let (id, path): (i64, StepPath) = (row.get()?, row.get()?);
        steps.push(ExportedStep {
            line: step_line(&path, &mut row)?,
            outcome: row.get()?,
            implied: implied.remove(&id).unwrap_or_default().into_values().collect(),
            path,
        });
    }
    steps.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(steps)
}

fn step_line(path: &StepPath, row: &mut Row) -> Result<Value> {
    let (class, digest): (String, ContentHash) = (row.get()?, row.get()?);
    let (state, kind): (String, Option<String>) = (row.get()?, row.get()?);
    Ok(json!({
        "row": "step", "path": path, "class": class, "digest": digest, "state": state, "outcome_kind": kind,
    }))
}

/// The lines of these steps and their rows, with texts inlined.
async fn step_lines(db: &mut dyn Db, steps: &[ExportedStep]) -> Result<Vec<Value>> {
    let outcomes: BTreeSet<ContentHash> = steps.iter().filter_map(|step| step.outcome).collect();
    let outcomes = texts::documents(db, &outcomes).await?;
    let contents: BTreeSet<ContentHash> = steps
        .iter()
        .flat_map(|step| &step.implied)
        .filter_map(|row| match row {
            DerivedRow::Message(message) => Some(message.content),
            _ => None,
        })
        .collect();
    let contents: BTreeMap<ContentHash, String> = texts::fetch(db, &contents).await?;
    let mut lines = Vec::new();
    for step in steps {
        let mut line = step.line.clone();
        line["outcome"] = json!(step.outcome.and_then(|hash| outcomes.get(&hash)));
        lines.push(line);
        for row in &step.implied {
            let mut line = json::to_value(row);
            line["path"] = json!(step.path);
            if let DerivedRow::Message(message) = row {
                line["content"] = json!(contents.get(&message.content));
            }
            lines.push(line);
        }
    }
    Ok(lines)
}
