//! The dev mode database: data that may be discarded. It carries a mark that only this module sets, when it
//! creates the database, and nothing without the mark is ever wiped or used as dev data. On SQLite the mark is in
//! the file itself, so a different file under the dev file's name is safe; on PostgreSQL it is the schema's
//! comment.

use crate::error::Result;
use crate::migrate::MIGRATIONS;
use crate::store::{DatabaseTarget, Engine, Store};
use crate::{postgres, sqlite};
use futures::FutureExt as _;
use std::sync::Arc;

impl Store {
    /// Opens a dev mode database as [`Store::open`] does, and marks it if it creates it. `wipe` empties it first,
    /// if it carries the mark.
    ///
    /// # Errors
    /// [`NotDev`](crate::StoreError::NotDev) if a database without the mark exists; otherwise as [`Store::open`].
    pub async fn open_dev(target: DatabaseTarget, wipe: bool) -> Result<Self> {
        let engine = match target {
            DatabaseTarget::Sqlite(path) => {
                Engine::Sqlite(Arc::new(sqlite::Engine::open_dev(&path, wipe, MIGRATIONS)?))
            }
            DatabaseTarget::Postgres(url, schema) => {
                postgres::Engine::prepare_dev(&url, &schema, wipe).await?;
                Engine::Postgres(postgres::Engine::open(&url, &schema, true, MIGRATIONS).await?)
            }
        };
        Ok(Self::of(engine))
    }

    /// Ends the leases of all running jobs of a SQLite database, so that they can be claimed immediately: one
    /// process owns the file, so every earlier lease holder is gone. On PostgreSQL, where workers of other
    /// processes may be alive, it does nothing. Returns the number of leases ended.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn end_leases(&self) -> Result<u64> {
        if matches!(self.engine(), Engine::Postgres(_)) {
            return Ok(0);
        }
        self.write(|db| {
            async move {
                db.execute("DELETE FROM workers", &[]).await?;
                db.execute("UPDATE job_parts SET lease_until = 0 WHERE status = 'running'", &[]).await?;
                db.execute("UPDATE jobs SET lease_until = 0 WHERE status = 'running'", &[]).await
            }
            .boxed()
        })
        .await
    }
}
