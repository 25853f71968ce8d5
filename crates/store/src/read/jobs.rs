//! Jobs and their model-days.

use super::accounts::superseded;
use super::by_key;
use super::labels::labels_of;
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::rows::JOB;
use crate::store::Store;
use crate::value::{FromRow, Row, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, ExperimentId, JobId};
use papertape_core::label::JobLabels;
use papertape_core::message::Usage;
use papertape_core::record::{DayStatus, JobKind, JobRow, JobStatus, SessionId, SkippedDay};
use papertape_core::time::{Date, Timestamp, to_micros};
use rust_decimal::Decimal;
use serde::Serialize;
use std::collections::BTreeMap;

const JOBS: List = List::descending("jobs", (50, 200), "created_at, job_id");

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
    /// Its name, tags and note.
    pub labels: JobLabels,
    /// The experiment that it belongs to, with its window and trial, both from 1.
    pub experiment: Option<(ExperimentId, u32, u32)>,
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
    /// The jobs that plan both of these days for one agent, newest first.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn jobs_on(&self, first: Date, last: Date) -> Result<Vec<JobId>> {
        let sql = "SELECT j.job_id FROM jobs j WHERE EXISTS (SELECT 1 FROM job_details a JOIN job_details b
            ON b.job_id = a.job_id AND b.model = a.model
            WHERE a.job_id = j.job_id AND a.date = $1 AND b.date = $2)
            ORDER BY j.created_at DESC, j.job_id DESC";
        self.all(sql, params![first, last]).await
    }

    /// The jobs whose ID begins or ends with this text, by ID; at most three, enough to report that the text is
    /// ambiguous.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn jobs_by_short_id(&self, part: &str) -> Result<Vec<JobId>> {
        let length = part.chars().count();
        let sql = "SELECT job_id FROM jobs WHERE length(job_id) > $2
            AND (substr(job_id, 1, $2) = $1 OR substr(job_id, length(job_id) - $2 + 1) = $1)
            ORDER BY job_id LIMIT 3";
        self.all(sql, params![part, length]).await
    }

    /// Jobs, newest first.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn jobs(&self, filter: &JobFilter, page: &PageRequest) -> Result<Page<JobOverview>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| jobs(db, filter, page).boxed())
            .await
    }

    /// A job with all its model-days; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_details(&self, job: &JobId) -> Result<Option<JobDetails>> {
        self.read_with(job.clone(), |db, job| job_details(db, job).boxed()).await
    }

    /// One job in its list form; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_overview(&self, job: &JobId) -> Result<Option<JobOverview>> {
        self.read_with(job.clone(), |db, id| {
            async move {
                let sql = format!("SELECT {JOB} FROM jobs WHERE job_id = $1");
                let Some(mut overview) = db.first(&sql, params![id]).await? else { return Ok(None) };
                fill_in(db, std::slice::from_mut(&mut overview)).await?;
                Ok(Some(overview))
            }
            .boxed()
        })
        .await
    }
}

async fn jobs(db: &mut dyn Db, filter: &JobFilter, page: &PageRequest) -> Result<Page<JobOverview>> {
    let mut statement = Statement::new(format!("SELECT {JOB} FROM jobs WHERE 1 = 1"));
    statement.add_some(" AND kind = ?", filter.kind.as_ref());
    statement.add_some(" AND status = ?", filter.status);
    let key = |item: &JobOverview| (to_micros(item.job.created_at), item.job.id.clone());
    let mut page = JOBS.fetch(db, statement, page, key).await?;
    fill_in(db, &mut page.items).await?;
    Ok(page)
}

// An overview whose other fields are filled in later.
from_row! { impl row => JobOverview {
    job, days: DayCounts::default(), used: UsageCost::default(), superseded: BTreeMap::new(),
    labels: JobLabels::default(), experiment: None,
} }

/// Fills in the jobs' progress, usage, successors, labels and experiments.
pub(super) async fn fill_in(db: &mut dyn Db, jobs: &mut [JobOverview]) -> Result<()> {
    let ids: Vec<JobId> = jobs.iter().map(|item| item.job.id.clone()).collect();
    let mut days = day_counts(db, &ids).await?;
    let mut used = used(db, &ids).await?;
    let mut superseded = superseded(db, &ids).await?;
    let mut labels = labels_of(db, &ids).await?;
    let mut experiments = experiments(db, &ids).await?;
    for item in jobs {
        item.labels = labels.remove(&item.job.id).unwrap_or_default();
        item.experiment = experiments.remove(&item.job.id).and_then(|mut rows| rows.pop());
        item.superseded = superseded.remove(&item.job.id).unwrap_or_default();
        item.days = days.remove(&item.job.id).unwrap_or_default();
        let (own, summaries) = used.remove(&item.job.id).unwrap_or_default();
        item.used = own.and(summaries);
    }
    Ok(())
}

/// The jobs' experiments, with window and trial.
async fn experiments(
    db: &mut dyn Db,
    jobs: &[JobId],
) -> Result<BTreeMap<JobId, Vec<(ExperimentId, u32, u32)>>> {
    let sql = "SELECT job_id, experiment_id, window_number, trial FROM experiment_jobs WHERE job_id IN (?)";
    by_key(db, sql, jobs).await
}

/// The jobs' model-days by status.
pub(super) async fn day_counts(db: &mut dyn Db, jobs: &[JobId]) -> Result<BTreeMap<JobId, DayCounts>> {
    let sql = "SELECT job_id, status, count(*) FROM job_details WHERE job_id IN (?) GROUP BY job_id, status";
    let rows: BTreeMap<JobId, Vec<(DayStatus, u64)>> = by_key(db, sql, jobs).await?;
    Ok(rows.into_iter().map(|(job, rows)| (job, counts_of(rows))).collect())
}

fn counts_of(rows: Vec<(DayStatus, u64)>) -> DayCounts {
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

/// Usage and summaries' usage of sessions of equal cost, and their number.
type EqualCosts = ((UsageCost, UsageCost), u64);

/// Usage of the jobs' sessions and of their summaries. Summed here: SQLite has no exact decimals.
pub(crate) async fn used(db: &mut dyn Db, jobs: &[JobId]) -> Result<BTreeMap<JobId, (UsageCost, UsageCost)>> {
    // Group sessions of equal cost: with house models, that is all of them.
    let sql = "SELECT job_id, sum(input_tokens), sum(cached_tokens), sum(output_tokens), cost_usd,
            sum(estimated_calls), sum(unpriced_calls),
            sum(detached_input_tokens), sum(detached_cached_tokens), sum(detached_output_tokens),
            detached_cost_usd, sum(detached_estimated_calls), sum(detached_unpriced_calls), count(*)
        FROM trading_sessions WHERE job_id IN (?) GROUP BY job_id, cost_usd, detached_cost_usd";
    let rows: BTreeMap<JobId, Vec<EqualCosts>> = by_key(db, sql, jobs).await?;
    let sum = |rows: Vec<EqualCosts>| {
        rows.into_iter().fold(
            <(UsageCost, UsageCost)>::default(),
            |sum, ((mut own, mut summaries), sessions)| {
                own.cost_usd *= Decimal::from(sessions);
                summaries.cost_usd *= Decimal::from(sessions);
                (sum.0.and(own), sum.1.and(summaries))
            },
        )
    };
    Ok(rows.into_iter().map(|(job, rows)| (job, sum(rows))).collect())
}

from_row! { impl row => UsageCost { usage, cost_usd, estimated_calls, unpriced_calls } }

from_row! { impl row => Usage { input_tokens, cached_tokens, output_tokens } }

async fn job_details(db: &mut dyn Db, id: &JobId) -> Result<Option<JobDetails>> {
    let sql =
        format!("SELECT {JOB}, CASE WHEN cancel_requested = 1 THEN 1 ELSE 0 END FROM jobs WHERE job_id = $1");
    let found = db.first::<(JobRow, bool)>(&sql, params![id]).await?;
    let Some((job, cancel_requested)) = found else { return Ok(None) };
    let sql = "SELECT date, model, agent_hash, status, error, skipped_job, skipped_session, started_at, completed_at
        FROM job_details WHERE job_id = $1 ORDER BY date, model";
    let days = db.all(sql, params![id]).await?;
    let (used, used_by_summaries) = used(db, std::slice::from_ref(id)).await?.remove(id).unwrap_or_default();
    let superseded = superseded(db, std::slice::from_ref(id)).await?.remove(id).unwrap_or_default();
    Ok(Some(JobDetails { job, cancel_requested, days, used, used_by_summaries, superseded }))
}

from_row! { impl row => DayRow {
    date, agent, agent_hash, status, error, skipped, started_at, completed_at,
} }

impl FromRow for Option<SkippedDay> {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (job, session): (Option<JobId>, Option<SessionId>) = row.get()?;
        Ok(job.zip(session).map(|(job, session)| SkippedDay { job, session }))
    }
}
