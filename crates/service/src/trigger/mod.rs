//! Turns a request into a self-contained job, and queues it.

mod body;
mod branch;
mod check;
mod done;
mod import;
mod inherit;
mod masking;
mod memory;
mod plan;
mod to_body;

pub use body::{budget_change, request_of, request_of_json};
pub use branch::{BranchRequest, branch};
pub use import::{
    ImportRequest, PlannedImport, RecordedAgent, by_cash, days_of, import, plan_import, symbols_of,
};

pub use to_body::limit_body;

use crate::app::App;
use crate::error::ServiceError;
use crate::resumable::is_log_only;
pub(crate) use check::agents as resolve_agents;
pub(crate) use check::check_probe_model;
pub(crate) use masking::mask_of;
use papertape_agents::config::{AgentConfig, MemoryMode};
use papertape_core::RULES_VERSION;
use papertape_core::broker::CostModel;
use papertape_core::id::{AgentName, JobId};
use papertape_core::json::to_value;
use papertape_core::market::MaskKind;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::{
    Continuation, JobKind, JobRow, JobStatus, NewJob, NewModelDay, StoredText, Supersession,
};
use papertape_core::time::Date;
use papertape_runtime::budget::{Budget, Limit};
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::memory_probe::MemoryProbeConfig;
use plan::plan;
pub(crate) use plan::trading_dates;
use rust_decimal::Decimal;

/// A requested simulation.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The first day; `None`: each agent continues after the end of its newest completed job.
    pub start_date: Option<Date>,
    /// The last day, included.
    pub end_date: Option<Date>,
    /// Names of configured agents, or models (`provider::model`) as solo agents.
    pub models: Vec<String>,
    /// Inline agents.
    pub agents: Vec<AgentConfig>,
    /// The tradable symbols; empty: the config's, else all of the dataset's.
    pub symbols: Vec<String>,
    /// The index whose members of each day are tradable, instead of `symbols`.
    pub universe: Option<String>,
    /// The dataset's name or hash prefix.
    pub dataset: Option<String>,
    /// The market profile's name.
    pub market: Option<String>,
    /// Trading costs; `None`: the config's.
    pub costs: Option<CostModel>,
    /// The initial cash of each agent.
    pub initial_cash: Option<Decimal>,
    /// The symbol or index that results are compared with; `None`: the config's, else none.
    pub benchmark: Option<String>,
    /// The job's seed.
    pub seed: Option<u64>,
    /// The job's budget.
    pub budget: Option<Budget>,
    /// Whether to write summaries.
    pub summaries: Option<bool>,
    /// Run completed days again, and mark the jobs that ran them as superseded.
    pub replace_existing: bool,
    /// Run completed days again from the first degraded day on.
    pub rerun_degraded: bool,
    /// Queue a job of the kind `profile`, which runs its days whether or not they are completed, and ends at its
    /// agent's session timeout.
    pub profile: bool,
    /// The memories that are on.
    pub memory: Option<MemoryMode>,
    /// The number of previous rounds that a trader reads.
    pub read_window: Option<u32>,
    /// The number of previous rounds after a losing close.
    pub read_window_after_loss: Option<u32>,
    /// What is masked; `None`: nothing. Everything else in the request is in real terms.
    pub masking: Option<MaskKind>,
    /// The job whose memory the agents start with, as known before the first day.
    pub memory_from: Option<JobId>,
    /// The number of parts that the agents are split into, which different workers run at the same time; `None`: the
    /// config's. It does not affect what the agents do.
    pub parts: Option<u32>,
}

/// A queued job.
#[derive(Clone, Debug)]
pub struct QueuedJob {
    /// The job's ID.
    pub job: JobId,
    /// All model-days, including skipped ones.
    pub total_model_days: usize,
    /// The number of skipped model-days.
    pub skipped: usize,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// The maximum number of times that a trigger is planned again because a job that it would continue was replaced.
const MAX_REPLANS: u32 = 8;

/// Resolves a request and queues its job.
///
/// # Errors
/// An invalid field, or a database error.
pub async fn trigger(app: &App, request: Request) -> Result<QueuedJob, ServiceError> {
    trigger_as(app, request, JobId::new(uuid::Uuid::now_v7().to_string())).await
}

/// As [`trigger`], with a given job ID.
///
/// # Errors
/// As [`trigger`].
pub async fn trigger_as(app: &App, request: Request, job: JobId) -> Result<QueuedJob, ServiceError> {
    let mut replans = 0;
    loop {
        let prepared = prepare(app, &request).await?;
        let total = prepared.days.len();
        let skipped = prepared.days.iter().filter(|day| day.skipped.is_some()).count();
        let parts = request.parts.unwrap_or(app.config.worker.parts);
        match enqueue(app, job.clone(), &prepared, (None, parts)).await {
            // A job that it would continue was replaced since it was planned.
            Err(RecordError::Superseded { .. }) if replans < MAX_REPLANS => replans += 1,
            queued => {
                queued?;
                return Ok(QueuedJob { job, total_model_days: total, skipped, warnings: prepared.warnings });
            }
        }
    }
}

/// Resolves a request into a job, with its warnings.
pub(crate) async fn prepare(app: &App, request: &Request) -> Result<PreparedJob, ServiceError> {
    let mut prepared = Box::pin(plan(app, request)).await?;
    warn_about_rules(app, &mut prepared).await?;
    prepared.warnings.sort();
    prepared.warnings.dedup();
    Ok(prepared)
}

/// Adds a warning if an account or a memory comes from a job with another rules version. That is allowed.
async fn warn_about_rules(app: &App, prepared: &mut PreparedJob) -> Result<(), ServiceError> {
    let continued = prepared.config.continues.values().map(|from| ("the account", &from.job));
    let remembered = prepared.config.memory_from.iter().map(|job| ("the memory", job));
    for (what, job) in continued.chain(remembered) {
        let row = app.store.get_job(job).await?;
        if let Some(row) = row.filter(|row| row.rules_version != RULES_VERSION) {
            prepared.warnings.push(format!(
                "{what} is taken over from job {job}, which was recorded under rules {}; this one runs under rules \
                 {RULES_VERSION}",
                row.rules_version
            ));
        }
    }
    Ok(())
}

/// Budget lines that replace a job's own; the others stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetChange {
    /// The whole job, without summaries.
    pub job: Option<Limit>,
    /// Each agent.
    pub agent: Option<Limit>,
    /// Each agent on each day.
    pub day: Option<Limit>,
    /// All summaries of the job.
    pub summaries: Option<Limit>,
}

impl BudgetChange {
    /// The budget with these lines replaced.
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

/// Queues a stopped job again, with a new budget if one is given. A job that is still being cancelled stays running
/// until its worker releases it, and is queued then.
///
/// # Errors
/// No such job; a completed job; a running job whose budget is to change; an invalid limit; a limit in USD for a model
/// without a price.
pub async fn resume(app: &App, job: &JobId, budget: Option<BudgetChange>) -> Result<JobStatus, ServiceError> {
    if let Some(change) = budget {
        set_budget(app, job, change).await?;
    }
    let row = find_job(app, job).await?;
    if is_log_only(&row.config) {
        return Err(ServiceError::Conflict(format!(
            "job {job} was imported with its log only, and cannot be resumed"
        )));
    }
    // The database decides, so that a cancel and a resume never overwrite each other.
    app.store.requeue(job).await?;
    app.notify_workers();
    match find_job(app, job).await?.status {
        JobStatus::Completed => Err(ServiceError::Conflict(format!("job {job} is completed"))),
        // It may have started, or even ended, since.
        status => Ok(status),
    }
}

/// Sets the budget of a stopped or queued job. Once resumed, it continues where the old budget ended it.
async fn set_budget(app: &App, job: &JobId, change: BudgetChange) -> Result<(), ServiceError> {
    let row = find_job(app, job).await?;
    if !matches!(row.kind, JobKind::Simulate | JobKind::MemoryProbe) {
        return Err(ServiceError::Conflict(format!("a `{}` job has no budget", row.kind)));
    }
    if matches!(row.status, JobStatus::Completed | JobStatus::Running) {
        return Err(ServiceError::Conflict(format!("job {job} is {}", row.status)));
    }
    if row.kind == JobKind::MemoryProbe {
        return set_probe_budget(app, job, row, change).await;
    }
    let mut config = read_config(job, row.config)?;
    let budget = change.over(config.budget);
    check_new_budget(app, &config, budget)?;
    config.budget = budget;
    if app.store.reconfigure(job, to_value(&config), row.fingerprint).await? {
        return Ok(());
    }
    Err(ServiceError::Conflict(format!("job {job} is running")))
}

/// The same for a memory probe.
async fn set_probe_budget(
    app: &App,
    job: &JobId,
    row: JobRow,
    change: BudgetChange,
) -> Result<(), ServiceError> {
    let mut config: MemoryProbeConfig = serde_json::from_value(row.config)
        .map_err(|error| anyhow::anyhow!("cannot read the config of {job}: {error}"))?;
    config.budget = change.over(config.budget);
    check_probe_model(app, &config.model, config.budget)?;
    if app.store.reconfigure(job, to_value(&config), row.fingerprint).await? {
        return Ok(());
    }
    Err(ServiceError::Conflict(format!("job {job} is running")))
}

/// Checks a job's new budget: its limits, and that its models have prices if it limits money.
fn check_new_budget(app: &App, config: &SimulationConfig, budget: Budget) -> Result<(), ServiceError> {
    check::check_budget(budget)?;
    config.agents.iter().try_for_each(|agent| check::check_agent(app, agent, budget))
}

/// Checks a new limit of the experiment that a job belongs to.
pub(crate) async fn check_limit(app: &App, job: &JobId, limit: Limit) -> Result<(), ServiceError> {
    let config = read_config(job, find_job(app, job).await?.config)?;
    check_new_budget(app, &config, Budget { job: limit, ..config.budget })
}

async fn find_job(app: &App, job: &JobId) -> Result<JobRow, ServiceError> {
    app.store.get_job(job).await?.ok_or_else(|| ServiceError::UnknownJob(job.to_string()))
}

fn read_config(job: &JobId, config: serde_json::Value) -> anyhow::Result<SimulationConfig> {
    serde_json::from_value(config)
        .map_err(|error| anyhow::anyhow!("cannot read the config of {job}: {error}"))
}

/// A job, ready to be queued.
pub(crate) struct PreparedJob {
    pub(crate) config: SimulationConfig,
    pub(crate) days: Vec<NewModelDay>,
    texts: Vec<StoredText>,
    pub(crate) warnings: Vec<String>,
    supersedes: Vec<Supersession>,
    kind: JobKind,
}

async fn enqueue(
    app: &App,
    id: JobId,
    prepared: &PreparedJob,
    (parent, parts): (Option<JobId>, u32),
) -> Result<(), RecordError> {
    let agents: Vec<AgentName> = prepared.config.agents.iter().map(|agent| agent.name.clone()).collect();
    app.store.enqueue_in_parts(new_job(app, id, prepared, parent), parts, &agents).await?;
    app.notify_workers();
    Ok(())
}

/// A prepared job as it is queued.
pub(crate) fn new_job(app: &App, id: JobId, prepared: &PreparedJob, parent: Option<JobId>) -> NewJob {
    let continues = prepared.config.continues.iter();
    NewJob {
        id,
        kind: prepared.kind.clone(),
        config: to_value(&prepared.config),
        fingerprint: prepared.config.fingerprint(),
        warnings: prepared.warnings.clone(),
        days: prepared.days.clone(),
        parent,
        plan: None,
        supersedes: prepared.supersedes.clone(),
        continues: continues
            .map(|(agent, from)| Continuation {
                agent: agent.clone(),
                job: from.job.clone(),
                date: from.date,
            })
            .collect(),
        texts: prepared.texts.clone(),
        created_at: app.services.clock.now(),
    }
}
