//! `POST /simulate/trigger`

use super::desk::DeskBody;
use super::error::ApiError;
use super::extract::{Body, JsonObject, day, maybe_day};
use super::job_response::QueuedResponse;
use super::responses::BodyErrors;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_agents::config::{AgentConfig, AgentKind, Limits, MAX_WINDOW, MemoryMode};
use papertape_core::broker::{CostModel, parse_amount};
use papertape_core::id::{AgentName, JobId};
use papertape_core::language::Language;
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

/// The most agents of one job.
pub(crate) const MAX_AGENTS: usize = 64;
/// The largest whole number that every client can send.
const INT64: u64 = i64::MAX as u64;
/// The longest deadline.
const WEEK_SECS: u64 = 604_800;

/// What to simulate. Everything but `end_date` has a default in the server's config.
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
    /// First day; absent or `null`: each agent goes on where its newest completed job ended.
    #[serde(default, deserialize_with = "maybe_day")]
    start_date: Option<Date>,
    /// Last day, included.
    #[serde(deserialize_with = "day")]
    end_date: Date,
    /// Names of configured agents, or models as solo agents: `provider::model`.
    #[schema(min_items = 1, max_items = 64)]
    models: Option<Vec<String>>,
    /// Run again what has been done, and replace the days of these agents in the jobs that did it. Nothing is
    /// deleted.
    replace_existing: Option<bool>,
    /// Of the days that are done, run again those from the first degraded one on: later days follow from it.
    /// Failed days run again in any case. Not together with `replace_existing`.
    rerun_degraded: Option<bool>,
    /// Agents, given whole.
    #[schema(min_items = 1, max_items = 64, value_type = Option<Vec<AgentBody>>)]
    agents: Option<Vec<JsonObject<AgentBody>>>,
    /// What may be traded.
    #[schema(min_items = 1)]
    symbols: Option<Vec<String>>,
    /// An index of the dataset, such as `SP500`: on each day its members of that day may be traded. Not together with
    /// `symbols`.
    #[schema(min_length = 1, max_length = 64)]
    universe: Option<String>,
    /// The dataset's name, or the first digits of its hash.
    dataset: Option<String>,
    /// The market profile's name; the dataset's own by default, else the config's.
    market: Option<String>,
    /// What trading costs: `market`, as the market profile says, or `frictionless`, nothing. The config's by default.
    costs: Option<CostsBody>,
    /// What each agent starts with.
    #[serde(default, deserialize_with = "maybe_amount")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1_000_000_000_000_i64)]
    initial_cash: Option<Decimal>,
    /// The symbol or index of the dataset that results are compared with; the config's by default, else none. It
    /// changes nothing that agents see or do.
    benchmark: Option<String>,
    /// The seed of the job's randomness.
    #[serde(default, deserialize_with = "whole::<_, INT64>")]
    seed: Option<u64>,
    /// What the job may use.
    #[schema(value_type = Option<BudgetBody>)]
    budget: Option<JsonObject<BudgetBody>>,
    /// Write summaries?
    summaries: Option<bool>,
    /// Which of the traders' memories are on; absent: the config's, else all.
    memory: Option<MemoryBody>,
    /// How many of its last rounds a trader reads.
    #[serde(default, deserialize_with = "window")]
    #[schema(minimum = 0, maximum = 10)]
    read_window: Option<u32>,
    /// The same for the session after a losing close.
    #[serde(default, deserialize_with = "window")]
    #[schema(minimum = 0, maximum = 10)]
    read_window_after_loss: Option<u32>,
    /// The job whose memory, as far as it was known before the start, the agents of the same names begin
    /// with.
    memory_from: Option<String>,
    /// Not supported yet: anything but `null` is refused.
    #[schema(value_type = Option<Object>)]
    masking: Option<Value>,
}

/// One trader.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentBody {
    /// Its name, unique in the job: `model` in answers.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// How it works.
    #[serde(default)]
    kind: KindBody,
    /// The model that it thinks with, `provider::model`.
    model: String,
    /// How the model's words are drawn.
    #[schema(value_type = Option<SamplingBody>)]
    sampling: Option<JsonObject<SamplingBody>>,
    /// The language of its prompts.
    #[serde(default)]
    language: LanguageBody,
    /// A strategy or other instructions of your own, added to the system prompt.
    instructions: Option<String>,
    /// Names of configured tool servers that it may use.
    tools: Option<Vec<String>>,
    /// Where it stops.
    #[schema(value_type = Option<LimitsBody>)]
    limits: Option<JsonObject<LimitsBody>>,
    /// What a desk adds; for the kind `desk` alone.
    #[schema(value_type = Option<DeskBody>)]
    desk: Option<JsonObject<DeskBody>>,
}

/// Which memories are on: `off`, `rounds`, `rounds+open` or `all`. What is off is neither written nor read.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum MemoryBody {
    /// None.
    Off,
    /// Round memory.
    Rounds,
    /// Round memory and the contexts of open positions.
    #[serde(rename = "rounds+open")]
    RoundsOpen,
    /// These and reflections on closed trades.
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

/// What trading costs.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum CostsBody {
    /// What the market profile says.
    Market,
    /// Nothing: no fees, duties, slippage, borrow fee or financing, and no cap on participation.
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

/// How an agent works.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KindBody {
    /// One conversation with tools.
    #[default]
    Solo,
    /// Analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
    Desk,
}

/// The language of prompts.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum LanguageBody {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// How a model is to draw its words; absent: as the provider does.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SamplingBody {
    /// 0 to 2.
    temperature: Option<f64>,
    /// 0 to 1.
    top_p: Option<f64>,
    /// The most output tokens of one answer.
    max_tokens: Option<u32>,
    /// The provider's sampling seed.
    #[serde(default, deserialize_with = "whole::<_, INT64>")]
    seed: Option<u64>,
    /// Texts at which the answer stops.
    stop: Option<Vec<String>>,
    /// `minimal`, `low`, `medium` or `high`, where the model reasons.
    reasoning_effort: Option<String>,
}

/// Where an agent's day stops; absent: 30 steps, 4 attempts, 120 and 1800 seconds.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LimitsBody {
    /// The most model calls of one day's conversation; of a desk, of each analyst's.
    #[schema(minimum = 1)]
    max_steps: Option<u32>,
    /// The most attempts at one call.
    max_attempts: Option<u32>,
    /// Seconds after which one attempt is cancelled.
    #[serde(default, deserialize_with = "whole::<_, WEEK_SECS>")]
    #[schema(minimum = 1, maximum = 604_800)]
    call_timeout_secs: Option<u64>,
    /// Seconds of wall clock that a day's conversation may take.
    #[serde(default, deserialize_with = "whole::<_, WEEK_SECS>")]
    #[schema(maximum = 604_800)]
    session_timeout_secs: Option<u64>,
}

/// What a job may use. A line that is absent does not bound.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BudgetBody {
    /// The whole job, summaries left out.
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

/// The request that a JSON object makes, as `POST /simulate/trigger` reads it.
///
/// # Errors
/// A sentence that names the field.
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
            let message = format!("{field}: the list is empty; name one at least, or leave the field out");
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
        let usual = Self::default();
        Self {
            max_steps: body.max_steps.unwrap_or(usual.max_steps),
            max_attempts: body.max_attempts.unwrap_or(usual.max_attempts),
            call_timeout_secs: body.call_timeout_secs.unwrap_or(usual.call_timeout_secs),
            session_timeout_secs: body.session_timeout_secs.unwrap_or(usual.session_timeout_secs),
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

/// A job that is named; none is named by a NUL.
fn memory_from(text: Option<String>) -> Result<Option<JobId>, ApiError> {
    match text {
        Some(text) if text.contains('\0') => {
            Err(ApiError::Invalid("memory_from: it holds a NUL character".to_owned()))
        }
        text => Ok(text.map(JobId::new)),
    }
}

/// How many rounds are read.
fn window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(deserializer)? {
        Some(rounds) if rounds > MAX_WINDOW => {
            Err(D::Error::custom(format!("{rounds} is above {MAX_WINDOW}")))
        }
        rounds => Ok(rounds),
    }
}

/// A whole number from 0 to `MOST`.
pub(super) fn whole<'de, D: Deserializer<'de>, const MOST: u64>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    match Option::<u64>::deserialize(deserializer)? {
        Some(number) if number > MOST => Err(D::Error::custom(format!("{number} is above {MOST}"))),
        number => Ok(number),
    }
}

/// A JSON number as the decimal that it is written as.
fn maybe_amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    number.map(|number| parse_amount(&Value::Number(number))).transpose().map_err(D::Error::custom)
}
