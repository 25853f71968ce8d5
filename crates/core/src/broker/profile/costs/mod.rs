//! Costs of trading: dated fees, slippage, and the classes of instruments that they depend on.
//!
//! A fee is the sum of the bands in force on the fill's day. Each is charged per fill and rounded by its own
//! rule: a share of the value or an amount per share, then the minimum, then the maximum. If the maximum is
//! below the minimum, the maximum applies.

mod instrument;
mod schedule;
mod slippage;

pub use instrument::InstrumentClass;
pub use schedule::{
    FeeBand, FeeBasis, FeeCategory, FeePart, FeeRounding, FeeSchedule, FeeSide, RoundingMode,
};
pub use slippage::{FillTiming, SlippageRule};

use super::{MarketProfile, basis_points_per_unit};
use crate::id::Symbol;
use crate::ledger::{LedgerError, Side, checked};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// A run's trading costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostModel {
    /// The market profile's costs.
    #[default]
    Market,
    /// None: see [`MarketProfile::frictionless`].
    Frictionless,
}

impl CostModel {
    /// The profile with these costs.
    #[must_use]
    pub fn of(self, profile: MarketProfile) -> MarketProfile {
        match self {
            Self::Market => profile,
            Self::Frictionless => profile.frictionless(),
        }
    }

    /// The name, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Market => "market",
            Self::Frictionless => "frictionless",
        }
    }
}

impl std::str::FromStr for CostModel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Market, Self::Frictionless]
            .into_iter()
            .find(|model| model.as_str() == text)
            .ok_or_else(|| format!("unknown costs `{text}`; expected `market` or `frictionless`"))
    }
}

/// The inputs of a fill's fees.
#[derive(Clone, Copy, Debug)]
pub struct FeeInput<'a> {
    /// The trading day of the fill.
    pub day: Date,
    /// The instrument.
    pub symbol: &'a Symbol,
    /// What the fill does.
    pub side: Side,
    /// Shares or units.
    pub quantity: Quantity,
    /// The price of one, slippage included.
    pub price: Price,
}

impl MarketProfile {
    /// The fee of a fill: the sum of [`Self::fee_parts`].
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn fee(&self, fill: &FeeInput<'_>) -> Result<Money, LedgerError> {
        self.fee_parts(fill)?.iter().try_fold(Money::ZERO, |sum, part| checked::plus(sum, part.amount))
    }

    /// The parts of a fill's fee: the flat `fees` (as `fee`), then the schedule's, without those that are
    /// zero.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn fee_parts(&self, fill: &FeeInput<'_>) -> Result<Vec<FeePart>, LedgerError> {
        let value = checked::value(fill.price, fill.quantity)?;
        let mut parts = Vec::new();
        let rate = checked::div(self.fees.bps, basis_points_per_unit())?;
        let flat =
            Money(checked::round(checked::mul(value.0, rate)?, checked::MONEY_DP)).max(self.fees.minimum);
        parts.push(FeePart { name: "fee".to_owned(), category: FeeCategory::Commission, amount: flat });
        let shares = Quantity(checked::mul(fill.quantity.0, self.price_unit(fill.symbol))?);
        let fill = FeeInput { quantity: shares, ..*fill };
        for schedule in &self.fee_schedule {
            if let Some(amount) = schedule.amount(&fill, value)? {
                parts.push(FeePart { name: schedule.name.clone(), category: schedule.category, amount });
            }
        }
        parts.retain(|part| !part.amount.is_zero());
        Ok(parts)
    }

    /// The slippage of a fill of this instrument against its reference price, in basis points.
    #[must_use]
    pub fn slippage_of(&self, symbol: &Symbol, timing: FillTiming) -> Decimal {
        let rule = self.slippage.iter().find(|rule| rule.applies(symbol, timing));
        rule.map_or(self.slippage_bps, |rule| rule.bps)
    }

    /// The annualized cost of borrowed shares, in basis points of a short position's market value.
    #[must_use]
    pub fn short_borrow_bps(&self) -> Decimal {
        self.annual_borrow_bps.unwrap_or(self.annual_financing_bps)
    }

    /// The same market without friction: no fees, duties, slippage, borrow fee, financing or withholding, and no
    /// cap on participation. The exchange's rules (lots, T+1, price limits) stay.
    #[must_use]
    pub fn frictionless(mut self) -> Self {
        self.fees = super::Fees { bps: Decimal::ZERO, minimum: Money::ZERO };
        self.slippage_bps = Decimal::ZERO;
        self.annual_financing_bps = Decimal::ZERO;
        self.annual_borrow_bps = None;
        self.dividend_withholding_pct = Decimal::ZERO;
        self.fee_schedule.clear();
        self.slippage.clear();
        self.participation = None;
        self
    }

    /// Whether trading is free on every day and for every instrument.
    #[must_use]
    pub fn is_frictionless(&self) -> bool {
        let rates = [self.fees.bps, self.fees.minimum.0, self.annual_financing_bps, self.short_borrow_bps()];
        let is_free = |schedule: &FeeSchedule| {
            schedule.bands.iter().all(|band| band.rate.is_zero() && band.minimum.is_none_or(Money::is_zero))
        };
        // A rule that covers everything overrides the flat slippage.
        rates.iter().all(Decimal::is_zero)
            && self.dividend_withholding_pct.is_zero()
            && self.fee_schedule.iter().all(is_free)
            && (self.slippage_bps.is_zero() || self.slippage.iter().any(SlippageRule::covers_all))
            && self.slippage.iter().all(|rule| rule.bps.is_zero())
    }

    /// The profile's name, followed by `(frictionless)` if trading costs nothing.
    #[must_use]
    pub fn label(&self) -> String {
        if self.is_frictionless() { format!("{} (frictionless)", self.name) } else { self.name.clone() }
    }

    /// The profile without the sources of its figures, as a job stores it.
    #[must_use]
    pub fn without_sources(mut self) -> Self {
        for band in self.fee_schedule.iter_mut().flat_map(|schedule| &mut schedule.bands) {
            band.source = None;
        }
        for rule in &mut self.slippage {
            rule.source = None;
        }
        for limit in &mut self.price_limits {
            limit.source = None;
        }
        for lot in &mut self.board_lots {
            lot.source = None;
        }
        self
    }

    /// Checks the costs' numbers.
    pub(super) fn check_costs(&self) -> Result<(), String> {
        for schedule in &self.fee_schedule {
            schedule.check().map_err(|problem| format!("fee_schedule.{}: {problem}", schedule.name))?;
        }
        for rule in &self.slippage {
            if rule.bps < Decimal::ZERO || rule.bps >= basis_points_per_unit() {
                return Err("slippage.bps must be from 0 to below 10000".to_owned());
            }
        }
        if self.dividend_withholding_pct < Decimal::ZERO
            || self.dividend_withholding_pct > Decimal::ONE_HUNDRED
        {
            return Err("dividend_withholding_pct must be from 0 to 100".to_owned());
        }
        if self.annual_borrow_bps.is_some_and(|bps| bps < Decimal::ZERO) {
            return Err("annual_borrow_bps must not be below zero".to_owned());
        }
        Ok(())
    }
}
