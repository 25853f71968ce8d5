//! Fees by date.

use super::{FeeInput, InstrumentClass};
use crate::ledger::{LedgerError, checked};
use crate::money::Money;
use crate::time::Date;
use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};

/// One kind of fee, with its figures by date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeSchedule {
    /// Its name, such as `commission` or `stamp_duty`.
    pub name: String,
    /// What kind of fee it is.
    pub category: FeeCategory,
    /// What the rate is a rate of.
    pub basis: FeeBasis,
    /// How the amount is rounded; absent: half to even, to 8 decimals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounding: Option<FeeRounding>,
    /// Only instruments of this class pay it; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<InstrumentClass>,
    /// Instruments of these classes do not pay it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<InstrumentClass>,
    /// The bands, in date order. No fee applies before the first band.
    pub bands: Vec<FeeBand>,
}

/// A fee from one day until the next band's first day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeBand {
    /// The first day on which it applies; in the first band, default: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_from: Option<Date>,
    /// Who pays.
    #[serde(default, skip_serializing_if = "FeeSide::is_both")]
    pub side: FeeSide,
    /// The rate, in the schedule's basis.
    pub rate: Decimal,
    /// The smallest fee of a fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Money>,
    /// The largest fee of a fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Money>,
    /// The largest fee of a fill, in basis points of its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_bps: Option<Decimal>,
    /// Source of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the figures are an approximation of ones not known by date.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// Whether the figure or its date has not been checked against a source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// What kind of fee it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeeCategory {
    /// The broker's.
    Commission,
    /// The state's or the regulator's.
    Duty,
    /// The clearing house's.
    Transfer,
}

/// What a rate is a rate of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeeBasis {
    /// Money per share or unit.
    PerShare,
    /// Basis points of the fill's value.
    Bps,
    /// Money per million of the fill's value.
    PerMillion,
}

/// Who pays a fee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeeSide {
    /// Every fill.
    #[default]
    Both,
    /// Sales: a sell or a short.
    Sale,
    /// Purchases: a buy or a cover.
    Purchase,
}

impl FeeSide {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_both(&self) -> bool {
        *self == Self::Both
    }
}

/// How a fee is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeeRounding {
    /// Decimals, at most 8.
    pub decimals: u32,
    /// The rounding mode.
    pub mode: RoundingMode,
}

/// How a fee is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundingMode {
    /// To the nearest; halves away from zero.
    HalfUp,
    /// Up, as brokers pass regulators' fees on.
    Up,
}

/// A part of a fill's fee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeePart {
    /// The schedule's name; `fee` for the profile's flat fee.
    pub name: String,
    /// What kind of fee it is.
    pub category: FeeCategory,
    /// The amount, above zero.
    pub amount: Money,
}

impl FeeSchedule {
    /// The band in force on a day.
    #[must_use]
    pub fn band(&self, day: Date) -> Option<&FeeBand> {
        self.bands.iter().rev().find(|band| band.effective_from.is_none_or(|from| from <= day))
    }

    /// Whether fills of this instrument pay it.
    #[must_use]
    pub fn applies(&self, symbol: &crate::id::Symbol) -> bool {
        self.only.is_none_or(|class| class.has(symbol)) && !self.except.iter().any(|class| class.has(symbol))
    }

    /// The fee of a fill of this value; `None` if it does not apply.
    pub(super) fn amount(&self, fill: &FeeInput<'_>, value: Money) -> Result<Option<Money>, LedgerError> {
        let Some(band) = self.band(fill.day).filter(|_| self.applies(fill.symbol)) else { return Ok(None) };
        let pays = match band.side {
            FeeSide::Both => true,
            FeeSide::Sale => !fill.side.takes_shares(),
            FeeSide::Purchase => fill.side.takes_shares(),
        };
        if !pays {
            return Ok(None);
        }
        let share = |of: i64| checked::mul(value.0, checked::div(band.rate, Decimal::from(of))?);
        let amount = match self.basis {
            FeeBasis::PerShare => checked::mul(band.rate, fill.quantity.0)?,
            FeeBasis::Bps => share(10_000)?,
            FeeBasis::PerMillion => share(1_000_000)?,
        };
        let mut amount = amount.max(band.minimum.map_or(Decimal::ZERO, |minimum| minimum.0));
        if let Some(maximum) = band.maximum {
            amount = amount.min(maximum.0);
        }
        if let Some(bps) = band.maximum_bps {
            amount = amount.min(checked::mul(value.0, checked::div(bps, Decimal::from(10_000))?)?);
        }
        Ok(Some(Money(match self.rounding {
            None => checked::round(amount, checked::MONEY_DP),
            Some(FeeRounding { decimals, mode }) => {
                let strategy = match mode {
                    RoundingMode::HalfUp => RoundingStrategy::MidpointAwayFromZero,
                    RoundingMode::Up => RoundingStrategy::AwayFromZero,
                };
                amount.round_dp_with_strategy(decimals, strategy).normalize()
            }
        })))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.bands.is_empty() {
            return Err("it has no bands".to_owned());
        }
        if self.rounding.is_some_and(|rounding| rounding.decimals > checked::MONEY_DP) {
            return Err(format!("rounding.decimals must be at most {}", checked::MONEY_DP));
        }
        if self.bands.windows(2).any(|pair| pair[0].effective_from >= pair[1].effective_from) {
            return Err("bands must be in the order of effective_from, each with a later day".to_owned());
        }
        for band in &self.bands {
            let amounts =
                [Some(band.rate), band.minimum.map(|m| m.0), band.maximum.map(|m| m.0), band.maximum_bps];
            if amounts.into_iter().flatten().any(|amount| amount < Decimal::ZERO) {
                return Err("rates, minimums and maximums must not be below zero".to_owned());
            }
            let share = match self.basis {
                FeeBasis::Bps => band.rate / Decimal::from(10_000),
                FeeBasis::PerMillion => band.rate / Decimal::from(1_000_000),
                FeeBasis::PerShare => Decimal::ZERO,
            };
            if share >= Decimal::ONE {
                return Err("a fee must be less than the value of the fill".to_owned());
            }
        }
        Ok(())
    }
}
