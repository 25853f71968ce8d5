//! Agents, as a request defines them.

use crate::desk::DeskBody;
use crate::fields::{JsonObject, MAX_INT64, whole, whole32};
use papertape_core::language::Language;
use papertape_core::message::Sampling;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest deadline.
const WEEK_SECS: u64 = 604_800;
/// The maximum number of agents of one job.
pub const MAX_AGENTS: usize = 64;

/// The kind of agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindBody {
    /// One conversation with tools.
    #[default]
    Solo,
    /// Analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
    Desk,
    /// An external agent of the server's configuration: a program of your own.
    External,
}

/// One agent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentBody {
    /// Its name, unique in the job: `model` in responses.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The kind of agent.
    #[serde(default)]
    pub kind: KindBody,
    /// The model, `provider::model`. Required, except for the kind `external`, whose models are in the server's
    /// configuration.
    pub model: Option<String>,
    /// Sampling parameters of the model.
    #[schema(value_type = Option<SamplingBody>)]
    pub sampling: Option<JsonObject<SamplingBody>>,
    /// The prompts' language.
    #[serde(default = "language")]
    #[schema(value_type = LanguageBody)]
    pub language: Language,
    /// A strategy or other instructions, added to the system prompt.
    pub instructions: Option<String>,
    /// The configured tool servers that it may use.
    pub tools: Option<Vec<String>>,
    /// Its limits.
    #[schema(value_type = Option<LimitsBody>)]
    pub limits: Option<JsonObject<LimitsBody>>,
    /// Settings of a desk; only for the kind `desk`.
    #[schema(value_type = Option<DeskBody>)]
    pub desk: Option<JsonObject<DeskBody>>,
    /// The external agent's name in the server's configuration; required for the kind `external`, and only for it.
    #[schema(min_length = 1, max_length = 200)]
    pub external: Option<String>,
}

/// The prompts' language.
// The schema of a `Language`.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum LanguageBody {
    /// English.
    En,
    /// Chinese.
    Zh,
}

fn language() -> Language {
    Language::DEFAULT_FOR_PROMPTS
}

/// Sampling parameters; absent: the provider's defaults.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplingBody {
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// The maximum number of output tokens of one response.
    #[serde(default, deserialize_with = "whole32")]
    pub max_tokens: Option<u32>,
    /// The provider's sampling seed.
    #[serde(default, deserialize_with = "whole::<_, MAX_INT64>")]
    pub seed: Option<u64>,
    /// Stop sequences.
    pub stop: Option<Vec<String>>,
    /// `minimal`, `low`, `medium` or `high`, for reasoning models.
    pub reasoning_effort: Option<String>,
}

/// Limits of an agent's day; absent: 30 steps, 4 attempts, 120 and 1800 seconds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsBody {
    /// The maximum number of model calls of one day's conversation; of a desk, of each analyst's.
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "whole32")]
    pub max_steps: Option<u32>,
    /// The maximum number of attempts per call.
    #[serde(default, deserialize_with = "whole32")]
    pub max_attempts: Option<u32>,
    /// The timeout of one attempt, in seconds.
    #[serde(default, deserialize_with = "whole::<_, WEEK_SECS>")]
    #[schema(minimum = 1, maximum = 604_800)]
    pub call_timeout_secs: Option<u64>,
    /// Wall-clock limit of a day's conversation, in seconds.
    #[serde(default, deserialize_with = "whole::<_, WEEK_SECS>")]
    #[schema(maximum = 604_800)]
    pub session_timeout_secs: Option<u64>,
    /// The maximum number of requests of an external agent's day; absent: 500.
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "whole32")]
    pub max_requests: Option<u32>,
    /// The maximum number of orders of an external agent's day; absent: 100.
    #[serde(default, deserialize_with = "whole32")]
    pub max_orders: Option<u32>,
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

impl From<Sampling> for SamplingBody {
    fn from(sampling: Sampling) -> Self {
        Self {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            max_tokens: sampling.max_tokens,
            seed: sampling.seed,
            stop: Some(sampling.stop),
            reasoning_effort: sampling.reasoning_effort,
        }
    }
}
