//! Tools that trade: every call ends as a fill, a pending order or a rejection with its reason. Each is recorded
//! and returned to the model.

use super::portfolio::{self, pending_json};
use super::{Arguments, ToolOutput, number, spec};
use papertape_core::broker::{
    ActionType, Approved, Books, Conditions, LedgerEntry, MarketProfile, Order, OrderRequest, Quote,
    RejectCode, Rejection, Side, Submission, approve, submit,
};
use papertape_core::id::Symbol;
use papertape_core::json::{canonical, to_value};
use papertape_core::ledger::LedgerEvent;
use papertape_core::market::{Listed, MarketView, PriceKind};
use papertape_core::message::{Role, ToolSpec};
use papertape_core::money::{Price, Quantity};
use papertape_core::prompt::lines::{IN_STEPS_OF, IN_WHOLE_LOTS_OF};
use papertape_core::record::{ActionTerms, DerivedRow, OrderRow, PositionRow};
use papertape_core::tape::{
    Ctx, LocalStep, OutcomeKind, SessionStop, StepClass, ToolInvocation, TranscriptMessage,
};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tool specs for the model, only with what the market allows.
#[must_use]
pub fn tools(profile: &MarketProfile) -> Vec<ToolSpec> {
    let mut tools = vec![
        portfolio::tool(profile),
        order_tool(profile, "buy", "Buys: opens or adds to a long position", true),
        order_tool(profile, "sell", "Sells: reduces or closes a long position", false),
    ];
    if profile.shorting {
        tools.push(order_tool(profile, "short", "Sells short: opens or adds to a short position", true));
        tools.push(order_tool(profile, "cover", "Buys back: reduces or closes a short position", false));
    }
    tools
}

/// The side of a tool; `None` if it places no order.
#[must_use]
pub fn side(tool: &str) -> Option<Side> {
    [Side::Buy, Side::Sell, Side::Short, Side::Cover].into_iter().find(|side| side.as_str() == tool)
}

/// Whom an order's answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A model, which gets it fenced.
    Model,
    /// A program, which gets it as JSON. The transcript has it fenced.
    Program,
}

/// The outcome of a tool call that places an order.
#[derive(Clone, Debug)]
pub struct OrderCall {
    /// The answer: a text for a model, an object for a program.
    pub answer: Value,
    /// Whether its arguments could be parsed as an order.
    pub is_order: bool,
    /// The rejection, if it was rejected.
    pub rejection: Option<Rejection>,
}

/// Places the order of a tool call: checks it, fills or rejects it, records it and reports it.
///
/// # Errors
/// A stop.
pub async fn place(
    ctx: &mut Ctx,
    books: &mut Books,
    view: &MarketView<'_>,
    (symbols, date): (&Listed, Date),
    side: Side,
    (note, reader): (ToolInvocation, Reader),
) -> Result<OrderCall, SessionStop> {
    let (request, amount) = match read_order(books, side, &note.input) {
        Ok(read) => read,
        Err(message) => {
            let output = ToolOutput::error(message);
            let answer = match reader {
                Reader::Model => Value::String(super::answer(ctx, view, note, output).await?),
                Reader::Program => super::plain_answer(ctx, view, note, output).await?,
            };
            return Ok(OrderCall { answer, is_order: false, rejection: None });
        }
    };
    let known = symbols.contains(&request.symbol);
    let quote = quote(books.profile(), view, &request.symbol, known, date);
    // Checks before that of the amount come first, even if the amount cannot be parsed.
    let decision = match (approve(books.account(), books.profile(), &quote, request.clone()), amount) {
        (Err(refused), Err(message)) if refused.code == RejectCode::InvalidAmount => {
            Err(Rejection::unreadable_amount(request.clone(), message))
        }
        (decision, _) => decision,
    };
    let result = execute(ctx, books, view, (&request, decision), Some((note, reader))).await?;
    Ok(OrderCall { answer: result.answer, is_order: true, rejection: result.rejection })
}

/// An order that was filled, is pending, or was rejected.
#[derive(Clone, Debug)]
pub struct OrderResult {
    /// The answer: an object for a program, else a text.
    pub answer: Value,
    /// `filled`, `pending` or `rejected`.
    pub status: &'static str,
    /// The ledger entry, if it was filled.
    pub entry: Option<LedgerEntry>,
    /// The rejection, if it was rejected.
    pub rejection: Option<Rejection>,
}

/// Executes a checked order and records the outcome, with every derived row. `note`: the tool call, if the
/// answer belongs in the transcript, and who reads it.
///
/// # Errors
/// A stop.
pub(crate) async fn execute(
    ctx: &mut Ctx,
    books: &mut Books,
    view: &MarketView<'_>,
    (request, decision): (&Order, Result<Approved<Order>, Rejection>),
    note: Option<(ToolInvocation, Reader)>,
) -> Result<OrderResult, SessionStop> {
    let arguments = super::with_view_identity(view, json!({ "order": request }));
    let mut result = OrderResult { answer: Value::Null, status: "filled", entry: None, rejection: None };
    let (reply, kind, implied, entry) = match decision {
        Err(rejection) => {
            books.record_rejection(&rejection);
            let implied = vec![rejected_row(&rejection)];
            let recorded = to_value(&rejection);
            let reply = rejection_json(&rejection);
            (result.status, result.rejection) = ("rejected", Some(rejection));
            (reply, OutcomeKind::Refused, implied, recorded)
        }
        Ok(approved) => {
            let order = approved.get().clone();
            let submission = submit(books, approved).map_err(|error| {
                SessionStop::ContractViolation(format!("an approved order could not be filled: {error}"))
            })?;
            match submission {
                Submission::Filled(entry) => {
                    let implied =
                        position_row(&entry).into_iter().chain([filled_row(&order, &entry)]).collect();
                    let (reply, recorded) = (filled_json(books, &order, &entry), to_value(&entry));
                    result.entry = Some(*entry);
                    (reply, OutcomeKind::Ok, implied, recorded)
                }
                Submission::Pending(pending) => {
                    let implied = vec![DerivedRow::Order(Box::new(order_row(&order, "pending")))];
                    let mut reply = pending_json(&order);
                    reply["status"] = json!("pending");
                    reply["fills_at"] = to_value(&pending.fill_model);
                    result.status = "pending";
                    (reply, OutcomeKind::Ok, implied, to_value(&pending))
                }
            }
        }
    };
    let content = canonical(&reply);
    let (note, reader) = note.unzip();
    // An answer in a transcript quotes the model's arguments, so it is fenced.
    let content = note.as_ref().map_or(content.clone(), |note| super::fenced(&note.name, &content));
    let answer = if reader == Some(Reader::Program) { reply } else { json!(content) };
    let mut recorded = ctx
        .record_local(LocalStep {
            kind: "order",
            class: StepClass::Order,
            arguments,
            outcome: json!({ "reply": answer, "entry": entry }),
            outcome_kind: kind,
            message: note.map(|note| TranscriptMessage { role: Role::Tool, content, tool: Some(note) }),
            implied,
        })
        .await?;
    result.answer = recorded["reply"].take();
    Ok(result)
}

/// The broker's quote of an instrument at an instant.
#[must_use]
pub fn quote(
    profile: &MarketProfile,
    view: &MarketView<'_>,
    symbol: &Symbol,
    known: bool,
    date: Date,
) -> Quote {
    if !known {
        let conditions =
            Conditions { outside_universe: !view.is_in_universe(symbol), ..Conditions::default() };
        return Quote::unknown(symbol.clone(), date).under(conditions);
    }
    match view.price(symbol) {
        Ok(read) if read.value.kind == PriceKind::TodayOpen => {
            Quote::at(symbol.clone(), date, read.value.price).under(view.conditions(profile, symbol))
        }
        _ => {
            let outside_universe = !view.is_in_universe(symbol);
            Quote::no_bar(symbol.clone(), date)
                .under(Conditions { outside_universe, ..Conditions::default() })
        }
    }
}

/// The row of `positions` for an entry, if it has one.
#[must_use]
pub fn position_row(entry: &LedgerEntry) -> Option<DerivedRow> {
    let action = entry.action_type?;
    Some(DerivedRow::Position(PositionRow {
        action_id: entry.action_id?,
        action_type: action.as_str().to_owned(),
        symbol: entry.symbol.clone().filter(|_| action != ActionType::NoTrade),
        // Negative for a short position's split, dividend and financing: the dividend is paid, not received.
        amount: entry.amount.unwrap_or(Quantity::ZERO),
        price: entry.price,
        cash: entry.cash,
        portfolio_value: entry.portfolio_value,
        daily_profit: None,
        daily_return_pct: None,
        terms: terms(entry),
    }))
}

/// The terms of an entry that a recomputation needs.
fn terms(entry: &LedgerEntry) -> ActionTerms {
    let fill = entry.fill();
    let (ratio, nights) = match &entry.event {
        Some(LedgerEvent::Split { ratio, .. }) => (Some(*ratio), None),
        Some(LedgerEvent::Financing { nights, .. }) => (None, *nights),
        _ => (None, None),
    };
    ActionTerms {
        order_id: fill.and_then(|fill| fill.order).map(|order| order.0.to_string()),
        fee: fill.map(|fill| fill.fee),
        slippage: fill.map(|fill| fill.slippage),
        realized_pnl: entry.realized().map(|realized| realized.pnl),
        leverage: fill.map(|fill| fill.leverage),
        stop: entry.stop,
        target: entry.target,
        ratio,
        nights,
    }
}

/// The row of `orders` for a fill.
#[must_use]
pub fn filled_row(order: &Order, entry: &LedgerEntry) -> DerivedRow {
    let fill = entry.fill();
    DerivedRow::Order(Box::new(OrderRow {
        price: fill.map(|fill| fill.price),
        fee: fill.map(|fill| fill.fee),
        slippage: fill.map(|fill| fill.slippage),
        realized_pnl: entry.realized().map(|realized| realized.pnl),
        ..order_row(order, "filled")
    }))
}

/// The row of `orders` for a rejection; a rejected change of stops has the side `stop_change`.
#[must_use]
pub fn rejected_row(rejection: &Rejection) -> DerivedRow {
    let status = if rejection.code.as_str() == "expired" { "expired" } else { "rejected" };
    let row = match &*rejection.request {
        OrderRequest::Order(order) => order_row(order, status),
        OrderRequest::StopChange(change) => OrderRow {
            order_id: change.id.0.to_string(),
            symbol: change.symbol.clone(),
            side: "stop_change".to_owned(),
            quantity: Quantity::ZERO,
            stop: change.stop,
            target: change.target,
            ..empty_row(status)
        },
    };
    DerivedRow::Order(Box::new(OrderRow {
        code: Some(rejection.code.as_str().to_owned()),
        message: Some(rejection.message.clone()),
        numbers: Some(numbers_json(&rejection.numbers)),
        ..row
    }))
}

fn order_row(order: &Order, status: &str) -> OrderRow {
    OrderRow {
        order_id: order.id.0.to_string(),
        symbol: order.symbol.clone(),
        side: order.side.as_str().to_owned(),
        quantity: order.quantity,
        stop: order.stop,
        target: order.target,
        leverage: order.leverage,
        ..empty_row(status)
    }
}

fn empty_row(status: &str) -> OrderRow {
    OrderRow {
        order_id: String::new(),
        symbol: Symbol::new(""),
        side: String::new(),
        quantity: Quantity::ZERO,
        status: status.to_owned(),
        code: None,
        message: None,
        numbers: None,
        price: None,
        fee: None,
        slippage: None,
        realized_pnl: None,
        stop: None,
        target: None,
        leverage: None,
    }
}

/// Arguments that every order tool accepts. A market without stops or leverage does not offer them; it rejects the order
/// by its rules, not as an unknown argument.
pub(crate) const ARGUMENTS: &[&str] = &["stop", "target", "leverage"];

fn order_tool(profile: &MarketProfile, name: &str, description: &str, opens: bool) -> ToolSpec {
    let unit = if profile.fractional {
        format!("units, {IN_STEPS_OF} 0.00000001")
    } else if profile.lot.0 == Decimal::ONE {
        "whole shares, in lots of 1".to_owned()
    } else {
        let lots = crate::rules::lots(profile);
        let rest = if opens { "" } else { ", or all that is held" };
        format!("shares, {IN_WHOLE_LOTS_OF} {lots}{rest}")
    };
    let mut properties = vec![
        ("symbol", json!({ "type": "string", "description": "ticker symbol" })),
        ("quantity", json!({ "type": "number", "exclusiveMinimum": 0, "description": unit })),
    ];
    if opens {
        let price = |what: &str| json!({ "type": "number", "description": what });
        properties.push(("stop", price("closes the position at a loss when this price is reached")));
        properties.push(("target", price("closes the position at a gain when this price is reached")));
        if profile.leverage_limit() > Decimal::ONE {
            let (least, most) = (number(profile.min_leverage), number(profile.leverage_limit()));
            let what = "1 by default, or the open position's; a stop is required above 1";
            let range = json!({ "type": "number", "minimum": least, "maximum": most, "description": what });
            properties.push(("leverage", range));
        }
    }
    properties.push(("reason", json!({ "type": "string", "description": "why, in one sentence" })));
    spec(name, description, &properties, 2)
}

/// Parses an order. An invalid amount still makes an order, which is rejected and recorded.
fn read_order(books: &mut Books, side: Side, input: &Value) -> Result<(Order, Result<(), String>), String> {
    let arguments = Arguments::of(input)?;
    let symbol = Symbol::new(arguments.text("symbol")?);
    let amount = papertape_core::broker::parse_amount(&input["quantity"]);
    let price = |name: &str| arguments.optional_number(name).map(|price| price.map(Price));
    let order = Order {
        symbol,
        side,
        quantity: Quantity(amount.as_ref().copied().unwrap_or_default()),
        stop: price("stop")?,
        target: price("target")?,
        leverage: arguments.optional_number("leverage")?,
        reason: arguments.optional_text("reason")?.map(str::to_owned),
        id: books.next_order_id(),
    };
    Ok((order, amount.map(|_| ())))
}

fn filled_json(books: &Books, order: &Order, entry: &LedgerEntry) -> Value {
    let mut reply = pending_json(order);
    reply["status"] = json!("filled");
    reply["cash"] = number(entry.cash.0);
    if let Some(available) = portfolio::available(books) {
        reply["available"] = available;
    }
    if let Some(fill) = entry.fill() {
        reply["price"] = number(fill.price.0);
        reply["fee"] = number(fill.fee.0);
    }
    if let Some(realized) = entry.realized() {
        reply["realised_pnl"] = number(realized.pnl.0.round_dp(6));
    }
    reply
}

fn rejection_json(rejection: &Rejection) -> Value {
    let mut reply = rejection.order().map_or_else(|| json!({}), pending_json);
    reply["status"] = json!("rejected");
    reply["code"] = json!(rejection.code.as_str());
    reply["message"] = json!(rejection.message);
    reply["numbers"] = numbers_json(&rejection.numbers);
    reply
}

fn numbers_json(numbers: &BTreeMap<String, Decimal>) -> Value {
    numbers
        .iter()
        .map(|(name, value)| (name.clone(), number(*value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
