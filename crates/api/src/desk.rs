//! A desk's settings in a request body.

use super::extract::{JsonObject, whole};
use papertape_agents::desk::config::{Analyst, DeskConfig, PromptStyle};
use papertape_agents::desk::sizing::{SizingConfig, Weights};
use papertape_core::broker::parse_amount;
use papertape_core::message::ModelName;
use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

/// The maximum deadline of a node.
const DAY_SECS: u64 = 86_400;

/// A desk: its analysts, debate rounds, deadlines and position sizing. Absent fields take the default.
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
    /// The number of turns of Bull and Bear each; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    max_debate_rounds: Option<u32>,
    /// The number of turns of each risk analyst; absent: 1.
    #[schema(minimum = 1, maximum = 10)]
    max_risk_discuss_rounds: Option<u32>,
    /// The style of analyses; absent: `standard`.
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
    /// The number of a day's symbols that run in parallel; absent: 4.
    #[schema(minimum = 1)]
    symbols_at_once: Option<u32>,
    /// How ratings become orders.
    #[schema(value_type = Option<SizingBody>)]
    sizing: Option<JsonObject<SizingBody>>,
}

/// An analyst.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AnalystBody {
    /// Prices and indicators.
    Market,
    /// Sentiment.
    Social,
    /// News.
    News,
    /// Company reports.
    Fundamentals,
}

/// The style of analyses.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum StyleBody {
    /// A one-page report.
    Standard,
    /// Only what the decision needs.
    Compact,
    /// Everything relevant.
    Detailed,
}

/// How ratings become orders. Amounts are fractions of equity.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SizingBody {
    /// The target of each rating, as a fraction of `symbol_cap`.
    #[schema(value_type = Option<WeightsBody>)]
    weights: Option<JsonObject<WeightsBody>>,
    /// The max position in one symbol; absent: 0.25.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    symbol_cap: Option<Decimal>,
    /// The max gross exposure; absent: 1.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 10)]
    gross_cap: Option<Decimal>,
    /// The cash that opening orders leave; absent: 0.02.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    cash_reserve: Option<Decimal>,
    /// The min value of an order; absent: 0.001.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, minimum = 0, exclusive_maximum = 1)]
    least_order: Option<Decimal>,
    /// Whether a Sell may open a short position, if the market allows it; absent: no.
    shorting: Option<bool>,
    /// The max leverage of a proposal; absent: 1.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, minimum = 1)]
    max_leverage: Option<Decimal>,
}

/// Targets as fractions of `symbol_cap`. A Hold has none, because it changes nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WeightsBody {
    /// Absent: 1.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    buy: Option<Decimal>,
    /// Absent: 0.6.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    overweight: Option<Decimal>,
    /// Absent: 0.3.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    underweight: Option<Decimal>,
    /// Absent: 0; below 0 is short.
    #[serde(default, deserialize_with = "fraction")]
    #[schema(value_type = Option<f64>, minimum = -1, maximum = 1)]
    sell: Option<Decimal>,
}

impl DeskBody {
    /// The settings, with defaults for absent fields.
    ///
    /// # Errors
    /// An invalid model name.
    pub(super) fn into_config(self) -> Result<DeskConfig, String> {
        let defaults = DeskConfig::default();
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
                .map_or(defaults.selected_analysts, |analysts| analysts.into_iter().map(analyst).collect()),
            max_debate_rounds: self.max_debate_rounds.unwrap_or(defaults.max_debate_rounds),
            max_risk_discuss_rounds: self.max_risk_discuss_rounds.unwrap_or(defaults.max_risk_discuss_rounds),
            analysis_prompt_style: match self.analysis_prompt_style {
                None => defaults.analysis_prompt_style,
                Some(StyleBody::Standard) => PromptStyle::Standard,
                Some(StyleBody::Compact) => PromptStyle::Compact,
                Some(StyleBody::Detailed) => PromptStyle::Detailed,
            },
            research_node_timeout_secs: self
                .research_node_timeout_secs
                .unwrap_or(defaults.research_node_timeout_secs),
            analyst_node_timeout_secs: self
                .analyst_node_timeout_secs
                .unwrap_or(defaults.analyst_node_timeout_secs),
            trader_node_timeout_secs: self
                .trader_node_timeout_secs
                .unwrap_or(defaults.trader_node_timeout_secs),
            risk_node_timeout_secs: self.risk_node_timeout_secs.unwrap_or(defaults.risk_node_timeout_secs),
            portfolio_node_timeout_secs: self
                .portfolio_node_timeout_secs
                .unwrap_or(defaults.portfolio_node_timeout_secs),
            symbols_at_once: self.symbols_at_once.map_or(defaults.symbols_at_once, |count| count as usize),
            sizing: self.sizing.map_or(defaults.sizing, |JsonObject(sizing)| sizing.into()),
        })
    }
}

impl From<SizingBody> for SizingConfig {
    fn from(body: SizingBody) -> Self {
        let defaults = Self::default();
        Self {
            weights: body.weights.map_or(defaults.weights, |JsonObject(weights)| weights.into()),
            symbol_cap: body.symbol_cap.unwrap_or(defaults.symbol_cap),
            gross_cap: body.gross_cap.unwrap_or(defaults.gross_cap),
            cash_reserve: body.cash_reserve.unwrap_or(defaults.cash_reserve),
            least_order: body.least_order.unwrap_or(defaults.least_order),
            shorting: body.shorting.unwrap_or(defaults.shorting),
            max_leverage: body.max_leverage.unwrap_or(defaults.max_leverage),
        }
    }
}

impl From<WeightsBody> for Weights {
    fn from(body: WeightsBody) -> Self {
        let defaults = Self::default();
        Self {
            buy: body.buy.unwrap_or(defaults.buy),
            overweight: body.overweight.unwrap_or(defaults.overweight),
            underweight: body.underweight.unwrap_or(defaults.underweight),
            sell: body.sell.unwrap_or(defaults.sell),
        }
    }
}

/// A fraction as a JSON number, or as the string that the command line sends.
fn fraction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        value => parse_amount(&value).map(Some).map_err(D::Error::custom),
    }
}
