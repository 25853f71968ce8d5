//! What the market allows of an instrument on a day: how much of its volume, and between which prices.

use super::order::{Order, Quote, QuoteState};
use super::profile::MarketProfile;
use super::reject::{RejectCode, RejectReason};
use crate::id::Symbol;
use crate::ledger::{Account, LedgerError, Side, checked};
use crate::money::{Price, Quantity};
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// How much of an instrument's volume an account may trade on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Participation {
    /// The share of the mean volume, in percent, above 0 and at most 100.
    pub share_pct: Decimal,
    /// Of how many bars before today.
    pub bars: u16,
}

/// What is known of an instrument's volume, in the share units of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownVolume {
    /// The mean of the newest bars before today; of an order for the close, today's.
    pub mean: Quantity,
    /// Of how many bars; fewer than the profile asks for where there are no more.
    pub bars: u16,
}

/// The prices between which an instrument trades on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceBand {
    /// The close that the limits are measured from: the previous one, in today's share units and less today's
    /// dividends.
    pub previous_close: Price,
    /// The highest price.
    pub up: Price,
    /// The lowest price.
    pub down: Price,
}

impl PriceBand {
    /// Limits of so many percent around a close, rounded half up to 0.01.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn around(previous_close: Price, percent: Decimal) -> Result<Self, LedgerError> {
        let share = checked::div(percent, Decimal::ONE_HUNDRED)?;
        let at = |factor: Decimal| {
            let price = checked::mul(previous_close.0, factor)?;
            let strategy = rust_decimal::RoundingStrategy::MidpointAwayFromZero;
            Ok::<_, LedgerError>(Price(price.round_dp_with_strategy(2, strategy).normalize()))
        };
        Ok(Self {
            previous_close,
            up: at(checked::add(Decimal::ONE, share)?)?,
            down: at(checked::sub(Decimal::ONE, share)?)?,
        })
    }

    /// Is the price at the limit at which this side cannot trade: limit up for purchases, limit down for sales?
    #[must_use]
    pub fn stops(&self, side: Side, price: Price) -> bool {
        if side.takes_shares() { price >= self.up } else { price <= self.down }
    }
}

/// What the market allows for an instrument on a day. An absent condition is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// Its volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<KnownVolume>,
    /// Its price limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<PriceBand>,
    /// Is it outside of the trader's universe today? Its position can then only be reduced or closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside_universe: bool,
}

impl Conditions {
    /// Is nothing to be judged?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Nothing is opened or enlarged outside of the universe. A symbol of which nothing is known and nothing is held gets
/// the same answer, so that it does not say whether there is such a symbol.
pub(super) fn check_universe(quote: &Quote, symbol: &Symbol, opens: bool) -> Result<(), RejectReason> {
    if !quote.conditions.outside_universe || !(opens || quote.state == QuoteState::Unknown) {
        return Ok(());
    }
    let message = format!(
        "{symbol} is not in the universe of this run on {}: no position in it can be opened or enlarged, and one that \
         is held can be reduced or closed.",
        quote.day
    );
    Err(RejectReason::new(RejectCode::NotInUniverse, message, []))
}

/// No buy at limit up, no sale at limit down.
pub(super) fn check_band(conditions: &Conditions, order: &Order, price: Price) -> Result<(), RejectReason> {
    let Some(band) = conditions.band.filter(|band| band.stops(order.side, price)) else { return Ok(()) };
    let (code, what, limit) = if order.side.takes_shares() {
        (RejectCode::LimitUp, "up", band.up)
    } else {
        (RejectCode::LimitDown, "down", band.down)
    };
    let message = format!(
        "{} is at limit {what}: its price of {price} is the limit of {limit}, measured from {}; you cannot {} there.",
        order.symbol, band.previous_close, order.side
    );
    let numbers = [("price", price.0), ("limit", limit.0), ("previous_close", band.previous_close.0)];
    Err(RejectReason::new(code, message, numbers))
}

/// Not more of the volume than the profile allows, together with what the account has traded of it today.
pub(super) fn check_participation(
    account: &Account,
    profile: &MarketProfile,
    conditions: &Conditions,
    order: &Order,
    day: Date,
) -> Result<(), RejectReason> {
    let (Some(rule), Some(volume)) = (profile.participation, conditions.volume) else { return Ok(()) };
    let cap = checked::mul(volume.mean.0, rule.share_pct)
        .and_then(|share| checked::div(share, Decimal::ONE_HUNDRED))
        .map_err(RejectReason::too_large)?;
    let traded = account.traded_on(day, &order.symbol);
    let rest = Quantity((cap - traded.0).max(Decimal::ZERO));
    let largest = profile.round_to_lot(&order.symbol, rest);
    // An odd holding that is smaller than a lot may be closed whole.
    if order.quantity <= rest {
        return Ok(());
    }
    let (symbol, share, bars) = (&order.symbol, rule.share_pct.normalize(), volume.bars);
    let already =
        if traded.is_zero() { String::new() } else { format!(" {traded} of them are traded already today.") };
    let message = format!(
        "At most {share}% of the mean volume of the last {bars} bars may be traded in {symbol} on one day: {share}% of {} \
         is {}.{already} The largest admissible quantity is {largest}; {} were asked, and nothing is filled in part.",
        volume.mean,
        checked::round(cap, checked::QUANTITY_DP),
        order.quantity
    );
    let numbers = [
        ("asked", order.quantity.0),
        ("largest", largest.0),
        ("mean_volume", volume.mean.0),
        ("bars", Decimal::from(bars)),
        ("traded", traded.0),
    ];
    Err(RejectReason::new(RejectCode::ParticipationCap, message, numbers))
}
