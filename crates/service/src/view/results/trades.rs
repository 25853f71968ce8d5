//! A session's fills, with costs and realized results.

use crate::app::App;
use crate::error::ServiceError;
use crate::view::fills::{is_fill, is_forced, is_ordered};
use papertape_core::broker::{FeeInput, LedgerEntry, MarketProfile, Side};
use papertape_core::id::Symbol;
use papertape_core::metric::TradedAmount;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::ports::RecordStore as _;
use papertape_core::record::{ActionTerms, OrderRow, PositionRow, SessionId};
use papertape_core::tape::{StepClass, inline};
use papertape_core::time::Date;
use papertape_protocol::number::number;
use papertape_protocol::results::day::{FeePartResponse, Trade};
use papertape_store::{Page, PageRequest};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// One fill.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    /// The response.
    pub(super) trade: Trade,
    quantity: Quantity,
    price: Price,
    /// For turnover and costs.
    pub(super) amount: TradedAmount,
    /// The net result of a closing fill.
    pub(super) closed_pnl: Option<Money>,
}

impl Filled {
    /// The response, with the components of its fee by the market's rules.
    pub(super) fn with_fee_parts(self, market: Option<&MarketProfile>, day: Date) -> Trade {
        let Self { mut trade, quantity, price, amount, .. } = self;
        let symbol = Symbol::new(&trade.symbol);
        let parts = |side: &Side| {
            let fill = FeeInput { day, symbol: &symbol, side: *side, quantity, price };
            let parts = market?.fee_parts(&fill).ok()?;
            let sum = parts.iter().map(|part| part.amount.0).sum::<Decimal>();
            (sum == amount.fee.0).then_some(parts)
        };
        let parts = sides(&trade.action_type).iter().find_map(parts).unwrap_or_default();
        trade.fee_parts = parts.into_iter().map(FeePartResponse::from).collect();
        trade
    }
}

/// The costs, the realized result and the terms of a fill.
#[derive(Clone, Debug, Default)]
struct Costs {
    order_id: Option<String>,
    fee: Money,
    slippage: Money,
    realized_pnl: Option<Money>,
    leverage: Option<Decimal>,
    stop: Option<Price>,
    target: Option<Price>,
}

/// The fills of a session, in order. A row holds its terms; in rules version 1, the terms of an order
/// are in `orders`, and those of forced fills (a stop, a target, a liquidation, a delisting) on the tape.
pub(super) async fn fills(
    app: &App,
    session: SessionId,
    positions: &[PositionRow],
    orders: &[OrderRow],
) -> Result<Vec<Filled>, ServiceError> {
    let mut orders: Vec<&OrderRow> = orders.iter().filter(|order| order.status == "filled").collect();
    let is_reported = |row: &PositionRow| row.terms.fee.is_some();
    let mut forced = match positions.iter().find(|row| is_forced(&row.action_type) && !is_reported(row)) {
        Some(_) => forced(app, session).await?,
        None => BTreeMap::new(),
    };
    let mut fills = Vec::new();
    for row in positions.iter().filter(|row| is_fill(&row.action_type)) {
        let costs = if is_reported(row) {
            Costs::of_terms(&row.terms)
        } else if is_ordered(&row.action_type) {
            let same = |order: &&OrderRow| {
                Some(&order.symbol) == row.symbol.as_ref()
                    && order.side == row.action_type
                    && order.quantity == row.amount
                    && order.price == row.price
            };
            let at = orders.iter().position(same);
            at.map(|at| Costs::of(orders.remove(at))).unwrap_or_default()
        } else {
            forced.remove(&row.action_id).unwrap_or_default()
        };
        fills.push(filled(row, costs));
    }
    Ok(fills)
}

/// The fills of rows that hold their terms, which every row has since rules version 2.
pub(super) fn reported_fills(positions: &[PositionRow]) -> Vec<Filled> {
    let fills = positions.iter().filter(|row| is_fill(&row.action_type));
    fills.map(|row| filled(row, Costs::of_terms(&row.terms))).collect()
}

/// The sides of a fill of this kind. A forced fill closes a long or a short position; its row does not say which.
fn sides(action: &str) -> &'static [Side] {
    match action {
        "buy" => &[Side::Buy],
        "sell" => &[Side::Sell],
        "short" => &[Side::Short],
        "cover" => &[Side::Cover],
        _ => &[Side::Sell, Side::Cover],
    }
}

fn filled(row: &PositionRow, costs: Costs) -> Filled {
    let price = row.price.unwrap_or_default();
    Filled {
        trade: Trade {
            action_id: row.action_id,
            action_type: row.action_type.clone(),
            symbol: row.symbol.as_ref().map(ToString::to_string).unwrap_or_default(),
            quantity: number(row.amount.0),
            price: number(price.0),
            fee: number(costs.fee.0),
            fee_parts: Vec::new(),
            slippage: number(costs.slippage.0),
            leverage: costs.leverage.map(number),
            stop: costs.stop.map(|stop| number(stop.0)),
            target: costs.target.map(|target| number(target.0)),
            realized_pnl: costs.realized_pnl.map(|pnl| number(pnl.0)),
            order_id: costs.order_id,
            path: None,
            order: None,
            cash_after: number(row.cash.0),
            portfolio_value: number(row.portfolio_value.0),
        },
        quantity: row.amount,
        price,
        amount: TradedAmount { notional: price * row.amount, fee: costs.fee, slippage: costs.slippage },
        closed_pnl: costs.realized_pnl,
    }
}

impl Costs {
    fn of_terms(terms: &ActionTerms) -> Self {
        Self {
            order_id: terms.order_id.clone(),
            fee: terms.fee.unwrap_or_default(),
            slippage: terms.slippage.unwrap_or_default(),
            realized_pnl: terms.realized_pnl,
            leverage: terms.leverage,
            stop: terms.stop,
            target: terms.target,
        }
    }

    fn of(order: &OrderRow) -> Self {
        Self {
            order_id: Some(order.order_id.clone()),
            fee: order.fee.unwrap_or_default(),
            slippage: order.slippage.unwrap_or_default(),
            realized_pnl: order.realized_pnl,
            leverage: order.leverage,
            stop: order.stop,
            target: order.target,
        }
    }
}

/// The forced fills of a session, by their row's number, from the book steps of its tape.
async fn forced(app: &App, session: SessionId) -> Result<BTreeMap<u64, Costs>, ServiceError> {
    let mut outcomes = Vec::new();
    let mut request = PageRequest::first(1000);
    loop {
        let Page { items, next } = app.store.steps(session, &request).await?;
        let books = items.iter().filter(|step| step.class == StepClass::Order && step.path.kind() == "book");
        outcomes.extend(books.filter_map(|step| step.outcome_ref));
        match next {
            Some(cursor) => request = PageRequest::after(1000, &cursor),
            None => break,
        }
    }
    let documents = app.store.texts(outcomes).await?;
    let mut found = BTreeMap::new();
    for document in documents.values() {
        // Other outcomes (a rejection, the day's marks) are not fills.
        let entry = serde_json::from_str(document).ok().and_then(|stored| inline(&stored, &|_| None).ok());
        let entry = entry.and_then(|whole| serde_json::from_value::<LedgerEntry>(whole).ok());
        let Some(entry) = entry else { continue };
        if let (Some(id), Some(fill)) = (entry.action_id, entry.fill().filter(|fill| fill.order.is_none())) {
            let realized_pnl = entry.realized().map(|realized| realized.pnl);
            let costs = Costs {
                order_id: None,
                fee: fill.fee,
                slippage: fill.slippage,
                realized_pnl,
                leverage: Some(fill.leverage),
                stop: entry.realized().and_then(|realized| realized.stop),
                target: entry.realized().and_then(|realized| realized.target),
            };
            found.insert(id, costs);
        }
    }
    Ok(found)
}
