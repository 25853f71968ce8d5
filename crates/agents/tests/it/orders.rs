//! Orders: fills, pending orders and rejections are recorded and reported to the model.

use crate::stage::{Day, Stage, buy, call, calls, data, done};
use papertape_agents::tools::trade;
use papertape_core::broker::{FillModel, MarketProfile};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::record::{ActionTerms, OrderRow, PositionRow};
use papertape_core::tape::OutcomeKind;
use rust_decimal::Decimal;
use serde_json::{Value, json};

fn told(day: &Day, n: usize) -> Value {
    serde_json::from_str(&day.told()[n]).expect("JSON")
}

fn money(amount: i64) -> Money {
    Money(Decimal::from(amount))
}

// Goal: a fill is reported with its price and the remaining cash, and is a row of orders and of positions.
#[test]
fn a_fill_is_recorded_and_told() {
    let stage = Stage::new(data());
    let turn = calls(&[
        ("buy", json!({ "symbol": "AAPL", "quantity": "3", "stop": 100, "target": 200.5 })),
        ("sell", json!({ "symbol": "AAPL", "quantity": 1 })),
        ("get_portfolio", json!({})),
    ]);
    let day = stage.day(2, stage.start(), vec![turn, done()]);
    assert_eq!(
        told(&day, 0),
        json!({
            "order_id": "1", "symbol": "AAPL", "side": "buy", "quantity": 3, "status": "filled",
            "price": 111, "fee": 0, "cash": 9_667,
        })
    );
    assert_eq!(
        told(&day, 1),
        json!({
            "order_id": "2", "symbol": "AAPL", "side": "sell", "quantity": 1, "status": "filled",
            "price": 111, "fee": 0, "cash": 9_778, "realised_pnl": 0,
        })
    );
    assert_eq!(
        told(&day, 2)["positions"],
        json!([{
            "symbol": "AAPL", "quantity": 2, "avg_price": 111, "price": 111, "market_value": 222,
            "unrealised_pnl": 0, "stop": 100, "target": 200.5, "leverage": 1,
        }])
    );
    let orders = day.orders();
    let wanted = OrderRow {
        order_id: "1".to_owned(),
        symbol: "AAPL".into(),
        side: "buy".to_owned(),
        quantity: Quantity::from(3),
        status: "filled".to_owned(),
        code: None,
        message: None,
        numbers: None,
        price: Some(Price::from(111)),
        fee: Some(Money::ZERO),
        slippage: Some(Money::ZERO),
        realized_pnl: None,
        stop: Some(Price::from(100)),
        target: Some(Price("200.5".parse().expect("a decimal"))),
        leverage: None,
    };
    assert_eq!(orders[0], wanted);
    assert_eq!(orders[1].realized_pnl, Some(Money::ZERO));
    let bought = PositionRow {
        action_id: 1,
        action_type: "buy".to_owned(),
        symbol: Some("AAPL".into()),
        amount: Quantity::from(3),
        price: Some(Price::from(111)),
        cash: money(9_667),
        portfolio_value: money(10_000),
        terms: ActionTerms {
            order_id: Some("1".to_owned()),
            fee: Some(Money::ZERO),
            slippage: Some(Money::ZERO),
            leverage: Some(1.into()),
            stop: Some(Price::from(100)),
            target: Some(Price("200.5".parse().expect("a decimal"))),
            ..ActionTerms::default()
        },
        ..PositionRow::default()
    };
    assert_eq!(day.positions()[0], bought);
    assert_eq!(day.positions().len(), 2, "a day with a fill has no row of no_trade");
    assert_eq!(day.result.closing.cash, money(9_778));
    assert_eq!(day.result.closing.daily_profit, money(2), "two shares from 111 to the close of 112");
    assert_eq!(day.result.closing.holdings[0].price, Price::from(112));
    assert_eq!(day.result.closing.starting.cash, money(10_000));
}

// Goal: short and cover, in markets that allow them.
#[test]
fn shares_are_sold_short_and_bought_back() {
    let stage = Stage::new(data());
    let turn = calls(&[
        ("short", json!({ "symbol": "AAPL", "quantity": 2 })),
        ("cover", json!({ "symbol": "AAPL", "quantity": 1 })),
    ]);
    let day = stage.day(2, stage.start(), vec![turn, done()]);
    assert_eq!(told(&day, 0)["status"], "filled");
    assert_eq!(told(&day, 1)["realised_pnl"], 0);
    let rows = day.positions();
    assert_eq!([&*rows[0].action_type, &*rows[1].action_type], ["short", "cover"]);
    let held = day.result.state.books.account().position(&"AAPL".into()).expect("held").quantity;
    assert_eq!(held, -Quantity::from(1));
}

fn check(stage: &Stage, order: (&str, Value), code: &str) {
    let (tool, arguments) = order;
    let day = stage.day(2, stage.start(), vec![call(tool, arguments.clone()), done()]);
    let reply = told(&day, 0);
    assert_eq!(reply["code"], code, "{tool} {arguments}: {reply}");
    assert_eq!(reply["status"], "rejected");
    let message = reply["message"].as_str().expect("a sentence");
    assert!(message.len() > 10 && reply["numbers"].is_object(), "{reply}");
    let rows = day.orders();
    assert_eq!(rows.len(), 1, "{code}");
    assert_eq!((&*rows[0].status, rows[0].code.as_deref()), ("rejected", Some(code)));
    assert_eq!(rows[0].message.as_deref(), Some(message));
    assert_eq!(rows[0].side, tool);
    assert!(day.kept.is_done("solo#1/order#1", OutcomeKind::Refused));
    assert_eq!(day.result.closing.cash, money(stage.cash), "{code} changes nothing");
    assert_eq!(day.positions()[0].action_type, "no_trade");
}

// Goal: each rejection has its code and a sentence, is recorded and reported, and changes nothing.
#[test]
fn a_refusal_is_recorded_and_told() {
    let order = |symbol: &str, quantity: Value| json!({ "symbol": symbol, "quantity": quantity });
    let us = Stage::new(data());
    check(&us, ("buy", order("TSLA", json!(1))), "unknown_symbol");
    check(&us, ("buy", order("aapl", json!(1))), "unknown_symbol");
    check(&us, ("buy", order("IBM", json!(1))), "no_bar_today");
    check(&us, ("buy", order("AAPL", json!(0))), "invalid_amount");
    check(&us, ("buy", order("AAPL", json!(-3))), "invalid_amount");
    check(&us, ("buy", order("AAPL", json!("ten"))), "invalid_amount");
    check(&us, ("buy", order("AAPL", json!(null))), "invalid_amount");
    check(&us, ("buy", order("AAPL", json!("NaN"))), "invalid_amount");
    check(&us, ("buy", order("AAPL", json!(1.5))), "lot_size");
    check(&us, ("buy", order("AAPL", json!(91))), "insufficient_cash");
    check(&us, ("sell", order("AAPL", json!(1))), "insufficient_shares");
    check(&us, ("cover", order("AAPL", json!(1))), "insufficient_shares");
    let with = |key: &str, value: Value| {
        let mut order = order("AAPL", json!(1));
        order[key] = value;
        order
    };
    check(&us, ("buy", with("leverage", json!(2))), "leverage_limit");
    check(&us, ("buy", with("stop", json!(120))), "stop_wrong_side");
    check(&us, ("buy", with("target", json!(100))), "target_wrong_side");

    // The first failing check decides, whether or not the quantity can be parsed.
    check(&us, ("buy", order("TSLA", json!("ten"))), "unknown_symbol");
    check(&us, ("buy", order("IBM", json!("ten"))), "no_bar_today");

    let crypto = Stage { profile: MarketProfile::crypto().frictionless(), ..Stage::new(data()) };
    check(&crypto, ("buy", with("leverage", json!(2))), "stop_required");
    let cn = Stage { profile: MarketProfile::cn_a_share().frictionless(), ..Stage::new(data()) };
    check(&cn, ("buy", order("AAPL", json!(50))), "lot_size");
    check(&cn, ("short", order("AAPL", json!(100))), "shorting_not_allowed");
}

// Goal: what was bought today is locked in T+1 markets; the rejection is recorded next to the fill.
#[test]
fn t_plus_one_is_told() {
    let mut stage = Stage::new(data());
    stage.profile = MarketProfile::cn_a_share().frictionless();
    stage.cash = 100_000;
    let order = json!({ "symbol": "AAPL", "quantity": 100 });
    let day = stage.day(2, stage.start(), vec![calls(&[("buy", order.clone()), ("sell", order)]), done()]);
    assert_eq!(told(&day, 0)["status"], "filled");
    assert_eq!(told(&day, 1)["code"], "t_plus_one");
    assert_eq!(day.orders().len(), 2);
}

// Goal: an unparseable order gets an error, and is not an order.
#[test]
fn an_unreadable_order_is_answered() {
    let stage = Stage::new(data());
    for (arguments, wanted) in [
        (json!({ "quantity": 1 }), "`symbol` is missing"),
        (json!({ "symbol": "AAPL", "quantity": 1, "stop": "low" }), "`stop` must be a finite number"),
        (json!({ "symbol": "AAPL", "quantity": 1, "stop": [1] }), "`stop` must be a number"),
        (json!({ "symbol": "AAPL", "quantity": 1, "reason": 3 }), "`reason` must be a string"),
        (json!("buy AAPL"), "the arguments are not a JSON object"),
    ] {
        let day = stage.day(2, stage.start(), vec![call("buy", arguments), done()]);
        let error = told(&day, 0)["error"].as_str().expect("an error").to_owned();
        assert!(error.contains(wanted), "{error}");
        assert!(day.orders().is_empty());
        assert_eq!(day.told().len(), 1);
    }
}

// Goal: the calls of one turn apply in sequence to the same account.
#[test]
fn orders_of_a_turn_apply_in_order() {
    let stage = Stage::new(data());
    let order = |quantity: i64| ("buy", json!({ "symbol": "AAPL", "quantity": quantity }));
    let day = stage.day(2, stage.start(), vec![calls(&[order(60), order(60), order(30)]), done()]);
    let statuses: Vec<String> = day.orders().into_iter().map(|row| row.status).collect();
    assert_eq!(statuses, ["filled", "rejected", "filled"]);
    let ids: Vec<String> = day.orders().into_iter().map(|row| row.order_id).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(day.result.closing.cash, money(10_000 - 90 * 111));
}

// Goal: a pending order is reported as pending, fills before the next session, and is reported then.
#[test]
fn a_waiting_order_fills_later() {
    let mut stage = Stage::new(data());
    stage.profile.fill_model = FillModel::NextOpen;
    let day = stage.day(1, stage.start(), vec![buy("AAPL", 3), done()]);
    assert_eq!(told(&day, 0)["status"], "pending");
    assert_eq!(told(&day, 0)["fills_at"], "next_open");
    assert_eq!(day.orders()[0].status, "pending");
    assert_eq!(day.positions()[0].action_type, "no_trade");

    let next = stage.day(2, day.result.state, vec![done()]);
    let filled = &next.orders()[0];
    assert_eq!((&*filled.order_id, &*filled.status, filled.price), ("1", "filled", Some(Price::from(111))));
    assert_eq!(next.positions()[0].action_type, "buy");
    assert!(next.question().contains("buy: buy 3 AAPL at 111."), "{}", next.question());

    // At the close: reported in the next session.
    stage.profile.fill_model = FillModel::Close;
    let day = stage.day(1, stage.start(), vec![buy("AAPL", 3), done()]);
    assert_eq!(day.orders().iter().map(|row| &*row.status).collect::<Vec<_>>(), ["pending", "filled"]);
    assert_eq!(day.positions()[0].price, Some(Price::from(110)));
    let next = stage.day(2, day.result.state, vec![done()]);
    assert!(next.question().contains("buy: buy 3 AAPL at 110."), "{}", next.question());
}

// Goal: orders still pending at the end of the last day expire, on record.
#[test]
fn a_waiting_order_expires_on_the_last_day() {
    let mut stage = Stage::new(data());
    stage.profile.fill_model = FillModel::NextOpen;
    let day = stage.day(4, stage.start(), vec![buy("AAPL", 3), done()]);
    let rows = day.orders();
    assert_eq!(rows.iter().map(|row| &*row.status).collect::<Vec<_>>(), ["pending", "expired"]);
    assert_eq!(rows[1].code.as_deref(), Some("expired"));
    assert_eq!(rows[0].order_id, rows[1].order_id);
    assert!(day.result.state.books.pending().is_empty());
    assert!(day.result.state.notices[0].contains("expired"), "{:?}", day.result.state.notices);

    let before = stage.day(3, stage.start(), vec![buy("AAPL", 3), done()]);
    assert_eq!(before.result.state.books.pending().len(), 1, "not on the day before");
}

// Goal: the model is offered only the tools that the market allows.
#[test]
fn tools_are_those_of_the_market() {
    let names = |profile: &MarketProfile| -> Vec<String> {
        trade::tools(profile).into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(
        names(&MarketProfile::us_equity().frictionless()),
        ["get_portfolio", "buy", "sell", "short", "cover"]
    );
    assert_eq!(names(&MarketProfile::cn_a_share().frictionless()), ["get_portfolio", "buy", "sell"]);
    let has_leverage =
        |profile: &MarketProfile| !trade::tools(profile)[1].parameters["properties"]["leverage"].is_null();
    assert!(
        has_leverage(&MarketProfile::crypto().frictionless())
            && !has_leverage(&MarketProfile::us_equity().frictionless())
    );
    let stage = Stage::new(data());
    let day = stage.day(2, stage.start(), vec![done()]);
    let offered = day.request(1)["tools"].as_array().map(Vec::len);
    assert_eq!(offered, Some(10));
}
