//! Reads the action log in pages.

use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::page::List;
use crate::value::{from_row, params};
use papertape_core::action::{ActionDraft, ActionRow, LogPage, LogPosition, MAX_ROWS, PlanJob, USUAL_ROWS};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::PlanId;
use papertape_core::time::to_micros;

/// Max rows of a job read at once for its summary.
const WHOLE: u32 = 10_000;

const PLAN_JOBS: List = List::descending("plan_jobs", (50, 200), "created_at, job_id");

/// The columns that [`read_row`] reads.
pub(crate) const ROW: &str = "id, job_id, sequence, plan_id, session_id, user_message, action_kind,
    action_name, status, message, details_json, redactions, created_at, updated_at";

from_row! { impl row => ActionDraft {
    plan, chat_session, user_message, kind, name, status, message, details,
} }

from_row! { impl row => ActionRow { id, job, sequence, row, redactions, created_at, updated_at } }

const PLAN_JOB: &str = "job_id, plan_id, job_type, status, next_sequence, rows_kept, created_at, updated_at";

from_row! { impl row => PlanJob {
    job, plan, job_type, status, next_sequence, rows_kept, created_at, updated_at,
} }

/// A job's index row.
pub(crate) async fn index_of(db: &mut dyn Db, job: &JobId) -> Result<Option<PlanJob>> {
    let sql = format!("SELECT {PLAN_JOB} FROM plan_job_index WHERE job_id = $1");
    db.first(&sql, params![job]).await
}

pub(super) async fn plan_jobs(db: &mut dyn Db, plan: PlanId, page: &PageRequest) -> Result<Page<PlanJob>> {
    let mut statement = Statement::new(format!("SELECT {PLAN_JOB} FROM plan_job_index WHERE 1 = 1"));
    statement.add(" AND plan_id = ?", [plan.into()]);
    PLAN_JOBS.fetch(db, statement, page, |job: &PlanJob| (to_micros(job.created_at), job.job.clone())).await
}

pub(crate) async fn all(db: &mut dyn Db, job: &JobId) -> Result<Vec<ActionRow>> {
    let sql =
        format!("SELECT {ROW} FROM plan_action_logs WHERE job_id = $1 ORDER BY sequence DESC LIMIT {WHOLE}");
    let newest_first = db.all(&sql, params![job]).await?;
    Ok(newest_first.into_iter().rev().collect())
}

/// A job's rows from a number on, oldest first.
pub(crate) async fn rows_from(db: &mut dyn Db, job: &JobId, from: i64) -> Result<Vec<ActionRow>> {
    let sql =
        format!("SELECT {ROW} FROM plan_action_logs WHERE job_id = $1 AND sequence >= $2 ORDER BY sequence");
    db.all(&sql, params![job, from]).await
}

/// A position in a log: after or before this row.
type Place = (i64, i64);

pub(super) async fn list(db: &mut dyn Db, job: &JobId, from: &LogPosition, limit: u32) -> Result<LogPage> {
    let limit = if limit == 0 { USUAL_ROWS } else { limit.min(MAX_ROWS) };
    let mut statement = Statement::new(format!("SELECT {ROW} FROM plan_action_logs WHERE 1 = 1"));
    statement.add(" AND job_id = ?", [job.into()]);
    let newest_first = !matches!(from, LogPosition::After(_));
    if let LogPosition::After(cursor) | LogPosition::Before(cursor) = from {
        let (sequence, at) = place(cursor)?;
        is_of(db, job, (sequence, at)).await?;
        let beyond = if newest_first { "<" } else { ">" };
        statement.add(&format!(" AND (sequence, created_at) {beyond} (?, ?)"), [sequence.into(), at.into()]);
    }
    let order = if newest_first { "DESC" } else { "ASC" };
    statement.add(&format!(" ORDER BY sequence {order} LIMIT ?"), [limit.into()]);
    let mut rows = statement.all::<ActionRow>(db).await?;
    if newest_first {
        rows.reverse();
    }
    let at = |row: &ActionRow| (row.sequence, to_micros(row.created_at));
    let cursor = match (rows.last(), from) {
        (Some(last), _) => text(at(last)),
        (None, LogPosition::After(cursor)) => cursor.clone(),
        // Nothing at all, or nothing older: newer rows begin with the first row.
        (None, LogPosition::Newest | LogPosition::Before(_)) => text((0, 0)),
    };
    let before = match (rows.first(), from) {
        (Some(first), _) => older(db, job, at(first)).await?,
        (None, LogPosition::After(cursor)) => older(db, job, place_after(place(cursor)?)).await?,
        (None, LogPosition::Newest | LogPosition::Before(_)) => None,
    };
    Ok(LogPage { rows, cursor, before })
}

/// Returns an error if the position is in no page of this log: past its end, or with another row's instant. The
/// position of a row removed by retention is valid.
async fn is_of(db: &mut dyn Db, job: &JobId, (sequence, at): Place) -> Result<()> {
    let sql = "SELECT i.next_sequence, l.created_at FROM plan_job_index i
        LEFT JOIN plan_action_logs l ON l.job_id = i.job_id AND l.sequence = $2 WHERE i.job_id = $1";
    let found = db.first::<(i64, Option<i64>)>(sql, params![job, sequence]).await?;
    let Some((next, was)) = found else { return Ok(()) };
    if sequence < next && was.is_none_or(|was| was == at) { Ok(()) } else { Err(StoreError::BadCursor) }
}

/// The position right after a row, so that the row itself comes before it.
fn place_after((sequence, at): Place) -> Place {
    (sequence, at.saturating_add(1))
}

/// The position, if a row comes before it.
async fn older(db: &mut dyn Db, job: &JobId, place: Place) -> Result<Option<String>> {
    let sql =
        "SELECT 1 FROM plan_action_logs WHERE job_id = $1 AND (sequence, created_at) < ($2, $3) LIMIT 1";
    let found = db.row(sql, params![job, place.0, place.1]).await?;
    Ok(found.map(|_| text(place)))
}

fn text((sequence, at): Place) -> String {
    format!("{sequence}.{at}")
}

fn place(text: &str) -> Result<Place> {
    let read = || {
        let (sequence, at) = text.split_once('.')?;
        let (sequence, at): (i64, i64) = (sequence.parse().ok()?, at.parse().ok()?);
        (sequence >= 0 && at >= 0).then_some((sequence, at))
    };
    read().ok_or(StoreError::BadCursor)
}
