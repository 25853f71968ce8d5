//! The store's handle: which database it is, and how work gets to it.

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::held_heads::HeldHeads;
use crate::migrate::MIGRATIONS;
use crate::notifications::{Follower, JobNotifier};
use crate::session_head::Head;
use crate::value::{FromRow, Value};
use crate::wake::{CommitObserver, Wake, WakeOnDrop};
use crate::write_scope::WriteScope;
use crate::write_task::{self, SessionCommits, WriteTask};
use crate::{postgres, sqlite};
use futures::{FutureExt as _, TryFutureExt as _};
use papertape_core::id::JobId;
use papertape_core::ports::{BoxFuture, RecordError, RecordFuture};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Location of the database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseTarget {
    /// A data file on this machine, owned by one process.
    Sqlite(PathBuf),
    /// A PostgreSQL URL (or `key=value` string), and the schema's name: lower-case letters, digits and `_`.
    Postgres(String, String),
}

impl std::fmt::Debug for DatabaseTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "Sqlite({})", path.display()),
            // The URL may contain a password.
            Self::Postgres(_, schema) => write!(f, "Postgres(…, {schema})"),
        }
    }
}

/// The record. Clones share it; dropping the last one closes it after all pending writes.
#[derive(Clone, Debug)]
pub struct Store {
    engine: Engine,
    notifier: JobNotifier,
    heads: Arc<HeldHeads>,
    observer: Option<Arc<dyn CommitObserver>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Sqlite(Arc<sqlite::Engine>),
    Postgres(postgres::Engine),
}

impl Store {
    /// Opens the database, creates it if it does not exist, and migrates it to the newest schema; a SQLite file
    /// of an older schema is first backed up alongside.
    ///
    /// # Errors
    /// Returns an error if another process owns the file, the schema is newer than this program, a migration
    /// fails, or the database cannot be reached.
    pub async fn open(target: DatabaseTarget) -> Result<Self> {
        let engine = match target {
            DatabaseTarget::Sqlite(path) => {
                Engine::Sqlite(Arc::new(sqlite::Engine::open(&path, MIGRATIONS)?))
            }
            DatabaseTarget::Postgres(url, schema) => {
                Engine::Postgres(postgres::Engine::open(&url, &schema, true, MIGRATIONS).await?)
            }
        };
        Ok(Self::of(engine))
    }

    /// Opens an existing database read-only, alongside the process that owns it.
    ///
    /// # Errors
    /// Returns an error if there is no database, or if its schema is not this program's.
    pub async fn open_read_only(target: DatabaseTarget) -> Result<Self> {
        let engine = match target {
            DatabaseTarget::Sqlite(path) => Engine::Sqlite(Arc::new(sqlite::Engine::open_read_only(&path)?)),
            DatabaseTarget::Postgres(url, schema) => {
                Engine::Postgres(postgres::Engine::open(&url, &schema, false, MIGRATIONS).await?)
            }
        };
        Ok(Self::of(engine))
    }

    /// The same record, whose commits are observed.
    #[must_use]
    pub fn observed(self, observer: Arc<dyn CommitObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Follows a job: signals when it may have new events, from any process. Read the events with
    /// [`Store::events`]; to miss none, follow first and read then. A store opened read-only, alongside a SQLite
    /// file's owner, receives no signals.
    #[must_use]
    pub fn follow(&self, job: &JobId) -> Follower {
        if let Engine::Postgres(engine) = &self.engine {
            engine.listen(&self.notifier);
        }
        self.notifier.follow(job)
    }

    /// The ID of the process that owns the SQLite database at `path`, if known; `None` if there is no owner.
    /// Acquires no lock and creates no file.
    #[must_use]
    pub fn holder(path: &Path) -> Option<u32> {
        sqlite::lock_owner_pid(path)
    }

    /// Copies the whole SQLite database, as of this instant, into a new file, while others read and write.
    ///
    /// # Errors
    /// Returns an error if the file already exists, or on PostgreSQL, which has its own backup tools.
    pub async fn backup(&self, to: &Path) -> Result<()> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.backup(to).await,
            Engine::Postgres(_) => Err(StoreError::Unsupported("back up a PostgreSQL database with pg_dump")),
        }
    }

    /// Reads every page of a SQLite database without a writer and checks that it is intact and has this program's
    /// schema. Creates no files next to it.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] with the first problems that SQLite reports. Also returns an error if the
    /// schema is a different one or the file cannot be read.
    pub fn check_file(path: &Path) -> Result<()> {
        sqlite::check_file(path)
    }

    pub(crate) fn of(engine: Engine) -> Self {
        let notifier = match &engine {
            Engine::Sqlite(_) => JobNotifier::default(),
            Engine::Postgres(engine) => engine.notifier(),
        };
        Self { engine, notifier, heads: Arc::default(), observer: None }
    }

    /// Follows every job's commits from now on, including those of other processes.
    pub(crate) fn follow_all(&self) -> &JobNotifier {
        if let Engine::Postgres(engine) = &self.engine {
            engine.listen(&self.notifier);
        }
        self.notifier.follow_all();
        &self.notifier
    }

    pub(crate) fn notifier(&self) -> &JobNotifier {
        &self.notifier
    }

    pub(crate) fn heads(&self) -> &Arc<HeldHeads> {
        &self.heads
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs the work in one transaction, which has been started when this returns. Dropping the future cancels
    /// nothing.
    pub(crate) fn write<T, F>(&self, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => engine.write(work),
            Engine::Postgres(engine) => engine.write(work),
        }
    }

    /// Like `write`, for a job's own writes, which become durable in the order of the calls. The job's followers
    /// are notified once the write is durable, whether the future is awaited or dropped.
    pub(crate) fn write_for<T, F>(
        &self,
        scope: impl Into<WriteScope>,
        work: F,
    ) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        let scope = scope.into();
        let (task, written) = write_task::task(with_wake(self.wake(&scope), work));
        self.send(scope, task);
        woken(written)
    }

    /// Like `write_for`, for commits of a session: those that queue up are applied together. Returns the session's counters.
    pub(crate) fn append_commits(
        &self,
        commits: impl SessionCommits + 'static,
    ) -> BoxFuture<'static, Result<Head>> {
        let scope = WriteScope::from(commits.lease());
        let (task, written) = write_task::append(Box::new(commits), self.wake(&scope));
        self.send(scope, task);
        woken(written)
    }

    fn wake(&self, scope: &WriteScope) -> Wake {
        Wake { notifier: self.notifier.clone(), job: scope.job.clone(), observer: self.observer.clone() }
    }

    fn send(&self, scope: WriteScope, task: Box<dyn WriteTask>) {
        match &self.engine {
            // A single thread writes in order of arrival.
            Engine::Sqlite(engine) => engine.send(task),
            Engine::Postgres(engine) => engine.send_for(scope, task),
        }
    }

    /// Like `write`, for work with arguments.
    pub(crate) fn write_with<A, T, F>(&self, args: A, work: F) -> BoxFuture<'static, Result<T>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db, &'a A) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        self.write(sharing(args, work))
    }

    /// Like `write_for`, for work with arguments.
    pub(crate) fn write_for_with<A, T, F>(
        &self,
        scope: impl Into<WriteScope>,
        args: A,
        work: F,
    ) -> BoxFuture<'static, Result<T>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db, &'a A) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        self.write_for(scope, sharing(args, work))
    }

    /// Like `read`, for work with arguments.
    pub(crate) fn read_with<A, T, F>(&self, args: A, work: F) -> BoxFuture<'static, Result<T>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db, &'a A) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        self.read(sharing(args, work))
    }

    /// Runs the work on one snapshot of the record.
    pub(crate) fn read<T, F>(&self, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        let engine = self.engine.clone();
        let reading = match &engine {
            Engine::Sqlite(engine) => engine.read(work),
            Engine::Postgres(engine) => engine.read(work),
        };
        // Keep waiting for the reader even if the last handle is dropped in the meantime.
        async move {
            let answer = reading.await;
            drop(engine);
            answer
        }
        .boxed()
    }

    /// What the first row of a query holds, in a transaction of its own.
    pub(crate) fn first<T: FromRow + Send + 'static>(
        &self,
        sql: impl Into<String>,
        params: &[Value],
    ) -> BoxFuture<'static, Result<Option<T>>> {
        self.read_with((sql.into(), params.to_vec()), |db, (sql, params)| db.first(sql, params).boxed())
    }

    /// What every row of a query holds, in a transaction of its own.
    pub(crate) fn all<T: FromRow + Send + 'static>(
        &self,
        sql: impl Into<String>,
        params: &[Value],
    ) -> BoxFuture<'static, Result<Vec<T>>> {
        self.read_with((sql.into(), params.to_vec()), |db, (sql, params)| db.all(sql, params).boxed())
    }

    /// Runs one statement, in a transaction of its own; returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, params: &[Value]) -> BoxFuture<'static, Result<u64>> {
        self.write_with((sql.to_owned(), params.to_vec()), |db, (sql, params)| db.execute(sql, params))
    }
}

/// Work that shares its arguments: a transaction may have to be repeated, and outlives the call.
fn sharing<A, T, F>(
    args: A,
    work: F,
) -> impl for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static
where
    A: Send + Sync + 'static,
    T: Send + 'static,
    F: for<'a> Fn(&'a mut dyn Db, &'a A) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
{
    let shared = Arc::new((args, work));
    move |db| {
        let shared = Arc::clone(&shared);
        async move {
            let (args, work) = &*shared;
            work(db, args).await
        }
        .boxed()
    }
}

/// What a write under a lease returned, without its [`WakeOnDrop`].
fn woken<T: Send + 'static>(
    written: BoxFuture<'static, Result<(T, WakeOnDrop)>>,
) -> BoxFuture<'static, Result<T>> {
    written.map_ok(|(value, _wake)| value).map_err(StoreError::under_lease).boxed()
}

/// Wraps the work so that its result carries a `WakeOnDrop`.
fn with_wake<T, F>(
    wake: Wake,
    work: F,
) -> impl for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<(T, WakeOnDrop)>> + Send + Sync + 'static
where
    T: Send + 'static,
    F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
{
    move |db| {
        let wake = wake.clone();
        let working = work(db);
        async move {
            let value = working.await?;
            wake.before_commit();
            Ok((value, WakeOnDrop(wake)))
        }
        .boxed()
    }
}

/// Converts a future of the store to one of the port.
pub(crate) fn port<T: Send + 'static>(work: BoxFuture<'static, Result<T>>) -> RecordFuture<'static, T> {
    async move { work.await.map_err(RecordError::from) }.boxed()
}
