//! From what somebody asks for to a job that depends on nothing but itself.

mod branch;
mod check;
mod done;
mod import;
mod inherit;
mod memory;
mod plan;

pub use branch::{BranchRequest, branch};
pub use import::{ImportRequest, PlannedImport, by_cash, days_of, import, plan_import, symbols_of};

use crate::app::App;
use papertape_agents::config::{AgentConfig, MemoryMode};
use papertape_core::RULES_VERSION;
use papertape_core::broker::CostModel;
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::{Continuation, JobStatus, NewJob, NewModelDay, StoredText, Supersession};
use papertape_core::time::Date;
use papertape_runtime::budget::{Budget, Limit};
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::worker::SIMULATE;
use plan::plan;
use rust_decimal::Decimal;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// First day; `None`: each agent goes on where its newest completed job ended.
    pub start_date: Option<Date>,
    /// Last day, included.
    pub end_date: Option<Date>,
    /// Names of configured agents, or models (`provider::model`) as solo agents.
    pub models: Vec<String>,
    /// Agents, given whole.
    pub agents: Vec<AgentConfig>,
    /// What may be traded; empty: the config's, else all that the dataset has.
    pub symbols: Vec<String>,
    /// The index of which the members of each day are traded on it; in place of `symbols`.
    pub universe: Option<String>,
    /// The dataset's name or hash prefix.
    pub dataset: Option<String>,
    /// The market profile's name.
    pub market: Option<String>,
    /// What trading costs; absent: what the config says.
    pub costs: Option<CostModel>,
    /// What each agent starts with.
    pub initial_cash: Option<Decimal>,
    /// The symbol or index that results are compared with; `None`: the config's, else none.
    pub benchmark: Option<String>,
    /// The job's seed.
    pub seed: Option<u64>,
    /// What it may use.
    pub budget: Option<Budget>,
    /// Write summaries?
    pub summaries: Option<bool>,
    /// Do again what has been done, and mark the jobs that did it as superseded.
    pub replace_existing: bool,
    /// Of days that are done, run again those from the first degraded one on.
    pub rerun_degraded: bool,
    /// Time it: a job of the kind `profile`, which does its days whatever was done before, and ends at
    /// its agent's session timeout.
    pub profile: bool,
    /// Which of the traders' memories are on.
    pub memory: Option<MemoryMode>,
    /// How many of its last rounds a trader reads.
    pub read_window: Option<u32>,
    /// The same after a losing close.
    pub read_window_after_loss: Option<u32>,
    /// The job whose memory, as far as it was known before the start, the agents begin with.
    pub memory_from: Option<JobId>,
}

/// A job that was queued.
#[derive(Clone, Debug)]
pub struct QueuedJob {
    /// Its id.
    pub job: JobId,
    /// Model-days in all, the skipped ones included.
    pub total_model_days: usize,
    /// Of these, skipped.
    pub skipped: usize,
    /// What the one who asked should know.
    pub warnings: Vec<String>,
}

/// Why there is no job.
#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    /// The caller must ask otherwise.
    #[error("{field}: {message}")]
    Bad {
        /// The field that is wrong.
        field: &'static str,
        /// Why.
        message: String,
    },
    /// There is no such job.
    #[error("there is no job {0}")]
    NotFound(String),
    /// There is no such plan or task.
    #[error("{0}")]
    Missing(String),
    /// The job is not in a state for this.
    #[error("{0}")]
    Conflict(String),
    /// The record failed.
    #[error(transparent)]
    Record(#[from] anyhow::Error),
}

/// How often a trigger is planned again because what it was to continue was replaced meanwhile.
const MAX_REPLANS: u32 = 8;

fn bad(field: &'static str, message: impl Into<String>) -> TriggerError {
    TriggerError::Bad { field, message: message.into() }
}

/// Resolves a request and queues its job.
///
/// # Errors
/// A field that is wrong, named; or the record's.
pub async fn trigger(app: &App, request: Request) -> Result<QueuedJob, TriggerError> {
    trigger_as(app, request, JobId::new(uuid::Uuid::now_v7().to_string())).await
}

/// As [`trigger`], under an id that is known before.
///
/// # Errors
/// As there.
pub async fn trigger_as(app: &App, request: Request, job: JobId) -> Result<QueuedJob, TriggerError> {
    let mut tries = 0;
    loop {
        let mut planned = plan(app, &request).await?;
        let total = planned.days.len();
        let skipped = planned.days.iter().filter(|day| day.skipped.is_some()).count();
        other_rules(app, &mut planned).await?;
        planned.warnings.sort();
        planned.warnings.dedup();
        match enqueue(app, job.clone(), &planned, None).await {
            // Somebody has replaced what it was to continue since it was planned.
            Err(RecordError::Superseded { .. }) if tries < MAX_REPLANS => tries += 1,
            queued => {
                queued?;
                return Ok(QueuedJob { job, total_model_days: total, skipped, warnings: planned.warnings });
            }
        }
    }
}

/// Says where an account or a memory is taken over from a job of other rules: it is data, and may be.
async fn other_rules(app: &App, planned: &mut PreparedJob) -> Result<(), TriggerError> {
    let continued = planned.config.continues.values().map(|from| ("the account", &from.job));
    let remembered = planned.config.memory_from.iter().map(|job| ("the memory", job));
    for (what, job) in continued.chain(remembered) {
        let row = app.store.get_job(job).await.map_err(anyhow::Error::from)?;
        if let Some(row) = row.filter(|row| row.rules_version != RULES_VERSION) {
            planned.warnings.push(format!(
                "{what} is taken over from job {job}, which was recorded under rules {}; this one runs under rules \
                 {RULES_VERSION}",
                row.rules_version
            ));
        }
    }
    Ok(())
}

/// Lines of a budget that take the place of a job's own; the others stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetChange {
    /// The whole job, summaries left out.
    pub job: Option<Limit>,
    /// Each agent.
    pub agent: Option<Limit>,
    /// Each agent on each day.
    pub day: Option<Limit>,
    /// All summaries of the job.
    pub summaries: Option<Limit>,
}

impl BudgetChange {
    /// The budget with these lines in place of its own.
    #[must_use]
    pub fn over(self, budget: Budget) -> Budget {
        Budget {
            job: self.job.unwrap_or(budget.job),
            agent: self.agent.unwrap_or(budget.agent),
            day: self.day.unwrap_or(budget.day),
            summaries: self.summaries.unwrap_or(budget.summaries),
        }
    }
}

/// Puts a stopped job back into the queue, with another budget where one is given. One that is still being cancelled
/// is running until its worker lets it go, and is queued then.
///
/// # Errors
/// No such job; one that is completed, or running where its budget is to change; a limit in USD for a
/// model without a price.
pub async fn resume(app: &App, job: &JobId, budget: Option<BudgetChange>) -> Result<JobStatus, TriggerError> {
    if let Some(change) = budget {
        rebudget(app, job, change).await?;
    }
    let row = app.store.get_job(job).await.map_err(anyhow::Error::from)?;
    let row = row.ok_or_else(|| TriggerError::NotFound(job.to_string()))?;
    if row.config.get("imported_from").is_some() {
        return Err(TriggerError::Conflict(format!("job {job} was imported: there is only its log")));
    }
    // Whatever it was a moment ago: the record decides, so that a cancel and a resume never overwrite each other.
    app.store.requeue(job).await.map_err(|error| match error {
        RecordError::Busy(_) => TriggerError::Conflict(error.to_string()),
        other => anyhow::Error::from(other).into(),
    })?;
    app.notify_workers();
    let row = app.store.get_job(job).await.map_err(anyhow::Error::from)?;
    match row.map(|row| row.status) {
        None => Err(TriggerError::NotFound(job.to_string())),
        Some(JobStatus::Completed) => Err(TriggerError::Conflict(format!("job {job} is completed"))),
        // It may have begun, and even ended, since.
        Some(status) => Ok(status),
    }
}

/// Gives a stopped or waiting job another budget; resuming it then goes on where the old one ended it.
async fn rebudget(app: &App, job: &JobId, change: BudgetChange) -> Result<(), TriggerError> {
    let row = app.store.get_job(job).await.map_err(anyhow::Error::from)?;
    let row = row.ok_or_else(|| TriggerError::NotFound(job.to_string()))?;
    if row.kind != SIMULATE {
        return Err(TriggerError::Conflict(format!("a job of the kind `{}` has no budget", row.kind)));
    }
    if matches!(row.status, JobStatus::Completed | JobStatus::Running) {
        return Err(TriggerError::Conflict(format!("job {job} is {}", row.status)));
    }
    let mut config: SimulationConfig = serde_json::from_value(row.config)
        .map_err(|error| anyhow::anyhow!("the config of {job} cannot be read: {error}"))?;
    let budget = change.over(config.budget);
    for agent in &config.agents {
        check::check_agent(app, agent, budget)?;
    }
    config.budget = budget;
    let changed = app.store.reconfigure(job, to_value(&config), row.fingerprint).await;
    if changed.map_err(anyhow::Error::from)? {
        return Ok(());
    }
    Err(TriggerError::Conflict(format!("job {job} is running")))
}

/// A job, ready to be queued.
struct PreparedJob {
    config: SimulationConfig,
    days: Vec<NewModelDay>,
    texts: Vec<StoredText>,
    warnings: Vec<String>,
    supersedes: Vec<Supersession>,
    kind: &'static str,
}

impl From<RecordError> for TriggerError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Superseded { .. } => Self::Conflict(error.to_string()),
            other => Self::Record(other.into()),
        }
    }
}

async fn enqueue(
    app: &App,
    id: JobId,
    planned: &PreparedJob,
    parent: Option<JobId>,
) -> Result<(), RecordError> {
    let continues = planned.config.continues.iter();
    let job = NewJob {
        id,
        kind: planned.kind.to_owned(),
        config: to_value(&planned.config),
        fingerprint: planned.config.fingerprint(),
        warnings: planned.warnings.clone(),
        days: planned.days.clone(),
        parent,
        plan: None,
        supersedes: planned.supersedes.clone(),
        continues: continues
            .map(|(agent, from)| Continuation {
                agent: agent.clone(),
                job: from.job.clone(),
                date: from.date,
            })
            .collect(),
        texts: planned.texts.clone(),
        created_at: app.services.clock.now(),
    };
    app.store.enqueue(job).await?;
    app.notify_workers();
    Ok(())
}
