//! Desks, as a request defines them.

use crate::fields::{JsonObject, share, whole};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest deadline of a node.
const DAY_SECS: u64 = 86_400;

/// A desk: who sits at it, how long it talks, and what it may take. What is absent is as by default.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeskBody {
    /// The model of analysts, researchers, Trader and risk analysts; absent: the agent's.
    pub quick_think_llm: Option<String>,
    /// The model of the Research Manager and the Portfolio Manager; absent: the agent's.
    pub deep_think_llm: Option<String>,
    /// The analysts; absent: all.
    #[schema(min_items = 1)]
    pub selected_analysts: Option<Vec<AnalystBody>>,
    /// How often Bull and Bear speak each; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    pub max_debate_rounds: Option<u32>,
    /// How often each risk analyst speaks; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    pub max_risk_discuss_rounds: Option<u32>,
    /// How analyses are to read; absent: `standard`.
    pub analysis_prompt_style: Option<StyleBody>,
    /// The deadline of Bull, Bear and the Research Manager, in seconds; absent: 30.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    pub research_node_timeout_secs: Option<u64>,
    /// The deadline of an analyst, in seconds; absent: 75.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    pub analyst_node_timeout_secs: Option<u64>,
    /// The Trader's deadline, in seconds; absent: 60.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    pub trader_node_timeout_secs: Option<u64>,
    /// The deadline of a risk analyst, in seconds; absent: 30.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    pub risk_node_timeout_secs: Option<u64>,
    /// The Portfolio Manager's deadline, in seconds; absent: 60.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    pub portfolio_node_timeout_secs: Option<u64>,
    /// How many symbols of a day run side by side; absent: 4.
    #[schema(minimum = 1)]
    pub symbols_at_once: Option<u32>,
    /// From ratings to orders.
    #[schema(value_type = Option<SizingBody>)]
    pub sizing: Option<JsonObject<SizingBody>>,
}

/// Who reads the data.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalystBody {
    /// Prices and indicators.
    Market,
    /// How people feel about it.
    Social,
    /// What happened.
    News,
    /// What the company reports.
    Fundamentals,
}

/// How analyses are to read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StyleBody {
    /// A report of a page.
    Standard,
    /// The least that carries the decision.
    Compact,
    /// Everything that bears on it.
    Detailed,
}

/// From ratings to orders: shares of equity.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SizingBody {
    /// The target of each rating as a share of the cap of one symbol.
    #[schema(value_type = Option<WeightsBody>)]
    pub weights: Option<JsonObject<WeightsBody>>,
    /// The cap of one symbol; absent: 0.25.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    pub symbol_cap: Option<Decimal>,
    /// The cap of all positions together; absent: 1.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    pub gross_cap: Option<Decimal>,
    /// The share that opening orders leave in cash; absent: 0.02.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    pub cash_reserve: Option<Decimal>,
    /// The least value of an order; absent: 0.001.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    pub min_order: Option<Decimal>,
    /// May a Sell open a short position, where the market allows it? Absent: no.
    pub shorting: Option<bool>,
    /// The largest leverage that a proposal may ask for; absent: 1.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 1)]
    pub max_leverage: Option<Decimal>,
}

/// Targets as shares of the cap of one symbol. A Hold has none: it changes nothing.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightsBody {
    /// Absent: 1.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    pub buy: Option<Decimal>,
    /// Absent: 0.6.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    pub overweight: Option<Decimal>,
    /// Absent: 0.3.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub underweight: Option<Decimal>,
    /// Absent: 0; below 0 is short.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = -1, maximum = 1)]
    pub sell: Option<Decimal>,
}
