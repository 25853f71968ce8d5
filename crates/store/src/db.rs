//! The single boundary between the record's logic and a database: statements with `$n` parameters, inside a
//! transaction that the caller begins and ends.

use crate::error::{Result, StoreError};
use crate::value::{FromRow, Row, Value};
use papertape_core::id::ContentHash;
use papertape_core::ports::BoxFuture;
use std::sync::Arc;

/// Which database is behind a [`Db`], for the few statements that must differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

impl Backend {
    /// SQL expression for the database's own clock, in microseconds.
    pub(crate) const fn now(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
            Self::Postgres => "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
        }
    }
}

/// An open transaction. On SQLite the futures are ready immediately.
pub(crate) trait Db: Send {
    /// Which database it is.
    fn backend(&self) -> Backend;

    /// Runs a statement that returns rows.
    fn query<'a>(&'a mut self, sql: &'a str, params: &'a [Value]) -> BoxFuture<'a, Result<Vec<Row>>>;

    /// Runs a statement that returns no rows; returns how many rows it changed.
    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Value])
    -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Runs an `INSERT` of one row that ends with ` RETURNING id`; returns the row's ID, or `None` if it was not
    /// inserted. On SQLite this is cheaper than a query.
    fn insert_id<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Option<i64>, StoreError>>;

    /// Notes that this transaction queued a text for the search index, with its words if they are known: see
    /// [`crate::search::deferred_index`].
    fn queued_text(&mut self, _text_id: i64, _words: Option<&Arc<String>>) {}

    /// The ID of a text that was stored for all work of this transaction beforehand: `Some(None)` if it was there
    /// already, `None` if it was not among those texts.
    fn stored_text(&self, _hash: ContentHash) -> Option<Option<i64>> {
        None
    }
}

impl dyn Db + '_ {
    /// The first row, if any.
    pub(crate) async fn row(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// What the first row holds, if there is one.
    pub(crate) async fn first<T: FromRow>(&mut self, sql: &str, params: &[Value]) -> Result<Option<T>> {
        self.row(sql, params).await?.map(|mut row| row.get()).transpose()
    }

    /// What every row holds.
    pub(crate) async fn all<T: FromRow>(&mut self, sql: &str, params: &[Value]) -> Result<Vec<T>> {
        self.query(sql, params).await?.into_iter().map(|mut row| row.get()).collect()
    }

    /// Inserts one row.
    pub(crate) async fn insert(
        &mut self,
        table: &str,
        row: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Result<()> {
        let Statement { sql, params } = Statement::insert(table, row);
        self.execute(&sql, &params).await.map(drop)
    }
}

/// A statement assembled from fragments, with its parameters.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) params: Vec<Value>,
}

impl Statement {
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), params: Vec::new() }
    }

    /// The insertion of one row.
    pub(crate) fn insert(table: &str, row: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let (columns, params): (Vec<_>, Vec<_>) = row.into_iter().unzip();
        let places: Vec<String> = (1..=params.len()).map(|place| format!("${place}")).collect();
        let sql = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        Self { sql, params }
    }

    /// The change of these columns, to be completed with a condition.
    pub(crate) fn update(table: &str, row: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let (columns, params): (Vec<_>, Vec<_>) = row.into_iter().unzip();
        let changes =
            columns.iter().zip(1..).map(|(column, place): (&&str, u32)| format!("{column} = ${place}"));
        Self { sql: format!("UPDATE {table} SET {}", changes.collect::<Vec<_>>().join(", ")), params }
    }

    /// Appends SQL in which each `?` is a placeholder for the next of these values.
    pub(crate) fn add(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) -> &mut Self {
        let mut values = values.into_iter();
        for (at, part) in sql.split('?').enumerate() {
            if at > 0 {
                self.params.extend(values.next());
                self.sql.push('$');
                self.sql.push_str(&self.params.len().to_string());
            }
            self.sql.push_str(part);
        }
        self
    }

    /// Appends SQL with a `?` for this value, if there is one.
    pub(crate) fn add_some<T>(&mut self, sql: &str, value: Option<T>) -> &mut Self
    where
        Value: From<T>,
    {
        match value {
            Some(value) => self.add(sql, [value.into()]),
            None => self,
        }
    }

    pub(crate) async fn execute(&self, db: &mut dyn Db) -> Result<u64> {
        db.execute(&self.sql, &self.params).await
    }

    pub(crate) async fn first<T: FromRow>(&self, db: &mut dyn Db) -> Result<Option<T>> {
        db.first(&self.sql, &self.params).await
    }

    pub(crate) async fn all<T: FromRow>(&self, db: &mut dyn Db) -> Result<Vec<T>> {
        db.all(&self.sql, &self.params).await
    }
}
