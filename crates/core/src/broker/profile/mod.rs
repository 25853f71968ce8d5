//! Market profiles: the rules and costs of a market.

mod board;
mod costs;

pub use board::{Board, BoardLot, LotRule, PriceLimit};
pub use costs::{
    CostModel, FeeBand, FeeBasis, FeeCategory, FeeInput, FeePart, FeeRounding, FeeSchedule, FeeSide,
    FillTiming, InstrumentClass, RoundingMode, SlippageRule,
};

use crate::id::Symbol;
use crate::money::{Money, Quantity};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The rules and costs of a market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketProfile {
    /// The profile's name.
    pub name: String,
    /// Quantities are multiples of this, except for an order that closes an odd lot. Ignored if `fractional`
    /// is set.
    pub lot: Quantity,
    /// Whether fractions can be traded, down to 8 decimals.
    pub fractional: bool,
    /// Whether shares bought on a day are locked until a later day.
    pub t_plus_one: bool,
    /// Whether shares can be sold short.
    pub shorting: bool,
    /// The minimum leverage, 1 or above.
    pub min_leverage: Decimal,
    /// The maximum leverage. Above 1 it takes effect only if the profile `lends`.
    pub max_leverage: Decimal,
    /// Whether the market lends money, so that cash can be below zero.
    pub lends: bool,
    /// Flat fees of each fill, on top of those of `fee_schedule`.
    pub fees: Fees,
    /// Slippage if no rule of `slippage` applies, in basis points, below 10,000.
    pub slippage_bps: Decimal,
    /// The annual cost of borrowed money, in basis points, charged per calendar night.
    #[serde(rename = "financing_bps_a_year")]
    pub annual_financing_bps: Decimal,
    /// The same for borrowed shares, of a short position's market value; default: the rate for money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annual_borrow_bps: Option<Decimal>,
    /// The tax withheld from dividends on long positions, in percent; 0: dividends are paid gross.
    #[serde(default, skip_serializing_if = "Decimal::is_zero")]
    pub dividend_withholding_pct: Decimal,
    /// Fees by date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fee_schedule: Vec<FeeSchedule>,
    /// Slippage by fill and instrument.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slippage: Vec<SlippageRule>,
    /// Participation in an instrument's volume per day; default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participation: Option<Participation>,
    /// Price limits by board and date; empty: prices are not limited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub price_limits: Vec<PriceLimit>,
    /// Lots of boards that differ from `lot`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub board_lots: Vec<BoardLot>,
    /// In a masked dataset, by symbol: its price per real price. Fees per share and the cents of price limits are
    /// computed in real units. Empty: prices are real.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub price_units: BTreeMap<Symbol, Decimal>,
    /// The price at which an order fills.
    pub fill_model: FillModel,
    /// Trading days per year, for annualized metrics.
    #[serde(default = "us_trading_days", skip_serializing_if = "is_us_trading_days")]
    #[serde(rename = "trading_days_a_year")]
    pub trading_days_per_year: u16,
}

/// The presets in the order of their files, without sources.
static PRESETS: LazyLock<[MarketProfile; 3]> = LazyLock::new(|| {
    MarketProfile::PRESET_FILES.map(|file| {
        let profile: MarketProfile = toml::from_str(file).expect("a test reads every preset");
        profile.without_sources()
    })
});

/// Trading days per year of US exchanges, the default.
const US_TRADING_DAYS: u16 = 252;

fn us_trading_days() -> u16 {
    US_TRADING_DAYS
}

/// Omitted when default, so older profiles hash unchanged.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_us_trading_days(days: &u16) -> bool {
    *days == US_TRADING_DAYS
}

/// Fees of each fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fees {
    /// Basis points of the fill's value.
    pub bps: Decimal,
    /// The minimum fee of a fill.
    pub minimum: Money,
}

/// The limit on an account's share of an instrument's daily volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Participation {
    /// The share of the mean volume, in percent, above 0 and at most 100.
    pub share_pct: Decimal,
    /// Number of bars before today in the mean.
    pub bars: u16,
}

/// The price at which an order fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillModel {
    /// The open that the agent saw, at once: a stated convention.
    #[default]
    Open,
    /// The next open of the instrument.
    NextOpen,
    /// The close of the same day.
    Close,
}

impl MarketProfile {
    /// Shares of the United States: whole shares, long and short without leverage, no margin loans; the costs
    /// of a retail account; 252 trading days per year.
    #[must_use]
    pub fn us_equity() -> Self {
        PRESETS[0].clone()
    }

    /// Chinese A shares: lots of 100, T+1, long only; commission, stamp duty and transfer fee by date; 243
    /// trading days per year.
    #[must_use]
    pub fn cn_a_share() -> Self {
        PRESETS[1].clone()
    }

    /// Crypto: fractional, long and short with leverage of 1 to 10; taker fees, and annualized financing of
    /// 1,095 basis points; it trades on every day of the year.
    #[must_use]
    pub fn crypto() -> Self {
        PRESETS[2].clone()
    }

    /// The files of the presets, with the source of every figure.
    pub const PRESET_FILES: [&str; 3] = [
        include_str!("presets/us_equity.toml"),
        include_str!("presets/cn_a_share.toml"),
        include_str!("presets/crypto.toml"),
    ];

    /// The preset of this name: `us_equity`, `cn_a_share` or `crypto`.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "us_equity" => Some(Self::us_equity()),
            "cn_a_share" => Some(Self::cn_a_share()),
            "crypto" => Some(Self::crypto()),
            _ => None,
        }
    }

    /// Checks that the numbers are consistent.
    ///
    /// # Errors
    /// A message that names the first invalid field.
    pub fn validate(&self) -> Result<(), String> {
        let checks = [
            (self.lot.is_positive(), "lot must be above zero"),
            (
                self.fractional || self.lot.0.fract().is_zero(),
                "lot must be whole where fractions are not traded",
            ),
            (self.min_leverage >= Decimal::ONE, "min_leverage must be 1 or above"),
            (self.max_leverage >= self.min_leverage, "max_leverage must not be below min_leverage"),
            (
                self.lends || self.min_leverage == Decimal::ONE,
                "min_leverage above 1 needs a profile that lends",
            ),
            (
                self.fees.bps >= Decimal::ZERO && self.fees.bps < basis_points_per_unit(),
                "fees.bps must be from 0 to below 10000",
            ),
            (!self.fees.minimum.is_negative(), "fees.minimum must not be below zero"),
            (
                self.slippage_bps >= Decimal::ZERO && self.slippage_bps < basis_points_per_unit(),
                "slippage_bps must be from 0 to below 10000",
            ),
            (self.annual_financing_bps >= Decimal::ZERO, "financing_bps_a_year must not be below zero"),
            ((1..=366).contains(&self.trading_days_per_year), "trading_days_a_year must be from 1 to 366"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, problem)) => Err(problem.to_owned()),
            None => self.check_costs().and_then(|()| self.check_conditions()),
        }
    }

    /// The price of an instrument per real price: 1, unless the dataset is masked.
    #[must_use]
    pub fn price_unit(&self, symbol: &Symbol) -> Decimal {
        self.price_units.get(symbol).copied().unwrap_or(Decimal::ONE)
    }

    /// Whether a position can lose at most its own margin. If the market lends, margin is isolated, and the
    /// venue bears a gap's loss beyond it. Otherwise the account does.
    #[must_use]
    pub fn has_isolated_margin(&self) -> bool {
        self.lends
    }

    /// The effective maximum leverage.
    #[must_use]
    pub fn leverage_limit(&self) -> Decimal {
        if self.lends { self.max_leverage } else { Decimal::ONE }
    }
}

/// Basis points in 1.
pub(super) fn basis_points_per_unit() -> Decimal {
    Decimal::from(10_000)
}
