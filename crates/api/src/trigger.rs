//! `POST /simulate/trigger`

use super::desk::DeskBody;
use super::error::ApiError;
use super::extract::{Body, JsonObject, day, maybe_day, whole};
use super::job_response::QueuedResponse;
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_agents::config::{AgentConfig, AgentKind, Language, Limits};
use papertape_agents::memory::{LONGEST_WINDOW, MemoryMode};
use papertape_core::broker::{CostModel, parse_amount};
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::{ModelName, Sampling};
use papertape_core::time::Date;
use papertape_runtime::budget::{Budget, Limit};
use papertape_service::app::App;
use papertape_service::trigger::{BudgetChange, Request};
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};
use utoipa::ToSchema;

/// The maximum number of agents per job.
pub(crate) const MAX_AGENTS: usize = 64;
/// The maximum whole number that every client can send.
const INT64: u64 = i64::MAX as u64;
/// The maximum deadline.
const WEEK_SECS: u64 = 604_800;

/// What to simulate. All fields but `end_date` have a default in the server's config.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "start_date": "2012-10-01",
    "end_date": "2012-10-05",
    "models": ["house::momentum", "house::contrarian"],
    "symbols": ["AAPL", "IBM"],
    "initial_cash": 10000
}))]
pub(super) struct TriggerBody {
    /// The first day; absent or `null`: each agent continues after the end of its newest completed job.
    #[serde(default, deserialize_with = "maybe_day")]
    start_date: Option<Date>,
    /// The last day, included.
    #[serde(deserialize_with = "day")]
    end_date: Date,
    /// Names of configured agents, or models as solo agents: `provider::model`.
    #[schema(min_items = 1, max_items = 64)]
    models: Option<Vec<String>>,
    /// Run completed days again, and replace the days of these agents in the jobs that ran them. Nothing is
    /// deleted.
    replace_existing: Option<bool>,
    /// Run completed days again from the first degraded day on, because later days follow from it. Failed days always
    /// run again. Not together with `replace_existing`.
    rerun_degraded: Option<bool>,
    /// Inline agents.
    #[schema(min_items = 1, max_items = 64, value_type = Option<Vec<AgentBody>>)]
    agents: Option<Vec<JsonObject<AgentBody>>>,
    /// The tradable symbols.
    #[schema(min_items = 1)]
    symbols: Option<Vec<String>>,
    /// An index of the dataset, such as `SP500`, whose members of each day are tradable. Not together with `symbols`.
    #[schema(min_length = 1, max_length = 64)]
    universe: Option<String>,
    /// The dataset's name or hash prefix.
    dataset: Option<String>,
    /// The market profile's name; absent: the dataset's own, else the config's.
    market: Option<String>,
    /// Trading costs: `market` for those of the market profile, `frictionless` for none. Absent: the config's.
    costs: Option<CostsBody>,
    /// The initial cash of each agent.
    #[serde(default, deserialize_with = "maybe_amount")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1_000_000_000_000_i64)]
    initial_cash: Option<Decimal>,
    /// The symbol or index of the dataset that results are compared with; absent: the config's, else none. It does not
    /// affect what agents see or do.
    benchmark: Option<String>,
    /// The seed of the job's randomness.
    #[serde(default, deserialize_with = "whole::<_, INT64>")]
    seed: Option<u64>,
    /// The job's budget.
    #[schema(value_type = Option<BudgetBody>)]
    budget: Option<JsonObject<BudgetBody>>,
    /// Whether to write summaries.
    summaries: Option<bool>,
    /// The memories that are on; absent: the config's, else all.
    memory: Option<MemoryBody>,
    /// The number of previous rounds that a trader reads.
    #[serde(default, deserialize_with = "window")]
    #[schema(minimum = 0, maximum = 10)]
    read_window: Option<u32>,
    /// The number of previous rounds in the session after a losing close.
    #[serde(default, deserialize_with = "window")]
    #[schema(minimum = 0, maximum = 10)]
    read_window_after_loss: Option<u32>,
    /// The job whose memory the agents of the same names start with, as known before the first day.
    memory_from: Option<String>,
    /// Not supported: anything but `null` is rejected.
    #[schema(value_type = Option<Object>)]
    masking: Option<Value>,
}

/// One trader.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentBody {
    /// The name, unique in the job; `model` in responses.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The kind of agent.
    #[serde(default)]
    kind: KindBody,
    /// The model, `provider::model`.
    model: String,
    /// The sampling parameters.
    #[schema(value_type = Option<SamplingBody>)]
    sampling: Option<JsonObject<SamplingBody>>,
    /// The prompts' language.
    #[serde(default)]
    language: LanguageBody,
    /// A strategy or other instructions, added to the system prompt.
    instructions: Option<String>,
    /// The configured tool servers that it may use.
    tools: Option<Vec<String>>,
    /// The agent's limits.
    #[schema(value_type = Option<LimitsBody>)]
    limits: Option<JsonObject<LimitsBody>>,
    /// The desk's settings; only for the kind `desk`.
    #[schema(value_type = Option<DeskBody>)]
    desk: Option<JsonObject<DeskBody>>,
}

/// The memories that are on. Memories that are off are neither written nor read.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum MemoryBody {
    /// No memory.
    Off,
    /// Round memory.
    Rounds,
    /// Round memory and the contexts of open positions.
    #[serde(rename = "rounds+open")]
    RoundsOpen,
    /// Round memory, the contexts of open positions, and reflections on closed trades.
    All,
}

impl From<MemoryBody> for MemoryMode {
    fn from(body: MemoryBody) -> Self {
        match body {
            MemoryBody::Off => Self::Off,
            MemoryBody::Rounds => Self::Rounds,
            MemoryBody::RoundsOpen => Self::RoundsOpen,
            MemoryBody::All => Self::All,
        }
    }
}

/// Trading costs.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum CostsBody {
    /// Those of the market profile.
    Market,
    /// None: no fees, duties, slippage, borrow fee or financing, and no participation cap.
    Frictionless,
}

impl From<CostsBody> for CostModel {
    fn from(body: CostsBody) -> Self {
        match body {
            CostsBody::Market => Self::Market,
            CostsBody::Frictionless => Self::Frictionless,
        }
    }
}

/// The kind of agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KindBody {
    /// One conversation with tools.
    #[default]
    Solo,
    /// Analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
    Desk,
}

/// The prompts' language.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum LanguageBody {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// Sampling parameters; absent: the provider's defaults.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SamplingBody {
    /// 0 to 2.
    temperature: Option<f64>,
    /// 0 to 1.
    top_p: Option<f64>,
    /// Max output tokens per response.
    max_tokens: Option<u32>,
    /// The provider's sampling seed.
    #[serde(default, deserialize_with = "whole::<_, INT64>")]
    seed: Option<u64>,
    /// Stop sequences.
    stop: Option<Vec<String>>,
    /// `minimal`, `low`, `medium` or `high`, for reasoning models.
    reasoning_effort: Option<String>,
}

/// Limits of an agent's day; absent: 30 steps, 4 attempts, 120 and 1800 seconds.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LimitsBody {
    /// Max model calls of one day's conversation; for a desk, of each analyst's.
    #[schema(minimum = 1)]
    max_steps: Option<u32>,
    /// Max attempts per call.
    max_attempts: Option<u32>,
    /// The timeout of one attempt, in seconds.
    #[serde(default, deserialize_with = "whole::<_, WEEK_SECS>")]
    #[schema(minimum = 1, maximum = 604_800)]
    call_timeout_secs: Option<u64>,
    /// The timeout of a day's conversation, in seconds.
    #[serde(default, deserialize_with = "whole::<_, WEEK_SECS>")]
    #[schema(maximum = 604_800)]
    session_timeout_secs: Option<u64>,
}

/// A job's budget. An absent line sets no limit.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetBody {
    /// The whole job, without summaries.
    #[schema(value_type = Option<LimitBody>)]
    job: Option<JsonObject<LimitBody>>,
    /// Each agent.
    #[schema(value_type = Option<LimitBody>)]
    agent: Option<JsonObject<LimitBody>>,
    /// Each agent on each day.
    #[schema(value_type = Option<LimitBody>)]
    day: Option<JsonObject<LimitBody>>,
    /// All summaries of the job.
    #[schema(value_type = Option<LimitBody>)]
    summaries: Option<JsonObject<LimitBody>>,
}

/// One line of a budget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LimitBody {
    /// Input and output tokens together.
    #[serde(default, deserialize_with = "whole::<_, INT64>")]
    tokens: Option<u64>,
    /// US dollars.
    #[serde(default, deserialize_with = "maybe_amount")]
    #[schema(value_type = Option<f64>)]
    usd: Option<Decimal>,
}

/// Queue a simulation
#[utoipa::path(
    post,
    path = "/simulate/trigger",
    tag = "simulation",
    request_body = TriggerBody,
    responses(
        (status = 202, body = QueuedResponse, description = "The job is queued", example = json!({
            "job_id": "01a20080-76d9-7776-80b8-d40317d19915",
            "status": "queued",
            "total_model_days": 10,
            "message": "the simulation is queued: 10 model-days",
            "warnings": [],
            "continues": {},
            "parent": null,
            "deployment_mode": "prod",
            "is_dev_mode": false,
            "preserve_dev_data": null
        })),
        BodyErrors
    )
)]
pub(super) async fn trigger(
    State(app): State<App>,
    Body(body): Body<TriggerBody>,
) -> Result<(StatusCode, Json<QueuedResponse>), ApiError> {
    let queued = papertape_service::trigger::trigger(&app, request(body)?).await?;
    Ok((StatusCode::ACCEPTED, Json(QueuedResponse::of(&app, queued, None).await?)))
}

/// Parses a JSON object as the body of `POST /simulate/trigger`.
///
/// # Errors
/// A message that names the field.
pub(crate) fn simulation(body: &Value) -> Result<Request, String> {
    let body: TriggerBody = serde_json::from_value(body.clone()).map_err(|error| error.to_string())?;
    request(body).map_err(|error| error.to_string())
}

fn request(body: TriggerBody) -> Result<Request, ApiError> {
    if body.masking.is_some_and(|masking| !masking.is_null()) {
        return Err(ApiError::Invalid("masking: it is not supported".to_owned()));
    }
    for (field, is_empty) in [
        ("models", body.models.as_ref().is_some_and(Vec::is_empty)),
        ("agents", body.agents.as_ref().is_some_and(Vec::is_empty)),
        ("symbols", body.symbols.as_ref().is_some_and(Vec::is_empty)),
    ] {
        if is_empty {
            let message = format!("{field}: the list is empty; name at least one, or omit the field");
            return Err(ApiError::Invalid(message));
        }
    }
    let (models, agents) = (body.models.unwrap_or_default(), body.agents.unwrap_or_default());
    if models.len() + agents.len() > MAX_AGENTS {
        return Err(ApiError::Invalid(format!("models: a job has at most {MAX_AGENTS} agents")));
    }
    Ok(Request {
        start_date: body.start_date,
        end_date: Some(body.end_date),
        models,
        agents: agents.into_iter().map(|JsonObject(body)| agent(body)).collect::<Result<_, _>>()?,
        symbols: body.symbols.unwrap_or_default(),
        universe: body.universe,
        dataset: body.dataset,
        market: body.market,
        costs: body.costs.map(CostModel::from),
        initial_cash: body.initial_cash,
        benchmark: body.benchmark,
        seed: body.seed,
        budget: body.budget.map(|JsonObject(budget)| budget.into()),
        summaries: body.summaries,
        replace_existing: body.replace_existing.unwrap_or_default(),
        rerun_degraded: body.rerun_degraded.unwrap_or_default(),
        profile: false,
        memory: body.memory.map(MemoryMode::from),
        read_window: body.read_window,
        read_window_after_loss: body.read_window_after_loss,
        memory_from: memory_from(body.memory_from)?,
    })
}

fn agent(body: AgentBody) -> Result<AgentConfig, ApiError> {
    let model: ModelName = body
        .model
        .parse()
        .map_err(|message| ApiError::Invalid(format!("agents: {}: {message}", body.name)))?;
    let desk = body.desk.map(|JsonObject(desk)| desk.into_config()).transpose();
    let desk = desk.map_err(|message| ApiError::Invalid(format!("agents: {}: {message}", body.name)))?;
    Ok(AgentConfig {
        name: AgentName::from(body.name),
        kind: match body.kind {
            KindBody::Solo => AgentKind::Solo,
            KindBody::Desk => AgentKind::Desk,
        },
        model,
        sampling: body.sampling.map(|JsonObject(sampling)| sampling.into()).unwrap_or_default(),
        language: match body.language {
            LanguageBody::En => Language::En,
            LanguageBody::Zh => Language::Zh,
        },
        instructions: body.instructions,
        tools: body.tools.unwrap_or_default(),
        limits: body.limits.map(|JsonObject(limits)| limits.into()).unwrap_or_default(),
        desk,
    })
}

impl From<SamplingBody> for Sampling {
    fn from(body: SamplingBody) -> Self {
        Self {
            temperature: body.temperature,
            top_p: body.top_p,
            max_tokens: body.max_tokens,
            seed: body.seed,
            stop: body.stop.unwrap_or_default(),
            reasoning_effort: body.reasoning_effort,
        }
    }
}

impl From<LimitsBody> for Limits {
    fn from(body: LimitsBody) -> Self {
        let defaults = Self::default();
        Self {
            max_steps: body.max_steps.unwrap_or(defaults.max_steps),
            max_attempts: body.max_attempts.unwrap_or(defaults.max_attempts),
            call_timeout_secs: body.call_timeout_secs.unwrap_or(defaults.call_timeout_secs),
            session_timeout_secs: body.session_timeout_secs.unwrap_or(defaults.session_timeout_secs),
        }
    }
}

impl From<BudgetBody> for BudgetChange {
    fn from(body: BudgetBody) -> Self {
        let limit = |body: Option<JsonObject<LimitBody>>| {
            body.map(|JsonObject(body)| Limit { tokens: body.tokens, usd: body.usd })
        };
        Self {
            job: limit(body.job),
            agent: limit(body.agent),
            day: limit(body.day),
            summaries: limit(body.summaries),
        }
    }
}

impl From<BudgetBody> for Budget {
    fn from(body: BudgetBody) -> Self {
        BudgetChange::from(body).over(Self::default())
    }
}

/// The job's ID, which contains no NUL.
fn memory_from(text: Option<String>) -> Result<Option<JobId>, ApiError> {
    match text {
        Some(text) if text.contains('\0') => {
            Err(ApiError::Invalid("memory_from: it contains a NUL character".to_owned()))
        }
        text => Ok(text.map(JobId::new)),
    }
}

/// A number of rounds.
fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(deserializer)? {
        Some(rounds) if rounds > LONGEST_WINDOW => {
            Err(D::Error::custom(format!("{rounds} is above {LONGEST_WINDOW}")))
        }
        rounds => Ok(rounds),
    }
}

/// A JSON number as an exact decimal.
fn maybe_amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    number.map(|number| parse_amount(&Value::Number(number))).transpose().map_err(D::Error::custom)
}
