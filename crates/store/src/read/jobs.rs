//! Jobs and their model-days.

use super::accounts::superseded;
use super::by_key;
use crate::db::{Db, Statement};
use crate::error::StoreError;
use crate::page::{List, Page, PageRequest, number, word};
use crate::rows::{JOB, read_job};
use crate::store::Store;
use crate::value::{Row, Value, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::record::{DayStatus, JobKind, JobRow, JobStatus, SessionId, SkippedDay};
use papertape_core::time::{Date, Timestamp, to_micros};
use rust_decimal::Decimal;
use serde::Serialize;
use std::collections::BTreeMap;

const JOBS: List = List { name: "jobs", default: 50, max_limit: 200 };

/// Filter for jobs; conditions are ANDed.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Of this kind.
    pub kind: Option<JobKind>,
    /// In this status.
    pub status: Option<JobStatus>,
}

/// A job's model-days by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DayCounts {
    /// Not started.
    pub queued: u64,
    /// In progress.
    pub running: u64,
    /// Done.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Not to be run.
    pub skipped: u64,
}

/// Usage and cost: tokens and USD.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageCost {
    /// Tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// USD, for calls with a known price.
    pub cost_usd: Decimal,
    /// Calls with unknown usage, included in the sums as an estimate.
    pub estimated_calls: u64,
    /// Calls that used tokens at an unknown price; if there are any, the total cost is unknown.
    pub unpriced_calls: u64,
}

/// A job in a list.
#[derive(Clone, Debug)]
pub struct JobOverview {
    /// The job.
    pub job: JobRow,
    /// Its model-days.
    pub days: DayCounts,
    /// Its usage, including summaries.
    pub used: UsageCost,
    /// Agents whose days another job has superseded, with that job.
    pub superseded: BTreeMap<AgentName, JobId>,
}

/// A row of `job_details`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayRow {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// Its hash: see `NewDay::agent_hash`.
    pub agent_hash: ContentHash,
    /// Its status.
    pub status: DayStatus,
    /// Why it failed or was skipped.
    pub error: Option<String>,
    /// Where a skipped day was completed; unknown for jobs that older versions assembled from several runs.
    pub skipped: Option<SkippedDay>,
    /// When its session was opened.
    pub started_at: Option<Timestamp>,
    /// When its session was closed.
    pub completed_at: Option<Timestamp>,
}

/// A job with its model-days.
#[derive(Clone, Debug)]
pub struct JobDetails {
    /// The job.
    pub job: JobRow,
    /// Whether cancellation was requested.
    pub cancel_requested: bool,
    /// Its model-days, by date and agent.
    pub days: Vec<DayRow>,
    /// Usage of its sessions.
    pub used: UsageCost,
    /// Usage of its summaries.
    pub used_by_summaries: UsageCost,
    /// Agents whose days another job has superseded, with that job.
    pub superseded: BTreeMap<AgentName, JobId>,
}

impl Store {
    /// The jobs whose ID begins or ends with this text, by ID; at most three, enough to report that the text is
    /// ambiguous.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn jobs_by_short_id(&self, part: &str) -> Result<Vec<JobId>, StoreError> {
        self.read_with(part.to_owned(), |db, part| {
            async move {
                let length = part.chars().count();
                let sql = "SELECT job_id FROM jobs WHERE length(job_id) > $2
                    AND (substr(job_id, 1, $2) = $1 OR substr(job_id, length(job_id) - $2 + 1) = $1)
                    ORDER BY job_id LIMIT 3";
                let rows = db.query(sql, params![part, length]).await?;
                rows.into_iter().map(|mut row| row.get()).collect()
            }
            .boxed()
        })
        .await
    }

    /// Jobs, newest first.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn jobs(
        &self,
        filter: &JobFilter,
        page: &PageRequest,
    ) -> Result<Page<JobOverview>, StoreError> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| jobs(db, filter, page).boxed())
            .await
    }

    /// A job with all its model-days; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_details(&self, job: &JobId) -> Result<Option<JobDetails>, StoreError> {
        self.read_with(job.clone(), |db, job| job_details(db, job).boxed()).await
    }

    /// One job in its list form; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_overview(&self, job: &JobId) -> Result<Option<JobOverview>, StoreError> {
        self.read_with(job.clone(), |db, id| {
            async move {
                let sql = format!("SELECT {JOB} FROM jobs WHERE job_id = $1");
                let Some(mut row) = db.row(&sql, params![id]).await? else { return Ok(None) };
                let job = read_job(&mut row)?;
                let mut found = [overview(job)];
                fill_in(db, &mut found).await?;
                let [overview] = found;
                Ok(Some(overview))
            }
            .boxed()
        })
        .await
    }
}

async fn jobs(
    db: &mut dyn Db,
    filter: &JobFilter,
    page: &PageRequest,
) -> Result<Page<JobOverview>, StoreError> {
    let mut statement = Statement::new(format!("SELECT {JOB} FROM jobs WHERE 1 = 1"));
    statement.add_some(" AND kind = ?", filter.kind.as_ref());
    statement.add_some(" AND status = ?", filter.status);
    if let Some([created_at, id]) = JOBS.key(page)? {
        let key = [number(&created_at)?.into(), word(&id)?.into()];
        statement.add(" AND (created_at, job_id) < (?, ?)", key);
    }
    let limit = Value::from(JOBS.limit(page) + 1);
    statement.add(" ORDER BY created_at DESC, job_id DESC LIMIT ?", [limit]);
    let mut found = Vec::new();
    for mut row in statement.query(db).await? {
        let job = read_job(&mut row)?;
        found.push(overview(job));
    }
    let mut page = JOBS
        .page(page, found, |item| vec![to_micros(item.job.created_at).into(), item.job.id.as_str().into()]);
    fill_in(db, &mut page.items).await?;
    Ok(page)
}

/// An overview whose days, costs and successors are filled in later.
fn overview(job: JobRow) -> JobOverview {
    JobOverview { job, days: DayCounts::default(), used: UsageCost::default(), superseded: BTreeMap::new() }
}

/// Fills in the jobs' progress, usage and successors.
async fn fill_in(db: &mut dyn Db, jobs: &mut [JobOverview]) -> Result<(), StoreError> {
    let ids: Vec<JobId> = jobs.iter().map(|item| item.job.id.clone()).collect();
    let sql = "SELECT job_id, status, count(*) FROM job_details WHERE job_id IN (?) GROUP BY job_id, status";
    let mut days = by_key(db, sql, &ids, |row| Ok((row.get()?, row.get()?))).await?;
    let mut used = used(db, &ids).await?;
    let mut superseded = superseded(db, &ids).await?;
    for item in jobs {
        item.superseded = superseded.remove(&item.job.id).unwrap_or_default();
        item.days = day_counts(days.remove(&item.job.id).unwrap_or_default());
        let (own, summaries) = used.remove(&item.job.id).unwrap_or_default();
        item.used = own.and(summaries);
    }
    Ok(())
}

fn day_counts(rows: Vec<(DayStatus, u64)>) -> DayCounts {
    let mut counts = DayCounts::default();
    for (status, count) in rows {
        match status {
            DayStatus::Queued => counts.queued = count,
            DayStatus::Running => counts.running = count,
            DayStatus::Completed => counts.completed = count,
            DayStatus::Failed => counts.failed = count,
            DayStatus::Skipped => counts.skipped = count,
        }
    }
    counts
}

impl UsageCost {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut usage = self.usage;
        usage += other.usage;
        Self {
            usage,
            cost_usd: self.cost_usd + other.cost_usd,
            estimated_calls: self.estimated_calls + other.estimated_calls,
            unpriced_calls: self.unpriced_calls + other.unpriced_calls,
        }
    }
}

/// Usage of the jobs' sessions and of their summaries. Summed here: SQLite has no exact decimals.
async fn used(
    db: &mut dyn Db,
    jobs: &[JobId],
) -> Result<BTreeMap<JobId, (UsageCost, UsageCost)>, StoreError> {
    // Group sessions of equal cost: with house models, that is all of them.
    let sql = "SELECT job_id, sum(input_tokens), sum(cached_tokens), sum(output_tokens), cost_usd,
            sum(estimated_calls), sum(unpriced_calls),
            sum(detached_input_tokens), sum(detached_cached_tokens), sum(detached_output_tokens),
            detached_cost_usd, sum(detached_estimated_calls), sum(detached_unpriced_calls), count(*)
        FROM trading_sessions WHERE job_id IN (?) GROUP BY job_id, cost_usd, detached_cost_usd";
    let rows = by_key(db, sql, jobs, |row| {
        let (mut own, mut summaries) = (read_used(row)?, read_used(row)?);
        let sessions = Decimal::from(row.get::<u64>()?);
        own.cost_usd *= sessions;
        summaries.cost_usd *= sessions;
        Ok((own, summaries))
    })
    .await?;
    let sum = |rows: Vec<(UsageCost, UsageCost)>| {
        rows.into_iter().fold((UsageCost::default(), UsageCost::default()), |sum, row| {
            (sum.0.and(row.0), sum.1.and(row.1))
        })
    };
    Ok(rows.into_iter().map(|(job, rows)| (job, sum(rows))).collect())
}

fn read_used(row: &mut Row) -> Result<UsageCost, StoreError> {
    let usage = Usage { input_tokens: row.get()?, cached_tokens: row.get()?, output_tokens: row.get()? };
    let cost_usd = row.get()?;
    Ok(UsageCost { usage, cost_usd, estimated_calls: row.get()?, unpriced_calls: row.get()? })
}

async fn job_details(db: &mut dyn Db, id: &JobId) -> Result<Option<JobDetails>, StoreError> {
    let sql =
        format!("SELECT {JOB}, CASE WHEN cancel_requested = 1 THEN 1 ELSE 0 END FROM jobs WHERE job_id = $1");
    let Some(mut row) = db.row(&sql, params![id]).await? else {
        return Ok(None);
    };
    let (job, cancel_requested) = (read_job(&mut row)?, row.get()?);
    let sql = "SELECT date, model, agent_hash, status, error, skipped_job, skipped_session, started_at, completed_at
        FROM job_details WHERE job_id = $1 ORDER BY date, model";
    let mut days = Vec::new();
    for mut row in db.query(sql, params![id]).await? {
        days.push(from_row!(row => DayRow {
            date, agent, agent_hash, status, error, skipped: read_skipped(&mut row)?, started_at,
            completed_at,
        }));
    }
    let (used, used_by_summaries) = used(db, std::slice::from_ref(id)).await?.remove(id).unwrap_or_default();
    let superseded = superseded(db, std::slice::from_ref(id)).await?.remove(id).unwrap_or_default();
    Ok(Some(JobDetails { job, cancel_requested, days, used, used_by_summaries, superseded }))
}

fn read_skipped(row: &mut Row) -> Result<Option<SkippedDay>, StoreError> {
    let (job, session): (Option<JobId>, Option<SessionId>) = (row.get()?, row.get()?);
    Ok(job.zip(session).map(|(job, session)| SkippedDay { job, session }))
}
