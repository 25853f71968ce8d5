//! Budgets that an assistant job allocates to the jobs that it starts.
//!
//! Nothing here is stored: the tape determines which jobs were started, because their IDs are derived from the
//! actions' paths, and each started job has its own limit and usage.

use super::AssistantConfig;
use crate::budget::{BudgetLine, Budgets, Spend};
use crate::child_jobs::started;
use crate::config::{SimulationConfig, decode};
use crate::retry::poll_interval;
use crate::services::Services;
use crate::sync::lock;
use futures::FutureExt as _;
use papertape_assistant::child_budget::{BudgetShare, ChildBudget};
use papertape_core::action::Language;
use papertape_core::budget::Limit;
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, RecordError, RecordFuture};
use papertape_core::record::JobRow;
use papertape_core::time::{Date, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// Allocation of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Allocation {
    /// For its own model calls.
    own: Spend,
    simulations: Spend,
    /// Whether it may still release a part.
    is_open: bool,
}

/// The combined limit of a job's simulations, and the allocation of each job that it started.
#[derive(Debug, Default)]
pub(crate) struct ChildBudgets {
    simulations: Limit,
    allocations: Mutex<BTreeMap<JobId, Allocation>>,
}

impl ChildBudgets {
    /// Restores allocations from the record. Those for model calls are deducted from `budgets`.
    pub(crate) async fn rebuild(
        services: &Services,
        job: &JobRow,
        simulations: Limit,
        budgets: &Budgets,
    ) -> Result<Self, RecordError> {
        let mut allocations = BTreeMap::new();
        for child in started(services, job).await? {
            let allocation = allocation_of(services, &child).await?;
            match allocation.is_open {
                true => budgets.reserve_unchecked(&line(&child.id), allocation.own),
                false => budgets.settle(&line(&child.id), Spend::default(), allocation.own),
            }
            allocations.insert(child.id, allocation);
        }
        Ok(Self { simulations, allocations: Mutex::new(allocations) })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<JobId, Allocation>> {
        lock(&self.allocations)
    }

    /// What is left for simulations.
    fn left(&self, allocations: &BTreeMap<JobId, Allocation>) -> Limit {
        let mut used = Spend::default();
        allocations.values().for_each(|one| used.add(one.simulations));
        used.left_of(self.simulations)
    }

    /// Allocates what a simulation requests, as far as it is available. `None`: nothing is.
    fn allocate(&self, job: &JobId, requested: Limit) -> Option<Limit> {
        let mut allocations = self.lock();
        let limit = requested.tighter(self.left(&allocations));
        if limit.is_used_up() {
            return None;
        }
        let simulations = Spend::max_of(limit);
        allocations.insert(job.clone(), Allocation { simulations, is_open: true, ..Allocation::default() });
        Some(limit)
    }

    /// The jobs with an allocation that, as far as known, have not stopped.
    fn open(&self) -> Vec<JobId> {
        self.lock().iter().filter(|(_, one)| one.is_open).map(|(job, _)| job.clone()).collect()
    }
}

/// Allocates the budgets of a running job.
pub(crate) struct BudgetAllocator<'a> {
    pub(crate) services: &'a Services,
    pub(crate) budgets: &'a Budgets,
    pub(crate) children: &'a ChildBudgets,
    pub(crate) language: Language,
}

impl BudgetAllocator<'_> {
    /// Releases what stopped jobs have not used. Returns whether any job is still running.
    async fn check_all(&self) -> Result<bool, CallFailure> {
        let mut is_open = false;
        for job in self.children.open() {
            is_open |= !self.check(&job, false).await.map_err(unavailable)?;
        }
        Ok(is_open)
    }

    /// Releases what a job has not used, if it has stopped. Returns whether it has. A missing job may be about to
    /// be queued by a concurrent action: `is_given_up` says that it will not be.
    async fn check(&self, job: &JobId, is_given_up: bool) -> Result<bool, RecordError> {
        let row = self.services.queue.get_job(job).await?;
        let now = match &row {
            Some(row) if row.status.is_stopped() => allocation_of(self.services, row).await?,
            None if is_given_up => Allocation::default(),
            _ => return Ok(false),
        };
        let mut allocations = self.children.lock();
        if let Some(before) = allocations.get_mut(job).filter(|before| before.is_open) {
            self.budgets.settle(&line(job), before.own, now.own);
            *before = now;
        }
        Ok(true)
    }

    fn exhausted(&self, (what, what_zh): (&str, &str), key: &str) -> CallFailure {
        let message = match self.language {
            Language::En => format!("the budget of this turn or plan ({key}) has nothing left for {what}"),
            Language::Zh => format!("本轮或本计划的预算（{key}）已无余额用于{what_zh}"),
        };
        CallFailure { kind: FailureKind::ToolError, message }
    }
}

impl ChildBudget for BudgetAllocator<'_> {
    fn for_simulation<'a>(
        &'a self,
        job: &'a JobId,
        requested: Limit,
        until: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Limit, CallFailure>> {
        async move {
            let clock = &self.services.clock;
            let mut polls = 0;
            loop {
                let is_open = self.check_all().await?;
                if let Some(limit) = self.children.allocate(job, requested) {
                    return Ok(limit);
                }
                if requested.is_used_up() || !is_open || until.is_some_and(|until| clock.now() >= until) {
                    return Err(self.exhausted(("simulations", "模拟"), "chat.simulation_budget"));
                }
                clock.sleep(poll_interval(polls)).await;
                polls += 1;
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
            let own = self.budgets.reserve_half(&line(job));
            if own.is_used_up() {
                return Err(self.exhausted(("another job on a plan", "计划的其他任务"), "chat.budget"));
            }
            let mut allocations = self.children.lock();
            let simulations = match with_simulations {
                true => self.children.left(&allocations),
                false => Limit { tokens: Some(0), usd: None },
            };
            let allocation = Allocation {
                own: Spend::max_of(own),
                simulations: Spend::max_of(simulations),
                is_open: true,
            };
            allocations.insert(job.clone(), allocation);
            Ok(BudgetShare { model_calls: own, simulations })
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

/// The line of a started job in the budget of the job that started it.
fn line(job: &JobId) -> BudgetLine {
    BudgetLine { agent: AgentName::new(job.as_str()), date: Date::default(), detached: false }
}

/// A job's usage, or its limits if it has not stopped.
fn allocation_of<'a>(services: &'a Services, job: &'a JobRow) -> RecordFuture<'a, Allocation> {
    async move {
        let is_assistant = job.kind.is_assistant();
        if !job.status.is_stopped() {
            let (own, simulations) = if is_assistant {
                let config = decode::<AssistantConfig>(job).ok();
                config.map(|config| (config.budget.job, config.simulations)).unwrap_or_default()
            } else {
                let config = decode::<SimulationConfig>(job).ok();
                (Limit::default(), config.map(|config| config.budget.job).unwrap_or_default())
            };
            let (own, simulations) = (Spend::max_of(own), Spend::max_of(simulations));
            return Ok(Allocation { own, simulations, is_open: true });
        }
        let mut used = Spend::default();
        let usage = services.record.load_usage(&job.id).await?;
        for row in usage.iter().filter(|row| !row.detached) {
            used.add(Spend::of(&row.usage, Some(row.cost_usd)));
        }
        if !is_assistant {
            return Ok(Allocation { simulations: used, ..Allocation::default() });
        }
        let mut simulations = Spend::default();
        for child in started(services, job).await? {
            let child = allocation_of(services, &child).await?;
            simulations.add(child.simulations);
            used.add(child.own);
        }
        Ok(Allocation { own: used, simulations, is_open: false })
    }
    .boxed()
}
