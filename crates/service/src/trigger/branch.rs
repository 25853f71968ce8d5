//! Branches: jobs that share another job's past.

use super::check::{check_agent, pick_agent, redact};
use super::masking::masked_cut;
use super::{PreparedJob, QueuedJob, enqueue, find_job, read_config};
use crate::app::App;
use crate::error::ServiceError;
use crate::states::symbols_on;
use papertape_agents::config::{AgentKind, ExternalConfig};
use papertape_agents::graph::Graph;
use papertape_core::RULES_VERSION;
use papertape_core::id::JobId;
use papertape_core::market::Masking;
use papertape_core::message::Sampling;
use papertape_core::ports::RecordStore as _;
use papertape_core::record::{JobKind, NewModelDay};
use papertape_core::time::Date;
use papertape_runtime::branch::at_cut;
use papertape_runtime::config::{Branch, SimulationConfig};

/// The cut, and what changes from there on.
#[derive(Clone, Debug)]
pub struct BranchRequest {
    /// The agent; required if the parent has several.
    pub agent: Option<String>,
    /// The day of the cut.
    pub date: Date,
    /// A node (`solo#1`, `AAPL/Trader#1`), a desk's symbol (`AAPL`) or a step (`solo#1/model#3`);
    /// `None`: before the agent's first node.
    pub at: Option<String>,
    /// The model from the cut on.
    pub model: Option<String>,
    /// The instructions from the cut on.
    pub instructions: Option<String>,
    /// The sampling parameters from the cut on.
    pub sampling: Option<Sampling>,
}

/// Queues a job that shares its parent's past up to a cut.
///
/// # Errors
/// An invalid field; no such job; or a database error.
pub async fn branch(app: &App, parent: &JobId, request: BranchRequest) -> Result<QueuedJob, ServiceError> {
    let row = find_job(app, parent).await?;
    if row.kind != JobKind::Simulate {
        return Err(ServiceError::Conflict(format!("a `{}` job cannot be branched", row.kind)));
    }
    let config = read_config(parent, row.config)?;
    let request = match config.translation() {
        None => request,
        Some(masking) => masked(app, masking, request)?,
    };
    let own = pick_agent(&config, request.agent.as_deref())?;
    let dataset = app.catalogue.open(&config.dataset.hash.to_hex()).map_err(anyhow::Error::from)?;
    let Some(day) = dataset.day(request.date) else {
        return Err(ServiceError::invalid(
            "date",
            format!("{} is not a trading day of {}", request.date, config.dataset.name),
        ));
    };
    let graph = Graph::of(&own, &symbols_on(app, (parent, &config), &own.name, (&dataset, *day)).await?);
    let at = request.at.clone().unwrap_or_else(|| graph.default_cut().to_owned());
    graph.check_cut(&at).map_err(|message| ServiceError::invalid("node", message))?;
    let (agent, earlier) = at_cut(&config, &own, &graph, (request.date, &at));
    if agent.model.is_recorded() && agent.kind == AgentKind::Desk && at != graph.start() {
        let message = format!(
            "an imported desk's day has no model calls to continue from; branch at `{}`, the start of the day",
            graph.start()
        );
        return Err(ServiceError::invalid("node", message));
    }
    let session = app.store.find_session(parent, &agent.name, request.date).await?;
    let Some(session) = session else {
        return Err(ServiceError::invalid(
            "date",
            format!("{} has no session on {} in {parent}", agent.name, request.date),
        ));
    };
    if graph.is_step(&at) {
        let tape = app.store.load_tape(session.id, false).await?;
        if !tape.iter().any(|row| row.path.as_str() == at) {
            return Err(ServiceError::invalid(
                "node",
                format!("there is no step `{at}` on {} in {parent}", request.date),
            ));
        }
    }
    let mut changed = agent.clone();
    if let Some(external) = &agent.external {
        check_external(app, external, &request)?;
    }
    if let Some(model) = &request.model {
        changed.model = model.parse().map_err(|message: String| ServiceError::invalid("model", message))?;
        // The requested model applies to all roles. The desk's own settings would override it.
        if let Some(desk) = &mut changed.desk {
            (desk.quick_think_llm, desk.deep_think_llm) = (None, None);
        }
    }
    if changed.model.is_recorded() {
        let message = "an imported agent has no callable model; name the model that continues in its place";
        return Err(ServiceError::invalid("model", message));
    }
    changed.instructions = request.instructions.or(changed.instructions);
    changed.sampling = request.sampling.unwrap_or(changed.sampling);
    redact(app, &mut changed);
    let differs = changed.fingerprint() != agent.fingerprint();
    if differs && graph.is_step(&at) {
        return Err(ServiceError::invalid(
            "node",
            "a change requires a cut at a node, because the steps before it had other requests",
        ));
    }
    check_agent(app, &changed, config.budget)?;
    let mut next = SimulationConfig {
        agents: vec![own.clone()],
        branch: Some(Branch {
            job: parent.clone(),
            date: request.date,
            at,
            agent: differs.then_some(changed),
            earlier,
        }),
        ..config
    };
    next.starts.retain(|name, _| *name == agent.name);
    next.continues.retain(|name, _| *name == agent.name);
    if let Some(imported) = &mut next.imported {
        imported.logs.retain(|name, _| *name == agent.name);
    }
    let start = next.starts.get(&agent.name).copied();
    let start = start.ok_or_else(|| anyhow::anyhow!("{} has no start state in {parent}", agent.name))?;
    let hash = next.agent_hash(&own, start);
    let after = next.done_until(&agent.name);
    let days = dataset
        .trading_days(next.start_date, next.end_date)
        .iter()
        .filter(|day| after.is_none_or(|after| day.date > after))
        .map(|day| NewModelDay { date: day.date, agent: agent.name.clone(), agent_hash: hash, skipped: None })
        .collect();
    let mut warnings = Vec::new();
    if row.rules_version != RULES_VERSION {
        warnings.push(format!(
            "job {parent} was recorded under rules {}, and the branch runs under rules {RULES_VERSION}: of the days \
             before the cut only those answers are copied whose requests are still the same, the others are asked \
             for again",
            row.rules_version
        ));
    }
    let prepared = PreparedJob {
        config: next,
        days,
        texts: Vec::new(),
        warnings,
        supersedes: Vec::new(),
        kind: JobKind::Simulate,
    };
    let job = JobId::new(uuid::Uuid::now_v7().to_string());
    let total = prepared.days.len();
    enqueue(app, job.clone(), &prepared, (Some(parent.clone()), 1)).await?;
    Ok(QueuedJob { job, total_model_days: total, skipped: 0, warnings: prepared.warnings })
}

/// The request in the masked world of its parent.
fn masked(app: &App, masking: &Masking, request: BranchRequest) -> Result<BranchRequest, ServiceError> {
    let (date, at) = masked_cut(masking, request.date, request.at);
    let instructions = match request.instructions {
        None => None,
        Some(text) => {
            let source = app.catalogue.open(&masking.source_hash.to_hex()).map_err(anyhow::Error::from)?;
            let texts = papertape_market::text_mask(&source, masking.kind).map_err(anyhow::Error::from)?;
            Some(texts.apply(&text))
        }
    };
    Ok(BranchRequest { date, at, instructions, ..request })
}

/// Checks that a branch of an external agent's day can run: the agent is still configured, and nothing is changed that it
/// does not have.
fn check_external(app: &App, external: &ExternalConfig, request: &BranchRequest) -> Result<(), ServiceError> {
    app.services.external.facts(&external.name).map_err(|message| ServiceError::invalid("agent", message))?;
    let changes = [
        ("model", request.model.is_some()),
        ("instructions", request.instructions.is_some()),
        ("sampling", request.sampling.is_some()),
    ];
    match changes.into_iter().find(|(_, is_changed)| *is_changed) {
        Some((field, _)) => {
            let message = "an external agent has no such setting; change its program or its configuration";
            Err(ServiceError::invalid(field, message))
        }
        None => Ok(()),
    }
}
