//! Migrates a data file.

use super::connection::{SqliteDb, copy, run};
use super::ready;
use crate::error::Result;
use crate::migrate::{Migration, VERSIONS, check, failed, pending};
use crate::texts::upgrade::{self, PackReport};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};

/// Migrates a SQLite file to the newest schema in one transaction, after backing it up.
pub(super) fn migrate(connection: &mut Connection, path: &Path, migrations: &[Migration]) -> Result<()> {
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

/// Packs the texts that an older version has written; see [`upgrade`].
pub(super) fn pack_texts(connection: &mut Connection) -> Result<()> {
    if !connection.table_exists(None, "pending_upgrades")?
        || !ready(Box::pin(upgrade::is_pending(&mut SqliteDb::new(connection))))?
    {
        return Ok(());
    }
    let mut report = PackReport::begin();
    loop {
        run(connection, "BEGIN IMMEDIATE")?;
        match ready(Box::pin(upgrade::pack_next(&mut SqliteDb::new(connection)))) {
            Ok(batch) => {
                run(connection, "COMMIT")?;
                match batch {
                    Some(batch) => report.add(batch),
                    None => break,
                }
            }
            Err(error) => {
                let _ = run(connection, "ROLLBACK");
                return Err(error);
            }
        }
    }
    report.end(Some(free_bytes(connection)?));
    Ok(())
}

/// Bytes of the file's pages that hold nothing.
pub(super) fn free_bytes(connection: &Connection) -> Result<u64> {
    let sql = "SELECT f.freelist_count * p.page_size FROM pragma_freelist_count f, pragma_page_size p";
    let bytes: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(u64::try_from(bytes).unwrap_or_default())
}

/// Checks that the file has this program's schema, for read-only access.
pub(super) fn check_version(connection: &Connection) -> Result<()> {
    check(sqlite_version(connection)?)
}

fn sqlite_version(connection: &Connection) -> Result<i64> {
    if !connection.table_exists(None, "schema_version")? {
        return Ok(0);
    }
    let sql = "SELECT coalesce(max(version), 0) FROM schema_version";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Copies the file to `NAME.v1-backup`, or the first free name of that form.
pub(crate) fn back_up(connection: &Connection, path: &Path, version: i64) -> Result<PathBuf> {
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
mod tests {
    //! The one thing a migration must never do is lose data, so each case starts from a file with a row in it.

    use super::*;
    use crate::error::StoreError;
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
}
