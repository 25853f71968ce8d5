//! The books of one agent: the account, the pending orders, and how changes are recorded.

use super::conditions::Conditions;
use super::order::Order;
use super::profile::{FillModel, MarketProfile};
use super::reject::Rejection;
use super::terms::{FillTerms, Venue};
use crate::id::Symbol;
use crate::ledger::{
    Account, AppliedEvent, Fill, FillCause, Insolvency, LedgerError, LedgerEvent, OrderId, Position,
    RealizedPnl, Side,
};
use crate::money::{Money, Price, Quantity};
use crate::time::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One agent's books: all trading state that outlives a day.
///
/// The phases change it; it is stored whole before the first day and after every session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    pub(super) account: Account,
    pub(super) profile: MarketProfile,
    pub(super) pending: Vec<PendingOrder>,
    pub(super) marks: BTreeMap<Symbol, Price>,
    pub(super) orders: u64,
    pub(super) actions: u64,
    pub(super) filled_today: bool,
    pub(super) reached: Option<Date>,
    pub(super) last_close: Option<Date>,
    pub(super) last_value: Money,
    /// Nights before this date are charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) financed_until: Option<Date>,
    /// Not stored: a day that runs again rebuilds it.
    #[serde(skip)]
    pub(super) journal: Journal,
    /// The market's conditions for instruments with a position or a pending order; not stored, like the
    /// journal.
    #[serde(skip)]
    pub(super) conditions: BTreeMap<Symbol, Conditions>,
    /// Whether an order that is not covered at its fill is reduced to what is. Not stored.
    #[serde(skip)]
    pub(super) reduces: bool,
    /// How many orders were reduced. Not stored.
    #[serde(skip)]
    pub(super) reduced: u64,
}

/// Entries and rejections since the day began, in ledger order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    /// Changes of the books.
    pub entries: Vec<LedgerEntry>,
    /// Rejections reported to the books.
    pub rejections: Vec<Rejection>,
    /// Number of entries when the exchange closed; the rest are the financing of the coming nights and its
    /// consequences. `None` before the close.
    pub by_close: Option<usize>,
}

impl Journal {
    /// The entries known when the exchange closed. Financing of the coming nights is left out, because it
    /// reveals when the exchange opens next.
    #[must_use]
    pub fn known_at_close(&self) -> &[LedgerEntry] {
        &self.entries[..self.by_close.unwrap_or(self.entries.len()).min(self.entries.len())]
    }
}

/// An approved order that waits for its price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingOrder {
    /// The order; a split of its instrument converts it.
    pub order: Order,
    /// The day on which it was placed.
    pub placed_on: Date,
    /// The price that it waits for.
    pub fill_model: FillModel,
}

/// The kind of change in a row of `positions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionType {
    /// A long position was opened or added to.
    Buy,
    /// A long position was reduced or closed.
    Sell,
    /// A short position was opened or added to.
    Short,
    /// A short position was reduced or closed.
    Cover,
    /// A stop was reached.
    Stop,
    /// A target was reached.
    Target,
    /// A position was closed by force: its margin was lost, or a margin call covered.
    Liquidation,
    /// A split converted a position.
    Split,
    /// A dividend was credited or debited.
    Dividend,
    /// The cost of what is borrowed was charged.
    Financing,
    /// A position was settled, for its instrument left the market.
    Delisting,
    /// Nothing was traded on this day.
    NoTrade,
}

crate::words!(ActionType {
    Buy = "buy", Sell = "sell", Short = "short", Cover = "cover", Stop = "stop", Target = "target",
    Liquidation = "liquidation", Split = "split", Dividend = "dividend", Financing = "financing",
    Delisting = "delisting", NoTrade = "no_trade",
});

impl ActionType {
    fn of(event: &LedgerEvent) -> Option<Self> {
        match event {
            LedgerEvent::Fill(fill) => Some(match (fill.cause, fill.side) {
                (FillCause::Stop, _) => Self::Stop,
                (FillCause::Target, _) => Self::Target,
                (FillCause::Liquidation | FillCause::MarginCall, _) => Self::Liquidation,
                (FillCause::Delisting, _) => Self::Delisting,
                (FillCause::Order, Side::Buy) => Self::Buy,
                (FillCause::Order, Side::Sell) => Self::Sell,
                (FillCause::Order, Side::Short) => Self::Short,
                (FillCause::Order, Side::Cover) => Self::Cover,
            }),
            LedgerEvent::Split { .. } => Some(Self::Split),
            LedgerEvent::Dividend { .. } => Some(Self::Dividend),
            LedgerEvent::Financing { .. } => Some(Self::Financing),
            LedgerEvent::MarginCall { .. }
            | LedgerEvent::Insolvency { .. }
            | LedgerEvent::StopChange { .. } => None,
        }
    }
}

/// One change of the books, or the note that a day had none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// The trading day.
    pub day: Date,
    /// The row's number within the session, from 1; `None` (as `action_type`) for a change without a row in
    /// `positions`: a margin call, an insolvency, a moved stop.
    pub action_id: Option<u64>,
    /// The kind of row.
    pub action_type: Option<ActionType>,
    /// The instrument, if any.
    pub symbol: Option<Symbol>,
    /// A fill's quantity; after a split, and for a dividend and financing, the quantity held then (below zero
    /// for shorts).
    pub amount: Option<Quantity>,
    /// A fill's price; after a split, the previous close over the ratio; the dividend of one share; the
    /// charge per unit.
    pub price: Option<Price>,
    /// The stop after a fill; for a closing fill, the stop before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Price>,
    /// The target after a fill; for a closing fill, the target before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Price>,
    /// Cash after the change.
    pub cash: Money,
    /// Cash and holdings after the change, at the prices known then.
    pub portfolio_value: Money,
    /// The change; `None` for `no_trade`.
    pub event: Option<LedgerEvent>,
    /// The change's effect on the account; `None` for `no_trade`.
    pub applied: Option<AppliedEvent>,
}

impl LedgerEntry {
    /// The fill with order, fee and slippage, if it is one.
    #[must_use]
    pub fn fill(&self) -> Option<&Fill> {
        match &self.event {
            Some(LedgerEvent::Fill(fill)) => Some(fill),
            _ => None,
        }
    }

    /// The realized result, if something was closed.
    #[must_use]
    pub fn realized(&self) -> Option<&RealizedPnl> {
        self.applied.as_ref()?.realized.as_ref()
    }
}

/// The result of a phase, in the order of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseResult {
    /// Changes of the books.
    pub entries: Vec<LedgerEntry>,
    /// Pending orders that were rejected at their fill.
    pub rejections: Vec<Rejection>,
}

impl Books {
    /// Books with only cash.
    #[must_use]
    pub fn new(owner: impl Into<String>, profile: MarketProfile, initial_cash: Money) -> Self {
        let account = Account::new(owner, initial_cash);
        Self {
            last_value: account.cash(),
            account,
            profile,
            pending: Vec::new(),
            marks: BTreeMap::new(),
            orders: 0,
            actions: 0,
            filled_today: false,
            reached: None,
            last_close: None,
            financed_until: None,
            journal: Journal::default(),
            conditions: BTreeMap::new(),
            reduces: false,
            reduced: 0,
        }
    }

    /// The same books, except that a pending order not covered by cash, holdings or the participation cap at
    /// its fill is reduced to the largest covered quantity. For books derived from others: baselines, and
    /// orders filled again under another convention.
    #[must_use]
    pub fn reducing(mut self) -> Self {
        self.reduces = true;
        self
    }

    /// How many orders have been reduced.
    #[must_use]
    pub fn reduced(&self) -> u64 {
        self.reduced
    }

    /// Queues an order of another ledger for the next open, where it is checked like any other.
    pub fn enqueue(&mut self, order: Order, placed_on: Date) {
        self.pending.push(PendingOrder { order, placed_on, fill_model: FillModel::NextOpen });
    }

    /// Sets today's market conditions of the instruments with a position or a pending order: before
    /// [`super::pre`], and again before [`super::close`] with the day's volume.
    pub fn set_conditions(&mut self, conditions: BTreeMap<Symbol, Conditions>) {
        self.conditions = conditions;
    }

    /// The instruments with a position or a pending order.
    #[must_use]
    pub fn concerned(&self) -> BTreeSet<Symbol> {
        let held = self.account.positions().keys();
        held.chain(self.pending.iter().map(|pending| &pending.order.symbol)).cloned().collect()
    }

    pub(super) fn conditions_of(&self, symbol: &Symbol) -> Conditions {
        self.conditions.get(symbol).copied().unwrap_or_default()
    }

    /// Entries and rejections since the day's pre phase began; the close takes them out.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Adds a rejection to the journal. Nothing else changes.
    pub fn record_rejection(&mut self, rejection: &Rejection) {
        self.journal.rejections.push(rejection.clone());
    }

    /// The account.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The market's rules.
    #[must_use]
    pub fn profile(&self) -> &MarketProfile {
        &self.profile
    }

    /// Orders that wait for their price.
    #[must_use]
    pub fn pending(&self) -> &[PendingOrder] {
        &self.pending
    }

    /// When and by how much these books became insolvent; `None` if they are solvent.
    #[must_use]
    pub fn insolvency(&self) -> Option<Insolvency> {
        self.account.insolvency()
    }

    /// The newest known price of every position's instrument, and of others seen today.
    #[must_use]
    pub fn marks(&self) -> &BTreeMap<Symbol, Price> {
        &self.marks
    }

    /// The latest day whose pre phase has run.
    #[must_use]
    pub fn reached(&self) -> Option<Date> {
        self.reached
    }

    /// The portfolio value at the newest close; the initial cash before the first.
    #[must_use]
    pub fn last_value(&self) -> Money {
        self.last_value
    }

    /// The number of the session's newest row, 0 before its first.
    #[must_use]
    pub fn last_action_id(&self) -> u64 {
        self.actions
    }

    /// The ID for the next order or stop change. Every request takes one, even if it is then rejected.
    pub fn next_order_id(&mut self) -> OrderId {
        self.orders += 1;
        OrderId(self.orders)
    }

    /// Cash and holdings at the newest known prices.
    ///
    /// # Errors
    /// [`LedgerError::Overflow`].
    pub fn portfolio_value(&self) -> Result<Money, LedgerError> {
        self.account.equity(&self.marks)
    }

    /// Runs a phase on a copy, which replaces the books only if all of it succeeds.
    pub(super) fn atomically<T>(
        &mut self,
        phase: impl FnOnce(&mut Self) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut next = self.clone();
        let result = phase(&mut next)?;
        *self = next;
        Ok(result)
    }

    /// Applies and records an event, and the margin call that it causes, if any.
    pub(super) fn record_entry(
        &mut self,
        entries: &mut Vec<LedgerEntry>,
        event: LedgerEvent,
    ) -> Result<(), LedgerError> {
        let applied = self.account.apply(&event)?;
        let day = event.day();
        entries.push(self.entry(event, applied)?);
        let available = self.account.available()?;
        if available.is_negative() && self.account.margin_call().is_none() {
            let call = LedgerEvent::MarginCall { day, shortfall: -available };
            let applied = self.account.apply(&call)?;
            entries.push(self.entry(call, applied)?);
        }
        Ok(())
    }

    /// Records that nothing was traded.
    pub(super) fn enter_no_trade(&mut self, day: Date) -> Result<LedgerEntry, LedgerError> {
        self.actions += 1;
        Ok(LedgerEntry {
            day,
            action_id: Some(self.actions),
            action_type: Some(ActionType::NoTrade),
            symbol: None,
            amount: None,
            price: None,
            stop: None,
            target: None,
            cash: self.account.cash(),
            portfolio_value: self.portfolio_value()?,
            event: None,
            applied: None,
        })
    }

    /// Closes a part of a position without an order of the agent.
    pub(super) fn force_close(
        &mut self,
        entries: &mut Vec<LedgerEntry>,
        day: Date,
        symbol: &Symbol,
        position: &Position,
        (cause, quantity, reference): (FillCause, Quantity, Price),
    ) -> Result<(), LedgerError> {
        let side = position.closing_side();
        let venue = Venue::forced(&self.profile, symbol, day).with_band(self.conditions_of(symbol).band);
        let terms = match cause {
            FillCause::Target => FillTerms::closing_at_limit(venue, position, quantity, reference)?,
            _ => FillTerms::closing(venue, position, quantity, reference)?,
        };
        let fill = Fill {
            day,
            order: None,
            cause,
            symbol: symbol.clone(),
            side,
            quantity,
            price: terms.price,
            fee: terms.fee,
            slippage: terms.slippage,
            leverage: position.leverage,
            stop: None,
            target: None,
        };
        self.record_entry(entries, LedgerEvent::Fill(fill))
    }

    fn entry(&mut self, event: LedgerEvent, applied: AppliedEvent) -> Result<LedgerEntry, LedgerError> {
        let action_type = ActionType::of(&event);
        if action_type.is_some() {
            self.actions += 1;
        }
        let (amount, price) = match &event {
            LedgerEvent::Fill(fill) => {
                self.filled_today = true;
                (Some(fill.quantity), Some(fill.price))
            }
            LedgerEvent::Split { price, .. } => (applied.quantity, Some(*price)),
            LedgerEvent::Dividend { amount, .. } => (applied.quantity, Some(*amount)),
            LedgerEvent::Financing { unit, .. } => (applied.quantity, *unit),
            _ => (None, None),
        };
        let (stop, target) = match (&event, &applied.realized) {
            (LedgerEvent::Fill(_), Some(realized)) => (realized.stop, realized.target),
            (LedgerEvent::Fill(fill), None) => {
                self.account.position(&fill.symbol).map_or((None, None), |held| (held.stop, held.target))
            }
            _ => (None, None),
        };
        let entry = LedgerEntry {
            day: event.day(),
            action_id: action_type.map(|_| self.actions),
            action_type,
            symbol: event.symbol().cloned(),
            amount,
            price,
            stop,
            target,
            cash: self.account.cash(),
            portfolio_value: self.portfolio_value()?,
            event: Some(event),
            applied: Some(applied),
        };
        self.journal.entries.push(entry.clone());
        Ok(entry)
    }
}
