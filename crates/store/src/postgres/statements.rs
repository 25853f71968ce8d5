//! Statements in a transaction, and values on the wire.

use super::errors::is_passing;
use crate::db::{Backend, Db};
use crate::error::StoreError;
use crate::value::{Array, Row, Value};
use deadpool_postgres::Transaction;
use futures::FutureExt as _;
use papertape_core::id::ContentHash;
use papertape_core::ports::BoxFuture;
use rust_decimal::Decimal;
use std::collections::BTreeMap;
use tokio_postgres::Statement;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// A transaction on a pooled connection.
pub(super) struct PostgresDb<'t, 'c> {
    transaction: &'t Transaction<'c>,
    /// The statement failed because of another transaction: a retry of the whole may succeed.
    pub(super) should_retry: bool,
    /// Texts that were stored for all tasks, with the IDs of those that were not there before.
    pub(super) stored_texts: BTreeMap<ContentHash, Option<i64>>,
    id: TransactionId,
}

/// How to ask the server how a transaction ended.
pub(super) struct CommitId {
    /// The transaction's ID.
    pub(super) transaction: String,
    /// The timeline that it was begun on. On another one, its ID may be that of another transaction.
    pub(super) timeline: String,
}

/// SQL expression for the server's timeline, which changes when a standby is promoted.
pub(super) const TIMELINE: &str = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)";

/// The ID by which the server knows how a transaction ended.
enum TransactionId {
    NotNeeded,
    /// Requested together with the first statement.
    Needed,
    Known(CommitId),
}

impl<'t, 'c> PostgresDb<'t, 'c> {
    pub(super) fn reading(transaction: &'t Transaction<'c>) -> Self {
        Self::new(transaction, TransactionId::NotNeeded)
    }

    pub(super) fn writing(transaction: &'t Transaction<'c>) -> Self {
        Self::new(transaction, TransactionId::Needed)
    }

    const fn new(transaction: &'t Transaction<'c>, id: TransactionId) -> Self {
        Self { transaction, should_retry: false, stored_texts: BTreeMap::new(), id }
    }

    /// The transaction's ID, if it has run a statement.
    pub(super) fn into_id(self) -> Option<CommitId> {
        match self.id {
            TransactionId::Known(id) => Some(id),
            TransactionId::NotNeeded | TransactionId::Needed => None,
        }
    }

    /// Runs what `run` makes of the prepared statement.
    async fn prepared<T, R>(
        &mut self,
        sql: &str,
        run: impl FnOnce(&'t Transaction<'c>, Statement) -> R,
    ) -> Result<T, StoreError>
    where
        R: Future<Output = Result<T, tokio_postgres::Error>>,
    {
        let ran = async {
            let statement = self.transaction.prepare_cached(sql).await?;
            if !matches!(self.id, TransactionId::Needed) {
                return run(self.transaction, statement).await;
            }
            let id = format!("SELECT CAST(pg_current_xact_id() AS TEXT), {TIMELINE}");
            let id = self.transaction.prepare_cached(&id).await?;
            // Both are sent before either is answered.
            let requested = self.transaction.query_one(&id, &[]);
            let (id, ran) = futures::future::join(requested, run(self.transaction, statement)).await;
            let id = id?;
            self.id = TransactionId::Known(CommitId { transaction: id.get(0), timeline: id.get(1) });
            ran
        };
        ran.await.map_err(|error| {
            self.should_retry |= is_passing(&error);
            error.into()
        })
    }
}

/// Parameters as the library takes them.
fn values(params: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|value| value as _).collect()
}

impl Db for PostgresDb<'_, '_> {
    fn backend(&self) -> Backend {
        Backend::Postgres
    }

    fn query<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        async move {
            let params = values(params);
            let rows = self
                .prepared(sql, async |transaction, statement| transaction.query(&statement, &params).await);
            rows.await?.iter().map(from_postgres).collect()
        }
        .boxed()
    }

    fn execute<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        async move {
            let params = values(params);
            let changed = self
                .prepared(sql, async |transaction, statement| transaction.execute(&statement, &params).await);
            changed.await
        }
        .boxed()
    }

    fn insert_id<'a>(
        &'a mut self,
        sql: &'a str,
        params: &'a [Value],
    ) -> BoxFuture<'a, Result<Option<i64>, StoreError>> {
        async move { self.query(sql, params).await?.into_iter().next().map(|mut row| row.get()).transpose() }
            .boxed()
    }

    fn stored_text(&self, hash: ContentHash) -> Option<Option<i64>> {
        self.stored_texts.get(&hash).copied()
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
            Self::Text(text) => text_to_sql(text, ty, out),
            Self::SharedText(text) => text_to_sql(text, ty, out),
            Self::Blob(bytes) => bytes.to_sql(ty, out),
            Self::SharedBlob(bytes) => bytes.as_slice().to_sql(ty, out),
            Self::Hash(hash) => hash.as_bytes().as_slice().to_sql(ty, out),
            Self::Array(Array::Hashes(hashes)) => {
                let hashes: Vec<&[u8]> = hashes.iter().map(|hash| hash.as_bytes().as_slice()).collect();
                hashes.to_sql(ty, out)
            }
            // Stored texts never contain a NUL: see `texts.rs`.
            Self::Array(Array::Texts(texts)) => {
                let texts: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
                texts.to_sql(ty, out)
            }
            Self::Array(Array::Numbers(numbers)) => numbers.to_sql(ty, out),
            Self::Array(Array::Blobs(blobs)) => {
                let blobs: Vec<Option<&[u8]>> =
                    blobs.iter().map(|bytes| bytes.as_ref().map(|bytes| bytes.as_slice())).collect();
                blobs.to_sql(ty, out)
            }
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

/// PostgreSQL text cannot hold a NUL. Texts that must be exact never contain one here.
fn text_to_sql(
    text: &str,
    ty: &Type,
    out: &mut BytesMut,
) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").to_sql(ty, out) } else { text.to_sql(ty, out) }
}

fn from_postgres(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
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
                row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::from)
            })
        })
        .collect::<Result<Vec<_>, tokio_postgres::Error>>()?;
    Ok(Row::new(values))
}
