//! Database-wide statistics for monitoring: cheap enough to read every few seconds.

use crate::db::{Backend, Db};
use crate::error::Result;
use crate::read::UsageCost;
use crate::read::parts::{PartCounts, part_counts};
use crate::store::{Engine, Store};
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::message::Usage;
use papertape_core::record::JobStatus;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Database-wide statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Jobs by status; every status is present.
    pub jobs: BTreeMap<&'static str, u64>,
    /// Parts of jobs that have not stopped.
    pub parts: PartCounts,
    /// Usage of all sessions, including summaries.
    pub used: UsageCost,
    /// Bytes of the schema's tables and indexes; `None` on SQLite, where the file sizes are used instead.
    pub bytes: Option<u64>,
}

/// Every job status.
const STATUSES: [JobStatus; 6] = [
    JobStatus::Queued,
    JobStatus::Running,
    JobStatus::Completed,
    JobStatus::Partial,
    JobStatus::Failed,
    JobStatus::Cancelled,
];

impl Store {
    /// Counts jobs by status, sums their usage and measures the database.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn figures(&self) -> Result<Figures> {
        self.read_with(
            match self.engine() {
                Engine::Sqlite(_) => None,
                Engine::Postgres(engine) => Some(engine.schema().to_owned()),
            },
            |db, schema| {
                async move {
                    let bytes = match schema {
                        Some(schema) => Some(schema_bytes(db, schema).await?),
                        None => None,
                    };
                    Ok(Figures {
                        jobs: jobs(db).await?,
                        parts: part_counts(db).await?,
                        used: used(db).await?,
                        bytes,
                    })
                }
                .boxed()
            },
        )
        .await
    }
}

async fn jobs(db: &mut dyn Db) -> Result<BTreeMap<&'static str, u64>> {
    let mut jobs: BTreeMap<&'static str, u64> =
        STATUSES.into_iter().map(|status| (status.as_str(), 0)).collect();
    let found = db.all::<(JobStatus, u64)>("SELECT status, count(*) FROM jobs GROUP BY status", &[]).await?;
    jobs.extend(found.into_iter().map(|(status, count)| (status.as_str(), count)));
    Ok(jobs)
}

async fn used(db: &mut dyn Db) -> Result<UsageCost> {
    let sql = "SELECT coalesce(sum(input_tokens + detached_input_tokens), 0),
        coalesce(sum(cached_tokens + detached_cached_tokens), 0),
        coalesce(sum(output_tokens + detached_output_tokens), 0),
        coalesce(sum(estimated_calls + detached_estimated_calls), 0),
        coalesce(sum(unpriced_calls + detached_unpriced_calls), 0) FROM trading_sessions";
    let found = db.first::<(Usage, u64, u64)>(sql, &[]).await?;
    let (usage, estimated_calls, unpriced_calls) = found.unwrap_or_default();
    let sql = match db.backend() {
        Backend::Postgres => {
            "SELECT coalesce(sum(cost_usd), 0), coalesce(sum(detached_cost_usd), 0) FROM trading_sessions"
        }
        // SQLite has no exact decimals: sum them here.
        Backend::Sqlite => {
            "SELECT cost_usd, detached_cost_usd FROM trading_sessions
             WHERE cost_usd <> '0' OR detached_cost_usd <> '0'"
        }
    };
    let mut cost_usd = Decimal::ZERO;
    for mut row in db.query(sql, &[]).await? {
        cost_usd += row.get::<Decimal>()? + row.get::<Decimal>()?;
    }
    Ok(UsageCost { usage, cost_usd, estimated_calls, unpriced_calls })
}

pub(super) async fn schema_bytes(db: &mut dyn Db, schema: &str) -> Result<u64> {
    let sql = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
        JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE c.relkind = 'r' AND s.nspname = CAST($1 AS TEXT)";
    Ok(db.first(sql, params![schema]).await?.unwrap_or_default())
}
