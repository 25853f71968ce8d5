//! What a fill costs.

use super::approve::released;
use super::profile::{MarketProfile, bps_of_one};
use crate::ledger::{Direction, LedgerError, Position, Side, exact};
use crate::money::{Money, Price, Quantity};
use rust_decimal::Decimal;

/// Price and costs of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// What one share costs, slippage included.
    pub(super) price: Price,
    /// Price x quantity.
    pub(super) value: Money,
    pub(super) fee: Money,
    /// What the slippage costs in all.
    pub(super) slippage: Money,
}

impl Terms {
    /// The terms of a fill that slips against the trader.
    pub(super) fn at(
        profile: &MarketProfile,
        side: Side,
        quantity: Quantity,
        reference: Price,
    ) -> Result<Self, LedgerError> {
        let price = slipped(profile, side, reference)?;
        let gap = Price(exact::sub(price.0, reference.0)?.abs());
        Self::exactly(profile, quantity, price, exact::value(gap, quantity)?)
    }

    /// The terms of closing a part of a position, which slips.
    pub(super) fn closing(
        profile: &MarketProfile,
        position: &Position,
        quantity: Quantity,
        reference: Price,
    ) -> Result<Self, LedgerError> {
        let terms = Self::at(profile, position.closing_side(), quantity, reference)?;
        terms.within_margin(profile, position, quantity, reference)
    }

    /// The terms of closing a part of a position at a limit, which does not slip.
    pub(super) fn closing_at_limit(
        profile: &MarketProfile,
        position: &Position,
        quantity: Quantity,
        limit: Price,
    ) -> Result<Self, LedgerError> {
        Self::at_limit(profile, quantity, limit)?.within_margin(profile, position, quantity, limit)
    }

    /// Where margin is isolated, a position is closed no worse than at the price at which its margin is
    /// lost, and the fee takes no more than what is then left of the margin.
    fn within_margin(
        self,
        profile: &MarketProfile,
        position: &Position,
        quantity: Quantity,
        reference: Price,
    ) -> Result<Self, LedgerError> {
        if !profile.has_isolated_margin() {
            return Ok(self);
        }
        let mut terms = self;
        let beyond = |lost: &Price| match position.direction() {
            Direction::Long => terms.price < *lost,
            Direction::Short => terms.price > *lost,
        };
        if let Some(lost) = position.liquidation_price().filter(beyond) {
            let is_gapped = match position.direction() {
                Direction::Long => reference < lost,
                Direction::Short => reference > lost,
            };
            let slipped = if is_gapped { Price::ZERO } else { Price(exact::sub(lost.0, reference.0)?.abs()) };
            terms = Self::exactly(profile, quantity, lost, exact::value(slipped, quantity)?)?;
        }
        let left = released(position, quantity, terms.price)?.max(Money::ZERO);
        terms.fee = terms.fee.min(left);
        Ok(terms)
    }

    /// The terms of a fill at a limit, which does not slip.
    fn at_limit(profile: &MarketProfile, quantity: Quantity, limit: Price) -> Result<Self, LedgerError> {
        Self::exactly(profile, quantity, limit, Money::ZERO)
    }

    fn exactly(
        profile: &MarketProfile,
        quantity: Quantity,
        price: Price,
        slippage: Money,
    ) -> Result<Self, LedgerError> {
        let value = exact::value(price, quantity)?;
        let rate = exact::div(profile.fees.bps, bps_of_one())?;
        let fee = Money(exact::round(exact::mul(value.0, rate)?, exact::MONEY_DP));
        let fee = fee.max(profile.fees.minimum);
        Ok(Self { price, value, fee, slippage })
    }
}

/// The reference price moved against the trader. A profile without slippage leaves it as it is.
pub(super) fn slipped(profile: &MarketProfile, side: Side, reference: Price) -> Result<Price, LedgerError> {
    if profile.slippage_bps.is_zero() {
        return Ok(reference);
    }
    let rate = exact::div(profile.slippage_bps, bps_of_one())?;
    let factor =
        if side.takes_shares() { exact::add(Decimal::ONE, rate)? } else { exact::sub(Decimal::ONE, rate)? };
    let price = Price(exact::round(exact::mul(reference.0, factor)?, exact::PRICE_DP));
    if price.is_positive() {
        Ok(price)
    } else {
        Err(LedgerError::OutOfRange { what: "price after slippage", value: price.0 })
    }
}
