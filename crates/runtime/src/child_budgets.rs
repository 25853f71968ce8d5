//! Budgets that an assistant job allocates to the jobs that it starts.
//!
//! Nothing here is stored: the tape determines which jobs were started, because their IDs are derived from the
//! actions' paths, and each started job has its own limit and usage.

use crate::assistant_job::{AGENT, AssistantConfig};
use crate::budget::{BudgetLine, Budgets, Spend};
use crate::config::SimulationConfig;
use crate::services::Services;
use futures::FutureExt as _;
use papertape_assistant::child_budget::{BudgetShare, ChildBudget};
use papertape_core::action::Origin;
use papertape_core::budget::Limit;
use papertape_core::id::{AgentName, JobId};
use papertape_core::language::Language;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, RecordError};
use papertape_core::record::{ASSISTANT_JOB_KINDS, JobRow};
use papertape_core::time::{Date, Timestamp};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Poll interval while waiting for jobs that hold an allocation: the first and the longest.
pub(crate) const FIRST_LOOK: Duration = Duration::from_millis(50);
pub(crate) const LAST_LOOK: Duration = Duration::from_secs(1);

/// Allocation of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Allocation {
    talk: Spend,
    simulations: Spend,
    /// Whether it may still release a part.
    is_open: bool,
}

/// The combined limit of a job's simulations, and the allocation of each job that it started.
#[derive(Debug, Default)]
pub(crate) struct ChildBudgets {
    simulations: Limit,
    given: Mutex<BTreeMap<JobId, Allocation>>,
}

impl ChildBudgets {
    /// Restores allocations from the record. Those for model calls are deducted from `budgets`.
    pub(crate) async fn rebuild(
        services: &Services,
        job: &JobRow,
        simulations: Limit,
        budgets: &Budgets,
    ) -> Result<Self, RecordError> {
        let mut given = BTreeMap::new();
        for started in started(services, job).await? {
            let of = given_to(services, &started).await?;
            match of.is_open {
                true => budgets.set_aside(&account(&started.id), of.talk),
                false => budgets.settle(&account(&started.id), Spend::default(), of.talk),
            }
            given.insert(started.id, of);
        }
        Ok(Self { simulations, given: Mutex::new(given) })
    }

    fn given(&self) -> MutexGuard<'_, BTreeMap<JobId, Allocation>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is left for simulations.
    fn left(&self, given: &BTreeMap<JobId, Allocation>) -> Limit {
        let mut used = Spend::default();
        given.values().for_each(|one| used.add(one.simulations));
        used.left_of(self.simulations)
    }

    /// Allocates what a simulation requests, as far as it is available. `None`: nothing is.
    fn take(&self, job: &JobId, asked: Limit) -> Option<Limit> {
        let mut given = self.given();
        let limit = asked.tighter(self.left(&given));
        if limit.is_used_up() {
            return None;
        }
        let simulations = Spend::unlimited_calls(limit);
        given.insert(job.clone(), Allocation { simulations, is_open: true, ..Allocation::default() });
        Some(limit)
    }

    /// The jobs with an allocation that, as far as known, have not stopped.
    fn open(&self) -> Vec<JobId> {
        self.given().iter().filter(|(_, given)| given.is_open).map(|(job, _)| job.clone()).collect()
    }
}

/// Allocates the budgets of a running job.
pub(crate) struct BudgetAllocator<'a> {
    pub(crate) services: &'a Services,
    pub(crate) budgets: &'a Budgets,
    pub(crate) purses: &'a ChildBudgets,
    pub(crate) language: Language,
}

impl BudgetAllocator<'_> {
    /// Releases what stopped jobs have not used. Returns whether any job is still running.
    async fn check_all(&self) -> Result<bool, CallFailure> {
        let mut is_open = false;
        for job in self.purses.open() {
            is_open |= !self.check(&job, false).await.map_err(unavailable)?;
        }
        Ok(is_open)
    }

    /// Releases what a job has not used, if it has stopped. Returns whether it has. A missing job may be about to
    /// be queued by a concurrent action: `is_given_up` says that it will not be.
    async fn check(&self, job: &JobId, is_given_up: bool) -> Result<bool, RecordError> {
        let row = self.services.queue.get_job(job).await?;
        let now = match &row {
            Some(row) if row.status.is_stopped() => given_to(self.services, row).await?,
            None if is_given_up => Allocation::default(),
            _ => return Ok(false),
        };
        let mut given = self.purses.given();
        if let Some(before) = given.get_mut(job).filter(|before| before.is_open) {
            self.budgets.settle(&account(job), before.talk, now.talk);
            *before = now;
        }
        Ok(true)
    }
}

impl ChildBudget for BudgetAllocator<'_> {
    fn for_simulation<'a>(
        &'a self,
        job: &'a JobId,
        asked: Limit,
        until: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Limit, CallFailure>> {
        async move {
            let clock = &self.services.clock;
            let mut pause = FIRST_LOOK;
            loop {
                let is_open = self.check_all().await?;
                if let Some(limit) = self.purses.take(job, asked) {
                    return Ok(limit);
                }
                if asked.is_used_up() || !is_open || until.is_some_and(|until| clock.now() >= until) {
                    return Err(nothing(self.language, ("simulations", "模拟"), "chat.simulation_budget"));
                }
                clock.sleep(pause).await;
                pause = (pause * 2).min(LAST_LOOK);
            }
        }
        .boxed()
    }

    fn for_plan<'a>(
        &'a self,
        job: &'a JobId,
        with_simulations: bool,
    ) -> BoxFuture<'a, Result<BudgetShare, CallFailure>> {
        async move {
            self.check_all().await?;
            let talk = self.budgets.reserve_half(&account(job));
            if talk.is_used_up() {
                return Err(nothing(
                    self.language,
                    ("another job on a plan", "计划的其他任务"),
                    "chat.budget",
                ));
            }
            let mut given = self.purses.given();
            let simulations = match with_simulations {
                true => self.purses.left(&given),
                false => Limit { tokens: Some(0), usd: None },
            };
            let amounts =
                |is_some: bool, limit| if is_some { Spend::unlimited_calls(limit) } else { Spend::default() };
            let of = Allocation {
                talk: Spend::unlimited_calls(talk),
                simulations: amounts(with_simulations, simulations),
                is_open: true,
            };
            given.insert(job.clone(), of);
            Ok(BudgetShare { model_calls: talk, simulations })
        }
        .boxed()
    }

    fn settle<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<(), CallFailure>> {
        async move { self.check(job, true).await.map(drop).map_err(unavailable) }.boxed()
    }
}

fn unavailable(error: RecordError) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: error.to_string() }
}

fn nothing(language: Language, (what, what_zh): (&str, &str), key: &str) -> CallFailure {
    let message = match language {
        Language::En => format!("the budget of this turn or plan ({key}) leaves nothing for {what}"),
        Language::Zh => format!("本轮或本计划的预算（{key}）已无余额用于{what_zh}"),
    };
    CallFailure { kind: FailureKind::ToolError, message }
}

/// The account of a started job in the budget of the job that started it.
fn account(job: &JobId) -> BudgetLine {
    BudgetLine { agent: AgentName::new(job.as_str()), date: Date::default(), detached: false }
}

/// The jobs that a job's actions have started, according to its tape.
pub(crate) async fn started(services: &Services, job: &JobRow) -> Result<Vec<JobRow>, RecordError> {
    let date = job.created_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let agent = AgentName::from(AGENT.to_owned());
    let Some(session) = services.record.find_session(&job.id, &agent, date).await? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for row in services.record.load_tape(session.id, false).await? {
        if !row.path.as_str().rsplit('/').next().is_some_and(|last| last.starts_with("action#")) {
            continue;
        }
        for nth in 0.. {
            let id = Origin::new(&job.id, row.path.as_str(), nth).job_id();
            match services.queue.get_job(&id).await? {
                Some(row) => found.push(row),
                None => break,
            }
        }
    }
    Ok(found)
}

/// A job's usage, or its limits if it has not stopped.
fn given_to<'a>(services: &'a Services, job: &'a JobRow) -> BoxFuture<'a, Result<Allocation, RecordError>> {
    async move {
        let is_assistants = ASSISTANT_JOB_KINDS.contains(&job.kind.as_str());
        if !job.status.is_stopped() {
            let (talk, simulations) = if is_assistants {
                let config: Option<AssistantConfig> = read(job);
                config.map(|config| (config.budget.job, config.simulations)).unwrap_or_default()
            } else {
                let config: Option<SimulationConfig> = read(job);
                (Limit::default(), config.map(|config| config.budget.job).unwrap_or_default())
            };
            let (talk, simulations) = (Spend::unlimited_calls(talk), Spend::unlimited_calls(simulations));
            return Ok(Allocation { talk, simulations, is_open: true });
        }
        let mut used = Spend::default();
        let spent = services.record.load_usage(&job.id).await?;
        spent.iter().filter(|row| !row.detached).for_each(|row| {
            used.add(Spend::of(&row.usage, Some(row.cost_usd)));
        });
        if !is_assistants {
            return Ok(Allocation { simulations: used, ..Allocation::default() });
        }
        let mut simulations = Spend::default();
        for below in started(services, job).await? {
            let below = given_to(services, &below).await?;
            simulations.add(below.simulations);
            used.add(below.talk);
        }
        Ok(Allocation { talk: used, simulations, is_open: false })
    }
    .boxed()
}

fn read<T: DeserializeOwned>(job: &JobRow) -> Option<T> {
    serde_json::from_value(job.config.clone()).ok()
}
