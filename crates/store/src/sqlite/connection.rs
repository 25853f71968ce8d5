//! Connections to a data file, and statements on them.

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::value::{Row, Value};
use futures::FutureExt as _;
use futures::future::ready;
use papertape_core::ports::BoxFuture;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OpenFlags, ToSql};
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const READ_ONLY: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
/// Characters with a special meaning in SQLite's file URIs.
const URI_PATH: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// Prepared statements cached per connection: more than the store uses.
const CACHED_STATEMENTS: usize = 256;
/// Max size of the writer's page cache, which grows as pages are used. After every commit that rebalanced a tree, SQLite
/// looks through the whole cache for pages beyond the file's end, so a larger cache makes commits slower.
const WRITER_CACHE_KIB: u32 = 16 << 10;
/// How long to wait for another process's lock, such as a reader or a backup tool.
const BUSY: Duration = Duration::from_secs(10);

/// Parameter names, so that none has to be formatted per statement.
const NAMES: [&str; 40] = [
    "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$16",
    "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29", "$30", "$31",
    "$32", "$33", "$34", "$35", "$36", "$37", "$38", "$39", "$40",
];

/// The file's path with a suffix appended.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Only the owner may read what agents said and did.
pub(super) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Creates the file, if it does not exist, for its owner only. SQLite gives the same mode to the files that it
/// creates next to it.
pub(crate) fn create(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    private(&mut options);
    options.open(path).map(drop).map_err(|error| StoreError::file(path, &error))
}

/// Opens a read-write connection.
pub(super) fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // An acknowledged commit survives a power loss. The cache holds what most transactions read: indexes.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -{WRITER_CACHE_KIB};"
    ))?;
    Ok(connection)
}

/// Opens a read-only connection.
pub(super) fn open_read_only(path: &Path) -> Result<Connection> {
    let connection =
        Connection::open_with_flags(path, READ_ONLY).map_err(|error| StoreError::file(path, &error))?;
    prepare(&connection)?;
    Ok(connection)
}

/// Opens a file that nobody changes, ignoring its WAL and creating no files next to it.
pub(super) fn open_immutable(path: &Path) -> Result<Connection> {
    let path_in_uri = percent_encoding::percent_encode(path.as_os_str().as_encoded_bytes(), URI_PATH);
    let uri = format!("file:{path_in_uri}?immutable=1");
    let connection = Connection::open_with_flags(uri, READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
        .map_err(|error| StoreError::file(path, &error))?;
    prepare(&connection)?;
    Ok(connection)
}

/// The application ID in a file's header; 0 if unset.
pub(super) fn application_id(path: &Path) -> Result<i64> {
    Ok(open_read_only(path)?.query_row("PRAGMA application_id", [], |row| row.get(0))?)
}

/// Sets the application ID.
pub(super) fn set_application_id(path: &Path, id: i64) -> Result<()> {
    Ok(open(path)?.pragma_update(None, "application_id", id)?)
}

/// Removes the file and SQLite's files next to it.
pub(super) fn remove(path: &Path) -> Result<()> {
    // The WAL first: a WAL without its file is harmless, a file without its WAL may lack commits.
    for file in [beside(path, "-wal"), beside(path, "-shm"), path.to_owned()] {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::file(file, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Runs a statement without parameters, prepared once.
pub(super) fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    Ok(connection.prepare_cached(sql)?.execute([]).map(drop)?)
}

fn prepare(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    Ok(())
}

/// Copies the whole database into a new file.
pub(crate) fn copy(connection: &Connection, to: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    options.open(to).map_err(|error| StoreError::file(to, &error))?;
    let mut target = Connection::open(to)?;
    let backup = rusqlite::backup::Backup::new(connection, &mut target)?;
    backup.run_to_completion(1024, Duration::ZERO, None)?;
    Ok(())
}

/// A text that was queued for the search index, with its words if they are known.
pub(super) type QueuedText = (i64, Option<Arc<String>>);

/// A connection inside a transaction.
pub(crate) struct SqliteDb<'c> {
    connection: &'c mut Connection,
    /// The texts that the transaction queued for the search index.
    pub(super) queued: Vec<QueuedText>,
}

impl<'c> SqliteDb<'c> {
    pub(crate) fn new(connection: &'c mut Connection) -> Self {
        Self { connection, queued: Vec::new() }
    }

    fn bound(&self, sql: &str, params: &[Value]) -> Result<CachedStatement<'_>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        if params.len() > NAMES.len() {
            return Err(StoreError::inconsistent("a statement has too many parameters"));
        }
        for (at, (name, value)) in NAMES.iter().zip(params).enumerate() {
            // SQLite numbers parameters by their first use, which in most statements is their order.
            let index = if statement.parameter_name(at + 1) == Some(name) {
                at + 1
            } else {
                statement
                    .parameter_index(name)?
                    .ok_or_else(|| StoreError::inconsistent(format!("a statement has no parameter {name}")))?
            };
            statement.raw_bind_parameter(index, value)?;
        }
        Ok(statement)
    }

    fn rows(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>> {
        let mut statement = self.bound(sql, params)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let values = (0..columns)
                .map(|column| Ok(from_sqlite(row.get_ref(column)?)))
                .collect::<Result<Vec<_>>>()?;
            found.push(Row::new(values));
        }
        Ok(found)
    }

    fn change(&self, sql: &str, params: &[Value]) -> Result<u64> {
        Ok(self.bound(sql, params)?.raw_execute()? as u64)
    }

    fn add(&self, sql: &str, params: &[Value]) -> Result<Option<i64>, StoreError> {
        // SQLite collects returned rows in a temporary table; the connection knows the last row's ID anyway.
        let plain = sql.strip_suffix(" RETURNING id").unwrap_or(sql);
        let added = self.bound(plain, params)?.raw_execute()?;
        Ok((added > 0).then(|| self.connection.last_insert_rowid()))
    }
}

impl Db for SqliteDb<'_> {
    fn backend(&self) -> Backend {
        Backend::Sqlite
    }

    fn query<'a>(&'a mut self, sql: &'a str, params: &'a [Value]) -> BoxFuture<'a, Result<Vec<Row>>> {
        ready(self.rows(sql, params)).boxed()
    }

    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Value]) -> BoxFuture<'a, Result<u64>> {
        ready(self.change(sql, params)).boxed()
    }

    fn insert_id<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Option<i64>, StoreError>> {
        ready(self.add(sql, params)).boxed()
    }

    fn queued_text(&mut self, text_id: i64, words: Option<&Arc<String>>) {
        self.queued.push((text_id, words.cloned()));
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::I64(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::SharedText(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::SharedBlob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Hash(hash) => ToSqlOutput::Borrowed(ValueRef::Blob(hash.as_bytes())),
            Self::Array(_) => {
                return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no arrays".into()));
            }
            Self::Decimal(number) => ToSqlOutput::Owned(rusqlite::types::Value::Text(number.to_string())),
        })
    }
}

fn from_sqlite(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::I64(number),
        // Our statements never read a REAL, except for a reader's own arithmetic.
        ValueRef::Real(number) => Value::from(number.to_string()),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
