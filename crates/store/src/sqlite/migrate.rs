//! Migrates a data file.

use super::connection::{SqliteDb, copy, run};
use super::ready;
use crate::db::Backend;
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
    report.end(Backend::Sqlite);
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
    use crate::db::Db;
    use crate::error::StoreError;
    use crate::migrate::MIGRATIONS;
    use crate::sqlite::{Engine, upgrade as upgrade_file};
    use crate::texts::{BODY, Body};

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

    /// Texts of an older version: documents, and a message.
    fn old_texts(path: &Path) -> usize {
        let before =
            MIGRATIONS.iter().position(|migration| migration.name == "packed_texts").expect("is there");
        drop(Engine::open(path, &MIGRATIONS[..before]).expect("makes the file"));
        let connection = Connection::open(path).expect("opens");
        let hash = |of: &str| papertape_core::tape::text(of).hash;
        let count = 1_500;
        for number in 0..count {
            let body = format!(
                "{{\"content\":{{\"$text\":\"{}\"}},\"role\":\"assistant\"}}",
                hash(&number.to_string())
            );
            let values = (hash(&body).as_bytes().to_vec(), body);
            connection.execute("INSERT INTO texts (hash, body) VALUES (?1, ?2)", values).expect("inserts");
        }
        connection
            .execute_batch(
                "INSERT INTO jobs (job_id, kind, status, fingerprint, warnings, created_at)
                     VALUES ('job', 'simulate', 'completed', x'00', '[]', 1);
                 INSERT INTO trading_sessions (id, job_id, date, model, started_at, status, chain_head)
                     VALUES (1, 'job', '2012-03-01', 'momentum', 1, 'completed', x'00');
                 INSERT INTO steps (id, job_id, session_id, detached, path, kind, class, digest, state, lease_epoch,
                     started_at, outcome_kind)
                     VALUES (1, 'job', 1, 0, 'AAPL/Bull Researcher#1/model#2', 'model', 'external', x'00', 'done', 1, 1, 'ok');
                 INSERT INTO reasoning_log_rows (session_id, message_index, role, content_id, timestamp, path, node,
                     step_id, ord, n)
                     VALUES (1, 0, 'assistant', 700, 1, 'AAPL/Bull Researcher#1/model#2', 'Bull Researcher#1', 1, 0, 5);
                 INSERT INTO job_events (job_id, n, kind, data, created_at) VALUES
                     ('job', 5, 'message', '{\"session\":1,\"message_index\":0,\"agent\":\"momentum\"}', 1),
                     ('job', 6, 'message', '{\"session\":7,\"message_index\":0}', 1);",
            )
            .expect("inserts");
        count
    }

    /// Goal: a process that is killed while it packs loses no text, and the next one continues after what is done.
    #[test]
    fn packing_continues_after_a_kill() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let path = dir.path().join("tape.db");
        let count = old_texts(&path);
        let texts = |path: &Path| -> Vec<(i64, Body)> {
            let mut connection = Connection::open(path).expect("opens");
            let sql = format!("SELECT t.id, {BODY} FROM texts t ORDER BY t.id");
            ready(Box::pin(async move {
                let db: &mut dyn Db = &mut SqliteDb::new(&mut connection);
                db.all(&sql, &[]).await
            }))
            .expect("reads")
        };
        let packed = |path: &Path| -> i64 {
            let connection = Connection::open(path).expect("opens");
            connection
                .query_row("SELECT count(*) FROM texts WHERE packed IS NOT NULL AND body = ''", [], |row| {
                    row.get(0)
                })
                .expect("counts")
        };
        // One batch is durable, and the process dies within the next one.
        let mut connection = super::super::connection::open(&path).expect("opens");
        migrate(&mut connection, &path, MIGRATIONS).expect("migrates");
        let before = texts(&path);
        for end in ["COMMIT", "ROLLBACK"] {
            run(&connection, "BEGIN IMMEDIATE").expect("begins");
            let batch =
                ready(Box::pin(upgrade::pack_next(&mut SqliteDb::new(&mut connection)))).expect("packs");
            assert!(batch.is_some());
            run(&connection, end).expect("ends");
        }
        drop(connection);
        assert_eq!(packed(&path), 512);
        assert!(texts(&path) == before, "and nothing is lost");

        drop(Engine::open(&path, MIGRATIONS).expect("packs the rest"));
        assert_eq!(packed(&path), count as i64 - 1, "all but the message's");
        assert!(texts(&path) == before);
        let connection = Connection::open(&path).expect("opens");
        let pending: i64 = connection
            .query_row("SELECT count(*) FROM pending_upgrades", [], |row| row.get(0))
            .expect("counts");
        assert_eq!(pending, 0);
        let (content, path_, node): (String, String, String) = connection
            .query_row("SELECT content, path, node FROM reasoning_logs", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .expect("reads");
        assert!(content.starts_with("{\"content\""), "a message stays plain: {content}");
        assert_eq!((path_.as_str(), node.as_str()), ("AAPL/Bull Researcher#1/model#2", "Bull Researcher#1"));
        let events: String = connection
            .query_row(
                "SELECT group_concat(data, ' ') FROM (SELECT data FROM job_events ORDER BY n)",
                [],
                |row| row.get(0),
            )
            .expect("reads");
        assert_eq!(
            events, "[1,0] {\"session\":7,\"message_index\":0}",
            "only an event whose message is there"
        );
        connection
            .execute_batch("CREATE TABLE filler AS SELECT zeroblob(100000) AS zeros; DROP TABLE filler")
            .expect("leaves free pages");
        drop(connection);

        // The file has free pages now, until it is compacted.
        let space = upgrade_file(&path, false).expect("is up to date");
        assert!(space.free_bytes > 0, "{space:?}");
        let after = upgrade_file(&path, true).expect("compacts");
        assert!(
            after.free_bytes == 0 && after.bytes <= space.bytes - space.free_bytes,
            "{space:?} {after:?}"
        );
        assert!(texts(&path) == before);
    }

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
