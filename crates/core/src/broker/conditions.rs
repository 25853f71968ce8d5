//! The market's conditions for an instrument on a day: participation in its volume, and price limits.

use crate::ledger::{LedgerError, Side, checked};
use crate::money::{Price, Quantity};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// An instrument's known volume, in the share units of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownVolume {
    /// The mean of the latest bars before today; for an order at the close, today's volume.
    pub mean: Quantity,
    /// Number of bars in the mean; fewer than the profile's if there are no more.
    pub bars: u16,
}

/// An instrument's price limits on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceBand {
    /// The close from which the limits are computed: the previous one, in today's share units and less
    /// today's dividends.
    pub previous_close: Price,
    /// The highest price.
    pub up: Price,
    /// The lowest price.
    pub down: Price,
}

impl PriceBand {
    /// Limits of `percent` around a close, rounded half up to 0.01.
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

    /// The same limits where a price is this many times the real one.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn in_units(self, unit: Decimal) -> Result<Self, LedgerError> {
        if unit == Decimal::ONE {
            return Ok(self);
        }
        let scaled = |price: Price| Ok::<_, LedgerError>(Price(checked::mul(price.0, unit)?.normalize()));
        Ok(Self {
            previous_close: scaled(self.previous_close)?,
            up: scaled(self.up)?,
            down: scaled(self.down)?,
        })
    }

    /// Whether the price is at the limit at which this side cannot trade: limit up for purchases, limit down
    /// for sales.
    #[must_use]
    pub fn stops(&self, side: Side, price: Price) -> bool {
        if side.takes_shares() { price >= self.up } else { price <= self.down }
    }
}

/// The market's conditions for an instrument on a day. A missing condition is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// Its volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<KnownVolume>,
    /// Its price limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<PriceBand>,
    /// Whether it is outside of the trader's universe today. Its position can then only be reduced or closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside_universe: bool,
}

impl Conditions {
    /// Whether there is nothing to check.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
