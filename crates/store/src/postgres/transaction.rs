//! Transactions from beginning to end: groups of writes, retries, and commits whose reply is lost.

use super::Engine;
use super::errors::{is_away, is_passing, is_undone, is_unknown, pool_error};
use super::statements::{CommitId, PostgresDb, TIMELINE};
use crate::db::Db;
use crate::error::StoreError;
use crate::texts::{self, NewTexts};
use crate::write_task::{self, WriteTask, run_guarded};
use deadpool_postgres::{Client, Transaction};
use papertape_core::ports::BoxFuture;
use papertape_core::time::Backoff;
use std::time::Duration;
use tokio_postgres::IsolationLevel;

/// Max attempts of a transaction that hit a deadlock or a serialization failure, or whose connection broke.
const MAX_ATTEMPTS: u32 = 12;
/// Delays while the server is unavailable, about 15 s in total: enough for a server restart.
const RECONNECT_BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), max: Duration::from_secs(2) };

/// How the work of a transaction went, before its commit.
enum Ran {
    /// The transaction can be committed; failed tasks are rolled back.
    Done,
    /// The only task failed.
    Failed,
    /// One of several tasks failed.
    Apart,
    /// Another transaction or the connection was the reason: a repetition may succeed.
    Retry(StoreError),
}

/// How a commit ended whose reply was lost.
enum CommitEnd {
    Committed,
    Aborted,
    /// The server that received it is gone, and the one that took its place cannot tell.
    Promoted,
}

impl Engine {
    /// Runs the tasks in one transaction and answers them. A task that fails is rolled back alone.
    pub(super) async fn write_group(&self, mut group: Vec<Box<dyn WriteTask>>) {
        let ended = self.commit_group(&mut group).await;
        for task in group {
            task.answer(ended.clone());
        }
    }

    async fn commit_group(&self, group: &mut [Box<dyn WriteTask>]) -> Result<(), StoreError> {
        let mut is_together = group.len() > 1;
        for attempt in 1.. {
            let Some(mut client) = self.client(attempt).await? else { continue };
            let begun = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start();
            let transaction = match begun.await {
                Ok(transaction) => transaction,
                Err(error) if is_passing(&error) && attempt < MAX_ATTEMPTS => continue,
                Err(error) => return Err(error.into()),
            };
            let mut db = PostgresDb::writing(&transaction);
            let ran = match &mut *group {
                [only] => run_only(&mut db, only).await,
                tasks if is_together => run_together(&mut db, tasks).await,
                tasks => one_by_one(&transaction, &mut db, tasks).await,
            };
            let id = db.into_id();
            match ran {
                Ran::Done => {}
                Ran::Failed => {
                    let _ = transaction.rollback().await;
                    return Ok(());
                }
                // A task's error is more useful than a rollback error.
                Ran::Apart => {
                    is_together = false;
                    let _ = transaction.rollback().await;
                    continue;
                }
                Ran::Retry(error) => {
                    let _ = transaction.rollback().await;
                    if attempt >= MAX_ATTEMPTS {
                        return Err(error);
                    }
                    continue;
                }
            }
            match transaction.commit().await {
                Ok(()) => return Ok(()),
                Err(error) if is_undone(&error) && attempt < MAX_ATTEMPTS => {}
                Err(error) if is_unknown(&error) => {
                    // A connection that broke goes back to the pool, which drops it.
                    drop(client);
                    match self.was_committed(id).await {
                        Some(CommitEnd::Committed) => return Ok(()),
                        Some(CommitEnd::Aborted) if attempt < MAX_ATTEMPTS => {}
                        Some(CommitEnd::Promoted) => return Err(StoreError::Promoted),
                        Some(CommitEnd::Aborted) | None => return Err(error.into()),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Database("a transaction was tried too often".to_owned()))
    }

    /// Requests from the server how a transaction ended, on another connection. `None` if it does not know, or
    /// cannot be reached.
    async fn was_committed(&self, id: Option<CommitId>) -> Option<CommitEnd> {
        let CommitId { transaction, timeline } = id?;
        let sql = format!(
            "SELECT CASE WHEN {TIMELINE} = $2 THEN pg_xact_status(CAST(CAST($1 AS TEXT) AS xid8))
                 ELSE 'promoted' END"
        );
        for attempt in 1..=2 * MAX_ATTEMPTS {
            let Ok(client) = self.client(attempt.min(MAX_ATTEMPTS)).await else { return None };
            let Some(client) = client else { continue };
            match client.query_one(&sql, &[&transaction, &timeline]).await {
                Ok(row) => match row.get::<_, Option<String>>(0)?.as_str() {
                    "committed" => return Some(CommitEnd::Committed),
                    "aborted" => return Some(CommitEnd::Aborted),
                    "promoted" => return Some(CommitEnd::Promoted),
                    // The server has not noticed yet that the connection is gone.
                    _ => {}
                },
                // A standby that is not promoted yet, for example.
                Err(error) => tracing::debug!(error = %error, "cannot ask how a commit ended"),
            }
            tokio::time::sleep(RECONNECT_BACKOFF.delay(attempt)).await;
        }
        None
    }

    /// Runs the work on one snapshot.
    pub(super) async fn read_once<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send,
        F: for<'a> Fn(&'a mut dyn Db) -> BoxFuture<'a, Result<T, StoreError>> + Send + Sync,
    {
        for attempt in 1.. {
            let Some(mut client) = self.client(attempt).await? else { continue };
            let isolation = IsolationLevel::RepeatableRead;
            let begun = client.build_transaction().isolation_level(isolation).read_only(true).start();
            let transaction = match begun.await {
                Ok(transaction) => transaction,
                Err(error) if is_passing(&error) && attempt < MAX_ATTEMPTS => continue,
                Err(error) => return Err(error.into()),
            };
            let mut db = PostgresDb::reading(&transaction);
            let result = work(&mut db).await;
            let should_retry = db.should_retry;
            match result {
                Ok(value) => match transaction.commit().await {
                    Ok(()) => return Ok(value),
                    Err(error) if is_passing(&error) && attempt < MAX_ATTEMPTS => {}
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

    /// A pooled connection; `None` after a pause if the server is unavailable for now.
    async fn client(&self, attempt: u32) -> Result<Option<Client>, StoreError> {
        match self.pool.get().await {
            Ok(client) => Ok(Some(client)),
            Err(error) if attempt < MAX_ATTEMPTS && is_away(&error) => {
                tokio::time::sleep(RECONNECT_BACKOFF.delay(attempt)).await;
                Ok(None)
            }
            Err(error) => Err(pool_error(error)),
        }
    }
}

async fn run_only(db: &mut PostgresDb<'_, '_>, task: &mut Box<dyn WriteTask>) -> Ran {
    match run_guarded(db, &mut **task).await {
        true => Ran::Done,
        false if db.should_retry => Ran::Retry(failure(&**task)),
        false => Ran::Failed,
    }
}

/// Runs all tasks without savepoints, which cost two statements each.
async fn run_together(db: &mut PostgresDb<'_, '_>, tasks: &mut [Box<dyn WriteTask>]) -> Ran {
    if let Err(error) = store_texts(db, texts_of(tasks)).await {
        return if db.should_retry { Ran::Retry(error) } else { Ran::Apart };
    }
    match write_task::run_together(db, tasks).await {
        Ok(()) => Ran::Done,
        Err(at) if db.should_retry => Ran::Retry(failure(&*tasks[at])),
        Err(_) => Ran::Apart,
    }
}

/// The texts of all tasks. Stored in one statement and in the order of their hashes, in which other jobs store theirs
/// too, they make no two transactions wait for each other.
fn texts_of(tasks: &[Box<dyn WriteTask>]) -> NewTexts {
    let texts = tasks.iter().filter_map(|task| task.commits()).flat_map(|commits| commits.texts());
    texts.map(|(hash, text)| (*hash, text.clone())).collect()
}

async fn store_texts(db: &mut PostgresDb<'_, '_>, texts: NewTexts) -> Result<(), StoreError> {
    let added = texts::insert(db, &texts).await?;
    db.stored_texts = texts.into_keys().map(|hash| (hash, added.get(&hash).copied())).collect();
    Ok(())
}

/// Runs each task in its own savepoint; only a failed task is rolled back.
async fn one_by_one(
    transaction: &Transaction<'_>,
    db: &mut PostgresDb<'_, '_>,
    tasks: &mut [Box<dyn WriteTask>],
) -> Ran {
    for task in tasks {
        if let Err(error) = transaction.batch_execute("SAVEPOINT task").await {
            return Ran::Retry(error.into());
        }
        let is_ok = run_guarded(db, &mut **task).await;
        if db.should_retry {
            return Ran::Retry(failure(&**task));
        }
        let end = match is_ok {
            true => "RELEASE SAVEPOINT task",
            false => "ROLLBACK TO SAVEPOINT task; RELEASE SAVEPOINT task",
        };
        if let Err(error) = transaction.batch_execute(end).await {
            return Ran::Retry(error.into());
        }
    }
    Ran::Done
}

fn failure(task: &dyn WriteTask) -> StoreError {
    task.failure().unwrap_or_else(|| StoreError::Database("a transaction failed".to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::error::StoreError;
    use crate::store::{DatabaseTarget, Store};
    use crate::value::params;
    use futures::FutureExt as _;
    use papertape_core::id::JobId;
    use papertape_core::ports::BoxFuture;

    /// Work that adds a login, then succeeds, fails or panics.
    fn adding(
        store: &Store,
        name: &'static str,
        end: fn() -> Result<(), StoreError>,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        store.write_for(&JobId::new("job"), move |db| {
            async move {
                let sql = "INSERT INTO logins (cookie_hash, token_hash, ends_at) VALUES ($1, '', 0)";
                db.execute(sql, params![name]).await?;
                end()
            }
            .boxed()
        })
    }

    /// Goal: in a group, a failure or a panic takes only its own work with it.
    #[tokio::test]
    async fn what_fails_in_a_group_fails_alone() {
        let place = papertape_testkit::postgres::place().expect("PostgreSQL");
        let store = Store::open(DatabaseTarget::Postgres(place.url, place.schema)).await.expect("opens");
        let works = [
            adding(&store, "first", || Ok(())),
            adding(&store, "second", || Err(StoreError::LostLease)),
            adding(&store, "third", || Ok(())),
            adding(&store, "fourth", || panic!("a bug")),
            adding(&store, "fifth", || Ok(())),
        ];
        let ended = futures::future::join_all(works).await;
        assert_eq!(ended.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true, false, true]);
        assert!(matches!(ended[1], Err(StoreError::LostLease)), "{:?}", ended[1]);
        let names = store.read(|db| {
            async move {
                let sql = "SELECT cookie_hash FROM logins ORDER BY cookie_hash";
                let rows = db.query(sql, &[]).await?;
                rows.into_iter().map(|mut row| row.get()).collect::<Result<Vec<String>, _>>()
            }
            .boxed()
        });
        assert_eq!(names.await.expect("reads"), ["fifth", "first", "third"]);
    }
}
