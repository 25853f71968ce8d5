//! PostgreSQL: a pool of connections, any number of processes.

mod errors;
mod migrate;
mod notify;
mod statements;
mod tls;
mod transaction;
mod write_queue;

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::migrate::Migration;
use crate::notifications::JobNotifier;
use crate::texts::upgrade::{self, PackReport};
use crate::write_scope::WriteScope;
use crate::write_task::{self, WriteTask};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod};
use futures::FutureExt as _;
use notify::CrossProcessNotifier;
use papertape_core::ports::BoxFuture;
use std::sync::Arc;
use tls::ConnectOptions;
use tokio::runtime::Handle;
use write_queue::JobWriteQueue;

/// Max connections per process.
const MAX_CONNECTIONS: usize = 16;
/// The first statement on every connection, after its schema. A process suspended inside a transaction would keep
/// its locks, so other processes could neither take over its jobs nor notify it: after this timeout the server
/// ends its connection and releases the locks. A limit already set by the URL's `options`, the role or the server
/// is respected.
const IDLE_IN_TRANSACTION_TIMEOUT_SQL: &str =
    "SELECT set_config('idle_in_transaction_session_timeout', '15s', false)
    WHERE current_setting('idle_in_transaction_session_timeout') = '0'";

/// The schema comment that marks dev mode data.
const DEV_COMMENT: &str = "papertape dev mode: wiped when a server starts";

/// One schema of a database.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pool: Pool,
    schema: String,
    writable: bool,
    runtime: Handle,
    write_queue: Arc<JobWriteQueue>,
    cross_process: Arc<CrossProcessNotifier>,
}

impl Engine {
    /// Connects; `writable` migrates the schema to the newest version first.
    pub(crate) async fn open(
        url: &str,
        schema: &str,
        writable: bool,
        migrations: &[Migration],
    ) -> Result<Self> {
        let ConnectOptions { config, tls } = checked(url, schema)?;
        let search_path = format!("SET search_path TO {schema}");
        let first = format!("{search_path}; {IDLE_IN_TRANSACTION_TIMEOUT_SQL}");

        let (mut client, connection) = config.connect(tls.clone()).await?;
        let driving = tokio::spawn(connection);
        client.batch_execute(&first).await?;
        if writable {
            // Until everything is up to date, other processes that open the schema wait for this lock.
            migrate::lock_session(&client, schema).await?;
            migrate::migrate(&mut client, schema, migrations).await?;
        } else {
            migrate::check_version(&client).await?;
        }

        let cross_process = Arc::new(CrossProcessNotifier::new(
            ConnectOptions { config: config.clone(), tls: tls.clone() },
            schema,
        ));
        let manager =
            Manager::from_config(config, tls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager)
            .max_size(MAX_CONNECTIONS)
            .post_create(Hook::async_fn(move |client, _| {
                let first = first.clone();
                Box::pin(async move { client.batch_execute(&first).await.map_err(HookError::Backend) })
            }))
            .build()
            .map_err(|error| StoreError::Database(error.to_string()))?;
        let engine = Self {
            pool,
            schema: schema.to_owned(),
            writable,
            runtime: Handle::current(),
            write_queue: Arc::default(),
            cross_process,
        };
        if writable {
            engine.pack_texts().await?;
        }
        // Releases the lock.
        drop(client);
        let _ = driving.await;
        Ok(engine)
    }

    /// Packs the texts that an older version has written; see [`upgrade`].
    async fn pack_texts(&self) -> Result<()> {
        let is_there = "SELECT CASE WHEN to_regclass('pending_upgrades') IS NULL THEN 0 ELSE 1 END";
        let is_pending = self.read(move |db| {
            async move { Ok(db.first(is_there, &[]).await? == Some(1) && upgrade::is_pending(db).await?) }
                .boxed()
        });
        if !is_pending.await? {
            return Ok(());
        }
        let mut report = PackReport::begin();
        while let Some(batch) = self.write(|db| upgrade::pack_next(db).boxed()).await? {
            report.add(batch);
        }
        report.end(Backend::Postgres);
        Ok(())
    }

    /// The hub of a store: if the store is writable, its commits are published to other processes.
    pub(crate) fn notifier(&self) -> JobNotifier {
        if !self.writable {
            return JobNotifier::default();
        }
        let notifier = JobNotifier::shared_with_others();
        self.cross_process.notify_from(&self.runtime, self.pool.clone(), notifier.clone());
        notifier
    }

    /// Listens for other processes' commits from now on.
    pub(crate) fn listen(&self, notifier: &JobNotifier) {
        self.cross_process.listen(&self.runtime, notifier);
    }

    /// Creates and marks the dev mode schema if it does not exist, and empties it first if `wipe`: see `dev.rs`.
    pub(crate) async fn prepare_dev(url: &str, schema: &str, wipe: bool) -> Result<()> {
        let ConnectOptions { config, tls } = checked(url, schema)?;
        let (mut client, connection) = config.connect(tls).await?;
        let driving = tokio::spawn(connection);
        let transaction = client.transaction().await?;
        migrate::lock(&transaction, schema).await?;
        let sql = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1";
        let found = transaction.query_opt(sql, &[&schema]).await?;
        let comment = found.map(|row| row.get::<_, Option<String>>(0));
        if comment.as_ref().is_some_and(|comment| comment.as_deref() != Some(DEV_COMMENT)) {
            return Err(StoreError::NotDev { place: format!("the schema {schema}") });
        }
        if comment.is_some() && wipe {
            transaction.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await?;
        }
        if comment.is_none() || wipe {
            let sql = format!("CREATE SCHEMA {schema}; COMMENT ON SCHEMA {schema} IS '{}'", DEV_COMMENT);
            transaction.batch_execute(&sql).await?;
        }
        transaction.commit().await?;
        drop(client);
        let _ = driving.await;
        Ok(())
    }

    /// The schema's name.
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// Runs the work in a transaction. It has been started when this returns; the future resolves when it is
    /// durable, and dropping it cancels nothing.
    pub(crate) fn write<T, F>(&self, work: F) -> BoxFuture<'static, Result<T, StoreError>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync + 'static,
    {
        if !self.writable {
            return async { Err(StoreError::ReadOnly) }.boxed();
        }
        let engine = self.clone();
        let (task, answered) = write_task::task(work);
        self.runtime.spawn(async move { engine.write_group(vec![task]).await });
        answered
    }

    /// Queues a job's or a part's own write. They are applied in the order of the calls: a guard's outcome follows the
    /// intents of the body that it dropped. Those that arrive while a transaction of their job or part is in progress share the next one.
    pub(crate) fn send_for(&self, scope: WriteScope, mut task: Box<dyn WriteTask>) {
        if !self.writable {
            task.fail(StoreError::ReadOnly);
            task.answer(Ok(()));
        } else if self.write_queue.push(&scope, task) {
            let engine = self.clone();
            self.runtime.spawn(async move {
                while let Some(group) = engine.write_queue.take(&scope) {
                    engine.write_group(group).await;
                }
            });
        }
    }

    /// Runs the work on one snapshot of the record.
    pub(crate) fn read<T, F>(&self, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        let engine = self.clone();
        self.spawned(async move { engine.read_once(work).await })
    }

    fn spawned<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let task = self.runtime.spawn(work);
        async move {
            task.await
                .unwrap_or_else(|error| Err(StoreError::Database(format!("a transaction failed: {error}"))))
        }
        .boxed()
    }
}

/// The password in a PostgreSQL URL (or `key=value` string), as sent to the server; `None` if there is none or
/// the text is not such a URL.
#[must_use]
pub fn database_password(url: &str) -> Option<String> {
    tls::config_of(url).ok()?.get_password().map(|password| String::from_utf8_lossy(password).into_owned())
}

/// The connection's settings, for a schema whose name is safe to embed in a statement.
fn checked(url: &str, schema: &str) -> Result<ConnectOptions> {
    let plain = schema.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !plain || schema.is_empty() || schema.len() > 63 || schema.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(StoreError::BadInput(format!(
            "`{schema}` is not a schema name: lower-case letters, digits and `_`, at most 63"
        )));
    }
    ConnectOptions::of(url)
}
