//! Reads the action log in pages.

use crate::db::{Db, Statement};
use crate::error::StoreError;
use crate::page::{List, number, word};
use crate::value::{Row, Value, from_row, params};
use papertape_core::action::{ActionDraft, ActionRow, LogPage, LogPosition, MAX_ROWS, PlanJob, USUAL_ROWS};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::PlanId;
use papertape_core::time::to_micros;

/// Max rows of a job read at once for its summary.
const WHOLE: u32 = 10_000;

const PLAN_JOBS: List = List { name: "plan_jobs", default: 50, max_limit: 200 };

/// The columns that [`read_row`] reads.
pub(crate) const ROW: &str = "id, job_id, sequence, plan_id, session_id, user_message, action_kind,
    action_name, status, message, details_json, redactions, created_at, updated_at";

pub(crate) fn read_row(mut row: Row) -> Result<ActionRow, StoreError> {
    let (id, job, sequence) = (row.get()?, row.get()?, row.get()?);
    let draft = from_row!(row => ActionDraft {
        plan, chat_session, user_message, kind, name, status, message, details,
    });
    let (redactions, created_at, updated_at) = (row.get()?, row.get()?, row.get()?);
    Ok(ActionRow { id, job, sequence, row: draft, redactions, created_at, updated_at })
}

const PLAN_JOB: &str = "job_id, plan_id, job_type, status, next_sequence, rows_kept, created_at, updated_at";

fn read_plan_job(mut row: Row) -> Result<PlanJob, StoreError> {
    Ok(from_row!(row => PlanJob {
        job, plan, job_type, status, next_sequence, rows_kept, created_at, updated_at,
    }))
}

/// A job's index row.
pub(crate) async fn index_of(db: &mut dyn Db, job: &JobId) -> Result<Option<PlanJob>, StoreError> {
    let sql = format!("SELECT {PLAN_JOB} FROM plan_job_index WHERE job_id = $1");
    db.row(&sql, params![job]).await?.map(read_plan_job).transpose()
}

pub(super) async fn plan_jobs(
    db: &mut dyn Db,
    plan: PlanId,
    page: &PageRequest,
) -> Result<Page<PlanJob>, StoreError> {
    let mut statement = Statement::new(format!("SELECT {PLAN_JOB} FROM plan_job_index WHERE 1 = 1"));
    statement.add(" AND plan_id = ?", [plan.into()]);
    if let Some([created_at, job]) = PLAN_JOBS.key(page)? {
        let key = [number(&created_at)?.into(), word(&job)?.into()];
        statement.add(" AND (created_at, job_id) < (?, ?)", key);
    }
    let limit = Value::from(PLAN_JOBS.limit(page) + 1);
    statement.add(" ORDER BY created_at DESC, job_id DESC LIMIT ?", [limit]);
    let found = statement.query(db).await?.into_iter().map(read_plan_job).collect::<Result<_, _>>()?;
    Ok(PLAN_JOBS.page(page, found, |job| vec![to_micros(job.created_at).into(), job.job.as_str().into()]))
}

pub(crate) async fn all(db: &mut dyn Db, job: &JobId) -> Result<Vec<ActionRow>, StoreError> {
    let sql =
        format!("SELECT {ROW} FROM plan_action_logs WHERE job_id = $1 ORDER BY sequence DESC LIMIT {WHOLE}");
    db.query(&sql, params![job]).await?.into_iter().rev().map(read_row).collect()
}

/// A job's rows from a number on, oldest first.
pub(crate) async fn rows_from(db: &mut dyn Db, job: &JobId, from: i64) -> Result<Vec<ActionRow>, StoreError> {
    let sql =
        format!("SELECT {ROW} FROM plan_action_logs WHERE job_id = $1 AND sequence >= $2 ORDER BY sequence");
    db.query(&sql, params![job, from]).await?.into_iter().map(read_row).collect()
}

/// A position in a log: after or before this row.
type Place = (i64, i64);

pub(super) async fn list(
    db: &mut dyn Db,
    job: &JobId,
    from: &LogPosition,
    limit: u32,
) -> Result<LogPage, StoreError> {
    let limit = if limit == 0 { USUAL_ROWS } else { limit.min(MAX_ROWS) };
    let mut statement = Statement::new(format!("SELECT {ROW} FROM plan_action_logs WHERE 1 = 1"));
    statement.add(" AND job_id = ?", [job.into()]);
    let newest_first = match from {
        LogPosition::Newest => true,
        LogPosition::After(cursor) => {
            let (sequence, at) = place(cursor)?;
            is_of(db, job, (sequence, at)).await?;
            statement.add(" AND (sequence, created_at) > (?, ?)", [sequence.into(), at.into()]);
            false
        }
        LogPosition::Before(before) => {
            let (sequence, at) = place(before)?;
            is_of(db, job, (sequence, at)).await?;
            statement.add(" AND (sequence, created_at) < (?, ?)", [sequence.into(), at.into()]);
            true
        }
    };
    let order = if newest_first { "DESC" } else { "ASC" };
    statement.add(&format!(" ORDER BY sequence {order} LIMIT ?"), [limit.into()]);
    let found = statement.query(db).await?;
    let mut rows = found.into_iter().map(read_row).collect::<Result<Vec<_>, _>>()?;
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
async fn is_of(db: &mut dyn Db, job: &JobId, (sequence, at): Place) -> Result<(), StoreError> {
    let sql = "SELECT i.next_sequence, l.created_at FROM plan_job_index i
        LEFT JOIN plan_action_logs l ON l.job_id = i.job_id AND l.sequence = $2 WHERE i.job_id = $1";
    let Some(mut row) = db.row(sql, params![job, sequence]).await? else { return Ok(()) };
    let (next, was): (i64, Option<i64>) = (row.get()?, row.get()?);
    if sequence < next && was.is_none_or(|was| was == at) { Ok(()) } else { Err(StoreError::BadCursor) }
}

/// The position right after a row, so that the row itself comes before it.
fn place_after((sequence, at): Place) -> Place {
    (sequence, at.saturating_add(1))
}

/// The position, if a row comes before it.
async fn older(db: &mut dyn Db, job: &JobId, place: Place) -> Result<Option<String>, StoreError> {
    let sql =
        "SELECT 1 FROM plan_action_logs WHERE job_id = $1 AND (sequence, created_at) < ($2, $3) LIMIT 1";
    let found = db.row(sql, params![job, place.0, place.1]).await?;
    Ok(found.map(|_| text(place)))
}

fn text((sequence, at): Place) -> String {
    format!("{sequence}.{at}")
}

fn place(text: &str) -> Result<Place, StoreError> {
    let read = || {
        let (sequence, at) = text.split_once('.')?;
        let (sequence, at): (i64, i64) = (sequence.parse().ok()?, at.parse().ok()?);
        (sequence >= 0 && at >= 0).then_some((sequence, at))
    };
    read().ok_or(StoreError::BadCursor)
}
