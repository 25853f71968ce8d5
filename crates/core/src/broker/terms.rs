//! The price and costs of a fill.

use super::conditions::PriceBand;
use super::profile::{FeeInput, FillTiming, MarketProfile, basis_points_per_unit};
use crate::id::Symbol;
use crate::ledger::{Direction, LedgerError, Position, Side, checked};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;

/// Where and when a fill takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Venue<'a> {
    pub(super) profile: &'a MarketProfile,
    pub(super) symbol: &'a Symbol,
    pub(super) day: Date,
    pub(super) timing: FillTiming,
    /// The price limits; `None` if unknown.
    pub(super) band: Option<PriceBand>,
}

impl<'a> Venue<'a> {
    /// The venue of an order, which fills by the profile's fill model.
    pub(super) fn for_order(profile: &'a MarketProfile, symbol: &'a Symbol, day: Date) -> Self {
        Self { profile, symbol, day, timing: profile.fill_model.into(), band: None }
    }

    /// The venue of a fill without an order.
    pub(super) fn forced(profile: &'a MarketProfile, symbol: &'a Symbol, day: Date) -> Self {
        Self { profile, symbol, day, timing: FillTiming::Forced, band: None }
    }

    /// The same venue with the day's price limits.
    pub(super) fn with_band(self, band: Option<PriceBand>) -> Self {
        Self { band, ..self }
    }
}

/// Price and costs of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FillTerms {
    /// The price of one share, slippage included.
    pub(super) price: Price,
    /// Price x quantity.
    pub(super) value: Money,
    pub(super) fee: Money,
    /// The total cost of slippage.
    pub(super) slippage: Money,
}

impl FillTerms {
    /// The terms of a fill with slippage.
    pub(super) fn at(
        venue: Venue<'_>,
        side: Side,
        quantity: Quantity,
        reference: Price,
    ) -> Result<Self, LedgerError> {
        let price = apply_slippage(venue, side, reference)?;
        let gap = Price(checked::sub(price.0, reference.0)?.abs());
        Self::exactly(venue, side, quantity, price, checked::value(gap, quantity)?)
    }

    /// The terms of closing a part of a position, with slippage.
    pub(super) fn closing(
        venue: Venue<'_>,
        position: &Position,
        quantity: Quantity,
        reference: Price,
    ) -> Result<Self, LedgerError> {
        let terms = Self::at(venue, position.closing_side(), quantity, reference)?;
        terms.limited_to_margin(venue, position, quantity, reference)
    }

    /// The terms of closing a part of a position at a limit, without slippage.
    pub(super) fn closing_at_limit(
        venue: Venue<'_>,
        position: &Position,
        quantity: Quantity,
        limit: Price,
    ) -> Result<Self, LedgerError> {
        let terms = Self::exactly(venue, position.closing_side(), quantity, limit, Money::ZERO)?;
        terms.limited_to_margin(venue, position, quantity, limit)
    }

    /// With isolated margin, a position is closed at the price at which its margin is lost, or better, and
    /// the fee is at most what is then left of the margin.
    fn limited_to_margin(
        self,
        venue: Venue<'_>,
        position: &Position,
        quantity: Quantity,
        reference: Price,
    ) -> Result<Self, LedgerError> {
        if !venue.profile.has_isolated_margin() {
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
            let slipped =
                if is_gapped { Price::ZERO } else { Price(checked::sub(lost.0, reference.0)?.abs()) };
            terms = Self::exactly(
                venue,
                position.closing_side(),
                quantity,
                lost,
                checked::value(slipped, quantity)?,
            )?;
        }
        let left = margin_released(position, quantity, terms.price)?.max(Money::ZERO);
        terms.fee = terms.fee.min(left);
        Ok(terms)
    }

    fn exactly(
        venue: Venue<'_>,
        side: Side,
        quantity: Quantity,
        price: Price,
        slippage: Money,
    ) -> Result<Self, LedgerError> {
        let value = checked::value(price, quantity)?;
        let Venue { profile, symbol, day, .. } = venue;
        let fee = profile.fee(&FeeInput { day, symbol, side, quantity, price })?;
        Ok(Self { price, value, fee, slippage })
    }
}

/// The reference price, moved against the trader, at most to the day's price limit. Without slippage, the
/// price is unchanged.
fn apply_slippage(venue: Venue<'_>, side: Side, reference: Price) -> Result<Price, LedgerError> {
    let bps = venue.profile.slippage_of(venue.symbol, venue.timing);
    if bps.is_zero() {
        return Ok(reference);
    }
    let rate = checked::div(bps, basis_points_per_unit())?;
    let factor = if side.takes_shares() {
        checked::add(Decimal::ONE, rate)?
    } else {
        checked::sub(Decimal::ONE, rate)?
    };
    let price = Price(checked::round(checked::mul(reference.0, factor)?, checked::PRICE_DP));
    let price = match venue.band {
        Some(band) if side.takes_shares() => price.min(band.up.max(reference)),
        Some(band) => price.max(band.down.min(reference)),
        None => price,
    };
    if price.is_positive() {
        Ok(price)
    } else {
        Err(LedgerError::OutOfRange { what: "price after slippage", value: price.0 })
    }
}

/// The amount released by closing a part at this price, before the fee: its margin and its result.
pub(super) fn margin_released(
    position: &Position,
    quantity: Quantity,
    price: Price,
) -> Result<Money, LedgerError> {
    let held = position.quantity.abs();
    let signed = if position.quantity.is_negative() { -quantity } else { quantity };
    let margin = checked::share(position.margin, quantity, held)?;
    let cost = checked::share(position.cost, quantity, held)?;
    checked::plus(margin, checked::minus(checked::value(price, signed)?, cost)?)
}
