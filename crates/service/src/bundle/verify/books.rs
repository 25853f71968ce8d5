//! Recomputes the books of agents from their fills, corporate actions and financing, with the ledger's own code.

use super::super::document::{AccountLine, DayLine, FillsLine};
use crate::view::DayFigures;
use papertape_core::broker::daily_return_pct;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::ledger::{Account, AppliedEvent, Insolvency, LedgerEvent, Position};
use papertape_core::metric::{DayValue, TradedAmount};
use papertape_core::money::{Money, Price};
use papertape_core::record::{DayStatus, OrderRow, PositionRow};
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// The account's version beyond which a ledger would overflow its counters.
const MAX_VERSION: u64 = 1 << 40;

/// A day whose books were recomputed.
#[derive(Clone, Debug)]
pub(super) struct BookDay {
    pub(super) date: Date,
    pub(super) job: JobId,
    pub(super) status: DayStatus,
    pub(super) cash: Money,
    pub(super) figures: DayFigures,
    pub(super) is_full: bool,
    pub(super) is_verified: bool,
    pub(super) insolvent: Option<Insolvency>,
}

/// The recomputed books of a job's agents.
#[derive(Debug)]
pub(super) struct Books<'a> {
    job: &'a JobId,
    config: &'a SimulationConfig,
    fills: BTreeMap<(AgentName, Date), FillsLine>,
    current: Option<(AgentName, JobId, Account)>,
    pub(super) agents: BTreeMap<AgentName, Vec<BookDay>>,
}

impl<'a> Books<'a> {
    pub(super) fn new(job: &'a JobId, config: &'a SimulationConfig) -> Self {
        Self { job, config, fills: BTreeMap::new(), current: None, agents: BTreeMap::new() }
    }

    /// Adds a day's fills and orders, before its day.
    pub(super) fn add_fills(&mut self, line: FillsLine) -> Result<(), String> {
        let key = (line.agent.clone(), line.date);
        match self.fills.insert(key, line) {
            None => Ok(()),
            Some(twice) => Err(format!("{} has two lines for {}", twice.agent, twice.date)),
        }
    }

    /// Fills that belong to no day.
    pub(super) fn left(&self) -> Option<String> {
        let ((agent, date), _) = self.fills.first_key_value()?;
        Some(format!("{agent} has fills on {date}, which is not a closed day"))
    }

    /// An account before an agent's first day in a job.
    pub(super) fn open(&mut self, line: AccountLine) -> Result<(), String> {
        let AccountLine { agent, job, date, account } = line;
        if account.version() > MAX_VERSION {
            return Err("the account's version is out of range".to_owned());
        }
        match self.current.take() {
            Some((before, _, reached)) if before == agent => {
                if !is_continued(&reached, &account) {
                    return Err(format!(
                        "the account of {agent} in job {job} does not continue the one before {date}"
                    ));
                }
            }
            _ => {
                if self.agents.contains_key(&agent) {
                    return Err(format!("the days of {agent} are not together"));
                }
                if job == *self.job && self.is_fresh(&agent) {
                    let is_cash =
                        account.positions().is_empty() && account.cash() == self.config.initial_cash;
                    if !is_cash {
                        return Err(format!("{agent} does not start with the job's initial cash"));
                    }
                }
            }
        }
        self.current = Some((agent, job, account));
        Ok(())
    }

    /// Whether an agent starts with the config's initial cash.
    fn is_fresh(&self, agent: &AgentName) -> bool {
        let config = self.config;
        !config.continues.contains_key(agent) && config.branch.is_none() && config.imported.is_none()
    }

    /// Recomputes a day.
    pub(super) fn day(&mut self, day: &DayLine) -> Result<Vec<PositionRow>, String> {
        let fills = self.fills.remove(&(day.agent.clone(), day.date));
        let at = |why: String| format!("{} on {}: {why}", day.agent, day.date);
        let Some((agent, job, account)) = &mut self.current else {
            return Err(at("there is no account".to_owned()));
        };
        if *agent != day.agent || *job != day.job {
            return Err(at("there is no account for this agent and job".to_owned()));
        }
        let days = self.agents.entry(day.agent.clone()).or_default();
        if days.last().is_some_and(|last| last.date >= day.date) {
            return Err(at("the day is not after the one before".to_owned()));
        }
        let before = days.last().map(|last| last.figures.value.portfolio_value);
        starts(account, day, before).map_err(at)?;
        let rows = merged(day, fills.as_ref()).map_err(at)?;
        let pays_fractions = !self.config.market.fractional;
        let (mut traded, mut closed_pnl) = (Vec::new(), Vec::new());
        let orders = filled(fills.as_ref());
        for row in &rows {
            let at = |why: String| at(format!("action {} ({}): {why}", row.action_id, row.action_type));
            let event =
                row.event(day.date, account, pays_fractions).map_err(|error| at(error.to_string()))?;
            if let Some(event) = event {
                let applied = account.apply(&event).map_err(|error| at(error.to_string()))?;
                check_row(row, &event, &applied, &orders).map_err(at)?;
                if let LedgerEvent::Fill(fill) = &event {
                    let notional = fill.price.0.checked_mul(fill.quantity.0);
                    let notional = notional.map(Money).ok_or_else(|| at("it is too large".to_owned()))?;
                    traded.push(TradedAmount { notional, fee: fill.fee, slippage: fill.slippage });
                    closed_pnl.extend(applied.realized.map(|realized| realized.pnl));
                }
            }
            if row.cash != account.cash() {
                return Err(at(format!("cash is {}, and {} after the action", row.cash, account.cash())));
            }
        }
        let gross_exposure = ends(account, day).map_err(at)?;
        let value = DayValue { day: day.date, portfolio_value: day.portfolio_value, gross_exposure };
        days.push(BookDay {
            date: day.date,
            job: day.job.clone(),
            status: day.status,
            cash: day.cash,
            figures: DayFigures { before: day.starting.portfolio_value, value, fills: traded, closed_pnl },
            is_full: day.full_research,
            is_verified: day.point_in_time,
            insolvent: day.insolvent,
        });
        Ok(rows)
    }
}

/// Whether an account holds the same as another. Stops are in no row, so they are not compared.
fn is_continued(reached: &Account, account: &Account) -> bool {
    let held = |account: &Account| -> Vec<(Symbol, [Decimal; 4])> {
        let of = |position: &Position| {
            [position.quantity.0, position.cost.0, position.opening_fees.0, position.income.0]
        };
        account.positions().iter().map(|(symbol, position)| (symbol.clone(), of(position))).collect()
    };
    reached.cash() == account.cash() && held(reached) == held(account)
}

/// The actions and fills of a day, in the order of their numbers, which begin at 1.
fn merged(day: &DayLine, fills: Option<&FillsLine>) -> Result<Vec<PositionRow>, String> {
    let fills = fills.map(|line| line.fills.as_slice()).unwrap_or_default();
    let mut rows: Vec<PositionRow> = day.actions.iter().chain(fills).cloned().collect();
    rows.sort_by_key(|row| row.action_id);
    match rows.iter().zip(1_u64..).find(|(row, number)| row.action_id != *number) {
        Some((row, number)) => Err(format!("action {number} is missing before action {}", row.action_id)),
        None => Ok(rows),
    }
}

fn starts(account: &Account, day: &DayLine, before: Option<Money>) -> Result<(), String> {
    let starting = &day.starting;
    if starting.cash != account.cash() {
        return Err(format!(
            "it starts with {} in cash, and the account has {}",
            starting.cash,
            account.cash()
        ));
    }
    let held: BTreeMap<&Symbol, Decimal> =
        starting.holdings.iter().map(|(symbol, quantity)| (symbol, quantity.0)).collect();
    let own: BTreeMap<&Symbol, Decimal> =
        account.positions().iter().map(|(symbol, position)| (symbol, position.quantity.0)).collect();
    if held != own || held.len() != starting.holdings.len() {
        return Err("it starts with other positions than the account has".to_owned());
    }
    let expected = before.or_else(|| account.positions().is_empty().then(|| account.cash()));
    match expected.filter(|expected| *expected != starting.portfolio_value) {
        Some(expected) => Err(format!(
            "it starts at the value {}, and the day before ended at {expected}",
            starting.portfolio_value
        )),
        None => Ok(()),
    }
}

fn check_row(
    row: &PositionRow,
    event: &LedgerEvent,
    applied: &AppliedEvent,
    orders: &BTreeMap<&str, &OrderRow>,
) -> Result<(), String> {
    let realized = applied.realized.as_ref().map(|realized| realized.pnl);
    if row.terms.realized_pnl != realized {
        return Err("its realized result is not that of the books".to_owned());
    }
    if matches!(event, LedgerEvent::Split { .. }) && applied.quantity.unwrap_or_default() != row.amount {
        return Err("the quantity after the split is not that of the books".to_owned());
    }
    let Some(id) = &row.terms.order_id else { return Ok(()) };
    let is_filled = |order: &&OrderRow| {
        Some(&order.symbol) == row.symbol.as_ref()
            && order.side == row.action_type
            && order.quantity == row.amount
            && order.price == row.price
            && order.fee == row.terms.fee
            && order.slippage == row.terms.slippage
    };
    match orders.get(id.as_str()).copied().filter(is_filled) {
        Some(_) => Ok(()),
        None => Err(format!("it is not the fill of order {id}")),
    }
}

/// The filled orders of a day, by ID.
fn filled(fills: Option<&FillsLine>) -> BTreeMap<&str, &OrderRow> {
    let orders = fills.into_iter().flat_map(|line| &line.orders).filter(|order| order.status == "filled");
    orders.map(|order| (order.order_id.as_str(), order)).collect()
}

/// Compares the close with the account; returns the gross exposure.
fn ends(account: &Account, day: &DayLine) -> Result<Money, String> {
    if day.cash != account.cash() {
        return Err(format!("cash at the close is {}, and {} by the fills", day.cash, account.cash()));
    }
    let marks: BTreeMap<Symbol, Price> =
        day.holdings.iter().map(|held| (held.symbol.clone(), held.price)).collect();
    let held: BTreeMap<&Symbol, Decimal> =
        day.holdings.iter().map(|held| (&held.symbol, held.quantity.0)).collect();
    let positions: BTreeMap<&Symbol, Decimal> =
        account.positions().iter().map(|(symbol, position)| (symbol, position.quantity.0)).collect();
    if held != positions || day.holdings.len() != held.len() || day.snapshots.len() != positions.len() {
        return Err("the holdings at the close are not those by the fills".to_owned());
    }
    let value = account.equity(&marks).map_err(|error| error.to_string())?;
    if value != day.portfolio_value {
        return Err(format!("the value at the close is {}, and {value} by the fills", day.portfolio_value));
    }
    for snapshot in &day.snapshots {
        let wrong = || format!("the snapshot of {} is not that of the books", snapshot.symbol);
        let position = account.position(&snapshot.symbol).ok_or_else(wrong)?;
        let unrealized = position.unrealised_pnl(snapshot.close).map_err(|error| error.to_string())?;
        let is_same = snapshot.position_id == position.id.as_str()
            && snapshot.quantity == position.quantity
            && snapshot.avg_price == position.avg_price
            && snapshot.leverage == position.leverage
            && marks.get(&snapshot.symbol) == Some(&snapshot.close)
            && snapshot.unrealised_pnl == unrealized;
        if !is_same {
            return Err(wrong());
        }
    }
    let too_large = || "the value is too large".to_owned();
    let before = day.starting.portfolio_value;
    let profit = day.portfolio_value.0.checked_sub(before.0).ok_or_else(too_large)?;
    if day.daily_profit.is_some_and(|stated| stated != profit) {
        return Err(format!("the profit is stated otherwise than {}", profit.normalize()));
    }
    if day.daily_return_pct.is_some_and(|stated| Some(stated) != daily_return_pct(Money(profit), before)) {
        return Err("the return is stated otherwise than the values say".to_owned());
    }
    let exposure = day.holdings.iter().try_fold(Decimal::ZERO, |sum, held| {
        sum.checked_add(held.price.0.checked_mul(held.quantity.0)?.abs())
    });
    exposure.map(Money).ok_or_else(too_large)
}
