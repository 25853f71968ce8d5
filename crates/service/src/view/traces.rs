//! Traces of a job's desks.

use crate::app::App;
use crate::error::ServiceError;
use crate::states::symbols_on;
use anyhow::anyhow;
use papertape_agents::config::{AgentConfig, AgentKind, LlmKind};
use papertape_core::id::{ContentHash, JobId, Symbol};
use papertape_core::market::Dataset;
use papertape_core::message::ModelName;
use papertape_core::ports::Queue as _;
use papertape_core::record::{DayStatus, JobKind, JobRow};
use papertape_core::tape::{OutcomeKind, ScopeKey, StepClass, StepState};
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use papertape_runtime::jobs::TOO_LATE;
use papertape_runtime::profile::documents;
use papertape_runtime::profile::from_record::{NodeRow, RunFacts, StepRow, trace};
use papertape_runtime::profile::trace::{Invariants, Status, Trace};
use papertape_store::{PageRequest, SessionFilter, SessionView, StepView};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a page.
const PAGE: u32 = 1000;
/// Sessions of a page.
const SESSIONS: u32 = 100;

/// Trace counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCount {
    /// All of them.
    pub traces: usize,
    /// Of these, traces of runs that failed or have not ended.
    pub errors: usize,
    /// Of these, traces of degraded runs.
    pub degraded: usize,
}

/// Passes the trace of every ticker-day of a job's desks to `keep`, day by day, also for a running or failed
/// job. With `raw_on_failure`, traces of failed runs hold their steps as `raw_events`.
///
/// # Errors
/// No such job; one without a desk; a node's step that cannot be read; a database error; an error of `keep`.
pub async fn traces(
    app: &App,
    job: &JobId,
    raw_on_failure: bool,
    mut keep: impl FnMut(Trace) -> anyhow::Result<()>,
) -> Result<TraceCount, ServiceError> {
    let row = app.store.get_job(job).await?.ok_or_else(|| super::no_job(job.as_str()))?;
    let config: SimulationConfig = serde_json::from_value(row.config.clone())
        .map_err(|error| anyhow!("the config of job {job} cannot be read: {error}"))?;
    if !config.agents.iter().any(|agent| agent.kind == AgentKind::Desk) {
        let message = format!("{job} has no desk: a solo agent is one conversation, without nodes to time");
        return Err(ServiceError::invalid("job", message));
    }
    let dataset = app.services.datasets.open(config.dataset.hash).ok();
    let mut count = TraceCount::default();
    let filter = SessionFilter { job: Some(job.clone()), ..SessionFilter::default() };
    let mut page = PageRequest::first(SESSIONS);
    loop {
        let sessions = app.store.sessions(&filter, false, &page).await?;
        for session in &sessions.items {
            let own = config.agents.iter().find(|agent| agent.name == session.agent);
            let Some(own) = own.filter(|agent| agent.kind == AgentKind::Desk) else { continue };
            let agent = agent_on(&config, own, session.date);
            let read = Session::read(app, session).await?;
            for symbol in &symbols(app, (job, &config), dataset.as_deref(), session).await? {
                let trace = read.trace(app, (&row, &config), agent, symbol, raw_on_failure).await?;
                count.traces += 1;
                count.errors += usize::from(trace.status == Status::Error);
                count.degraded += usize::from(trace.is_degraded());
                keep(trace)?;
            }
        }
        match sessions.next {
            Some(next) => page = PageRequest::after(SESSIONS, &next),
            None => return Ok(count),
        }
    }
}

/// The symbols of a desk on a day; all, if the dataset is not available.
async fn symbols(
    app: &App,
    of_job: (&JobId, &SimulationConfig),
    dataset: Option<&Dataset>,
    session: &SessionView,
) -> Result<BTreeSet<Symbol>, ServiceError> {
    let found = dataset.and_then(|dataset| Some((dataset, *dataset.day(session.date)?)));
    let Some(day) = found else { return Ok(of_job.1.symbols.clone()) };
    Ok(BTreeSet::clone(&*symbols_on(app, of_job, &session.agent, day).await?))
}

/// The agent on a day, as changed by the newest cut up to that day. On the day of a cut, the steps before the cut
/// were copied from the parent and count as reused.
fn agent_on<'c>(config: &'c SimulationConfig, own: &'c AgentConfig, date: Date) -> &'c AgentConfig {
    let branch = config.branch.iter();
    let newest = branch.clone().filter_map(|branch| Some((branch.date, branch.agent.as_ref()?)));
    let earlier =
        branch.flat_map(|branch| branch.earlier.iter().rev()).map(|change| (change.date, &change.agent));
    let mut changes = newest.chain(earlier).filter(|(_, agent)| agent.name == own.name);
    changes.find(|(cut, _)| *cut <= date).map_or(own, |(_, agent)| agent)
}

/// A session with its steps.
struct Session<'s> {
    view: &'s SessionView,
    steps: Vec<StepView>,
    rows: Vec<StepRow>,
    nodes: Vec<NodeRow>,
}

impl<'s> Session<'s> {
    async fn read(app: &App, view: &'s SessionView) -> Result<Self, ServiceError> {
        let mut steps: Vec<StepView> = Vec::new();
        let mut page = PageRequest::first(PAGE);
        loop {
            let found = app.store.steps(view.id, &page).await?;
            // Summaries have their own tape and are not part of the day.
            steps.extend(found.items.into_iter().filter(|step| !step.detached));
            match found.next {
                Some(next) => page = PageRequest::after(PAGE, &next),
                None => break,
            }
        }
        let noted: Vec<&StepView> = steps.iter().filter(|step| is_node(step)).collect();
        let hashes = noted.iter().flat_map(|step| [step.request_ref, step.outcome_ref]).flatten().collect();
        let found = documents(&app.store, hashes).await?;
        let document = |step: &StepView, hash: Option<ContentHash>| {
            hash.and_then(|hash| found.get(&hash).cloned())
                .ok_or_else(|| ServiceError::Internal(anyhow!("a document of step {} is missing", step.path)))
        };
        let mut nodes = Vec::new();
        for step in noted {
            nodes.push(NodeRow {
                path: step.path.clone(),
                at: step.started_at,
                arguments: document(step, step.request_ref)?,
                outcome: document(step, step.outcome_ref)?,
            });
        }
        let rows = steps.iter().map(row).collect();
        Ok(Self { view, steps, rows, nodes })
    }

    async fn trace(
        &self,
        app: &App,
        (job, config): (&JobRow, &SimulationConfig),
        agent: &AgentConfig,
        symbol: &Symbol,
        raw_on_failure: bool,
    ) -> Result<Trace, ServiceError> {
        let view = self.view;
        let desk = agent.desk_config();
        let facts = RunFacts {
            run_id: format!("{}-{}-{}", view.job, view.id, named(symbol)),
            ticker: symbol.to_string(),
            date: view.date.to_string(),
            selected_analysts: desk.selected_analysts.iter().map(ToString::to_string).collect(),
            analysis_prompt_style: Some(desk.analysis_prompt_style.as_str().to_owned()),
            model: Some(both(agent, ToString::to_string)),
            invariants: invariants(config, agent),
            session: view.status,
            session_error: view.error.clone(),
        };
        let mut trace = trace(facts, &self.rows, &self.nodes).map_err(|bad| anyhow!(bad))?;
        if trace.status == Status::Error {
            if let Some(error) = job.error.as_ref().filter(|_| view.status == DayStatus::Running) {
                // The job has stopped: its reason is also the run's.
                let is_late = job.kind == JobKind::Profile && error.starts_with(TOO_LATE);
                let kind = if is_late { "overall_timeout" } else { job.status.as_str() };
                trace.exception_type = Some(kind.to_owned());
                let open: Vec<&str> = trace.open_nodes.iter().map(|open| open.node.as_str()).collect();
                trace.error = Some(match open.is_empty() {
                    true => error.clone(),
                    false => format!("{error}; open then: {}", open.join(", ")),
                });
            }
            if raw_on_failure {
                trace.raw_events = self.raw(app, symbol).await?;
            }
        }
        Ok(trace)
    }

    /// A ticker's recorded steps, with their outcomes.
    async fn raw(&self, app: &App, symbol: &Symbol) -> Result<Vec<Value>, ServiceError> {
        let scope = ScopeKey::Symbol(symbol.to_string()).to_string();
        let steps = || self.steps.iter().filter(|step| step.path.is_within(&scope));
        let found: BTreeMap<ContentHash, Value> =
            documents(&app.store, steps().filter_map(|step| step.outcome_ref).collect()).await?;
        let raw = |step: &StepView| {
            let outcome = step.outcome_ref.and_then(|hash| found.get(&hash));
            json!({
                "path": step.path,
                "class": step.class,
                "state": step.state.to_string(),
                "started_at": step.started_at,
                "ended_at": step.ended_at,
                "attempts": step.attempts,
                "outcome": outcome,
            })
        };
        Ok(steps().map(raw).collect())
    }
}

fn is_node(step: &StepView) -> bool {
    step.class == StepClass::Local && step.path.kind() == "node" && matches!(step.state, StepState::Done(_))
}

fn row(step: &StepView) -> StepRow {
    StepRow {
        path: step.path.clone(),
        class: step.class,
        started_at: step.started_at,
        ended_at: step.ended_at,
        input_tokens: step.usage.input_tokens,
        output_tokens: step.usage.output_tokens,
        is_answered: matches!(step.state, StepState::Done(OutcomeKind::Ok)),
        is_reused: step.reused_from.is_some(),
        interrupted: step.interrupted.into(),
    }
}

/// A symbol as a part of a file name, without path characters.
pub(crate) fn named(symbol: &Symbol) -> String {
    ScopeKey::Symbol(symbol.to_string()).to_string().replace('\\', "%5C")
}

/// A property of the agent's two models, once if they are equal.
fn both(agent: &AgentConfig, of: impl Fn(&ModelName) -> String) -> String {
    let desk = agent.desk_config();
    let [quick, deep] = [LlmKind::Quick, LlmKind::Deep].map(|kind| of(desk.model(agent, kind)));
    if quick == deep { quick } else { format!("{quick} + {deep}") }
}

fn invariants(config: &SimulationConfig, agent: &AgentConfig) -> Invariants {
    let desk = agent.desk_config();
    let limits = &agent.limits;
    let settings: [(&str, Value); 13] = [
        ("analyst_node_timeout_secs", desk.analyst_node_timeout_secs.into()),
        ("dataset", json!(config.dataset.hash)),
        ("language", agent.language.as_str().into()),
        ("max_retries", limits.max_attempts.saturating_sub(1).into()),
        ("max_steps", limits.max_steps.into()),
        ("portfolio_node_timeout_secs", desk.portfolio_node_timeout_secs.into()),
        ("prompts", json!(config.prompts)),
        ("research_node_timeout_secs", desk.research_node_timeout_secs.into()),
        ("risk_node_timeout_secs", desk.risk_node_timeout_secs.into()),
        ("seed", config.seed.into()),
        ("symbols_at_once", desk.symbols_at_once.into()),
        ("timeout_secs", limits.call_timeout_secs.into()),
        ("trader_node_timeout_secs", desk.trader_node_timeout_secs.into()),
    ];
    Invariants {
        provider: Some(both(agent, |model| model.provider.clone())),
        model: Some(both(agent, |model| model.model.clone())),
        overall_timeout_secs: Some(limits.session_timeout_secs as f64),
        max_debate_rounds: Some(desk.max_debate_rounds),
        max_risk_discuss_rounds: Some(desk.max_risk_discuss_rounds),
        settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}
