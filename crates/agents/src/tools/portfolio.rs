//! The agent's portfolio for its tool, with the numbers that the market's rules depend on.

use super::{ToolOutput, number, spec};
use papertape_core::broker::{Books, MarketProfile, Order};
use papertape_core::ledger::Position;
use papertape_core::market::MarketView;
use papertape_core::message::ToolSpec;
use papertape_core::money::Price;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Decimals of an average price.
const AVERAGE_DP: u32 = 6;

/// The tool's spec for the model.
#[must_use]
pub fn tool(profile: &MarketProfile) -> ToolSpec {
    let mut what = "Cash, holdings with their prices, and pending orders".to_owned();
    if profile.t_plus_one {
        what.push_str("; sellable: how much of a holding can be sold today");
    }
    if profile.lends {
        what.push_str("; available: funds for new positions; margin and liquidation_price of each position");
    }
    spec("get_portfolio", &what, &[], 0)
}

/// Cash and holdings at the newest known prices.
#[must_use]
pub fn read(books: &Books, view: &MarketView<'_>, date: Date) -> ToolOutput {
    let account = books.account();
    let mut exposures = Vec::new();
    let mut positions = Vec::new();
    for (symbol, position) in account.positions() {
        // If nothing newer is known, the mark of its last trading day is used.
        let price = match view.price(symbol) {
            Ok(quote) => {
                exposures.push(quote.exposure);
                Some(quote.value.price)
            }
            Err(_) => books.marks().get(symbol).copied(),
        };
        let mut shown = held(position, price);
        shown["symbol"] = json!(symbol);
        let profile = books.profile();
        if profile.t_plus_one {
            shown["sellable"] = number(position.closable(date, true).0);
        }
        if profile.lends {
            shown["margin"] = number(position.margin.0.round_dp(AVERAGE_DP));
            shown["liquidation_price"] = json!(position.liquidation_price().map(|price| number(price.0)));
        }
        positions.push(shown);
    }
    let pending: Vec<Value> = books.pending().iter().map(|pending| pending_json(&pending.order)).collect();
    let mut value = json!({
        "date": date,
        "cash": number(account.cash().0),
        "equity": books.portfolio_value().ok().map(|equity| number(equity.0)),
        "positions": positions,
        "pending_orders": pending,
    });
    if let Some(available) = available(books) {
        value["available"] = available;
    }
    ToolOutput::of(value, exposures)
}

/// An order in the form for the model.
#[must_use]
pub fn pending_json(order: &Order) -> Value {
    json!({
        "order_id": order.id.0.to_string(),
        "symbol": order.symbol,
        "side": order.side,
        "quantity": number(order.quantity.0),
    })
}

/// The amount available for new positions; `None` if it is the cash.
#[must_use]
pub fn available(books: &Books) -> Option<Value> {
    let available = books.account().available().ok().filter(|_| books.profile().lends)?;
    Some(number(available.0.round_dp(AVERAGE_DP)))
}

fn held(position: &Position, price: Option<Price>) -> Value {
    let value = price.map(|price| price * position.quantity);
    let average = position.avg_price.0;
    // A price far below 1 would lose most digits if rounded.
    let average = if average < Decimal::ONE { average } else { average.round_dp(AVERAGE_DP) };
    json!({
        "quantity": number(position.quantity.0),
        "avg_price": number(average),
        "price": price.map(|price| number(price.0)),
        "market_value": value.map(|value| number(value.0)),
        "unrealised_pnl": value.map(|value| number((value - position.cost).0.round_dp(AVERAGE_DP))),
        "stop": position.stop.map(|stop| number(stop.0)),
        "target": position.target.map(|target| number(target.0)),
        "leverage": number(position.leverage),
    })
}
