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
    /// Returns an error if the database fails.
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
