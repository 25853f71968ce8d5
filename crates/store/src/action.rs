//! The action log: rows of a job, numbered inside of the transaction that writes them.

use crate::db::{Db, Statement};
use crate::error::StoreError;
use crate::fence::Fence;
use crate::record::port;
use crate::store::Store;
use crate::value::{Row, Value, params};
use futures::FutureExt as _;
use papertape_core::action::{ActionDraft, ActionEntry, ActionKind, ActionStatus};
use papertape_core::id::JobId;
use papertape_core::ports::{ActionLog, BoxFuture, RecordError};
use papertape_core::record::Lease;
use papertape_core::time::{Timestamp, to_micros};
use serde_json::json;
use std::sync::Arc;

/// The most rows of one answer.
pub const MOST_ACTION_ROWS: u32 = 500;

/// A row of the action log.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRow {
    /// Its id in this record.
    pub id: i64,
    /// The job.
    pub job: JobId,
    /// Its number in the job's log, from 1.
    pub sequence: i64,
    /// What it says.
    pub row: ActionDraft,
    /// Did the action succeed? `None` until it has ended.
    pub success: Option<bool>,
    /// How many secrets were removed from it before it was written.
    pub redactions: i64,
    /// When it was written.
    pub created_at: Timestamp,
}

/// Which part of a job's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogFrom {
    /// The newest rows.
    #[default]
    Newest,
    /// The rows that follow a [`LogPage::cursor`].
    After(String),
    /// The rows that come before a [`LogPage::before`].
    Before(String),
}

/// A part of a job's log, oldest row first.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPage {
    /// The rows.
    pub rows: Vec<ActionRow>,
    /// Newer rows follow here, those that are still to be written included.
    pub cursor: String,
    /// Older rows come before this; `None`: there are none.
    pub before: Option<String>,
}

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Rows that were too old.
    pub by_age: u64,
    /// Rows beyond a job's most.
    pub by_count: u64,
    /// Jobs that lost rows.
    pub jobs: u64,
}

impl ActionLog for Store {
    fn append_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<i64, RecordError>> {
        let wanted = Arc::new((lease.clone(), entry));
        port(self.write_for(&lease.job, move |db| {
            let wanted = Arc::clone(&wanted);
            async move {
                let mut fence = Fence::take(db, &wanted.0, 1).await?;
                append(db, &mut fence, &wanted.0.job, &wanted.1, at).await
            }
            .boxed()
        }))
    }
}

impl Store {
    /// A part of a job's log: at most `limit` rows (0: 200, and never over [`MOST_ACTION_ROWS`]). No
    /// row is dropped or repeated by following `cursor` or `before`, whatever is written meanwhile.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`]; a database that fails.
    pub async fn list_action_logs(
        &self,
        job: &JobId,
        from: LogFrom,
        limit: u32,
    ) -> Result<LogPage, StoreError> {
        let limit = if limit == 0 { 200 } else { limit.min(MOST_ACTION_ROWS) };
        let wanted = Arc::new((job.clone(), from));
        self.read(move |db| {
            let wanted = Arc::clone(&wanted);
            async move { list(db, &wanted.0, &wanted.1, limit).await }.boxed()
        })
        .await
    }

    /// The plan that a job's log belongs to: `None` where the job has no log, `Some(None)` where it
    /// belongs to no plan.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn plan_of(&self, job: &JobId) -> Result<Option<Option<i64>>, StoreError> {
        let job = job.clone();
        self.read(move |db| {
            let job = job.clone();
            async move {
                let row =
                    db.row("SELECT plan_id FROM plan_job_index WHERE job_id = $1", params![&job]).await?;
                row.map(|mut row| row.get()).transpose()
            }
            .boxed()
        })
        .await
    }

    /// Removes rows that were written before `older_than`, and of each job those beyond its newest
    /// `most_rows`. Jobs that are queued or running keep theirs. Numbers are never given twice.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn cleanup_action_logs(
        &self,
        older_than: Timestamp,
        most_rows: u32,
        dry_run: bool,
    ) -> Result<Removed, StoreError> {
        if dry_run {
            return self
                .read(move |db| async move { count_old(db, older_than, most_rows).await }.boxed())
                .await;
        }
        self.write(move |db| {
            async move {
                let removed = count_old(db, older_than, most_rows).await?;
                if removed != Removed::default() {
                    remove_old(db, older_than, most_rows).await?;
                }
                Ok(removed)
            }
            .boxed()
        })
        .await
    }
}

/// Writes a row and its event; gives the row's number. The fence has the job to itself, so that nobody
/// else takes the number.
pub(crate) async fn append(
    db: &mut dyn Db,
    fence: &mut Fence,
    job: &JobId,
    entry: &ActionEntry,
    at: Timestamp,
) -> Result<i64, StoreError> {
    let row = entry.row();
    let sql = "INSERT INTO plan_job_index (job_id, plan_id, job_type, next_sequence, rows_kept, created_at,
            updated_at)
        SELECT job_id, $2, kind, 2, 1, $3, $3 FROM jobs WHERE job_id = $1
        ON CONFLICT (job_id) DO UPDATE SET next_sequence = plan_job_index.next_sequence + 1,
            rows_kept = plan_job_index.rows_kept + 1, updated_at = excluded.updated_at,
            plan_id = coalesce(plan_job_index.plan_id, excluded.plan_id)
        RETURNING next_sequence - 1, plan_id";
    let mut numbered = db
        .row(sql, params![job, row.plan, at])
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("the job {job} is not there")))?;
    let (sequence, plan): (i64, Option<i64>) = (numbered.get()?, numbered.get()?);
    let event = json!({
        "sequence": sequence, "plan_id": plan, "session_id": row.chat_session, "action_kind": row.kind,
        "action_name": row.name, "status": row.status, "success": entry.success(), "message": row.message,
        "details": row.details, "created_at": at,
    });
    let n = fence.event(db, "log_entry", &event, at).await?;
    db.execute(
        "INSERT INTO plan_action_logs (plan_id, job_id, session_id, user_message, action_kind, action_name,
         status, success, message, details_json, sequence, created_at, updated_at, redactions, n)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $14)",
        params![
            plan,
            job,
            row.chat_session.as_ref(),
            row.user_message.as_ref(),
            row.kind.as_str(),
            &row.name,
            row.status.as_str(),
            entry.success(),
            row.message.as_ref(),
            row.details.as_ref(),
            sequence,
            at,
            i64::from(entry.redactions()),
            n
        ],
    )
    .await?;
    Ok(sequence)
}

const ROW: &str = "id, job_id, sequence, plan_id, session_id, user_message, action_kind, action_name, status,
    success, message, details_json, redactions, created_at";

fn read_row(mut row: Row) -> Result<ActionRow, StoreError> {
    let (id, job, sequence) = (row.get()?, row.get()?, row.get()?);
    let (plan, chat_session, user_message) = (row.get()?, row.get()?, row.get()?);
    let kind: String = row.get()?;
    let name = row.get()?;
    let status: String = row.get()?;
    let (success, message, details, redactions) = (row.get()?, row.get()?, row.get()?, row.get()?);
    let created_at = row.get()?;
    let kind: ActionKind = kind.parse().map_err(StoreError::inconsistent)?;
    let status: ActionStatus = status.parse().map_err(StoreError::inconsistent)?;
    let row = ActionDraft { plan, chat_session, user_message, kind, name, status, message, details };
    Ok(ActionRow { id, job, sequence, row, success, redactions, created_at })
}

/// A place in a log: behind or before this row.
type Place = (i64, i64);

async fn list(db: &mut dyn Db, job: &JobId, from: &LogFrom, limit: u32) -> Result<LogPage, StoreError> {
    let mut statement = Statement::new(format!("SELECT {ROW} FROM plan_action_logs WHERE 1 = 1"));
    statement.add(" AND job_id = ?", [job.into()]);
    let newest_first = match from {
        LogFrom::Newest => true,
        LogFrom::After(cursor) => {
            let (sequence, at) = place(cursor)?;
            statement.add(" AND (sequence, created_at) > (?, ?)", [sequence.into(), at.into()]);
            false
        }
        LogFrom::Before(before) => {
            let (sequence, at) = place(before)?;
            statement.add(" AND (sequence, created_at) < (?, ?)", [sequence.into(), at.into()]);
            true
        }
    };
    let order = if newest_first { "DESC" } else { "ASC" };
    statement.add(&format!(" ORDER BY sequence {order} LIMIT ?"), [Value::from(i64::from(limit))]);
    let found = statement.query(db).await?;
    let mut rows = found.into_iter().map(read_row).collect::<Result<Vec<_>, _>>()?;
    if newest_first {
        rows.reverse();
    }
    let at = |row: &ActionRow| (row.sequence, to_micros(row.created_at));
    let cursor = match (rows.last(), from) {
        (Some(last), _) => text(at(last)),
        (None, LogFrom::After(cursor)) => cursor.clone(),
        (None, LogFrom::Newest) => text((0, 0)),
        // Nothing is older; what is newer begins with the first row.
        (None, LogFrom::Before(_)) => text((0, 0)),
    };
    let before = match rows.first() {
        Some(first) => older(db, job, at(first)).await?,
        None => match from {
            LogFrom::After(cursor) => older(db, job, behind(place(cursor)?)).await?,
            LogFrom::Newest | LogFrom::Before(_) => None,
        },
    };
    Ok(LogPage { rows, cursor, before })
}

/// The place right behind a row, so that the row itself comes before it.
fn behind((sequence, at): Place) -> Place {
    (sequence, at.saturating_add(1))
}

/// The place, where a row comes before it.
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

/// The jobs whose rows may go.
const STOPPED: &str = "job_id IN (SELECT job_id FROM jobs WHERE status NOT IN ('queued', 'running'))";

/// Rows by age and, of what is left, by count: each as a condition on `plan_action_logs`.
fn old(older_than: Timestamp, most_rows: u32) -> [(String, Vec<Value>); 2] {
    let by_age = format!("created_at < $1 AND {STOPPED}");
    let by_count = format!(
        "created_at >= $1 AND {STOPPED} AND sequence <= (
             SELECT i.next_sequence - 1 - $2 FROM plan_job_index i WHERE i.job_id = plan_action_logs.job_id)"
    );
    let at = Value::from(older_than);
    [(by_age, vec![at.clone()]), (by_count, vec![at, i64::from(most_rows).into()])]
}

async fn count_old(db: &mut dyn Db, older_than: Timestamp, most_rows: u32) -> Result<Removed, StoreError> {
    let mut removed = Removed::default();
    let [age, count] = old(older_than, most_rows);
    for (condition, values, to) in
        [(age.0, age.1, &mut removed.by_age), (count.0, count.1, &mut removed.by_count)]
    {
        let sql = format!("SELECT count(*) FROM plan_action_logs WHERE {condition}");
        let found: i64 = match db.row(&sql, &values).await? {
            Some(mut row) => row.get()?,
            None => 0,
        };
        *to = u64::try_from(found).unwrap_or_default();
    }
    let [age, count] = old(older_than, most_rows);
    let sql =
        format!("SELECT count(DISTINCT job_id) FROM plan_action_logs WHERE ({}) OR ({})", age.0, count.0);
    if let Some(mut row) = db.row(&sql, &count.1).await? {
        let jobs: i64 = row.get()?;
        removed.jobs = u64::try_from(jobs).unwrap_or_default();
    }
    Ok(removed)
}

async fn remove_old(db: &mut dyn Db, older_than: Timestamp, most_rows: u32) -> Result<(), StoreError> {
    for (condition, values) in old(older_than, most_rows) {
        db.execute(&format!("DELETE FROM plan_action_logs WHERE {condition}"), &values).await?;
    }
    let sql = "UPDATE plan_job_index SET rows_kept = (
            SELECT count(*) FROM plan_action_logs l WHERE l.job_id = plan_job_index.job_id)
        WHERE rows_kept <> (SELECT count(*) FROM plan_action_logs l WHERE l.job_id = plan_job_index.job_id)";
    db.execute(sql, &[]).await.map(drop)
}
