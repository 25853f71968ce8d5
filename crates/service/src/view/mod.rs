//! Answers: from the record to the shapes that the API sends and `--json` prints.
//!
//! One function a question, of the [`App`] and what is asked. Money and quantities become JSON numbers
//! here, at the edge, and nowhere before. Nothing here writes, and nothing knows HTTP.

mod actions;
mod bars;
mod chat;
mod compare_traces;
mod curves;
mod datasets;
mod desk_state;
mod doctor;
mod facts;
mod heads;
mod health;
mod job_result;
mod jobs;
mod live;
mod memory;
mod node_times;
mod number;
mod options;
mod plans;
mod progress;
mod quality;
mod reasoning;
mod results;
mod sessions;
mod shown;
mod stream;
mod traces;
mod usage;
pub mod vocabulary;

pub use actions::{
    ActionsQuery, ActionsResponse, LogEntry, LogQuery, PlanJobResponse, PlanJobsResponse, SummaryItem,
    actions, decompose_job, plan_job, plan_jobs,
};
pub use bars::{BarResponse, BarsQuery, BarsResponse, ShareEvent, bars};
pub use chat::{
    ChatMessageResponse, ChatMetadata, ChatQuery, ChatSessionResponse, ChatSessionSummary,
    ChatSessionsResponse, PendingAction, chat_message, chat_session, chat_sessions,
};
pub use compare_traces::{CompareQuery, compare_traces};
pub use curves::{AgentCurve, CurvesResponse, curves};
pub use datasets::{DatasetResponse, DatasetsQuery, DatasetsResponse, dataset, datasets};
pub use desk_state::{DeskStateResponse, desk_state, desk_states};
pub use doctor::{DoctorResponse, doctor};
pub use facts::{
    FactsQuery, FundamentalItem, FundamentalsResponse, MacroItem, MacrosResponse, NewsItem, NewsResponse,
    fundamentals, macros, news,
};
pub use heads::{HeadResponse, head_answer};
pub use health::{HealthResponse, HealthState, health};
pub use job_result::{
    DecompositionLeftOut, DecompositionResult, DecompositionStats, ExecutionResult, FailedPart, JobResult,
    LeftOutChild, LeftOutChildren, LeftOutDependency, job_result,
};
pub use jobs::{
    AgentSummary, BranchPoint, ContinuesFrom, DatasetSummary, DayDetail, JobResponse, JobSummary, JobsQuery,
    JobsResponse, SimulationSummary, StatusQuery, StatusResponse, job, job_summary, jobs, status,
};
pub use live::{
    CONTRACT_VERSION, LiveDegradation, LiveError, LiveQuery, LiveResponse, LiveResult, LiveStatus, live,
    session_live,
};
pub use memory::{
    ArchiveResponse, ArchivesResponse, AssetResponse, ClaimResponse, DeviationResponse, GivenItem,
    GivenResponse, MemoryQuery, OpenPositionResponse, OpenPositionsResponse, ReembedResponse,
    ReflectionResponse, RoundResponse, RoundsResponse, SearchBy, SessionMemoryResponse, TradesQuery,
    TradesResponse, by_words, memory_archives, memory_compact, memory_open, memory_reembed, memory_rounds,
    memory_trades, session_memory,
};
pub use number::{Number, figure, number};
pub use options::{
    AgentOption, DatasetOption, DefaultsOption, MarketOption, ModelOption, OptionsResponse, ProviderOption,
    options,
};
pub use plans::{
    PlanResponse, PlanSummary, PlansResponse, TaskResponse, TaskSummary, TasksResponse, plan, plans, task,
    tasks,
};
pub use progress::Progress;
pub use quality::{BooksFacts, DayQualityResponse, DegradedDayResponse, JobQuality};
pub use reasoning::{
    InstructionsResponse, MessageResponse, PositionResponse, ReasoningQuery, ReasoningResponse,
    SessionResponse, reasoning,
};
pub(crate) use results::unknown_benchmark;
pub use results::{
    BaselineResult, Baselines, BenchmarkResponse, BenchmarkStartResponse, ConventionsResponse,
    CorporateActionResponse, DailyMetrics, DailyPortfolioValue, DateRange, DayMetadata, DayReasoning,
    DayResult, DayResults, DecisionResponse, DoneBefore, FeePartResponse, FeeResponse, FinalPosition,
    FinancingResponse, FullResearch, HeldAtClose, Holding, InsolvencyResponse, Metrics, NeighbourResponse,
    OrderPlaceResponse, PendingOrderResponse, PointInTimeReason, PositionSnapshotResponse, Provenance,
    RangeProvenance, RangeReasoning, RangeResult, RangeResults, ReasoningLevel, RecordedDifference,
    RecordedRefusal, RecordedResponse, Rejected, RelativeMetrics, ResultCache, ResultsQuery, ResultsResponse,
    SessionHeadResponse, SlippageResponse, StartingHoldings, Trade, ValueAtClose, results, session_head,
};
pub(crate) use results::{conventions_of, is_full_research};
pub use sessions::{
    ExposureResponse, ExposuresResponse, MessagesQuery, MessagesResponse, SessionQuery, StepResponse,
    StepsResponse, exposures, messages, steps,
};
pub use shown::{ShownKind, ShownQuery, ShownReadResponse, ShownResponse, ShownSessionResponse, shown};
pub use stream::{StreamData, StreamedJob};
pub use traces::{TraceCount, traces};
pub use usage::UsageSummary;

use crate::app::App;
use crate::config::Mode;
use papertape_core::id::{AgentName, JobId};
use papertape_core::plan::PlanError;
use papertape_core::ports::RecordError;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{PageRequest, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The most rows of one page, wherever nothing else is said.
pub const MAX_ROWS: u32 = 200;
/// The most rows of one page of what a session consists of: its messages, its steps, what it was shown.
pub const MAX_SESSION_ROWS: u32 = 1000;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The caller must ask otherwise.
    #[error("{field}: {message}")]
    Bad {
        /// The field that is wrong.
        field: &'static str,
        /// Why.
        message: String,
    },
    /// There is nothing of the kind.
    #[error("{0}")]
    NotFound(String),
    /// It is not there yet.
    #[error("{0}")]
    Busy(String),
    /// The record failed.
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

/// Whose data it is; part of every answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Deployment {
    /// `prod` or `dev`.
    #[schema(example = "prod")]
    pub deployment_mode: &'static str,
    /// Is it `dev`?
    pub is_dev_mode: bool,
    /// In `dev`: is the data kept at start? `null` in `prod`, where it always is.
    pub preserve_dev_data: Option<bool>,
}

impl Deployment {
    /// That of the product.
    #[must_use]
    pub fn of(app: &App) -> Self {
        let is_dev_mode = app.config.mode == Mode::Dev;
        Self {
            deployment_mode: app.config.mode.as_str(),
            is_dev_mode,
            preserve_dev_data: is_dev_mode.then_some(app.config.preserve_dev_data),
        }
    }
}

/// A page by its size and cursor.
fn page(limit: Option<u32>, cursor: Option<String>) -> Result<PageRequest, ViewError> {
    page_up_to(MAX_ROWS, limit, cursor)
}

/// A page by its size and cursor, of a list whose pages have at most so many rows.
fn page_up_to(most: u32, limit: Option<u32>, cursor: Option<String>) -> Result<PageRequest, ViewError> {
    let limit = match limit {
        Some(limit) if limit == 0 || limit > most => {
            return Err(ViewError::bad("limit", format!("{limit} is not from 1 to {most}")));
        }
        limit => limit.unwrap_or_default(),
    };
    Ok(PageRequest { limit, cursor })
}

/// A text that a database can be asked for: none holds a NUL.
fn plain<'a>(field: &'static str, text: Option<&'a String>) -> Result<Option<&'a str>, ViewError> {
    match text {
        Some(text) if text.contains('\0') => Err(ViewError::bad(field, "it holds a NUL character")),
        text => Ok(text.map(String::as_str)),
    }
}

/// The id of a job that is asked for by name. One that cannot be is one that is not there.
pub(crate) fn job_id(text: &str) -> Result<JobId, ViewError> {
    if text.contains('\0') {
        return Err(no_job(text));
    }
    Ok(JobId::new(text))
}

pub(crate) fn no_job(text: &str) -> ViewError {
    ViewError::NotFound(format!("there is no job {}", text.escape_default()))
}

/// Configs of the jobs that an answer touches, each read once.
#[derive(Default)]
struct Configs(BTreeMap<JobId, (u32, Option<SimulationConfig>)>);

impl Configs {
    /// A job's config; `None` where the job is no simulation, or of a version that this one cannot read.
    async fn of(&mut self, app: &App, job: &JobId) -> Result<Option<&SimulationConfig>, ViewError> {
        self.load(app, job).await?;
        Ok(self.0.get(job).and_then(|(_, config)| config.as_ref()))
    }

    /// The version of the rules that a job was recorded under.
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

    /// Is the agent's model a language model? `None` where the job does not say.
    async fn is_llm(&mut self, app: &App, job: &JobId, agent: &AgentName) -> Result<Option<bool>, ViewError> {
        Ok(self.of(app, job).await?.and_then(|config| is_llm(config, agent)))
    }
}

/// Is a model of the agent's, after a branch's change of it, a language model?
fn is_llm(config: &SimulationConfig, agent: &AgentName) -> Option<bool> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let changed = changed.filter(|changed| changed.name == *agent);
    let agent = changed.or_else(|| config.agents.iter().find(|other| other.name == *agent))?;
    Some(agent.models().iter().any(|model| !model.is_house()))
}
