//! Starting, resuming and branching simulations.

use crate::agent::{AgentBody, SamplingBody};
use crate::deployment::Deployment;
use crate::fields::{JsonObject, MAX_INT64, day, maybe_amount, maybe_day, parts, whole, window};
use crate::jobs::ContinuesFrom;
use papertape_core::broker::CostModel;
use papertape_core::record::JobStatus;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A simulation. Everything except `end_date` has a default in the server's configuration.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "start_date": "2012-10-01",
    "end_date": "2012-10-05",
    "models": ["house::momentum", "house::contrarian"],
    "symbols": ["AAPL", "IBM"],
    "initial_cash": 10000
}))]
pub struct TriggerBody {
    /// First day; absent or `null`: each agent continues after its newest completed job.
    #[serde(default, deserialize_with = "maybe_day")]
    pub start_date: Option<Date>,
    /// The last day, included.
    #[serde(deserialize_with = "day")]
    pub end_date: Date,
    /// Names of configured agents, or models as solo agents: `provider::model`.
    #[schema(min_items = 1, max_items = 64)]
    pub models: Option<Vec<String>>,
    /// Run days again that earlier jobs ran, and supersede them. Nothing is deleted.
    pub replace_existing: Option<bool>,
    /// Run completed days again from the first degraded one on, since later days depend on it.
    /// Failed days run again in any case. Not together with `replace_existing`.
    pub rerun_degraded: Option<bool>,
    /// Agents, with their full definition.
    #[schema(min_items = 1, max_items = 64, value_type = Option<Vec<AgentBody>>)]
    pub agents: Option<Vec<JsonObject<AgentBody>>>,
    /// The tradable symbols.
    #[schema(min_items = 1)]
    pub symbols: Option<Vec<String>>,
    /// An index of the dataset, such as `SP500`, whose members of each day are tradable. Not together with `symbols`.
    #[schema(min_length = 1, max_length = 64)]
    pub universe: Option<String>,
    /// The dataset's name or hash prefix.
    pub dataset: Option<String>,
    /// The market profile's name; absent: the dataset's own, else the config's.
    pub market: Option<String>,
    /// Trading costs: `market`, as in the market profile, or `frictionless`, none. Default: the configuration's.
    pub costs: Option<CostsBody>,
    /// The initial cash of each agent.
    #[serde(default, with = "maybe_amount")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1_000_000_000_000_i64)]
    pub initial_cash: Option<Decimal>,
    /// The symbol or index of the dataset that results are compared with; absent: the config's, else none. It does not
    /// affect what agents see or do.
    pub benchmark: Option<String>,
    /// The seed of the job's randomness.
    #[serde(default, deserialize_with = "whole::<_, MAX_INT64>")]
    pub seed: Option<u64>,
    /// The budget of the job.
    #[schema(value_type = Option<BudgetBody>)]
    pub budget: Option<JsonObject<BudgetBody>>,
    /// Whether to write summaries.
    pub summaries: Option<bool>,
    /// The memories that are enabled; absent: the configuration's, else all.
    pub memory: Option<MemoryBody>,
    /// The number of recent rounds that a trader reads.
    #[serde(default, deserialize_with = "window")]
    #[schema(minimum = 0, maximum = 10)]
    pub read_window: Option<u32>,
    /// The number of previous rounds in the session after a losing close.
    #[serde(default, deserialize_with = "window")]
    #[schema(minimum = 0, maximum = 10)]
    pub read_window_after_loss: Option<u32>,
    /// The job whose memory, as known before the start, the agents of the same names inherit.
    pub memory_from: Option<String>,
    /// The number of parts that the agents are split into, which different workers run at the same time; absent: the
    /// configuration's. It does not affect the results.
    #[serde(default, deserialize_with = "parts")]
    #[schema(minimum = 1, maximum = 4095)]
    pub parts: Option<u32>,
    /// What is masked, against memorization: `none` (the default), `dates`, `entities` (symbols, names, prices and
    /// volumes) or `all`. The agents see a derived dataset; everything in this request and in results is in real terms.
    #[schema(example = "all")]
    pub masking: Option<String>,
}

/// The memories that are enabled: `off`, `rounds`, `rounds+open` or `all`. Disabled memories are neither written nor read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryBody {
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

/// Trading costs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostsBody {
    /// As in the market profile.
    Market,
    /// None: no fees, duties, slippage, borrow fee or financing, and no participation cap.
    Frictionless,
}

/// The budget of a job. Absent lines do not limit.
#[derive(Default, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetBody {
    /// The whole job, without summaries.
    #[schema(value_type = Option<LimitBody>)]
    pub job: Option<JsonObject<LimitBody>>,
    /// Each agent.
    #[schema(value_type = Option<LimitBody>)]
    pub agent: Option<JsonObject<LimitBody>>,
    /// Each agent on each day.
    #[schema(value_type = Option<LimitBody>)]
    pub day: Option<JsonObject<LimitBody>>,
    /// All summaries of the job.
    #[schema(value_type = Option<LimitBody>)]
    pub summaries: Option<JsonObject<LimitBody>>,
}

/// One line of a budget.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitBody {
    /// Input and output tokens together.
    #[serde(default, deserialize_with = "whole::<_, MAX_INT64>")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(default, with = "maybe_amount")]
    #[schema(value_type = Option<f64>)]
    pub usd: Option<Decimal>,
}

/// Where to branch, and what to change.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "date": "2012-10-17", "agent": "house::momentum", "node": "solo#1", "model": "house::contrarian" }))]
pub struct BranchBody {
    /// The day of the cut.
    #[serde(deserialize_with = "day")]
    pub date: Date,
    /// The agent; required if the job has several.
    pub agent: Option<String>,
    /// A node (`solo#1`, `AAPL/Trader#1`), a desk's symbol (`AAPL`) or a step (`solo#1/model#3`): nothing at
    /// or after it is reused. Absent: the whole day.
    pub node: Option<String>,
    /// The model from the cut on, `provider::model`.
    pub model: Option<String>,
    /// The instructions from the cut on.
    pub instructions: Option<String>,
    /// The sampling parameters from the cut on.
    #[schema(value_type = Option<SamplingBody>)]
    pub sampling: Option<JsonObject<SamplingBody>>,
}

/// A request as a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommandResponse {
    /// The command, quoted for a POSIX shell; `null` if no options of the command line make this request.
    pub command: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// Changes before the job resumes. Optional.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "budget": { "job": { "tokens": 500_000 } } }))]
pub struct ResumeBody {
    /// Lines of the budget that replace the job's own; the others stay.
    #[schema(value_type = Option<BudgetBody>)]
    pub budget: Option<JsonObject<BudgetBody>>,
}

/// A queued job.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueuedResponse {
    /// The job.
    pub job_id: String,
    /// `queued`.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Trading days x agents, the skipped ones included.
    pub total_model_days: usize,
    /// A human-readable message.
    pub message: String,
    /// Warnings.
    pub warnings: Vec<String>,
    /// By model: the job that it continues, and the last day of it.
    pub continues: BTreeMap<String, ContinuesFrom>,
    /// The job that it is a branch of.
    pub parent: Option<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The new status of a job.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangedResponse {
    /// The job.
    pub job_id: String,
    /// Its status now.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// A human-readable message.
    pub message: String,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

impl From<CostsBody> for CostModel {
    fn from(body: CostsBody) -> Self {
        match body {
            CostsBody::Market => Self::Market,
            CostsBody::Frictionless => Self::Frictionless,
        }
    }
}

impl From<CostModel> for CostsBody {
    fn from(costs: CostModel) -> Self {
        match costs {
            CostModel::Market => Self::Market,
            CostModel::Frictionless => Self::Frictionless,
        }
    }
}
