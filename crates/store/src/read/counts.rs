//! Database size: rows and bytes.

use super::figures::schema_bytes;
use super::parts::{PartCounts, part_counts};
use crate::error::Result;
use crate::store::{Engine, Store};
use futures::FutureExt as _;
use std::collections::BTreeMap;

const TABLES: [&str; 22] = [
    "jobs",
    "job_details",
    "job_events",
    "trading_sessions",
    "session_instructions",
    "steps",
    "step_attempts",
    "texts",
    "reasoning_log_rows",
    "positions",
    "orders",
    "exposures",
    "position_snapshots",
    "holdings",
    "agent_states",
    "plan_action_logs",
    "plan_job_index",
    "plans",
    "plan_tasks",
    "chat_sessions",
    "chat_messages",
    "schema_version",
];

/// Size of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Bytes on disk: the data file and its WAL (SQLite), or the schema's tables and indexes (PostgreSQL).
    pub bytes: u64,
    /// Bytes of the stored text bodies.
    pub text_bytes: u64,
    /// Rows by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Jobs by status.
    pub jobs: BTreeMap<String, u64>,
    /// Parts of jobs that have not stopped.
    pub parts: PartCounts,
}

impl Store {
    /// Counts everything. This scans the smallest index of every table: do not call it for each request.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn counts(&self) -> Result<Counts> {
        let mut counts = self
            .read_with(
                match self.engine() {
                    Engine::Sqlite(_) => None,
                    Engine::Postgres(engine) => Some(engine.schema().to_owned()),
                },
                |db, schema| {
                    async move {
                        let mut rows = BTreeMap::new();
                        for table in TABLES {
                            let sql = format!("SELECT count(*) FROM {table}");
                            rows.insert(table, db.first(&sql, &[]).await?.unwrap_or_default());
                        }
                        let sql = "SELECT coalesce(sum(octet_length(body) + coalesce(octet_length(packed), 0)), 0) FROM texts";
                        let text_bytes = db.first(sql, &[]).await?.unwrap_or_default();
                        let jobs = db.all("SELECT status, count(*) FROM jobs GROUP BY status", &[]).await?;
                        let jobs = jobs.into_iter().collect();
                        let bytes = match schema {
                            Some(schema) => schema_bytes(db, schema).await?,
                            None => 0,
                        };
                        let parts = part_counts(db).await?;
                        Ok(Counts { bytes, text_bytes, rows, jobs, parts })
                    }
                    .boxed()
                },
            )
            .await?;
        if let Engine::Sqlite(engine) = self.engine() {
            counts.bytes = engine.bytes();
        }
        Ok(counts)
    }
}
