//! Queries: from the database to the types that the API sends and `--json` prints.
//!
//! One function per query, of the [`App`] and its parameters. Money and quantities become JSON numbers only here, at
//! the edge. Nothing here writes, and nothing knows HTTP.

use crate::app::App;
use crate::config::Mode;
use crate::error::ServiceError;
use papertape_core::id::{AgentName, JobId};
use papertape_protocol::deployment::Deployment;
use papertape_protocol::query::MAX_ROWS;
use papertape_runtime::config::SimulationConfig;
use papertape_store::PageRequest;
use std::collections::BTreeMap;

mod actions;
mod audit;
mod bars;
mod chat;
mod compare;
mod compare_traces;
mod counterfactual;
mod curves;
mod cutoff;
mod datasets;
mod desk_state;
mod experiment_results;
mod experiments;
mod facts;
mod fills;
mod head;
mod health;
mod job_list;
mod job_result;
mod jobs;
mod leaderboard;
mod lineage;
mod live;
mod masked;
mod memory;
mod model_calls;
mod node_times;
mod options;
mod plan_job;
mod plans;
mod probe;
mod progress;
mod quality;
mod reasoning;
mod results;
mod reviews;
mod seen_by;
mod sessions;
mod stream;
mod traces;
mod usage;

pub use actions::{actions, plan_jobs};
pub use audit::{AuditProgress, audit, audit_all};
pub use bars::bars;
pub use chat::{chat_session, chat_sessions};
pub use compare::compare;
pub(crate) use compare::{
    BoardBaseline, BoardRun, ComparedRun, ComparisonInput, EvaluatedBoard, RunRecord, compare_with_input,
    evaluate, starts_fresh,
};
pub use compare_traces::compare_traces;
pub use counterfactual::counterfactual;
pub use curves::curves;
pub(crate) use cutoff::training_cutoff;
pub use datasets::{dataset, dataset_response, datasets};
pub use desk_state::{DeskStateResponse, desk_state, desk_states};
pub use experiment_results::experiment_results;
pub use experiments::{experiment, experiments};
pub(crate) use experiments::{experiment_status, no_experiment};
pub use facts::{fundamentals, macros, news};
pub use head::head_response;
pub use health::health;
pub use job_list::jobs;
pub use job_result::job_result;
pub use jobs::{job, job_summary, status};
pub use leaderboard::leaderboard;
pub use lineage::lineage;
pub use live::{CONTRACT_VERSION, live, session_live};
pub use memory::{
    by_words, memory_archives, memory_compact, memory_open, memory_reembed, memory_rounds, memory_trades,
    session_memory,
};
pub(crate) use model_calls::ModelCalls;
pub use model_calls::{requested_models, stored_documents};
pub use options::options;
pub use plan_job::{decompose_job, plan_job};
pub use plans::{plan, plans, task, tasks};
pub use probe::probe;
pub use reasoning::reasoning;
pub use results::conventions_of;
pub(crate) use results::{
    DayFigures, RecordedDay, history, is_full_research, metrics, recorded_days, recorded_trades,
    session_trades, unknown_benchmark,
};
pub use results::{results, session_head};
pub use reviews::reviews;
pub use seen_by::seen_by;
pub use sessions::{exposures, messages, steps};
pub use stream::read_stream;
pub use traces::{TraceCount, traces};

/// The mode that the server runs in.
#[must_use]
pub fn deployment(app: &App) -> Deployment {
    let is_dev_mode = app.config.mode == Mode::Dev;
    Deployment {
        deployment_mode: app.config.mode.as_str().to_owned(),
        is_dev_mode,
        preserve_dev_data: is_dev_mode.then_some(app.config.preserve_dev_data),
    }
}

/// A page by its size and cursor.
fn page(limit: Option<u32>, cursor: Option<String>) -> Result<PageRequest, ServiceError> {
    page_up_to(MAX_ROWS, limit, cursor)
}

/// A page by its size and cursor, of a list with a maximum page size.
fn page_up_to(max: u32, limit: Option<u32>, cursor: Option<String>) -> Result<PageRequest, ServiceError> {
    Ok(PageRequest { limit: rows(limit, 0, max)?, cursor })
}

/// How many rows a page has: the requested number, from 1 to a maximum, or the default.
fn rows(limit: Option<u32>, default: u32, max: u32) -> Result<u32, ServiceError> {
    match limit {
        Some(limit) if limit == 0 || limit > max => {
            Err(ServiceError::invalid("limit", format!("{limit} is out of range; expected 1 to {max}")))
        }
        limit => Ok(limit.unwrap_or(default)),
    }
}

/// A text that a database can hold: without NUL.
fn plain<'a>(field: &'static str, text: Option<&'a String>) -> Result<Option<&'a str>, ServiceError> {
    match text {
        Some(text) if text.contains('\0') => Err(ServiceError::invalid(field, "it contains a NUL character")),
        text => Ok(text.map(String::as_str)),
    }
}

/// The ID of a requested job. An impossible ID is an unknown one.
pub(crate) fn job_id(text: &str) -> Result<JobId, ServiceError> {
    if text.contains('\0') {
        return Err(no_job(text));
    }
    Ok(JobId::new(text))
}

pub(crate) fn no_job(text: &str) -> ServiceError {
    ServiceError::NotFound(format!("there is no job {}", text.escape_default()))
}

/// Configs of the jobs of a query, each read once.
#[derive(Default)]
struct Configs(BTreeMap<JobId, (u32, Option<SimulationConfig>)>);

impl Configs {
    /// A job's config; `None` if the job is not a simulation, or its config cannot be read.
    async fn of(&mut self, app: &App, job: &JobId) -> Result<Option<&SimulationConfig>, ServiceError> {
        self.load(app, job).await?;
        Ok(self.0.get(job).and_then(|(_, config)| config.as_ref()))
    }

    /// The rules version of a job.
    async fn rules_version(&mut self, app: &App, job: &JobId) -> Result<u32, ServiceError> {
        self.load(app, job).await?;
        Ok(self.0.get(job).map(|(rules, _)| *rules).unwrap_or_default())
    }

    async fn load(&mut self, app: &App, job: &JobId) -> Result<(), ServiceError> {
        if !self.0.contains_key(job) {
            let row = papertape_core::ports::Queue::get_job(&app.store, job).await?;
            let rules = row.as_ref().map(|row| row.rules_version).unwrap_or_default();
            let config = row.and_then(|row| serde_json::from_value(row.config).ok());
            self.0.insert(job.clone(), (rules, config));
        }
        Ok(())
    }

    /// Is the agent's model a language model? `None` if unknown.
    async fn is_llm(
        &mut self,
        app: &App,
        job: &JobId,
        agent: &AgentName,
    ) -> Result<Option<bool>, ServiceError> {
        Ok(self.of(app, job).await?.and_then(|config| is_llm(config, agent)))
    }
}

/// Is any model of the agent, after changes by a branch, a language model?
pub(crate) fn is_llm(config: &SimulationConfig, agent: &AgentName) -> Option<bool> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let changed = changed.filter(|changed| changed.name == *agent);
    let agent = changed.or_else(|| config.agents.iter().find(|other| other.name == *agent))?;
    Some(!agent.is_rule_based())
}
