//! The store's handle: which database it is, and how work reaches it.

use crate::db::Db;
use crate::error::StoreError;
use crate::follow::{Follower, Hub};
use crate::migrate::MIGRATIONS;
use crate::{postgres, sqlite};
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::ports::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the record is.
#[derive(Clone, PartialEq, Eq)]
pub enum Target {
    /// A data file of this machine, and of one process.
    Sqlite(PathBuf),
    /// A PostgreSQL URL (or `key=value` words), and the schema's name: lower-case letters, digits and
    /// `_`.
    Postgres(String, String),
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "Sqlite({})", path.display()),
            // The URL may hold a password.
            Self::Postgres(_, schema) => write!(f, "Postgres(…, {schema})"),
        }
    }
}

/// The record. Clones share it; the last one that is dropped closes it, after all that was written.
#[derive(Clone, Debug)]
pub struct Store {
    engine: Engine,
    hub: Hub,
}

#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Sqlite(Arc<sqlite::Engine>),
    Postgres(postgres::Engine),
}

impl Store {
    /// Opens the record, makes it where there is none, and brings it to the newest schema; a SQLite
    /// file of an older one is copied first, beside itself.
    ///
    /// # Errors
    /// A file that another process owns, a schema newer than this program, a migration that fails, or
    /// a database that cannot be reached.
    pub async fn open(target: Target) -> Result<Self, StoreError> {
        let engine = match target {
            Target::Sqlite(path) => Engine::Sqlite(Arc::new(sqlite::Engine::open(&path, MIGRATIONS)?)),
            Target::Postgres(url, schema) => {
                Engine::Postgres(postgres::Engine::open(&url, &schema, true, MIGRATIONS).await?)
            }
        };
        Ok(Self::of(engine))
    }

    /// Opens a record that is there for reading alone, beside the process that owns it.
    ///
    /// # Errors
    /// No record there, or one with another schema than this program's.
    pub async fn open_read_only(target: Target) -> Result<Self, StoreError> {
        let engine = match target {
            Target::Sqlite(path) => Engine::Sqlite(Arc::new(sqlite::Engine::open_read_only(&path)?)),
            Target::Postgres(url, schema) => {
                Engine::Postgres(postgres::Engine::open(&url, &schema, false, MIGRATIONS).await?)
            }
        };
        Ok(Self::of(engine))
    }

    /// Follows a job: says when it may have new events, of whichever process. What they are is asked
    /// of [`Store::events`]; to miss none, follow first and ask then. A record that is opened for
    /// reading alone, beside a SQLite file's owner, is told of nothing.
    #[must_use]
    pub fn follow(&self, job: &JobId) -> Follower {
        if let Engine::Postgres(engine) = &self.engine {
            engine.listen(&self.hub);
        }
        self.hub.follow(job)
    }

    /// The process that owns the SQLite record at `path`, as far as it is known; `None` where nobody
    /// does. Takes nothing and makes nothing.
    #[must_use]
    pub fn holder(path: &Path) -> Option<u32> {
        sqlite::holder(path)
    }

    /// Copies the whole SQLite record, as it is at this instant, into a new file, while others read
    /// and write.
    ///
    /// # Errors
    /// A file that is there already; PostgreSQL, which has tools of its own for this.
    pub async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        match &self.engine {
            Engine::Sqlite(engine) => engine.backup(to).await,
            Engine::Postgres(_) => {
                Err(StoreError::Unsupported("a PostgreSQL record is backed up with pg_dump"))
            }
        }
    }

    /// Reads every page of a SQLite record that nobody writes to, and checks that it is a sound database of this
    /// program's schema. Makes no file next to it.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] with the first problems that SQLite names; another schema; a file that cannot be
    /// read.
    pub fn check_file(path: &Path) -> Result<(), StoreError> {
        sqlite::check_file(path)
    }

    pub(crate) fn of(engine: Engine) -> Self {
        let hub = match &engine {
            Engine::Sqlite(_) => Hub::default(),
            Engine::Postgres(engine) => engine.hub(),
        };
        Self { engine, hub }
    }

    /// Hears of every job's commits from now on, those of other processes included.
    pub(crate) fn follow_all(&self) -> &Hub {
        if let Engine::Postgres(engine) = &self.engine {
            engine.listen(&self.hub);
        }
        self.hub.follow_all();
        &self.hub
    }

    pub(crate) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs the work in one transaction, which is under way when this returns. Dropping the future
    /// takes nothing back.
    pub(crate) fn write<T, F>(&self, work: F) -> BoxFuture<'static, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
    {
        match &self.engine {
            Engine::Sqlite(engine) => engine.write(work),
            Engine::Postgres(engine) => engine.write(None, work),
        }
    }

    /// The same for a job's own writes, which become durable in the order of the calls. Those who
    /// follow the job are woken when it is durable, be the future awaited or dropped.
    pub(crate) fn write_for<T, F>(&self, job: &JobId, work: F) -> BoxFuture<'static, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
    {
        let work = waking(self.hub.clone(), job.clone(), work);
        let writing = match &self.engine {
            // One thread writes what comes in the order in which it comes.
            Engine::Sqlite(engine) => engine.write(work),
            Engine::Postgres(engine) => engine.write(Some(job), work),
        };
        async move { writing.await.map(|(value, _wake)| value) }.boxed()
    }

    /// Runs the work on one snapshot of the record.
    pub(crate) fn read<T, F>(&self, work: F) -> BoxFuture<'static, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
    {
        let engine = self.engine.clone();
        let reading = match &engine {
            Engine::Sqlite(engine) => engine.read(work),
            Engine::Postgres(engine) => engine.read(work),
        };
        // A reader's answer is worth waiting for even where the last handle goes meanwhile.
        async move {
            let answer = reading.await;
            drop(engine);
            answer
        }
        .boxed()
    }
}

/// Wakes a job's followers when it is dropped. It travels with a transaction's result, which nobody
/// has, and nobody drops, before the transaction has ended.
struct Wake(Hub, JobId);

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.committed(&self.1);
    }
}

/// The work, with a wake beside its result.
fn waking<T, F>(
    hub: Hub,
    job: JobId,
    work: F,
) -> impl for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<(T, Wake), StoreError>> + Send + Sync + 'static
where
    T: Send + 'static,
    F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
{
    move |db| {
        let (hub, job) = (hub.clone(), job.clone());
        let working = work(db);
        async move { Ok((working.await?, Wake(hub, job))) }.boxed()
    }
}
