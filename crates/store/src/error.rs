//! Errors of the store.

use papertape_core::id::{AgentName, JobId};
use papertape_core::plan::PlanError;
use papertape_core::ports::RecordError;
use std::path::PathBuf;
use tokio_postgres::error::SqlState;

/// What the store returns.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why an operation on the store failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process writes to the data file. Use that process, or its API.
    #[error("{path} is in use by {}: one process owns a data directory", holder(*pid))]
    InUse {
        /// The data file.
        path: PathBuf,
        /// ID of the other process, if known.
        pid: Option<u32>,
    },
    /// A newer program wrote the database: this one must not modify it.
    #[error(
        "the database has schema version {found}, but this program supports {known}: use a newer version"
    )]
    Newer {
        /// The database's version.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
    /// The database is older than the program and was opened read-only.
    #[error(
        "the database has schema version {found}, but this program requires {known}: open it for writing once"
    )]
    Older {
        /// The database's version.
        found: i64,
        /// The version that this program requires.
        known: i64,
    },
    /// Dev mode was pointed at a database that it did not create.
    #[error("{place} was not created by dev mode, so dev mode neither uses nor wipes it: move it away")]
    NotDev {
        /// The data file, or the schema.
        place: String,
    },
    /// A migration failed; the database is unchanged.
    #[error("migration {version} ({name}) failed, nothing was changed: {why}")]
    Migration {
        /// The migration's number.
        version: i64,
        /// Its name.
        name: String,
        /// The database's error message.
        why: String,
    },
    /// A cursor that was not returned by an earlier page.
    #[error("invalid cursor")]
    BadCursor,
    /// A plan rule rejects the change; nothing of its transaction was written.
    #[error("{0}")]
    Refused(#[from] PlanError),
    /// Only one job of this kind may run per plan or conversation, and this one is active.
    #[error("job {0} is already running")]
    Busy(JobId),
    /// The account that a job was to continue has been superseded in the meantime; nothing was written.
    #[error("the days of {agent} in job {job} have been replaced: trigger it again")]
    Superseded {
        /// The job that was to be continued.
        job: JobId,
        /// The agent.
        agent: AgentName,
    },
    /// An invalid target or argument.
    #[error("{0}")]
    BadInput(String),
    /// The store was opened read-only.
    #[error("database opened read-only")]
    ReadOnly,
    /// Not supported by this backend.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Another worker has claimed the job.
    #[error("the job's lease was lost")]
    LostLease,
    /// The reply to a commit was lost, and a standby has taken the server's place.
    #[error("a standby was promoted during a commit, and whether the commit is stored is unknown; try again")]
    Promoted,
    /// A stored row is invalid, or a write contradicts what is stored.
    #[error("the record is inconsistent: {0}")]
    Inconsistent(String),
    /// There is no space left to write to.
    #[error(
        "the disk is full ({0}): committed data is safe. Free space, then resume the job with `papertape resume ID`"
    )]
    Full(String),
    /// The database failed.
    #[error("the database failed: {0}")]
    Database(String),
    /// A file could not be read or written.
    #[error("{path}: {why}")]
    File {
        /// Which file.
        path: PathBuf,
        /// The system's error message.
        why: String,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl StoreError {
    pub(crate) fn file(path: impl Into<PathBuf>, why: &dyn std::fmt::Display) -> Self {
        Self::File { path: path.into(), why: why.to_string() }
    }

    /// The error of a write under a lease: if it is unknown whether the write is stored, the lease is given up, and the job
    /// resumes from what is stored.
    pub(crate) fn under_lease(self) -> Self {
        match self {
            Self::Promoted => Self::LostLease,
            other => other,
        }
    }

    pub(crate) fn inconsistent(what: impl Into<String>) -> Self {
        Self::Inconsistent(what.into())
    }
}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LostLease => Self::LostLease,
            StoreError::Refused(refusal) => Self::Refused(refusal),
            StoreError::Busy(job) => Self::Busy(job),
            StoreError::Superseded { job, agent } => Self::Superseded { job, agent },
            StoreError::BadCursor => Self::BadCursor,
            StoreError::Inconsistent(what) => Self::Inconsistent(what),
            StoreError::Database(what) => Self::Database(what),
            full @ StoreError::Full(_) => Self::Full(full.to_string()),
            other => Self::Database(other.to_string()),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
            return Self::Full(error.to_string());
        }
        Self::Database(error.to_string())
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(db) = error.as_db_error().filter(|db| *db.code() == SqlState::DISK_FULL) {
            return Self::Full(db.message().to_owned());
        }
        // The error's own text is only "db error".
        Self::Database(match error.as_db_error() {
            Some(db) => format!("{}: {}", db.code().code(), db.message()),
            None => match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full disk produces an error that says what to do, for the job's worker too.
    #[test]
    fn a_full_disk_says_how_to_go_on() {
        let database = rusqlite::Connection::open_in_memory().expect("a database");
        database.execute_batch("PRAGMA max_page_count = 2; CREATE TABLE t (x);").expect("there is room yet");
        let full = database.execute("INSERT INTO t VALUES (zeroblob(100000))", ()).expect_err("no room");
        let error = StoreError::from(full);
        assert!(matches!(error, StoreError::Full(_)), "{error}");
        let told = RecordError::from(error).to_string();
        assert!(told.contains("the disk is full") && told.contains("`papertape resume ID`"), "{told}");
    }
}
