//! Budgets that an assistant job allocates to the jobs that it starts.
//!
//! Nothing here is stored: the tape determines which jobs were started, because their IDs are derived from the
//! actions' paths, and each started job has its own limit and usage.

use crate::assist::{AGENT, AssistantConfig};
use crate::budget::{Account, Amount, Budgets};
use crate::config::SimulationConfig;
use crate::services::Services;
use futures::FutureExt as _;
use papertape_assistant::purse::{Purse, Share};
use papertape_core::action::{Language, Origin};
use papertape_core::budget::Limit;
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, RecordError};
use papertape_core::record::{ASSISTANTS, JobRow};
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
struct Given {
    talk: Amount,
    simulations: Amount,
    /// Whether it may still release a part.
    is_open: bool,
}

/// The combined limit of a job's simulations, and the allocation of each job that it started.
#[derive(Debug, Default)]
pub(crate) struct Purses {
    simulations: Limit,
    given: Mutex<BTreeMap<JobId, Given>>,
}

impl Purses {
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
                false => budgets.settle(&account(&started.id), Amount::default(), of.talk),
            }
            given.insert(started.id, of);
        }
        Ok(Self { simulations, given: Mutex::new(given) })
    }

    fn given(&self) -> MutexGuard<'_, BTreeMap<JobId, Given>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is left for simulations.
    fn left(&self, given: &BTreeMap<JobId, Given>) -> Limit {
        let mut used = Amount::default();
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
        let simulations = Amount::most(limit);
        given.insert(job.clone(), Given { simulations, is_open: true, ..Given::default() });
        Some(limit)
    }

    /// The jobs with an allocation that, as far as known, have not stopped.
    fn open(&self) -> Vec<JobId> {
        self.given().iter().filter(|(_, given)| given.is_open).map(|(job, _)| job.clone()).collect()
    }
}

/// Allocates the budgets of a running job.
pub(crate) struct Purser<'a> {
    pub(crate) services: &'a Services,
    pub(crate) budgets: &'a Budgets,
    pub(crate) purses: &'a Purses,
    pub(crate) language: Language,
}

impl Purser<'_> {
    /// Releases what stopped jobs have not used. Returns whether any job is still running.
    async fn look_at_all(&self) -> Result<bool, CallFailure> {
        let mut is_open = false;
        for job in self.purses.open() {
            is_open |= !self.look(&job, false).await.map_err(unavailable)?;
        }
        Ok(is_open)
    }

    /// Releases what a job has not used, if it has stopped. Returns whether it has. A missing job may be about to
    /// be queued by a concurrent action: `is_given_up` says that it will not be.
    async fn look(&self, job: &JobId, is_given_up: bool) -> Result<bool, RecordError> {
        let row = self.services.queue.job(job).await?;
        let now = match &row {
            Some(row) if row.status.is_stopped() => given_to(self.services, row).await?,
            None if is_given_up => Given::default(),
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

impl Purse for Purser<'_> {
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
                let is_open = self.look_at_all().await?;
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
    ) -> BoxFuture<'a, Result<Share, CallFailure>> {
        async move {
            self.look_at_all().await?;
            let talk = self.budgets.share(&account(job));
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
                |is_some: bool, limit| if is_some { Amount::most(limit) } else { Amount::default() };
            let of = Given {
                talk: Amount::most(talk),
                simulations: amounts(with_simulations, simulations),
                is_open: true,
            };
            given.insert(job.clone(), of);
            Ok(Share { talk, simulations })
        }
        .boxed()
    }

    fn settle<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<(), CallFailure>> {
        async move { self.look(job, true).await.map(drop).map_err(unavailable) }.boxed()
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
fn account(job: &JobId) -> Account {
    Account { agent: AgentName::new(job.as_str()), date: Date::default(), detached: false }
}

/// The jobs that a job's actions have started, according to its tape.
pub(crate) async fn started(services: &Services, job: &JobRow) -> Result<Vec<JobRow>, RecordError> {
    let date = job.created_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let agent = AgentName::from(AGENT.to_owned());
    let Some(session) = services.record.find_session(&job.id, &agent, date).await? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for row in services.record.tape(session.id, false).await? {
        if !row.path.as_str().rsplit('/').next().is_some_and(|last| last.starts_with("action#")) {
            continue;
        }
        for nth in 0.. {
            let id = Origin::new(&job.id, row.path.as_str(), nth).job_id();
            match services.queue.job(&id).await? {
                Some(row) => found.push(row),
                None => break,
            }
        }
    }
    Ok(found)
}

/// A job's usage, or its limits if it has not stopped.
fn given_to<'a>(services: &'a Services, job: &'a JobRow) -> BoxFuture<'a, Result<Given, RecordError>> {
    async move {
        let is_assistants = ASSISTANTS.contains(&job.kind.as_str());
        if !job.status.is_stopped() {
            let (talk, simulations) = if is_assistants {
                let config: Option<AssistantConfig> = read(job);
                config.map(|config| (config.budget.job, config.simulations)).unwrap_or_default()
            } else {
                let config: Option<SimulationConfig> = read(job);
                (Limit::default(), config.map(|config| config.budget.job).unwrap_or_default())
            };
            let (talk, simulations) = (Amount::most(talk), Amount::most(simulations));
            return Ok(Given { talk, simulations, is_open: true });
        }
        let mut used = Amount::default();
        let spent = services.record.spent(&job.id).await?;
        spent.iter().filter(|row| !row.detached).for_each(|row| {
            used.add(Amount::of(&row.usage, Some(row.cost_usd)));
        });
        if !is_assistants {
            return Ok(Given { simulations: used, ..Given::default() });
        }
        let mut simulations = Amount::default();
        for below in started(services, job).await? {
            let below = given_to(services, &below).await?;
            simulations.add(below.simulations);
            used.add(below.talk);
        }
        Ok(Given { talk: used, simulations, is_open: false })
    }
    .boxed()
}

fn read<T: DeserializeOwned>(job: &JobRow) -> Option<T> {
    serde_json::from_value(job.config.clone()).ok()
}
