//! Numbered steps from an empty database to the current schema. A released step is never edited: every change is
//! a new one.

use crate::error::StoreError;
use crate::sqlite::copy;
use papertape_core::time::{Timestamp, to_micros};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};
use tokio_postgres::Client;

/// One step of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    /// From 1.
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

/// All migrations, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        name: "record",
        sqlite: include_str!("../migrations/sqlite/0001_record.sql"),
        postgres: include_str!("../migrations/postgres/0001_record.sql"),
    },
    Migration {
        version: 2,
        name: "memory",
        sqlite: include_str!("../migrations/sqlite/0002_memory.sql"),
        postgres: include_str!("../migrations/postgres/0002_memory.sql"),
    },
    Migration {
        version: 3,
        name: "vectors",
        sqlite: include_str!("../migrations/sqlite/0003_vectors.sql"),
        postgres: include_str!("../migrations/postgres/0003_vectors.sql"),
    },
    Migration {
        version: 4,
        name: "sessions_by_job",
        sqlite: include_str!("../migrations/sqlite/0004_sessions_by_job.sql"),
        postgres: include_str!("../migrations/postgres/0004_sessions_by_job.sql"),
    },
    Migration {
        version: 5,
        name: "actions",
        sqlite: include_str!("../migrations/sqlite/0005_actions.sql"),
        postgres: include_str!("../migrations/postgres/0005_actions.sql"),
    },
    Migration {
        version: 6,
        name: "job_configs",
        sqlite: include_str!("../migrations/sqlite/0006_job_configs.sql"),
        postgres: include_str!("../migrations/postgres/0006_job_configs.sql"),
    },
    Migration {
        version: 7,
        name: "shown",
        sqlite: include_str!("../migrations/sqlite/0007_shown.sql"),
        postgres: include_str!("../migrations/postgres/0007_shown.sql"),
    },
    Migration {
        version: 8,
        name: "logins",
        sqlite: include_str!("../migrations/sqlite/0008_logins.sql"),
        postgres: include_str!("../migrations/postgres/0008_logins.sql"),
    },
    Migration {
        version: 9,
        name: "texts_to_index",
        sqlite: include_str!("../migrations/sqlite/0009_texts_to_index.sql"),
        postgres: include_str!("../migrations/postgres/0009_texts_to_index.sql"),
    },
    Migration {
        version: 10,
        name: "accounts",
        sqlite: include_str!("../migrations/sqlite/0010_accounts.sql"),
        postgres: include_str!("../migrations/postgres/0010_accounts.sql"),
    },
    Migration {
        version: 11,
        name: "chains",
        sqlite: include_str!("../migrations/sqlite/0011_chains.sql"),
        postgres: include_str!("../migrations/postgres/0011_chains.sql"),
    },
    Migration {
        version: 12,
        name: "action_terms",
        sqlite: include_str!("../migrations/sqlite/0012_action_terms.sql"),
        postgres: include_str!("../migrations/postgres/0012_action_terms.sql"),
    },
    Migration {
        version: 13,
        name: "estimates",
        sqlite: include_str!("../migrations/sqlite/0013_estimates.sql"),
        postgres: include_str!("../migrations/postgres/0013_estimates.sql"),
    },
    Migration {
        version: 14,
        name: "quality",
        sqlite: include_str!("../migrations/sqlite/0014_quality.sql"),
        postgres: include_str!("../migrations/postgres/0014_quality.sql"),
    },
    Migration {
        version: 15,
        name: "delistings",
        sqlite: include_str!("../migrations/sqlite/0015_delistings.sql"),
        postgres: include_str!("../migrations/postgres/0015_delistings.sql"),
    },
];

const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_version (
    version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)";

/// Migrates a SQLite file to the newest schema in one transaction, after backing it up.
pub(crate) fn sqlite(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let found = sqlite_version(connection)?;
    let pending = pending(found, migrations)?;
    let Some(newest) = pending.last() else {
        return Ok(());
    };
    if found > 0 {
        let copied = back_up(connection, path, found)?;
        tracing::info!(from = found, to = newest.version, backup = %copied.display(), "migrating the database");
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(VERSIONS)?;
    for migration in pending {
        let applied = transaction.execute_batch(migration.sqlite).and_then(|()| {
            transaction.execute(
                "INSERT INTO schema_version (version, name, applied_at)
                 VALUES (?1, ?2, CAST(unixepoch('subsec') * 1000000 AS INTEGER))",
                (migration.version, migration.name),
            )
        });
        applied.map_err(|error| failed(migration, &error))?;
    }
    Ok(transaction.commit()?)
}

/// Checks that the file has this program's schema, for read-only access.
pub(crate) fn check_sqlite(connection: &mut Connection) -> Result<(), StoreError> {
    check(sqlite_version(connection)?)
}

/// Migrates a PostgreSQL schema, which is the connection's search path, to the newest version.
pub(crate) async fn postgres(
    client: &mut Client,
    schema: &str,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let transaction = client.transaction().await?;
    lock_postgres(&transaction, schema).await?;
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
pub(crate) async fn lock_postgres(
    transaction: &tokio_postgres::Transaction<'_>,
    schema: &str,
) -> Result<(), StoreError> {
    let sql = "SELECT pg_advisory_xact_lock(hashtext($1))";
    transaction.execute(sql, &[&format!("papertape {schema}")]).await?;
    Ok(())
}

/// Checks that the PostgreSQL schema is this program's.
pub(crate) async fn check_postgres(client: &Client) -> Result<(), StoreError> {
    let there = client.query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return check(0);
    }
    let row = client.query_one("SELECT coalesce(max(version), 0) FROM schema_version", &[]).await?;
    check(row.get(0))
}

async fn database_now(transaction: &tokio_postgres::Transaction<'_>) -> Result<Timestamp, StoreError> {
    let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
    let micros: i64 = transaction.query_one(sql, &[]).await?.get(0);
    papertape_core::time::from_micros(micros)
        .ok_or_else(|| StoreError::inconsistent("the database's clock is out of range"))
}

fn check(found: i64) -> Result<(), StoreError> {
    let known = MIGRATIONS.last().map_or(0, |migration| migration.version);
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(StoreError::Older { found, known }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::Newer { found, known }),
    }
}

/// The migrations to apply to a database of version `found`.
fn pending(found: i64, migrations: &[Migration]) -> Result<&[Migration], StoreError> {
    let known = migrations.last().map_or(0, |migration| migration.version);
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    let done = migrations.partition_point(|migration| migration.version <= found);
    Ok(&migrations[done..])
}

fn failed(migration: &Migration, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Migration {
        version: migration.version,
        name: migration.name.to_owned(),
        why: why.to_string(),
    }
}

fn sqlite_version(connection: &Connection) -> Result<i64, StoreError> {
    if !connection.table_exists(None, "schema_version")? {
        return Ok(0);
    }
    let sql = "SELECT coalesce(max(version), 0) FROM schema_version";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Copies the file to `NAME.v1-backup`, or the first free name of that form.
pub(crate) fn back_up(connection: &Connection, path: &Path, version: i64) -> Result<PathBuf, StoreError> {
    let named = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".v{version}-backup{suffix}"));
        PathBuf::from(name)
    };
    let free = std::iter::once(String::new())
        .chain((1..).map(|n: u32| format!(".{n}")))
        .map(named)
        .find(|candidate| !candidate.exists())
        .unwrap_or_else(|| named(String::new()));
    copy(connection, &free)?;
    Ok(free)
}

#[cfg(test)]
mod accounts_tests;

#[cfg(test)]
mod tests {
    //! The one thing a migration must never do is lose data, so each case starts from a file with a row in it.

    use super::*;
    use crate::sqlite::Engine;

    const OLD: Migration = Migration {
        version: 1,
        name: "old",
        sqlite: "CREATE TABLE kept (word TEXT); INSERT INTO kept VALUES ('here');",
        postgres: "",
    };
    const GOOD: Migration = Migration {
        version: 2,
        name: "good",
        sqlite: "ALTER TABLE kept ADD COLUMN more TEXT; UPDATE kept SET more = 'and more';",
        postgres: "",
    };
    const BAD: Migration = Migration {
        version: 3,
        name: "bad",
        sqlite: "UPDATE kept SET word = 'gone'; DROP TABLE not_there;",
        postgres: "",
    };

    fn words(path: &Path) -> Vec<String> {
        let connection = Connection::open(path).expect("opens");
        let mut statement = connection.prepare("SELECT * FROM kept").expect("reads");
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("reads");
        let row = rows.next().expect("reads").expect("has the row");
        (0..columns).map(|column| row.get(column).expect("is text")).collect()
    }

    #[test]
    fn an_older_file_is_copied_and_then_migrated() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let path = dir.path().join("tape.db");
        drop(Engine::open(&path, &[OLD]).expect("makes the file"));
        drop(Engine::open(&path, &[OLD, GOOD]).expect("migrates"));
        assert_eq!(words(&path), ["here", "and more"]);
        assert_eq!(words(&dir.path().join("tape.db.v1-backup")), ["here"]);
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let path = dir.path().join("tape.db");
        drop(Engine::open(&path, &[OLD]).expect("makes the file"));
        let failed = Engine::open(&path, &[OLD, GOOD, BAD]).expect_err("the third step fails");
        assert!(matches!(failed, StoreError::Migration { version: 3, .. }), "{failed}");
        // Neither the half-run third step nor the second one left anything.
        assert_eq!(words(&path), ["here"]);
        drop(Engine::open(&path, &[OLD]).expect("the old program still opens it"));
        // A second attempt does not overwrite the first copy.
        Engine::open(&path, &[OLD, GOOD, BAD]).expect_err("fails again");
        assert!(dir.path().join("tape.db.v1-backup.1").exists());
    }

    #[test]
    fn a_file_of_a_newer_program_is_refused() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let path = dir.path().join("tape.db");
        drop(Engine::open(&path, &[OLD, GOOD]).expect("makes the file"));
        let refused = Engine::open(&path, &[OLD]).expect_err("it is newer");
        assert!(matches!(refused, StoreError::Newer { found: 2, known: 1 }), "{refused}");
        assert_eq!(words(&path), ["here", "and more"]);
    }

    #[test]
    fn migrations_are_numbered_without_gaps() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=versions.len() as i64).collect::<Vec<_>>());
    }
}
