//! Migrates a schema.

use crate::error::{Result, StoreError};
use crate::migrate::{Migration, VERSIONS, check, failed, pending};
use papertape_core::time::{Timestamp, from_micros, to_micros};
use tokio_postgres::Client;

/// Migrates a PostgreSQL schema, which is the connection's search path, to the newest version.
pub(super) async fn migrate(client: &mut Client, schema: &str, migrations: &[Migration]) -> Result<()> {
    let transaction = client.transaction().await?;
    lock(&transaction, schema).await?;
    transaction.batch_execute(&format!("CREATE SCHEMA IF NOT EXISTS {schema}; {VERSIONS};")).await?;
    let row = transaction.query_one("SELECT coalesce(max(version), 0) FROM schema_version", &[]).await?;
    for migration in pending(row.get(0), migrations)? {
        let applied = match transaction.batch_execute(migration.postgres).await {
            Ok(()) => {
                let now = to_micros(database_now(&transaction).await?);
                let sql = "INSERT INTO schema_version (version, name, applied_at) VALUES ($1, $2, $3)";
                transaction.execute(sql, &[&migration.version, &migration.name, &now]).await.map(drop)
            }
            Err(error) => Err(error),
        };
        applied.map_err(|error| failed(migration, &StoreError::from(error)))?;
    }
    Ok(transaction.commit().await?)
}

/// Several processes may start at once: one migrates the schema, the others find it done.
pub(super) async fn lock(transaction: &tokio_postgres::Transaction<'_>, schema: &str) -> Result<()> {
    let sql = "SELECT pg_advisory_xact_lock(hashtext($1))";
    transaction.execute(sql, &[&format!("papertape {schema}")]).await?;
    Ok(())
}

/// Like [`lock`], until the connection is closed.
pub(super) async fn lock_session(client: &Client, schema: &str) -> Result<()> {
    let sql = "SELECT pg_advisory_lock(hashtext($1))";
    client.execute(sql, &[&format!("papertape {schema}")]).await?;
    Ok(())
}

/// Checks that the PostgreSQL schema is this program's.
pub(super) async fn check_version(client: &Client) -> Result<()> {
    let there = client.query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return check(0);
    }
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM schema_version", &[]).await?;
    check(row.get(0))
}

async fn database_now(transaction: &tokio_postgres::Transaction<'_>) -> Result<Timestamp> {
    let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
    let micros: i64 = transaction.query_one(sql, &[]).await?.get(0);
    from_micros(micros).ok_or_else(|| StoreError::inconsistent("the database's clock is out of range"))
}

#[cfg(test)]
mod accounts_tests;
#[cfg(test)]
mod job_labels_tests;
