//! Memory probes: what they ask a model, and what they found.

use crate::compare::pair::IntervalResponse;
use crate::cutoff::TrainingCutoffResponse;
use crate::deployment::Deployment;
use crate::fields::{JsonObject, MAX_INT64, maybe_day, whole};
use crate::number::Number;
use crate::simulate::LimitBody;
use crate::usage::UsageSummary;
use papertape_core::record::JobStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A memory probe to queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "model": "openai::gpt-4.1", "kinds": ["direction", "level"], "budget": { "usd": 2 } }))]
pub struct ProbeBody {
    /// The model, as `provider::model`.
    pub model: String,
    /// The dataset's name or hash prefix; absent: the configuration's.
    pub dataset: Option<String>,
    /// The symbols in its items; absent: all tradable symbols of the dataset.
    #[schema(min_items = 1)]
    pub symbols: Option<Vec<String>>,
    /// The first day of the prices; absent: the dataset's.
    #[serde(default, deserialize_with = "maybe_day")]
    pub start_date: Option<Date>,
    /// The last day of the prices, included; absent: the dataset's.
    #[serde(default, deserialize_with = "maybe_day")]
    pub end_date: Option<Date>,
    /// The kinds of items; absent: all.
    #[schema(min_items = 1)]
    pub kinds: Option<Vec<ProbeKindBody>>,
    /// Max. items of a kind; there are as many controls. Default: 310.
    #[schema(minimum = 1, maximum = 10_000)]
    pub items: Option<u32>,
    /// The seed of the items. Default: 0.
    #[serde(default, deserialize_with = "whole::<_, MAX_INT64>")]
    pub seed: Option<u64>,
    /// Send no temperature, for models that accept only their default. Otherwise it is 0.
    pub default_temperature: Option<bool>,
    /// Max. output tokens of a response. Default: 1024.
    #[schema(minimum = 1, maximum = 100_000)]
    pub max_tokens: Option<u32>,
    /// Max. concurrent items. Default: 8.
    #[schema(minimum = 1, maximum = 256)]
    pub parallel: Option<u32>,
    /// The budget of the probe; absent: the configuration's budget of a job.
    #[schema(value_type = Option<LimitBody>)]
    pub budget: Option<JsonObject<LimitBody>>,
}

/// A kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKindBody {
    /// Did a month close higher or lower?
    Direction,
    /// The close of a month, among four.
    Level,
    /// The month in which a masked chart ends, among four.
    Date,
    /// The company of a masked chart, among four.
    Company,
}

/// The questions of a probe, and what they may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeEstimate {
    /// What the controls are: `altered`, sign-flipped and time-reversed charts, or `after_cutoff`, months after the
    /// model's training cut-off.
    pub controls: String,
    /// Items and controls by kind.
    pub kinds: Vec<ProbeKindCount>,
    /// Wordings of each item; each is one call.
    pub wordings: usize,
    /// Calls.
    pub calls: u64,
    /// Their estimated input tokens.
    pub input_tokens: u64,
    /// Their estimated output tokens, if the model replies with a letter.
    pub output_tokens: u64,
    /// US dollars; `null` if the price of the model is unknown.
    pub cost_usd: Option<Number>,
    /// US dollars if every response has the maximum of output tokens, as of a model that reasons at length.
    pub max_cost_usd: Option<Number>,
    /// Whether the estimate exceeds the budget.
    pub exceeds_budget: bool,
}

/// The number of items of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeKindCount {
    /// The kind.
    pub kind: String,
    /// Items.
    pub items: usize,
    /// Controls.
    pub controls: usize,
}

/// What a probe would ask. Nothing is queued.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EstimateProbeResponse {
    /// The estimate.
    pub estimate: ProbeEstimate,
    /// The model's training cut-off, compared with the days of the prices.
    pub training_cutoff: Option<TrainingCutoffResponse>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A queued probe.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueuedProbeResponse {
    /// The job.
    pub job_id: String,
    /// `queued`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// What it asks, and what it may cost.
    pub estimate: ProbeEstimate,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A probe and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeResponse {
    /// The job.
    pub job_id: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it stopped early.
    pub error: Option<String>,
    /// The model.
    pub model: String,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: bool,
    /// The dataset's name.
    pub dataset: String,
    /// The dataset's content hash.
    pub dataset_hash: String,
    /// The symbols in its items.
    pub symbols: Vec<String>,
    /// The seed of the items.
    pub seed: u64,
    /// The temperature that was sent; `null`: none.
    pub temperature: Option<f64>,
    /// The model's training cut-off, compared with the days of the prices; `null` for a house model.
    pub training_cutoff: Option<TrainingCutoffResponse>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// When it stopped.
    pub completed_at: Option<Timestamp>,
    /// Its usage.
    pub usage: UsageSummary,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The result; `null` until it is completed.
    pub report: Option<ProbeReport>,
    /// What a probe cannot show.
    pub limits: Vec<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeReport {
    /// What the controls are: `altered` or `after_cutoff`.
    pub controls: String,
    /// Calls, one per wording of an item or control.
    pub calls: usize,
    /// By kind. Their p-values are adjusted together.
    pub kinds: Vec<ProbeKindResult>,
}

/// The result of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeKindResult {
    /// `direction`, `level`, `date` or `company`.
    pub kind: String,
    /// The accuracy of guessing.
    pub chance: f64,
    /// The items.
    pub items: ProbeScore,
    /// The controls.
    pub controls: ProbeScore,
    /// The accuracy minus that on the controls; `null` if not testable.
    pub difference: Option<f64>,
    /// Its 95% interval (Newcombe).
    pub interval: Option<IntervalResponse>,
    /// One-sided, adjusted by Holm over the kinds.
    pub holm_p: Option<f64>,
    /// One-sided, from a permutation of months. Recall is shown only if it and `holm_p` are at most 0.05.
    pub permutation_p: Option<f64>,
    /// The number of correct items that guessing reaches in at most 5% of quizzes; `null` if even all are not enough.
    pub critical_correct: Option<usize>,
    /// Calls that failed after all retries. Their responses count as declined.
    pub failed_calls: usize,
    /// `recall_shown`, `not_shown` or `not_testable`.
    pub verdict: String,
    /// The difference in points that would have been seen with 80% power, if nothing was shown.
    pub would_have_seen_points: Option<f64>,
    /// The verdict in words.
    pub words: String,
}

/// The score of the items or the controls of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeScore {
    /// How many.
    pub count: usize,
    /// Correct ones, by the choice of most wordings.
    pub correct: usize,
    /// Those without such a choice: the model declined, its responses name no choice, or they differ.
    pub declined: usize,
    /// The fraction correct, declined ones scored as chance; `null` without any.
    pub accuracy: Option<f64>,
}

/// Whether positions on a resampled path follow the real future.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CounterfactualResponse {
    /// The job.
    pub job_id: String,
    /// Its dataset: the real past with a resampled future.
    pub dataset: String,
    /// The real dataset that it was derived from.
    pub real_dataset: String,
    /// The first day of the path.
    pub start_date: Date,
    /// The last day.
    pub end_date: Date,
    /// By agent.
    pub agents: Vec<CounterfactualScore>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The score of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CounterfactualScore {
    /// The agent.
    pub agent: String,
    /// `false`: a rule-based agent, not a language model.
    pub is_llm: bool,
    /// Closed days whose next five real days are known.
    pub days: usize,
    /// The mean over these days of weight times real return of the next five days; `null` under 60 days, or without any
    /// position.
    pub statistic: Option<f64>,
    /// One-sided, from rotations of the real future.
    pub p_value: Option<f64>,
    /// The number of rotations.
    pub draws: Option<usize>,
    /// The statistic that would have been seen with 80% power.
    pub detectable: Option<f64>,
    /// The verdict in words.
    pub words: String,
    /// The training cut-offs of its language models, compared with its days.
    pub training_cutoffs: Vec<TrainingCutoffResponse>,
}
