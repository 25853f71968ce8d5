//! Queries: from the database to the types that the API sends and `--json` prints.
//!
//! One function per query, of the [`App`] and its parameters. Money and quantities become JSON numbers only here, at
//! the edge. Nothing here writes, and nothing knows HTTP.

use crate::app::App;
use crate::config::Mode;
use papertape_core::id::{AgentName, JobId};
use papertape_core::plan::PlanError;
use papertape_core::ports::RecordError;
use papertape_protocol::deployment::Deployment;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{PageRequest, StoreError};
use std::collections::BTreeMap;

mod actions;
mod bars;
mod chat;
mod compare_traces;
mod curves;
mod datasets;
mod desk_state;
mod facts;
mod fills;
mod head;
mod health;
mod job_result;
mod jobs;
mod live;
mod memory;
mod node_times;
mod options;
mod plan_job;
mod plans;
mod progress;
mod quality;
mod reasoning;
mod results;
mod seen_by;
mod sessions;
mod stream;
mod traces;
mod usage;

pub use actions::{ActionsQuery, LogQuery, actions, plan_jobs};
pub use bars::{BarsQuery, bars};
pub use chat::{ChatQuery, chat_session, chat_sessions};
pub use compare_traces::{CompareQuery, compare_traces};
pub use curves::curves;
pub use datasets::{DatasetsQuery, dataset, dataset_response, datasets};
pub use desk_state::{DeskStateResponse, desk_state, desk_states};
pub use facts::{FactsQuery, fundamentals, macros, news};
pub use head::head_response;
pub use health::health;
pub use job_result::job_result;
pub use jobs::{JobsQuery, StatusQuery, job, job_summary, jobs, status};
pub use live::{CONTRACT_VERSION, LiveQuery, live, session_live};
pub use memory::{
    MemoryQuery, TradesQuery, by_words, memory_archives, memory_compact, memory_open, memory_reembed,
    memory_rounds, memory_trades, session_memory,
};
pub use options::options;
pub use papertape_protocol::actions::{ActionsResponse, LogEntry, PlanJobsResponse};
pub use papertape_protocol::bars::BarsResponse;
pub use papertape_protocol::curves::CurvesResponse;
pub use papertape_protocol::datasets::{DatasetResponse, DatasetsResponse};
pub use papertape_protocol::exposures::{SeenByKind, SeenByRead, SeenByResponse, SeenBySession};
pub use papertape_protocol::facts::{FundamentalsResponse, MacrosResponse, NewsResponse};
pub use papertape_protocol::head::HeadResponse;
pub use papertape_protocol::job_result::{JobResult, OmittedChild, OmittedDependency};
pub use papertape_protocol::jobs::{DayDetail, JobResponse, JobSummary, JobsResponse, StatusResponse};
pub use papertape_protocol::memory::{
    ArchivesResponse, ReflectionResponse, SearchBy, SessionMemoryResponse, TradesResponse,
};
pub use papertape_protocol::number::{Number, number};
pub use papertape_protocol::options::OptionsResponse;
pub use papertape_protocol::plans::TaskSummary;
pub use papertape_protocol::progress::Progress;
pub use papertape_protocol::quality::DegradedDayResponse;
pub use papertape_protocol::reasoning::{
    MessageResponse, PositionResponse, ReasoningResponse, SessionResponse,
};
pub use papertape_protocol::results::baseline::BaselineResult;
pub use papertape_protocol::results::benchmark::BenchmarkResponse;
pub use papertape_protocol::results::conventions::ConventionsResponse;
pub use papertape_protocol::results::day::{DayReasoning, DayResult};
pub use papertape_protocol::results::head::SessionHeadResponse;
pub use papertape_protocol::results::metrics::Metrics;
pub use papertape_protocol::results::range::{RangeProvenance, RangeResult};
pub use papertape_protocol::results::{ReasoningLevel, ResultsResponse};
pub use papertape_protocol::sessions::{ExposuresResponse, MessagesResponse, StepsResponse};
pub use papertape_protocol::stream::{StreamData, StreamedJob};
pub use papertape_protocol::usage::UsageSummary;
pub use papertape_protocol::vocabulary;

pub use plan_job::{decompose_job, plan_job};
pub use plans::{plan, plans, task, tasks};
pub use reasoning::{ReasoningQuery, reasoning};
pub use results::conventions_of;
pub(crate) use results::is_full_research;
pub(crate) use results::unknown_benchmark;
pub use results::{ResultsQuery, results, session_head};
pub use seen_by::{SeenByQuery, seen_by};
pub use sessions::{MessagesQuery, SessionQuery, exposures, messages, steps};
pub use stream::read_stream;
pub use traces::{TraceCount, traces};

/// The maximum number of rows of one page, by default.
pub const MAX_ROWS: u32 = 200;
/// The maximum number of rows of one page of a session: messages, steps, data reads.
pub const MAX_SESSION_ROWS: u32 = 1000;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The request is invalid.
    #[error("{field}: {message}")]
    Bad {
        /// The invalid field.
        field: &'static str,
        /// Why.
        message: String,
    },
    /// There is no such item.
    #[error("{0}")]
    NotFound(String),
    /// It does not exist yet.
    #[error("{0}")]
    Busy(String),
    /// The database failed.
    #[error(transparent)]
    Record(#[from] anyhow::Error),
}

impl ViewError {
    pub(crate) fn bad(field: &'static str, message: impl Into<String>) -> Self {
        Self::Bad { field, message: message.into() }
    }
}

impl From<StoreError> for ViewError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::BadCursor => Self::bad("cursor", error.to_string()),
            other => Self::Record(other.into()),
        }
    }
}

impl From<RecordError> for ViewError {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::BadCursor => Self::bad("cursor", error.to_string()),
            RecordError::Refused(refusal) => refusal.into(),
            RecordError::Busy(_) => Self::Busy(error.to_string()),
            other => Self::Record(other.into()),
        }
    }
}

impl From<PlanError> for ViewError {
    fn from(refusal: PlanError) -> Self {
        let message = refusal.to_string();
        let field = match refusal {
            PlanError::NoPlan(_) | PlanError::NoTask(_) => return Self::NotFound(message),
            PlanError::TooManyTasks | PlanError::Busy(_) => return Self::Busy(message),
            PlanError::NoParent(_) | PlanError::BelowItself | PlanError::TooDeep => "parent_id",
            PlanError::NoDependency(_) | PlanError::Cycle(_) => "dependencies",
            PlanError::Empty(field) | PlanError::Control { field, .. } | PlanError::TooLong { field, .. } => {
                field
            }
        };
        Self::bad(field, message)
    }
}

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
fn page(limit: Option<u32>, cursor: Option<String>) -> Result<PageRequest, ViewError> {
    page_up_to(MAX_ROWS, limit, cursor)
}

/// A page by its size and cursor, of a list with a maximum page size.
fn page_up_to(most: u32, limit: Option<u32>, cursor: Option<String>) -> Result<PageRequest, ViewError> {
    let limit = match limit {
        Some(limit) if limit == 0 || limit > most => {
            return Err(ViewError::bad("limit", format!("{limit} is out of range; expected 1 to {most}")));
        }
        limit => limit.unwrap_or_default(),
    };
    Ok(PageRequest { limit, cursor })
}

/// A text that a database can hold: without NUL.
fn plain<'a>(field: &'static str, text: Option<&'a String>) -> Result<Option<&'a str>, ViewError> {
    match text {
        Some(text) if text.contains('\0') => Err(ViewError::bad(field, "it contains a NUL character")),
        text => Ok(text.map(String::as_str)),
    }
}

/// The ID of a requested job. An impossible ID is an unknown one.
pub(crate) fn job_id(text: &str) -> Result<JobId, ViewError> {
    if text.contains('\0') {
        return Err(no_job(text));
    }
    Ok(JobId::new(text))
}

pub(crate) fn no_job(text: &str) -> ViewError {
    ViewError::NotFound(format!("there is no job {}", text.escape_default()))
}

/// Configs of the jobs of a query, each read once.
#[derive(Default)]
struct Configs(BTreeMap<JobId, (u32, Option<SimulationConfig>)>);

impl Configs {
    /// A job's config; `None` if the job is not a simulation, or its config cannot be read.
    async fn of(&mut self, app: &App, job: &JobId) -> Result<Option<&SimulationConfig>, ViewError> {
        self.load(app, job).await?;
        Ok(self.0.get(job).and_then(|(_, config)| config.as_ref()))
    }

    /// The rules version of a job.
    async fn rules_version(&mut self, app: &App, job: &JobId) -> Result<u32, ViewError> {
        self.load(app, job).await?;
        Ok(self.0.get(job).map(|(rules, _)| *rules).unwrap_or_default())
    }

    async fn load(&mut self, app: &App, job: &JobId) -> Result<(), ViewError> {
        if !self.0.contains_key(job) {
            let row = papertape_core::ports::Queue::get_job(&app.store, job).await?;
            let rules = row.as_ref().map(|row| row.rules_version).unwrap_or_default();
            let config = row.and_then(|row| serde_json::from_value(row.config).ok());
            self.0.insert(job.clone(), (rules, config));
        }
        Ok(())
    }

    /// Is the agent's model a language model? `None` if unknown.
    async fn is_llm(&mut self, app: &App, job: &JobId, agent: &AgentName) -> Result<Option<bool>, ViewError> {
        Ok(self.of(app, job).await?.and_then(|config| is_llm(config, agent)))
    }
}

/// Is any model of the agent, after changes by a branch, a language model?
fn is_llm(config: &SimulationConfig, agent: &AgentName) -> Option<bool> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let changed = changed.filter(|changed| changed.name == *agent);
    let agent = changed.or_else(|| config.agents.iter().find(|other| other.name == *agent))?;
    Some(agent.models().iter().any(|model| !model.is_house()))
}
