//! Slippage by fill and instrument.

use super::instrument::is_base_asset;
use crate::broker::profile::FillModel;
use crate::id::Symbol;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Slippage against the reference price. The first rule that applies decides; if none does, the profile's
/// `slippage_bps`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlippageRule {
    /// The kind of fills; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<FillTiming>,
    /// Base assets of the instruments (`BTC` also means `BTCUSDT` and `BTC-USD`); empty: all instruments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
    /// Basis points, below 10,000.
    pub bps: Decimal,
    /// Source of the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// When a fill takes place, for slippage rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillTiming {
    /// At the open that the agent saw.
    Open,
    /// At the next open.
    NextOpen,
    /// At the close of the same day.
    Close,
    /// Without an order of the agent: a stop, a liquidation, a covered margin call.
    Forced,
}

impl From<FillModel> for FillTiming {
    fn from(model: FillModel) -> Self {
        match model {
            FillModel::Open => Self::Open,
            FillModel::NextOpen => Self::NextOpen,
            FillModel::Close => Self::Close,
        }
    }
}

impl SlippageRule {
    /// Whether it names the base asset of this instrument.
    #[must_use]
    pub fn names(&self, symbol: &Symbol) -> bool {
        self.symbols.iter().any(|base| is_base_asset(symbol, base))
    }

    pub(super) fn applies(&self, symbol: &Symbol, timing: FillTiming) -> bool {
        self.fill.is_none_or(|fill| fill == timing) && (self.symbols.is_empty() || self.names(symbol))
    }

    pub(super) fn covers_all(&self) -> bool {
        self.fill.is_none() && self.symbols.is_empty()
    }
}
