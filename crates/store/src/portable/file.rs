//! One portable file in the current format.

use super::schema_versions;
use crate::error::{Result, StoreError};
use crate::sqlite::create;
use papertape_core::action::{ActionDraft, ActionRow, PlanJob};
use papertape_core::chat::ChatId;
use papertape_core::id::JobId;
use papertape_core::json;
use papertape_core::plan::PlanId;
use papertape_core::record::{JobKind, JobStatus};
use papertape_core::time::Timestamp;
use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for another process that has the file open.
const BUSY: Duration = Duration::from_secs(5);

/// How much of a job a file contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Number of the next row.
    pub(super) next: i64,
    /// Number of rows.
    pub(super) rows_kept: i64,
    /// The job's status.
    pub(super) status: JobStatus,
    /// When the index row was last changed.
    pub(super) updated_at: Timestamp,
}

impl Mark {
    pub(super) fn of(index: &PlanJob) -> Self {
        Self {
            next: index.next_sequence,
            rows_kept: index.rows_kept,
            status: index.status,
            updated_at: index.updated_at,
        }
    }
}

/// A job in a portable file.
#[derive(Clone, Debug)]
pub(super) struct Filed {
    /// Its index row.
    pub(super) index: PlanJob,
    /// ID of the database that wrote it; `None` for files in an older format, which do not record it.
    pub(super) record: Option<String>,
}

/// The part of a job that is to be written.
#[derive(Clone, Debug)]
pub(super) struct FilePart {
    /// Its index row.
    pub(super) index: PlanJob,
    /// Its rows from some number on; all of its rows if `anew`.
    pub(super) rows: Vec<ActionRow>,
    /// Whether the job's existing rows in the file are deleted first.
    pub(super) anew: bool,
}

/// An open file.
pub(super) struct PortableFile {
    connection: Connection,
    path: PathBuf,
}

impl PortableFile {
    /// Opens an existing file of any format.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error: rusqlite::Error| StoreError::file(path, &error);
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        // A single file that can be copied: no WAL next to it.
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).map_err(failed)?;
        // Deleted data must not be readable from free pages.
        connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON").map_err(failed)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Opens a copy of a file; errors name the original.
    pub(super) fn open_copy(copy: &Path, path: &Path) -> Result<Self> {
        let mut file = Self::open(copy)?;
        path.clone_into(&mut file.path);
        Ok(file)
    }

    /// Opens a file for writing rows; creates it if it does not exist. Rejects a file in an older format.
    pub(super) fn for_rows(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            make_dir(folder)?;
        }
        create(path)?;
        let mut file = Self::open(path)?;
        match file.form()? {
            Some(schema_versions::FORM) => {}
            None => file.in_one(schema_versions::upgrade)?,
            Some(form) => {
                schema_versions::check(path, Some(form))?;
                return Err(StoreError::file(path, &format!("it has the older schema version {form}")));
            }
        }
        Ok(file)
    }

    /// Its format; `None` if it is empty.
    pub(super) fn form(&self) -> Result<Option<i64>> {
        schema_versions::form_of(&self.connection).map_err(|error| StoreError::file(&self.path, &error))
    }

    /// The connection, for making a backup.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Rewrites the file without free pages, in which older programs left deleted data.
    pub(super) fn vacuum(&self) -> Result<()> {
        self.connection.execute_batch("VACUUM").map_err(|error| StoreError::file(&self.path, &error))
    }

    /// Runs the work in one transaction, which is rolled back on failure.
    pub(super) fn in_one<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let failed = |error: StoreError| StoreError::file(&self.path, &error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| failed(error.into()))?;
        let value = work(&transaction).map_err(failed)?;
        transaction.commit().map_err(|error| failed(error.into()))?;
        Ok(value)
    }

    /// All jobs as they would be after some work, which is rolled back.
    pub(super) fn after(&mut self, work: impl FnOnce(&Transaction<'_>) -> Result<()>) -> Result<Vec<Filed>> {
        let look = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            work(&transaction)?;
            let found = jobs(&transaction)?;
            transaction.rollback()?;
            Ok(found)
        };
        look().map_err(|error: StoreError| StoreError::file(&self.path, &error))
    }

    /// Returns an error if the file is corrupt.
    pub(super) fn check_integrity(&self) -> Result<()> {
        let report: Result<String, _> =
            self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
        match report {
            Ok(report) if report == "ok" => Ok(()),
            Ok(report) => Err(StoreError::file(&self.path, &format!("it is damaged: {report}"))),
            Err(error) => Err(StoreError::file(&self.path, &format!("it is damaged: {error}"))),
        }
    }

    /// All its jobs.
    pub(super) fn jobs(&self) -> Result<Vec<Filed>> {
        jobs(&self.connection).map_err(|error| StoreError::file(&self.path, &error))
    }

    /// Jobs with rows in the log but not in the index, with their number of rows.
    pub(super) fn without_index(&self) -> Result<Vec<(JobId, u64)>> {
        let sql = "SELECT job_id, count(*) FROM plan_action_logs
            WHERE job_id NOT IN (SELECT job_id FROM plan_job_index WHERE job_id IS NOT NULL)
            GROUP BY job_id ORDER BY job_id";
        let read = || {
            if !self.connection.table_exists(None, "plan_action_logs")? {
                return Ok(Vec::new());
            }
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                let (job, rows): (String, i64) = (row.get(0)?, row.get(1)?);
                Ok((JobId::from(job), rows.unsigned_abs()))
            })?;
            rows.map(|row| Ok(row?)).collect()
        };
        read().map_err(|error: StoreError| StoreError::file(&self.path, &error))
    }

    /// A job's rows, oldest first.
    pub(super) fn rows(&self, job: &JobId) -> Result<Vec<ActionRow>> {
        let sql = "SELECT id, job_id, sequence, plan_id, session_id, user_message, action_kind, action_name,
            status, message, details_json, redactions, created_at, updated_at
            FROM plan_action_logs WHERE job_id = ?1 ORDER BY sequence";
        let read = || -> Result<Vec<ActionRow>> {
            self.connection.prepare_cached(sql)?.query_and_then([job.as_str()], read_row)?.collect()
        };
        read().map_err(|error| StoreError::file(&self.path, &error))
    }

    /// Writes parts of jobs and deletes others, atomically. A row that already exists is not duplicated.
    pub(super) fn write(&mut self, record: &str, parts: &[FilePart], gone: &[JobId]) -> Result<()> {
        self.in_one(|transaction| {
            for job in gone {
                remove(transaction, job)?;
            }
            for part in parts {
                if part.anew {
                    remove(transaction, &part.index.job)?;
                }
                for row in &part.rows {
                    put_row(transaction, row)?;
                }
                put_job(transaction, record, &part.index)?;
            }
            Ok(())
        })
    }
}

/// Moves a corrupt file aside, so that data can still be salvaged from it. Returns the new path.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf> {
    let named = |n: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if n == 0 { ".damaged".to_owned() } else { format!(".damaged.{n}") });
        PathBuf::from(name)
    };
    let free = (0..).map(named).find(|name| !name.exists()).unwrap_or_else(|| named(0));
    std::fs::rename(path, &free).map_err(|error| StoreError::file(path, &error))?;
    Ok(free)
}

fn jobs(connection: &Connection) -> Result<Vec<Filed>> {
    let sql = "SELECT job_id, plan_id, job_type, status, next_sequence, rows_kept, created_at, updated_at,
        record FROM plan_job_index ORDER BY job_id";
    connection.prepare(sql)?.query_and_then([], read_job)?.collect()
}

/// Creates a folder that only its owner can access.
fn make_dir(dir: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|error| StoreError::file(dir, &error))
}

fn remove(transaction: &Transaction<'_>, job: &JobId) -> Result<()> {
    for table in ["plan_action_logs", "plan_job_index"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE job_id = ?1"), [job.as_str()])?;
    }
    Ok(())
}

fn put_job(transaction: &Transaction<'_>, record: &str, index: &PlanJob) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO plan_job_index (job_id, plan_id, job_type, status, next_sequence,
        rows_kept, created_at, updated_at, record) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    transaction.prepare_cached(sql)?.execute(params![
        index.job.as_str(),
        index.plan.map(|plan| plan.0),
        index.job_type.as_str(),
        index.status.as_str(),
        index.next_sequence,
        index.rows_kept,
        index.created_at.to_string(),
        index.updated_at.to_string(),
        record,
    ])?;
    Ok(())
}

fn put_row(transaction: &Transaction<'_>, row: &ActionRow) -> Result<()> {
    let sql = "INSERT INTO plan_action_logs (plan_id, job_id, session_id, user_message, action_kind,
            action_name, status, success, message, details_json, sequence, created_at, updated_at, redactions)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
        ON CONFLICT (job_id, sequence) DO UPDATE SET plan_id = excluded.plan_id,
            session_id = excluded.session_id, user_message = excluded.user_message,
            action_kind = excluded.action_kind, action_name = excluded.action_name,
            status = excluded.status, success = excluded.success, message = excluded.message,
            details_json = excluded.details_json, created_at = excluded.created_at,
            updated_at = excluded.updated_at, redactions = excluded.redactions";
    let draft = &row.row;
    transaction.prepare_cached(sql)?.execute(params![
        draft.plan.map(|plan| plan.0),
        row.job.as_str(),
        draft.chat_session.as_ref().map(ChatId::as_str),
        draft.user_message,
        draft.kind.as_str(),
        draft.name,
        draft.status.as_str(),
        row.success(),
        draft.message,
        draft.details.as_ref().map(json::canonical),
        row.sequence,
        row.created_at.to_string(),
        row.updated_at.to_string(),
        row.redactions,
    ])?;
    Ok(())
}

fn read_job(row: &Row<'_>) -> Result<Filed> {
    let job: String = row.get(0)?;
    let status: String = row.get(3)?;
    let index = PlanJob {
        job: JobId::from(job),
        plan: row.get::<_, Option<i64>>(1)?.map(PlanId),
        job_type: JobKind::from(row.get::<_, String>(2)?),
        // Other programs' files may use other statuses: count an unknown one as failed.
        status: status.parse().unwrap_or(JobStatus::Failed),
        next_sequence: row.get(4)?,
        rows_kept: row.get(5)?,
        created_at: instant(row, 6)?,
        updated_at: instant(row, 7)?,
    };
    Ok(Filed { index, record: row.get(8)? })
}

fn read_row(row: &Row<'_>) -> Result<ActionRow> {
    let job: String = row.get(1)?;
    let sequence: i64 = row.get(2)?;
    let wrong = |why: String| StoreError::inconsistent(format!("row {sequence} of job {job}: {why}"));
    let (kind, status): (String, String) = (row.get(6)?, row.get(8)?);
    let details: Option<String> = row.get(10)?;
    let draft = ActionDraft {
        plan: row.get::<_, Option<i64>>(3)?.map(PlanId),
        chat_session: row.get::<_, Option<String>>(4)?.map(ChatId::from),
        user_message: row.get(5)?,
        kind: kind.parse().map_err(wrong)?,
        name: row.get(7)?,
        status: status.parse().map_err(wrong)?,
        message: row.get(9)?,
        // Anything that is not JSON is read as plain text.
        details: details.map(|text| serde_json::from_str(&text).unwrap_or_else(|_| text.into())),
    };
    Ok(ActionRow {
        id: row.get(0)?,
        job: JobId::new(&job),
        sequence,
        row: draft,
        redactions: row.get(11)?,
        created_at: instant(row, 12)?,
        updated_at: instant(row, 13)?,
    })
}

fn instant(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| StoreError::inconsistent(format!("`{text}` is not a time")))
}
