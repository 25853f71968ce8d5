//! The account: a fold over its events.

use super::checked;
use super::error::LedgerError;
use super::event::{Fill, FillCause, LedgerEvent, Side};
use super::position::{Lot, Position, PositionId};
use super::report::{AppliedEvent, RealizedPnl};
use crate::id::Symbol;
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use jiff::Unit;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one agent owns and owes.
///
/// Only [`Account::apply`] changes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    owner: String,
    cash: Money,
    positions: BTreeMap<Symbol, Position>,
    version: u64,
    opened: u64,
    reached: Option<Date>,
    margin_call: Option<MarginCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    insolvency: Option<Insolvency>,
    /// What was traded on the day of the latest fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traded: Option<Traded>,
}

/// What an account traded on one day, by instrument, in the day's share units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Traded {
    day: Date,
    quantities: BTreeMap<Symbol, Quantity>,
}

/// The end of an account whose portfolio value fell to zero or below. It is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insolvency {
    /// The day it was detected.
    pub since: Date,
    /// The portfolio value at the previous close minus the value at detection.
    pub loss: Money,
    /// How far the portfolio value was below zero at detection.
    pub owed: Money,
}

/// An unmet margin call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarginCall {
    /// The day it was recorded.
    pub day: Date,
    /// The shortfall on that day.
    pub shortfall: Money,
}

impl Account {
    /// An account that holds only cash. `owner` is the prefix of its position IDs.
    #[must_use]
    pub fn new(owner: impl Into<String>, cash: Money) -> Self {
        Self {
            owner: owner.into(),
            cash: Money(cash.0.normalize()),
            positions: BTreeMap::new(),
            version: 0,
            opened: 0,
            reached: None,
            margin_call: None,
            insolvency: None,
            traded: None,
        }
    }

    /// Applies `events` to `initial`; returns the account and what each event did.
    ///
    /// # Errors
    /// The error of the first event that cannot be applied.
    pub fn fold<'a>(
        initial: Self,
        events: impl IntoIterator<Item = &'a LedgerEvent>,
    ) -> Result<(Self, Vec<AppliedEvent>), LedgerError> {
        let mut account = initial;
        let applied = events.into_iter().map(|event| account.apply(event)).collect::<Result<_, _>>()?;
        Ok((account, applied))
    }

    /// Applies one event and increments the version.
    ///
    /// # Errors
    /// A [`LedgerError`] when the event is impossible; the account is then unchanged.
    pub fn apply(&mut self, event: &LedgerEvent) -> Result<AppliedEvent, LedgerError> {
        let mut next = self.clone();
        let applied = next.change(event)?;
        *self = next;
        Ok(applied)
    }

    /// The owner: the prefix of its position IDs.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Cash: the sum of everything paid and received. A negative value is a loan or a margin call.
    #[must_use]
    pub fn cash(&self) -> Money {
        self.cash
    }

    /// The open positions.
    #[must_use]
    pub fn positions(&self) -> &BTreeMap<Symbol, Position> {
        &self.positions
    }

    /// The open position in this instrument.
    #[must_use]
    pub fn position(&self, symbol: &Symbol) -> Option<&Position> {
        self.positions.get(symbol)
    }

    /// How many events have been applied.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The day of the latest event; `None` before the first.
    #[must_use]
    pub fn reached(&self) -> Option<Date> {
        self.reached
    }

    /// The open margin call, if any.
    #[must_use]
    pub fn margin_call(&self) -> Option<MarginCall> {
        self.margin_call
    }

    /// The insolvency, with its day and amounts; `None` while the account is solvent.
    #[must_use]
    pub fn insolvency(&self) -> Option<Insolvency> {
        self.insolvency
    }

    /// How much of an instrument was traded on a day, purchases and sales added up; zero for any day before
    /// the latest fill's.
    #[must_use]
    pub fn traded_on(&self, day: Date, symbol: &Symbol) -> Quantity {
        let today = self.traded.as_ref().filter(|traded| traded.day == day);
        today.and_then(|traded| traded.quantities.get(symbol)).copied().unwrap_or(Quantity::ZERO)
    }

    /// The amount available for new positions: `cash + sum(cost - margin)`. When it falls below zero without
    /// an order of the agent, that is a margin call.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn available(&self) -> Result<Money, LedgerError> {
        self.positions.values().try_fold(self.cash, |sum, position| {
            checked::minus(checked::plus(sum, position.cost)?, position.margin)
        })
    }

    /// `cash + sum(quantity x mark)`.
    ///
    /// # Errors
    /// [`LedgerError::MissingMark`] when a position has no mark, [`LedgerError::Overflow`].
    pub fn equity(&self, marks: &BTreeMap<Symbol, Price>) -> Result<Money, LedgerError> {
        self.positions.iter().try_fold(self.cash, |sum, (symbol, position)| {
            let mark =
                marks.get(symbol).ok_or_else(|| LedgerError::MissingMark { symbol: symbol.clone() })?;
            checked::plus(sum, checked::value(*mark, position.quantity)?)
        })
    }

    fn change(&mut self, event: &LedgerEvent) -> Result<AppliedEvent, LedgerError> {
        let day = event.day();
        if let Some(reached) = self.reached.filter(|reached| day < *reached) {
            return Err(LedgerError::OutOfOrder { reached, day });
        }
        let before = self.cash;
        let mut opened = false;
        let mut realized = None;
        let mut position = event.symbol().and_then(|s| self.positions.get(s)).map(|p| p.id.clone());
        match event {
            LedgerEvent::Fill(fill) => {
                check_fill(fill)?;
                if fill.side.opens() {
                    opened = self.open(fill)?;
                } else {
                    realized = Some(self.close(fill)?);
                }
                self.count_traded(fill)?;
            }
            LedgerEvent::Split { day, symbol, ratio, price, whole_shares } => {
                realized = self.split(*day, symbol, *ratio, *price, *whole_shares)?;
            }
            LedgerEvent::Dividend { symbol, amount, .. } => self.dividend(symbol, *amount)?,
            LedgerEvent::Financing { symbol, amount, .. } => self.financing(symbol, *amount)?,
            LedgerEvent::MarginCall { day, shortfall } => {
                positive("shortfall", shortfall.0)?;
                self.margin_call = Some(MarginCall { day: *day, shortfall: *shortfall });
            }
            LedgerEvent::Insolvency { day, loss, owed } => {
                not_negative("owed", owed.0)?;
                let found = Insolvency { since: *day, loss: *loss, owed: *owed };
                self.insolvency.get_or_insert(found);
            }
            LedgerEvent::StopChange { symbol, stop, target, .. } => {
                let position = self.held(symbol)?;
                set_stops(position, *stop, *target)?;
            }
        }
        let held = event.symbol().and_then(|symbol| self.positions.get(symbol));
        position = position.or_else(|| held.map(|p| p.id.clone()));
        let quantity = position.is_some().then(|| held.map_or(Quantity::ZERO, |position| position.quantity));
        self.version += 1;
        self.reached = Some(day);
        if self.margin_call.is_some() && !self.available()?.is_negative() {
            self.margin_call = None;
        }
        let cash_change = checked::minus(self.cash, before)?;
        Ok(AppliedEvent { version: self.version, cash_change, position, opened, quantity, realized })
    }

    fn held(&mut self, symbol: &Symbol) -> Result<&mut Position, LedgerError> {
        self.positions.get_mut(symbol).ok_or_else(|| LedgerError::NoPosition { symbol: symbol.clone() })
    }

    fn count_traded(&mut self, fill: &Fill) -> Result<(), LedgerError> {
        let today = self.traded.take().filter(|traded| traded.day == fill.day);
        let mut today = today.unwrap_or_else(|| Traded { day: fill.day, quantities: BTreeMap::new() });
        let sum = today.quantities.entry(fill.symbol.clone()).or_insert(Quantity::ZERO);
        *sum = Quantity(checked::add(sum.0, fill.quantity.0)?);
        self.traded = Some(today);
        Ok(())
    }

    /// Opens or adds to a position; returns whether it is new.
    fn open(&mut self, fill: &Fill) -> Result<bool, LedgerError> {
        let signed = if fill.side.is_long() { fill.quantity } else { -fill.quantity };
        let cost = checked::value(fill.price, signed)?;
        let own = checked::div(cost.0.abs(), fill.leverage)?;
        let margin = if fill.leverage == Decimal::ONE {
            cost.abs()
        } else {
            Money(checked::round(own, checked::MONEY_DP))
        };
        self.cash = checked::minus(checked::minus(self.cash, cost)?, fill.fee)?;
        let new = !self.positions.contains_key(&fill.symbol);
        if new {
            self.opened += 1;
            let position = Position {
                id: PositionId::numbered(&self.owner, self.opened),
                quantity: Quantity::ZERO,
                cost: Money::ZERO,
                avg_price: fill.price,
                margin: Money::ZERO,
                leverage: fill.leverage.normalize(),
                opened_on: fill.day,
                last_acquired: Lot { day: fill.day, quantity: Quantity::ZERO },
                stop: None,
                target: None,
                opening_fees: Money::ZERO,
                income: Money::ZERO,
            };
            self.positions.insert(fill.symbol.clone(), position);
        }
        let position = self.held(&fill.symbol)?;
        if !new && position.quantity.is_positive() != fill.side.is_long() {
            return Err(LedgerError::NoPosition { symbol: fill.symbol.clone() });
        }
        if position.leverage != fill.leverage {
            return Err(LedgerError::LeverageDiffers { symbol: fill.symbol.clone() });
        }
        if position.last_acquired.day != fill.day {
            position.last_acquired = Lot { day: fill.day, quantity: Quantity::ZERO };
        }
        let acquired = checked::add(position.last_acquired.quantity.0, fill.quantity.0)?;
        position.last_acquired.quantity = Quantity(acquired);
        position.quantity = Quantity(checked::add(position.quantity.0, signed.0)?);
        position.cost = checked::plus(position.cost, cost)?;
        position.margin = checked::plus(position.margin, margin)?;
        position.opening_fees = checked::plus(position.opening_fees, fill.fee)?;
        position.update_average()?;
        set_stops(position, fill.stop, fill.target)?;
        Ok(new)
    }

    fn close(&mut self, fill: &Fill) -> Result<RealizedPnl, LedgerError> {
        let position = self.held(&fill.symbol)?;
        if position.quantity.is_positive() != fill.side.is_long() {
            return Err(LedgerError::NoPosition { symbol: fill.symbol.clone() });
        }
        let held = position.quantity.abs();
        if fill.quantity > held {
            let (symbol, asked) = (fill.symbol.clone(), fill.quantity);
            return Err(LedgerError::ExceedsPosition { symbol, held, asked });
        }
        let mut realized = close_slice(position, &fill.symbol, fill.quantity, fill.price, fill.day)?;
        realized.cause = Some(fill.cause);
        realized.fees = checked::plus(realized.fees, fill.fee)?;
        realized.pnl = checked::minus(realized.pnl, fill.fee)?;
        let paid = checked::value(fill.price, fill.quantity)?;
        let paid = if fill.side == Side::Sell { paid } else { -paid };
        self.cash = checked::minus(checked::plus(self.cash, paid)?, fill.fee)?;
        if realized.position_closed {
            self.positions.remove(&fill.symbol);
        }
        Ok(realized)
    }

    fn split(
        &mut self,
        day: Date,
        symbol: &Symbol,
        ratio: Decimal,
        price: Price,
        whole_shares: bool,
    ) -> Result<Option<RealizedPnl>, LedgerError> {
        positive("ratio", ratio)?;
        positive("price", price.0)?;
        let position = self.held(symbol)?;
        // A ratio such as 1/3 has no exact decimal, so the product is rounded before it is truncated.
        let convert = |quantity: Quantity| {
            checked::mul(quantity.0, ratio).map(|q| Quantity(checked::round(q, checked::QUANTITY_DP)))
        };
        let quantity = convert(position.quantity)?;
        if quantity.is_zero() {
            // Less than the smallest unit is left: all of it is paid out, at the value of an old share.
            let old = position.quantity;
            let old_price = Price(checked::mul(price.0, ratio)?);
            let part = close_slice(position, symbol, old.abs(), old_price, day)?;
            self.cash = checked::plus(self.cash, checked::value(old_price, old)?)?;
            self.positions.remove(symbol);
            return Ok(Some(part));
        }
        position.quantity = quantity;
        position.last_acquired.quantity = convert(position.last_acquired.quantity)?;
        position.stop = position.stop.map(|stop| over(stop, ratio)).transpose()?;
        position.target = position.target.map(|target| over(target, ratio)).transpose()?;
        let fraction = Quantity(quantity.0.abs().fract().normalize());
        let mut realized = None;
        position.update_average()?;
        if whole_shares && !fraction.is_zero() {
            let part = close_slice(position, symbol, fraction, price, day)?;
            let signed = if quantity.is_negative() { -fraction } else { fraction };
            let closed = part.position_closed;
            realized = Some(part);
            self.cash = checked::plus(self.cash, checked::value(price, signed)?)?;
            if closed {
                self.positions.remove(symbol);
            }
        }
        Ok(realized)
    }

    fn dividend(&mut self, symbol: &Symbol, amount: Price) -> Result<(), LedgerError> {
        positive("dividend", amount.0)?;
        let position = self.held(symbol)?;
        let paid = checked::value(amount, position.quantity)?;
        position.income = checked::plus(position.income, paid)?;
        self.cash = checked::plus(self.cash, paid)?;
        Ok(())
    }

    fn financing(&mut self, symbol: &Symbol, amount: Money) -> Result<(), LedgerError> {
        not_negative("financing", amount.0)?;
        let position = self.held(symbol)?;
        position.income = checked::minus(position.income, amount)?;
        self.cash = checked::minus(self.cash, amount)?;
        Ok(())
    }
}

/// Takes a part out of a position at a price; returns what it realized, before closing fees.
fn close_slice(
    position: &mut Position,
    symbol: &Symbol,
    quantity: Quantity,
    exit_price: Price,
    day: Date,
) -> Result<RealizedPnl, LedgerError> {
    let entry_price = position.avg_price;
    let direction = position.direction();
    let part = position.reduce(quantity)?;
    let gross_pnl = checked::minus(checked::value(exit_price, part.signed)?, part.cost)?;
    let pnl = checked::plus(checked::minus(gross_pnl, part.fees)?, part.income)?;
    let position_closed = position.quantity.is_zero();
    if !position_closed {
        position.update_average()?;
    }
    let holding_days = position.opened_on.until((Unit::Day, day)).map_or(0, |span| span.get_days());
    Ok(RealizedPnl {
        position: position.id.clone(),
        symbol: symbol.clone(),
        direction,
        cause: None,
        quantity,
        entry_price,
        exit_price,
        notional: part.cost.abs(),
        margin: part.margin,
        leverage: position.leverage,
        gross_pnl,
        fees: part.fees,
        income: part.income,
        pnl,
        stop: position.stop,
        target: position.target,
        opened_on: position.opened_on,
        closed_on: day,
        holding_days,
        position_closed,
    })
}

fn set_stops(position: &mut Position, stop: Option<Price>, target: Option<Price>) -> Result<(), LedgerError> {
    for price in [stop, target].into_iter().flatten() {
        positive("stop or target", price.0)?;
    }
    position.stop = stop.or(position.stop);
    position.target = target.or(position.target);
    Ok(())
}

fn over(price: Price, ratio: Decimal) -> Result<Price, LedgerError> {
    checked::div(price.0, ratio).map(|price| Price(checked::round(price, checked::PRICE_DP)))
}

fn check_fill(fill: &Fill) -> Result<(), LedgerError> {
    positive("quantity", fill.quantity.0)?;
    match fill.cause {
        // A delisting may pay nothing.
        FillCause::Delisting => not_negative("price", fill.price.0)?,
        _ => positive("price", fill.price.0)?,
    }
    not_negative("fee", fill.fee.0)?;
    positive("leverage", fill.leverage)
}

fn positive(what: &'static str, value: Decimal) -> Result<(), LedgerError> {
    if value > Decimal::ZERO { Ok(()) } else { Err(LedgerError::OutOfRange { what, value }) }
}

fn not_negative(what: &'static str, value: Decimal) -> Result<(), LedgerError> {
    if value >= Decimal::ZERO { Ok(()) } else { Err(LedgerError::OutOfRange { what, value }) }
}
