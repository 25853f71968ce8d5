//! Desks, as a request defines them.

use crate::fields::{JsonObject, share, whole};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest deadline of a node.
const DAY_SECS: u64 = 86_400;

/// A desk: its analysts, rounds and timeouts. Absent fields have their defaults.
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
    /// Debate rounds of Bull and Bear; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    pub max_debate_rounds: Option<u32>,
    /// Rounds of the risk debate; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    pub max_risk_discuss_rounds: Option<u32>,
    /// The style of analyses; absent: `standard`.
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
    /// The number of symbols of a day that run concurrently; absent: 4.
    #[schema(minimum = 1)]
    pub symbols_at_once: Option<u32>,
    /// Position sizing.
    #[schema(value_type = Option<SizingBody>)]
    pub sizing: Option<JsonObject<SizingBody>>,
}

/// An analyst.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnalystBody {
    /// Prices and indicators.
    Market,
    /// Sentiment.
    Social,
    /// News.
    News,
    /// Fundamentals.
    Fundamentals,
}

/// The style of analyses.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StyleBody {
    /// A one-page report.
    Standard,
    /// Only what the decision depends on.
    Compact,
    /// Everything relevant.
    Detailed,
}

/// Position sizing, in shares of equity.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SizingBody {
    /// The target of each rating, as a fraction of `symbol_cap`.
    #[schema(value_type = Option<WeightsBody>)]
    pub weights: Option<JsonObject<WeightsBody>>,
    /// The max position in one symbol; absent: 0.25.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    pub symbol_cap: Option<Decimal>,
    /// The max gross exposure; absent: 1.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    pub gross_cap: Option<Decimal>,
    /// The share of equity that opening orders leave in cash; absent: 0.02.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    pub cash_reserve: Option<Decimal>,
    /// The minimum value of an order, as a share of equity; absent: 0.001.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    pub min_order: Option<Decimal>,
    /// Whether a Sell may open a short position, if the market allows it; absent: no.
    pub shorting: Option<bool>,
    /// The maximum leverage of a proposal; absent: 1.
    #[serde(default, with = "share")]
    #[schema(value_type = Option<f64>, minimum = 1)]
    pub max_leverage: Option<Decimal>,
}

/// Targets as shares of the cap of one symbol. A Hold has no target: it changes nothing.
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
