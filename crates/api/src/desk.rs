//! What a desk is, in a body.

use super::extract::JsonObject;
use super::trigger::whole;
use papertape_agents::config::{Analyst, DeskConfig, PromptStyle, SizingConfig, Weights};
use papertape_core::broker::parse_amount;
use papertape_core::message::ModelName;
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

/// The longest deadline of a node.
const DAY_SECS: u64 = 86_400;

/// A desk: who sits at it, how long it talks, and what it may take. What is absent is as by default.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeskBody {
    /// The model of analysts, researchers, Trader and risk analysts; absent: the agent's.
    quick_think_llm: Option<String>,
    /// The model of the Research Manager and the Portfolio Manager; absent: the agent's.
    deep_think_llm: Option<String>,
    /// The analysts; absent: all.
    #[schema(min_items = 1)]
    selected_analysts: Option<Vec<AnalystBody>>,
    /// How often Bull and Bear speak each; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    max_debate_rounds: Option<u32>,
    /// How often each risk analyst speaks; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    max_risk_discuss_rounds: Option<u32>,
    /// How analyses are to read; absent: `standard`.
    analysis_prompt_style: Option<StyleBody>,
    /// The deadline of Bull, Bear and the Research Manager, in seconds; absent: 30.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    research_node_timeout_secs: Option<u64>,
    /// The deadline of an analyst, in seconds; absent: 75.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    analyst_node_timeout_secs: Option<u64>,
    /// The Trader's deadline, in seconds; absent: 60.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    trader_node_timeout_secs: Option<u64>,
    /// The deadline of a risk analyst, in seconds; absent: 30.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    risk_node_timeout_secs: Option<u64>,
    /// The Portfolio Manager's deadline, in seconds; absent: 60.
    #[serde(default, deserialize_with = "whole::<_, DAY_SECS>")]
    #[schema(minimum = 1, maximum = 86_400)]
    portfolio_node_timeout_secs: Option<u64>,
    /// How many symbols of a day run side by side; absent: 4.
    #[schema(minimum = 1)]
    symbols_at_once: Option<u32>,
    /// From ratings to orders.
    #[schema(value_type = Option<SizingBody>)]
    sizing: Option<JsonObject<SizingBody>>,
}

/// Who reads the data.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AnalystBody {
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
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum StyleBody {
    /// A report of a page.
    Standard,
    /// The least that carries the decision.
    Compact,
    /// Everything that bears on it.
    Detailed,
}

/// From ratings to orders: shares of equity.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SizingBody {
    /// The target of each rating as a share of the cap of one symbol.
    #[schema(value_type = Option<WeightsBody>)]
    weights: Option<JsonObject<WeightsBody>>,
    /// The cap of one symbol; absent: 0.25.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    symbol_cap: Option<Decimal>,
    /// The cap of all positions together; absent: 1.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    gross_cap: Option<Decimal>,
    /// The share that opening orders leave in cash; absent: 0.02.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    cash_reserve: Option<Decimal>,
    /// The least value of an order; absent: 0.001.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    least_order: Option<Decimal>,
    /// May a Sell open a short position, where the market allows it? Absent: no.
    shorting: Option<bool>,
    /// The largest leverage that a proposal may ask for; absent: 1.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, minimum = 1)]
    max_leverage: Option<Decimal>,
}

/// Targets as shares of the cap of one symbol. A Hold has none: it changes nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WeightsBody {
    /// Absent: 1.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    buy: Option<Decimal>,
    /// Absent: 0.6.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    overweight: Option<Decimal>,
    /// Absent: 0.3.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    underweight: Option<Decimal>,
    /// Absent: 0; below 0 is short.
    #[serde(default, deserialize_with = "share")]
    #[schema(value_type = Option<f64>, minimum = -1, maximum = 1)]
    sell: Option<Decimal>,
}

impl DeskBody {
    /// The settings, with the defaults for what is absent.
    ///
    /// # Errors
    /// A model's name that is none.
    pub(super) fn into_config(self) -> Result<DeskConfig, String> {
        let usual = DeskConfig::default();
        let model = |name: Option<String>| name.map(|name| name.parse::<ModelName>()).transpose();
        let analyst = |analyst: AnalystBody| match analyst {
            AnalystBody::Market => Analyst::Market,
            AnalystBody::Social => Analyst::Social,
            AnalystBody::News => Analyst::News,
            AnalystBody::Fundamentals => Analyst::Fundamentals,
        };
        Ok(DeskConfig {
            quick_think_llm: model(self.quick_think_llm)?,
            deep_think_llm: model(self.deep_think_llm)?,
            selected_analysts: self
                .selected_analysts
                .map_or(usual.selected_analysts, |analysts| analysts.into_iter().map(analyst).collect()),
            max_debate_rounds: self.max_debate_rounds.unwrap_or(usual.max_debate_rounds),
            max_risk_discuss_rounds: self.max_risk_discuss_rounds.unwrap_or(usual.max_risk_discuss_rounds),
            analysis_prompt_style: match self.analysis_prompt_style {
                None => usual.analysis_prompt_style,
                Some(StyleBody::Standard) => PromptStyle::Standard,
                Some(StyleBody::Compact) => PromptStyle::Compact,
                Some(StyleBody::Detailed) => PromptStyle::Detailed,
            },
            research_node_timeout_secs: self
                .research_node_timeout_secs
                .unwrap_or(usual.research_node_timeout_secs),
            analyst_node_timeout_secs: self
                .analyst_node_timeout_secs
                .unwrap_or(usual.analyst_node_timeout_secs),
            trader_node_timeout_secs: self.trader_node_timeout_secs.unwrap_or(usual.trader_node_timeout_secs),
            risk_node_timeout_secs: self.risk_node_timeout_secs.unwrap_or(usual.risk_node_timeout_secs),
            portfolio_node_timeout_secs: self
                .portfolio_node_timeout_secs
                .unwrap_or(usual.portfolio_node_timeout_secs),
            symbols_at_once: self.symbols_at_once.map_or(usual.symbols_at_once, |count| count as usize),
            sizing: self.sizing.map_or(usual.sizing, |JsonObject(sizing)| sizing.into()),
        })
    }
}

impl From<SizingBody> for SizingConfig {
    fn from(body: SizingBody) -> Self {
        let usual = Self::default();
        Self {
            weights: body.weights.map_or(usual.weights, |JsonObject(weights)| weights.into()),
            symbol_cap: body.symbol_cap.unwrap_or(usual.symbol_cap),
            gross_cap: body.gross_cap.unwrap_or(usual.gross_cap),
            cash_reserve: body.cash_reserve.unwrap_or(usual.cash_reserve),
            least_order: body.least_order.unwrap_or(usual.least_order),
            shorting: body.shorting.unwrap_or(usual.shorting),
            max_leverage: body.max_leverage.unwrap_or(usual.max_leverage),
        }
    }
}

impl From<WeightsBody> for Weights {
    fn from(body: WeightsBody) -> Self {
        let usual = Self::default();
        Self {
            buy: body.buy.unwrap_or(usual.buy),
            overweight: body.overweight.unwrap_or(usual.overweight),
            underweight: body.underweight.unwrap_or(usual.underweight),
            sell: body.sell.unwrap_or(usual.sell),
        }
    }
}

/// A share as a JSON number, or as the text that the command line sends.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value => parse_amount(&value).map(Some).map_err(D::Error::custom),
    }
}
