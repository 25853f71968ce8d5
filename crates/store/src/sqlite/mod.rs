//! SQLite: one writer thread with group commit, a few readers, one process.

mod checkpoints;
mod connection;
mod lock;
mod migrate;
mod read_source;
mod reader;
mod space;
mod writer;

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::migrate::Migration;
use crate::write_task::{self, WriteTask};
pub(crate) use connection::SqliteDb;
pub(crate) use connection::{beside, copy, create};
use futures::FutureExt as _;
use lock::Lock;
pub(crate) use lock::lock_owner_pid;
pub(crate) use migrate::back_up;
use papertape_core::ports::BoxFuture;
use read_source::ReadSource;
pub(crate) use read_source::TemporaryCopy;
use reader::Readers;
use rusqlite::Connection;
pub use space::{FileSpace, upgrade};
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;
use writer::Writer;

/// `PTdv`: the application ID in the header of dev mode data.
const DEV_APPLICATION_ID: i64 = 0x5054_6476;

/// An open data file.
#[derive(Debug)]
pub(crate) struct Engine {
    path: PathBuf,
    // Drop order matters: the writer closes the file last and thereby truncates the WAL, and the lock is released
    // when nothing writes anymore.
    readers: Readers,
    writer: Option<Writer>,
    _lock: Option<Lock>,
    // Dropped after the readers: it may be a copy that is removed with it.
    _source: ReadSource,
}

impl Engine {
    /// Opens or creates the file, migrates it to the newest schema, and owns it from then on.
    pub(crate) fn open(path: &Path, migrations: &[Migration]) -> Result<Self> {
        Self::start(path, Lock::take(path)?, migrations)
    }

    /// Like `open`, for dev mode data: see `dev.rs`.
    pub(crate) fn open_dev(path: &Path, wipe: bool, migrations: &[Migration]) -> Result<Self> {
        let lock = Lock::take(path)?;
        if path.metadata().is_ok_and(|meta| meta.len() > 0) {
            if connection::application_id(path)? != DEV_APPLICATION_ID {
                return Err(StoreError::NotDev { place: path.display().to_string() });
            }
            if wipe {
                connection::remove(path)?;
            }
        }
        connection::create(path)?;
        connection::set_application_id(path, DEV_APPLICATION_ID)?;
        Self::start(path, lock, migrations)
    }

    fn start(path: &Path, lock: Lock, migrations: &[Migration]) -> Result<Self> {
        connection::create(path)?;
        let mut connection = connection::open(path)?;
        migrate::migrate(&mut connection, path, migrations)?;
        migrate::pack_texts(&mut connection)?;
        let source = ReadSource::shared(path);
        let readers = Readers::start(&source)?;
        let writer = Some(Writer::start(connection, path)?);
        Ok(Self { path: path.to_owned(), writer, readers, _lock: Some(lock), _source: source })
    }

    /// Opens an existing file for reading, alongside the process that owns it.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self> {
        let source = ReadSource::of(path)?;
        migrate::check_version(&source.connect()?)?;
        let readers = Readers::start(&source)?;
        Ok(Self { path: path.to_owned(), writer: None, readers, _lock: None, _source: source })
    }

    /// Runs the work in the writer's next transaction. It is queued when this returns; the future resolves when
    /// it is durable.
    pub(crate) fn write<T, F>(&self, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
    {
        let (task, answered) = write_task::task(work);
        self.send(task);
        answered
    }

    /// Queues a task for the writer.
    pub(crate) fn send(&self, mut task: Box<dyn WriteTask>) {
        match &self.writer {
            Some(writer) => writer.send(task),
            None => {
                task.fail(StoreError::ReadOnly);
                task.answer(Ok(()));
            }
        }
    }

    /// Runs the work on a reader, on one snapshot of the database.
    pub(crate) fn read<T, F>(&self, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + 'static,
    {
        self.on_connection(move |connection| {
            connection::run(connection, "BEGIN")?;
            let result = ready(work(&mut SqliteDb::new(connection)));
            connection::run(connection, "COMMIT")?;
            result
        })
    }

    /// Copies the whole database as of now into a new file.
    pub(crate) fn backup(&self, to: &Path) -> BoxFuture<'static, Result<()>> {
        let to = to.to_owned();
        self.on_connection(move |connection| connection::copy(connection, &to))
    }

    /// Bytes on disk: the data file and its WAL.
    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(&self.path)
    }

    fn on_connection<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (sender, receiver) = oneshot::channel();
        self.readers.send(Box::new(move |connection| {
            let _ = sender.send(work(connection));
        }));
        answered(receiver)
    }
}

fn bytes_of(path: &Path) -> u64 {
    let wal = connection::beside(path, "-wal");
    [path, &wal].into_iter().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}

/// Reads every page of a file without a writer: see <https://sqlite.org/pragma.html#pragma_integrity_check>.
pub(crate) fn check_file(path: &Path) -> Result<()> {
    let connection = connection::open_immutable(path)?;
    migrate::check_version(&connection)?;
    let mut statement = connection.prepare("PRAGMA integrity_check(3)")?;
    let problems: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    match problems.as_slice() {
        [only] if only == "ok" => Ok(()),
        _ => Err(StoreError::inconsistent(problems.join("; "))),
    }
}

fn answered<T: Send + 'static>(
    receiver: oneshot::Receiver<Result<T, StoreError>>,
) -> BoxFuture<'static, Result<T, StoreError>> {
    async move {
        receiver.await.unwrap_or_else(|_| Err(StoreError::Database("the database thread is gone".to_owned())))
    }
    .boxed()
}

/// The result of work whose statements all resolve immediately.
fn ready<T>(work: BoxFuture<'_, Result<T, StoreError>>) -> Result<T, StoreError> {
    work.now_or_never().unwrap_or_else(|| Err(waits()))
}

fn waits() -> StoreError {
    StoreError::Inconsistent("work on SQLite waits for something else".to_owned())
}

/// A connection that writes, as the writer has.
#[cfg(test)]
pub(crate) fn open_for_tests(path: &Path) -> Connection {
    connection::open(path).expect("opens")
}
