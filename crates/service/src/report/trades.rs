//! Round trips, costs and rejected orders, from the books.

use super::run::Run;
use crate::app::App;
use crate::error::ServiceError;
use crate::view;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::record::{PositionRow, SessionId};
use papertape_core::time::Date;
use papertape_protocol::results::day::Trade;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{Page, PageRequest, Placed, ResultFilter, SessionResult};
use rust_decimal::Decimal;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many round trips are shown of each kind.
const MAX_TRIPS: usize = 10;
/// How many rejected orders are listed.
const MAX_REJECTIONS: usize = 40;
/// Sessions in memory at a time.
const PAGE: u32 = 100;

/// What agents traded.
#[derive(Default)]
pub(super) struct TradeBook {
    /// By agent.
    pub(super) costs: BTreeMap<String, AgentCosts>,
    /// Orders that were rejected or expired, by agent and code.
    pub(super) rejected: BTreeMap<(String, String), usize>,
    /// The first of them.
    pub(super) rejections: Vec<RejectedOrder>,
    /// Round trips with a gain, the largest first.
    pub(super) best: Vec<RoundTrip>,
    /// Round trips with a loss, the largest first.
    pub(super) worst: Vec<RoundTrip>,
    /// The number of all round trips.
    pub(super) trips: usize,
    pub(super) all: Vec<RoundTrip>,
}

/// What an agent's trades cost.
#[derive(Default)]
pub(super) struct AgentCosts {
    pub(super) fills: usize,
    pub(super) orders: usize,
    /// By the name of the fee.
    pub(super) fees: BTreeMap<String, Decimal>,
    pub(super) slippage: Decimal,
    pub(super) financing: Decimal,
}

/// An order that was rejected or expired.
pub(super) struct RejectedOrder {
    pub(super) agent: String,
    pub(super) date: Date,
    pub(super) side: String,
    pub(super) symbol: String,
    pub(super) quantity: Decimal,
    pub(super) code: String,
    pub(super) message: Option<String>,
}

/// A position from its first fill until it is flat again, or the end.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    pub(super) agent: String,
    pub(super) symbol: String,
    pub(super) window: u32,
    pub(super) trial: u32,
    pub(super) is_short: bool,
    /// The first fill; `None`: it was opened before the first day.
    pub(super) opened: Option<TripFill>,
    /// The last fill; `None`: it is open.
    pub(super) closed: Option<TripFill>,
    /// Units held; below zero for a short position.
    held: Decimal,
    /// The largest quantity.
    pub(super) quantity: Decimal,
    /// Realized, after fees, dividends and financing.
    pub(super) realized: Decimal,
    /// At the last close, of an open position.
    pub(super) unrealized: Decimal,
    /// Why it was opened.
    pub(super) reason: Option<Reason>,
    /// Why it was closed, by the order that closed it.
    pub(super) exit_reason: Option<Reason>,
}

/// A fill of a round trip.
#[derive(Clone, Debug)]
pub(super) struct TripFill {
    pub(super) session: SessionId,
    pub(super) date: Date,
    pub(super) action: String,
    pub(super) price: Decimal,
    pub(super) order: Option<String>,
}

/// The text behind a decision.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    /// Who wrote it: a node of a desk; `None`: the agent.
    pub(super) node: Option<&'static str>,
    pub(super) text: String,
}

impl RoundTrip {
    #[cfg(test)]
    pub(super) fn of_test(agent: &str, symbol: &str, realized: Decimal, fills: (TripFill, TripFill)) -> Self {
        Self {
            agent: agent.to_owned(),
            symbol: symbol.to_owned(),
            window: 1,
            trial: 1,
            is_short: false,
            opened: Some(fills.0),
            closed: Some(fills.1),
            held: Decimal::ZERO,
            quantity: Decimal::ONE,
            realized,
            unrealized: Decimal::ZERO,
            reason: None,
            exit_reason: None,
        }
    }

    /// The result.
    pub(super) fn pnl(&self) -> Decimal {
        self.realized + self.unrealized
    }
}

impl TradeBook {
    /// Selects the round trips that made and lost most.
    pub(super) fn rank(&mut self) {
        let mut all = std::mem::take(&mut self.all);
        self.trips = all.len();
        all.sort_by_key(|trip| Reverse(trip.pnl()));
        self.best = all.iter().filter(|trip| trip.pnl() > Decimal::ZERO).take(MAX_TRIPS).cloned().collect();
        self.worst =
            all.into_iter().rev().filter(|trip| trip.pnl() < Decimal::ZERO).take(MAX_TRIPS).collect();
    }

    fn add(&mut self, trips: &mut OpenTrips<'_>, session: &SessionResult, fills: Vec<Trade>) {
        count_costs(self, &trips.run.result.model, session, &fills);
        trips.add(session, fills, &mut self.all);
    }

    /// What is still open at the end of a run.
    fn end(&mut self, trips: OpenTrips<'_>) {
        self.all.extend(trips.open.into_values());
    }

    /// The number of rejected and expired orders.
    pub(super) fn rejected_count(&self) -> usize {
        self.rejected.values().sum()
    }
}

/// Adds the sessions of a run: those of its job, and those of earlier jobs that it skipped.
pub(super) async fn read(
    app: &App,
    config: &SimulationConfig,
    run: &Run,
    book: &mut TradeBook,
) -> Result<(), ServiceError> {
    let result = &run.result;
    let agent = AgentName::new(&result.model);
    let mut trips = OpenTrips::of(run);
    let before = result.done_before.iter().map(|span| (&span.job_id, span.start_date, span.end_date));
    let own = (&result.job_id, result.start_date, result.end_date);
    for (job, from, to) in before.chain([own]) {
        let filter = ResultFilter {
            from: Some(from),
            to: Some(to),
            agent: Some(agent.clone()),
            job: Some(JobId::new(job)),
        };
        let mut request = PageRequest::first(PAGE);
        loop {
            let Page { items, next } = app.store.results(&filter, &request).await?;
            for session in items {
                let market = config.imported.is_none().then_some(&config.market);
                let fills = view::session_trades(app, market, &session, &Placed::default()).await?;
                book.add(&mut trips, &session, fills);
            }
            match next {
                Some(cursor) => request = PageRequest::after(PAGE, &cursor),
                None => break,
            }
        }
    }
    book.end(trips);
    Ok(())
}

/// Adds the sessions of a run that were read from a bundle.
pub(super) fn add_sessions(
    market: Option<&MarketProfile>,
    run: &Run,
    sessions: &[SessionResult],
    book: &mut TradeBook,
) {
    let mut trips = OpenTrips::of(run);
    for session in sessions {
        book.add(&mut trips, session, view::recorded_trades(market, session));
    }
    book.end(trips);
}

fn count_costs(book: &mut TradeBook, agent: &str, session: &SessionResult, fills: &[Trade]) {
    let costs = book.costs.entry(agent.to_owned()).or_default();
    costs.fills += fills.len();
    for fill in fills {
        costs.slippage += fill.slippage.decimal();
        if fill.fee_parts.is_empty() && !fill.fee.is_zero() {
            *costs.fees.entry("fee".to_owned()).or_default() += fill.fee.decimal();
        }
        for part in &fill.fee_parts {
            *costs.fees.entry(part.name.clone()).or_default() += part.amount.decimal();
        }
    }
    for row in session.positions.iter().filter(|row| row.action_type == "financing") {
        let charge = row.price.unwrap_or_default() * row.amount;
        costs.financing += charge.abs().0;
    }
    for order in &session.orders {
        // A pending order has another row when it ends.
        costs.orders += usize::from(order.status != "pending");
        if !matches!(order.status.as_str(), "rejected" | "expired") {
            continue;
        }
        let code = order.code.clone().unwrap_or_else(|| order.status.clone());
        *book.rejected.entry((agent.to_owned(), code.clone())).or_default() += 1;
        if book.rejections.len() < MAX_REJECTIONS {
            book.rejections.push(RejectedOrder {
                agent: agent.to_owned(),
                date: session.date,
                side: order.side.clone(),
                symbol: order.symbol.to_string(),
                quantity: order.quantity.0,
                code,
                message: order.message.clone(),
            });
        }
    }
}

/// The open positions of an agent, by symbol.
struct OpenTrips<'a> {
    run: &'a Run,
    open: BTreeMap<String, RoundTrip>,
    is_first: bool,
}

impl<'a> OpenTrips<'a> {
    fn of(run: &'a Run) -> Self {
        Self { run, open: BTreeMap::new(), is_first: true }
    }

    /// Adds a session's actions in order. Round trips that end are moved to `ended`.
    fn add(&mut self, session: &SessionResult, fills: Vec<Trade>, ended: &mut Vec<RoundTrip>) {
        if std::mem::take(&mut self.is_first) {
            for (symbol, held) in session.starting.iter().flat_map(|starting| &starting.holdings) {
                let trip = self.trip(symbol.as_str(), held.0.is_sign_negative(), None);
                self.open
                    .insert(symbol.to_string(), RoundTrip { held: held.0, quantity: held.0.abs(), ..trip });
            }
        }
        let mut fills: BTreeMap<u64, Trade> = fills.into_iter().map(|fill| (fill.action_id, fill)).collect();
        for row in &session.positions {
            if let Some(fill) = fills.remove(&row.action_id) {
                self.fill(session, &fill, ended);
            } else if row.action_type == "split" {
                self.split(row);
            }
        }
        for trip in self.open.values_mut() {
            let symbol = Symbol::new(&trip.symbol);
            let snapshot = session.snapshots.iter().find(|snapshot| snapshot.symbol == symbol);
            trip.unrealized = snapshot.map(|snapshot| snapshot.unrealised_pnl.0).unwrap_or_default();
        }
    }

    fn fill(&mut self, session: &SessionResult, fill: &Trade, ended: &mut Vec<RoundTrip>) {
        let at = TripFill {
            session: session.id,
            date: session.date,
            action: fill.action_type.clone(),
            price: fill.price.decimal(),
            order: fill.order_id.clone(),
        };
        let opens = matches!(fill.action_type.as_str(), "buy" | "short");
        let is_short = matches!(fill.action_type.as_str(), "short" | "cover");
        let new = self.trip(&fill.symbol, is_short, opens.then(|| at.clone()));
        let mut trip = self.open.remove(&fill.symbol).unwrap_or(new);
        let quantity = fill.quantity.decimal();
        trip.realized += fill.realized_pnl.map(|pnl| pnl.decimal()).unwrap_or_default();
        trip.held = match fill.action_type.as_str() {
            "buy" | "cover" => trip.held + quantity,
            "sell" | "short" => trip.held - quantity,
            // A forced fill reduces what is held.
            _ if trip.held.is_sign_negative() => trip.held + quantity,
            _ => trip.held - quantity,
        };
        trip.quantity = trip.quantity.max(trip.held.abs());
        let is_flat = trip.held.is_zero() || (trip.opened.is_none() && trip.quantity.is_zero());
        if is_flat || (!opens && trip.held.is_sign_negative() != trip.is_short) {
            ended.push(RoundTrip {
                quantity: trip.quantity.max(quantity),
                unrealized: Decimal::ZERO,
                closed: Some(at),
                ..trip
            });
        } else {
            self.open.insert(fill.symbol.clone(), trip);
        }
    }

    fn split(&mut self, row: &PositionRow) {
        let symbol = row.symbol.as_ref().map(ToString::to_string).unwrap_or_default();
        if let Some(trip) = self.open.get_mut(&symbol) {
            trip.held = row.amount.0;
            trip.quantity = trip.held.abs();
            trip.realized += row.terms.realized_pnl.unwrap_or_default().0;
        }
    }

    fn trip(&self, symbol: &str, is_short: bool, opened: Option<TripFill>) -> RoundTrip {
        RoundTrip {
            agent: self.run.result.model.clone(),
            symbol: symbol.to_owned(),
            window: self.run.window,
            trial: self.run.trial,
            is_short,
            opened,
            closed: None,
            held: Decimal::ZERO,
            quantity: Decimal::ZERO,
            realized: Decimal::ZERO,
            unrealized: Decimal::ZERO,
            reason: None,
            exit_reason: None,
        }
    }
}
