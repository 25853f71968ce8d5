//! How much there is.

use super::figures::schema_bytes;
use crate::error::StoreError;
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

/// How much the record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Bytes on disk: of the data file and its log, or of the schema's tables and indexes.
    pub bytes: u64,
    /// Bytes of the texts' bodies.
    pub text_bytes: u64,
    /// Rows by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// Jobs by status.
    pub jobs: BTreeMap<String, u64>,
}

impl Store {
    /// Counts everything; this reads all of every table's smallest index, and is not for each request.
    ///
    /// # Errors
    /// A database that fails.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        let schema = match self.engine() {
            Engine::Sqlite(_) => None,
            Engine::Postgres(engine) => Some(engine.schema().to_owned()),
        };
        let mut counts = self
            .read(move |db| {
                let schema = schema.clone();
                async move {
                    let mut rows = BTreeMap::new();
                    for table in TABLES {
                        let sql = format!("SELECT count(*) FROM {table}");
                        rows.insert(table, db.row(&sql, &[]).await?.map_or(Ok(0), |mut row| row.get())?);
                    }
                    let sql = "SELECT coalesce(sum(octet_length(body)), 0) FROM texts";
                    let text_bytes = db.row(sql, &[]).await?.map_or(Ok(0), |mut row| row.get())?;
                    let mut jobs = BTreeMap::new();
                    for mut row in db.query("SELECT status, count(*) FROM jobs GROUP BY status", &[]).await? {
                        jobs.insert(row.get()?, row.get()?);
                    }
                    let bytes = match schema {
                        Some(schema) => schema_bytes(db, schema).await?,
                        None => 0,
                    };
                    Ok(Counts { bytes, text_bytes, rows, jobs })
                }
                .boxed()
            })
            .await?;
        if let Engine::Sqlite(engine) = self.engine() {
            counts.bytes = engine.bytes();
        }
        Ok(counts)
    }
}
