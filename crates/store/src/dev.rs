//! The record of dev mode: data that may be thrown away. It carries a mark that only this module sets,
//! when it makes the record, and nothing without the mark is ever wiped or worked in as dev data. On
//! SQLite the mark is in the file itself, so that a file of another kind that is given the dev file's
//! name is safe; on PostgreSQL it is the schema's comment.

use crate::error::StoreError;
use crate::migrate::MIGRATIONS;
use crate::store::{Engine, Store, Target};
use crate::{postgres, sqlite};
use futures::FutureExt as _;
use std::sync::Arc;

/// `PTdv`: the SQLite header's application id of dev data.
pub(crate) const APPLICATION_ID: i64 = 0x5054_6476;
/// The comment of a PostgreSQL schema of dev data.
pub(crate) const COMMENT: &str = "papertape dev mode: wiped when a server starts";

impl Store {
    /// Opens a record of dev mode as [`Store::open`] does, and marks it where it makes it. `wipe`
    /// empties it first, if it carries the mark.
    ///
    /// # Errors
    /// [`StoreError::NotDev`] where there is a record without the mark; else as [`Store::open`].
    pub async fn open_dev(target: Target, wipe: bool) -> Result<Self, StoreError> {
        let engine = match target {
            Target::Sqlite(path) => {
                Engine::Sqlite(Arc::new(sqlite::Engine::open_dev(&path, wipe, MIGRATIONS)?))
            }
            Target::Postgres(url, schema) => {
                postgres::Engine::prepare_dev(&url, &schema, wipe).await?;
                Engine::Postgres(postgres::Engine::open(&url, &schema, true, MIGRATIONS).await?)
            }
        };
        Ok(Self::of(engine))
    }

    /// Ends the leases of all running jobs of a SQLite record, so that they can be claimed at once:
    /// one process owns the file, and whoever held a lease before it is gone. On PostgreSQL, where
    /// workers of other processes may be alive, it does nothing. The answer is how many there were.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn end_leases(&self) -> Result<u64, StoreError> {
        if matches!(self.engine(), Engine::Postgres(_)) {
            return Ok(0);
        }
        self.write(|db| {
            async move { db.execute("UPDATE jobs SET lease_until = 0 WHERE status = 'running'", &[]).await }
                .boxed()
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    //! Dev data goes only where it says itself that it is dev data.

    use super::*;
    use papertape_core::id::{ContentHash, JobId};
    use papertape_core::ports::Queue as _;
    use papertape_core::record::NewJob;
    use papertape_core::time::from_micros;
    use std::path::Path;
    use std::time::Duration;

    fn at(path: &Path) -> Target {
        Target::Sqlite(path.to_owned())
    }

    async fn with_a_job(store: &Store) {
        let job = NewJob {
            id: JobId::new("j"),
            kind: "simulate".to_owned(),
            config: serde_json::json!({}),
            fingerprint: ContentHash::of(b""),
            warnings: Vec::new(),
            days: Vec::new(),
            parent: None,
            supersedes: Vec::new(),
            texts: Vec::new(),
            created_at: from_micros(0).expect("is an instant"),
        };
        store.enqueue(job).await.expect("is queued");
    }

    async fn has_the_job(store: &Store) -> bool {
        store.job(&JobId::new("j")).await.expect("reads").is_some()
    }

    #[tokio::test]
    async fn a_marked_file_is_wiped_when_it_is_asked_for_and_then_only() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let path = dir.path().join("dev.db");
        let store = Store::open_dev(at(&path), true).await.expect("makes it");
        with_a_job(&store).await;
        drop(store);
        let store = Store::open_dev(at(&path), false).await.expect("opens it");
        assert!(has_the_job(&store).await);
        // While one process has it, no other one wipes it.
        let refused = Store::open_dev(at(&path), true).await.expect_err("it is owned");
        assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
        assert!(has_the_job(&store).await);
        drop(store);
        let store = Store::open_dev(at(&path), true).await.expect("wipes it");
        assert!(!has_the_job(&store).await);
        drop(store);
        Store::open_dev(at(&path), true).await.expect("the new file carries the mark too");
    }

    #[tokio::test]
    async fn a_file_without_the_mark_is_neither_wiped_nor_used() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let path = dir.path().join("dev.db");
        let store = Store::open(at(&path)).await.expect("makes data that count");
        with_a_job(&store).await;
        drop(store);
        for wipe in [true, false] {
            let refused = Store::open_dev(at(&path), wipe).await.expect_err("it is not dev data");
            assert!(matches!(refused, StoreError::NotDev { .. }), "{refused}");
        }
        assert!(has_the_job(&Store::open(at(&path)).await.expect("opens")).await);
    }

    #[tokio::test]
    async fn who_owns_the_file_can_claim_what_a_dead_process_left() {
        let dir = tempfile::tempdir().expect("makes a directory");
        let store = Store::open(at(&dir.path().join("tape.db"))).await.expect("makes it");
        with_a_job(&store).await;
        let long = Duration::from_secs(3600);
        let claim = |owner| store.claim(owner, long, None);
        assert!(claim("dead").await.expect("claims").is_some());
        assert!(claim("alive").await.expect("asks").is_none());
        assert_eq!(store.end_leases().await.expect("ends them"), 1);
        assert!(claim("alive").await.expect("claims").is_some());
    }
}
