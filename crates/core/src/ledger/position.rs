//! One open position.

use super::checked;
use super::error::LedgerError;
use super::event::Side;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A position's ID, `<agent>-<n>`, where n counts the positions that the account has opened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PositionId(String);

impl PositionId {
    pub(super) fn numbered(owner: &str, n: u64) -> Self {
        Self(format!("{owner}-{n}"))
    }

    /// Wraps an existing ID, such as one read from a record.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PositionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The direction of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Gains when the price rises.
    Long,
    /// Gains when the price falls.
    Short,
}

crate::words!(Direction { Long = "long", Short = "short" });

/// The quantity acquired on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// The day.
    pub day: Date,
    /// The quantity, above zero.
    pub quantity: Quantity,
}

/// An open position: everything held of one instrument, long or short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Its ID; a later position in the same instrument gets another.
    pub id: PositionId,
    /// The quantity held; negative for a short position, never zero.
    pub quantity: Quantity,
    /// The cost of the quantity held: the sum of price x signed quantity, exact.
    pub cost: Money,
    /// `cost / quantity`, rounded to 10 decimals.
    pub avg_price: Price,
    /// The trader's own money set aside for it: `|cost| / leverage`.
    pub margin: Money,
    /// Its leverage, 1 for none.
    pub leverage: Decimal,
    /// The day it was opened.
    pub opened_on: Date,
    /// The quantity acquired on the latest day of acquisition: the only part that T+1 can still lock.
    pub last_acquired: Lot,
    /// The stop price.
    pub stop: Option<Price>,
    /// The target price.
    pub target: Option<Price>,
    /// Fees paid to open the quantity held.
    pub opening_fees: Money,
    /// Dividends received (owed: below zero) minus financing, for the quantity held.
    pub income: Money,
}

impl Position {
    /// Long or short.
    #[must_use]
    pub fn direction(&self) -> Direction {
        if self.quantity.is_negative() { Direction::Short } else { Direction::Long }
    }

    /// The side of an order that closes it.
    #[must_use]
    pub fn closing_side(&self) -> Side {
        match self.direction() {
            Direction::Long => Side::Sell,
            Direction::Short => Side::Cover,
        }
    }

    /// How much of it may be closed on this day; under T+1 (`t_plus_one`), not what was acquired that day.
    #[must_use]
    pub fn closable(&self, day: Date, t_plus_one: bool) -> Quantity {
        let held = self.quantity.abs();
        if t_plus_one && self.last_acquired.day == day { held - self.last_acquired.quantity } else { held }
    }

    /// The price at which its loss reaches its margin, `(cost - margin) / quantity`, rounded to 10 decimals
    /// so that the loss at this price never exceeds the margin; `None` when there is no such price, as for a
    /// long position without a loan.
    #[must_use]
    pub fn liquidation_price(&self) -> Option<Price> {
        let rest = checked::minus(self.cost, self.margin).ok()?;
        let price = checked::div(rest.0, self.quantity.0).ok()?;
        let strategy = match self.direction() {
            Direction::Long => RoundingStrategy::ToPositiveInfinity,
            Direction::Short => RoundingStrategy::ToNegativeInfinity,
        };
        let price = Price(price.round_dp_with_strategy(checked::PRICE_DP, strategy).normalize());
        price.is_positive().then_some(price)
    }

    /// `quantity x price - cost`.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn unrealised_pnl(&self, price: Price) -> Result<Money, LedgerError> {
        checked::minus(checked::value(price, self.quantity)?, self.cost)
    }

    pub(super) fn update_average(&mut self) -> Result<(), LedgerError> {
        let average = checked::div(self.cost.0, self.quantity.0)?;
        self.avg_price = Price(checked::round(average, checked::PRICE_DP));
        Ok(())
    }

    /// Takes `part` (above zero, at most the quantity held) out of the position, with its share of every
    /// amount.
    pub(super) fn reduce(&mut self, part: Quantity) -> Result<PositionSlice, LedgerError> {
        let held = self.quantity.abs();
        let taken = PositionSlice {
            signed: if self.quantity.is_negative() { -part } else { part },
            cost: checked::share(self.cost, part, held)?,
            margin: checked::share(self.margin, part, held)?,
            fees: checked::share(self.opening_fees, part, held)?,
            income: checked::share(self.income, part, held)?,
        };
        self.quantity = Quantity(checked::sub(self.quantity.0, taken.signed.0)?);
        self.cost = checked::minus(self.cost, taken.cost)?;
        self.margin = checked::minus(self.margin, taken.margin)?;
        self.opening_fees = checked::minus(self.opening_fees, taken.fees)?;
        self.income = checked::minus(self.income, taken.income)?;
        let left = self.quantity.abs();
        self.last_acquired.quantity = self.last_acquired.quantity.min(left);
        Ok(taken)
    }
}

/// The part taken out of a position.
pub(super) struct PositionSlice {
    pub(super) signed: Quantity,
    pub(super) cost: Money,
    pub(super) margin: Money,
    pub(super) fees: Money,
    pub(super) income: Money,
}
