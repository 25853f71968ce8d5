//! The single boundary between the record's logic and a database: statements with `$n` parameters, inside a
//! transaction that the caller begins and ends.

use crate::error::StoreError;
use crate::value::{Row, Value};
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
    fn query<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>>;

    /// Runs a statement that returns no rows; returns how many rows it changed.
    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Value])
    -> BoxFuture<'a, Result<u64, StoreError>>;

    /// Runs an `INSERT` of one row that ends with ` RETURNING id`; returns the row's ID, or `None` if it was not
    /// inserted. On SQLite this is cheaper than a query.
    fn insert<'a>(
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
    pub(crate) async fn row(&mut self, sql: &str, params: &[Value]) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, params).await?.into_iter().next())
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

    pub(crate) async fn query(&self, db: &mut dyn Db) -> Result<Vec<Row>, StoreError> {
        db.query(&self.sql, &self.params).await
    }
}
