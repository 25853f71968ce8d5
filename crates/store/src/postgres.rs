//! PostgreSQL: a pool of connections, any number of processes.

mod migrate;
mod notify;
mod tls;

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::migrate::Migration;
use crate::notifications::JobNotifier;
use crate::value::{Row, Value};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Transaction};
use futures::FutureExt as _;
use notify::CrossProcessNotifier;
use papertape_core::id::JobId;
use papertape_core::ports::BoxFuture;
use papertape_core::time::Backoff;
use rust_decimal::Decimal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tls::ConnectOptions;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio_postgres::IsolationLevel;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// Max connections per process.
const MAX_CONNECTIONS: usize = 16;
/// Max attempts of a transaction that hit a deadlock or a serialization failure, or whose connection broke.
const MAX_ATTEMPTS: u32 = 12;
/// Delays while the server is unavailable, about 15 s in total: enough for a server restart.
const RECONNECT_BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), max: Duration::from_secs(2) };
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
            migrate::migrate(&mut client, schema, migrations).await?;
        } else {
            migrate::check_version(&client).await?;
        }
        drop(client);
        let _ = driving.await;

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
        Ok(Self {
            pool,
            schema: schema.to_owned(),
            writable,
            runtime: Handle::current(),
            write_queue: Arc::default(),
            cross_process,
        })
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

    /// Runs the work in a transaction. The transaction has been started when this returns; the future resolves
    /// when it is durable, and dropping it cancels nothing. Writes of one job are applied in the order of the
    /// calls: a guard's outcome follows the intents of the body that it dropped.
    pub(crate) fn write<T, F>(&self, job: Option<&JobId>, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        if !self.writable {
            return async { Err(StoreError::ReadOnly) }.boxed();
        }
        let engine = self.clone();
        let turn = job.map(|job| self.write_queue.turn(job));
        self.spawned(async move {
            let ended = match turn {
                Some(turn) => Some(turn.wait().await),
                None => None,
            };
            let result = engine.transact(work, IsolationLevel::ReadCommitted, false).await;
            drop(ended);
            result
        })
    }

    /// Runs the work on one snapshot of the record.
    pub(crate) fn read<T, F>(&self, work: F) -> BoxFuture<'static, Result<T>>
    where
        T: Send + 'static,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync + 'static,
    {
        let engine = self.clone();
        self.spawned(async move { engine.transact(work, IsolationLevel::RepeatableRead, true).await })
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

    async fn transact<T, F>(&self, work: F, isolation: IsolationLevel, read_only: bool) -> Result<T>
    where
        T: Send,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T>> + Send + Sync,
    {
        for attempt in 1.. {
            let mut client = match self.pool.get().await {
                Ok(client) => client,
                Err(error) if attempt < MAX_ATTEMPTS && is_unavailable(&error) => {
                    tokio::time::sleep(RECONNECT_BACKOFF.delay(attempt)).await;
                    continue;
                }
                Err(error) => return Err(pool_error(error)),
            };
            let begun = client.build_transaction().isolation_level(isolation).read_only(read_only).start();
            let transaction = match begun.await {
                Ok(transaction) => transaction,
                Err(error) if is_transient(&error) && attempt < MAX_ATTEMPTS => continue,
                Err(error) => return Err(error.into()),
            };
            let mut db = PostgresDb { transaction: &transaction, should_retry: false };
            let result = work(&mut db).await;
            let should_retry = db.should_retry;
            match result {
                Ok(value) => match transaction.commit().await {
                    Ok(()) => return Ok(value),
                    Err(error) if is_rolled_back(&error) && attempt < MAX_ATTEMPTS => {}
                    Err(error) => return Err(error.into()),
                },
                Err(error) => {
                    // The work's error is more useful than a rollback error.
                    let _ = transaction.rollback().await;
                    if !should_retry || attempt >= MAX_ATTEMPTS {
                        return Err(error);
                    }
                }
            }
        }
        Err(StoreError::Database("a transaction was tried too often".to_owned()))
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

/// Orders the writers of each job. It also keeps them from waiting for each other while each holds a connection.
#[derive(Debug, Default)]
struct JobWriteQueue {
    newest: Mutex<HashMap<JobId, oneshot::Receiver<()>>>,
}

/// A place in a job's write queue.
struct Ticket {
    before: Option<oneshot::Receiver<()>>,
    ended: oneshot::Sender<()>,
}

impl JobWriteQueue {
    /// Finished entries are removed once the map holds this many jobs.
    const MAX_ENTRIES: usize = 256;

    fn turn(&self, job: &JobId) -> Ticket {
        let (ended, after) = oneshot::channel();
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.len() >= Self::MAX_ENTRIES {
            newest.retain(|_, last| matches!(last.try_recv(), Err(oneshot::error::TryRecvError::Empty)));
        }
        Ticket { before: newest.insert(job.clone(), after), ended }
    }
}

impl Ticket {
    /// Waits for earlier writers. The next writer proceeds when the returned sender is dropped.
    async fn wait(self) -> oneshot::Sender<()> {
        if let Some(before) = self.before {
            // The sender is dropped to signal the end; that is not an error.
            let _ = before.await;
        }
        self.ended
    }
}

/// A transaction on a pooled connection.
struct PostgresDb<'t, 'c> {
    transaction: &'t Transaction<'c>,
    /// The statement failed because of another transaction: a retry of the whole may succeed.
    should_retry: bool,
}

impl PostgresDb<'_, '_> {
    fn note_error(&mut self, error: tokio_postgres::Error) -> StoreError {
        self.should_retry |= is_transient(&error);
        error.into()
    }
}

impl Db for PostgresDb<'_, '_> {
    fn backend(&self) -> Backend {
        Backend::Postgres
    }

    fn query<'a>(&'a mut self, sql: &'a str, params: &'a [Value]) -> BoxFuture<'a, Result<Vec<Row>>> {
        async move {
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| value as _).collect();
            let rows = match self.transaction.prepare_cached(sql).await {
                Ok(statement) => self.transaction.query(&statement, &params).await,
                Err(error) => Err(error),
            };
            rows.map_err(|error| self.note_error(error))?.iter().map(from_postgres).collect()
        }
        .boxed()
    }

    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Value]) -> BoxFuture<'a, Result<u64>> {
        async move {
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| value as _).collect();
            let changed = match self.transaction.prepare_cached(sql).await {
                Ok(statement) => self.transaction.execute(&statement, &params).await,
                Err(error) => Err(error),
            };
            changed.map_err(|error| self.note_error(error))
        }
        .boxed()
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::I64(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::I64(number) if *ty == Type::NUMERIC => Decimal::from(*number).to_sql(ty, out),
            Self::I64(number) => number.to_sql(ty, out),
            // PostgreSQL text cannot hold a NUL. Texts that must be exact never contain one here.
            Self::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(ty, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Blob(bytes) => bytes.to_sql(ty, out),
            Self::Decimal(number) if number.is_zero() => {
                // The library would drop a zero's scale. Layout: no digits, weight 0, sign +, the scale.
                out.extend_from_slice(&[0; 6]);
                out.extend_from_slice(&u16::try_from(number.scale())?.to_be_bytes());
                Ok(IsNull::No)
            }
            Self::Decimal(number) => number.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // The conversions above, and the types they delegate to, decide what can be sent.
        true
    }

    to_sql_checked!();
}

fn from_postgres(row: &tokio_postgres::Row) -> Result<Row> {
    let values = row
        .columns()
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let ty = column.type_();
            Ok(if *ty == Type::INT8 {
                row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::I64)
            } else if *ty == Type::INT4 {
                row.try_get::<_, Option<i32>>(at)?.map_or(Value::Null, |number| Value::I64(number.into()))
            } else if *ty == Type::BOOL {
                row.try_get::<_, Option<bool>>(at)?.map_or(Value::Null, |truth| Value::I64(truth.into()))
            } else if *ty == Type::BYTEA {
                row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Value::Null, Value::Blob)
            } else if *ty == Type::NUMERIC {
                row.try_get::<_, Option<Decimal>>(at)?.map_or(Value::Null, Value::Decimal)
            } else {
                row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::Text)
            })
        })
        .collect::<Result<Vec<_>, tokio_postgres::Error>>()?;
    Ok(Row::new(values))
}

/// For a statement before the commit: the transaction was rolled back and may succeed when retried, on another
/// connection if this one is closed.
fn is_transient(error: &tokio_postgres::Error) -> bool {
    is_rolled_back(error) || error.is_closed() || error.code().is_some_and(is_closing)
}

/// The server is closing the connection, or rejects new ones for now.
fn is_closing(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::TOO_MANY_CONNECTIONS,
    ]
    .contains(code)
}

/// No connection is available for now: the server is down, shutting down or starting up.
fn is_unavailable(error: &deadpool_postgres::PoolError) -> bool {
    match error {
        // An error code from the server tells whether it is temporary; no response at all always is.
        deadpool_postgres::PoolError::Backend(error) => error.code().is_none_or(is_closing),
        _ => false,
    }
}

/// For any statement, including the commit, after which the outcome would otherwise be unknown: the transaction
/// conflicted with another one, and the server has rolled it back.
fn is_rolled_back(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(code) if *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::T_R_SERIALIZATION_FAILURE)
}

fn pool_error(error: deadpool_postgres::PoolError) -> StoreError {
    match error {
        deadpool_postgres::PoolError::Backend(error) => error.into(),
        other => StoreError::Database(other.to_string()),
    }
}
