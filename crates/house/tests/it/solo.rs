//! The house models' trading days against hand-made tools: their orders for what they see.

use crate::day::{Desk, d, day_request, order, orders, question, run, told};
use crate::support::answer_to;
use papertape_core::message::{Message, ModelReply, ToolChoice};
use papertape_house as house;
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

/// AAPL rises, GOOG has broken down and is held, IBM rises but is overbought, MSFT has no indicators but
/// bars.
fn trends() -> Desk {
    Desk {
        cash: d("5000"),
        prices: [("AAPL", d("100")), ("GOOG", d("50")), ("IBM", d("200")), ("MSFT", d("25"))].into(),
        indicators: [
            ("AAPL", json!({ "sma_20": 95.5, "sma_50": 90.25, "rsi_14": 61.234 })),
            ("GOOG", json!({ "sma_20": 55, "sma_50": 60, "rsi_14": 35 })),
            ("IBM", json!({ "sma_20": 180, "sma_50": 170, "rsi_14": 88.8 })),
            ("MSFT", json!({ "sma_20": null, "sma_50": null, "rsi_14": null })),
        ]
        .into(),
        closes: [("MSFT", (1..=25).map(Decimal::from).collect())].into(),
        held: [("GOOG".to_owned(), d("100"))].into(),
        ..Desk::default()
    }
}

/// Momentum sells what has broken down, then spends the cash on what rises, and explains why.
#[test]
fn momentum_follows_the_trend() {
    let mut desk = trends();
    let turns = run("momentum", &question("AAPL, GOOG, IBM, MSFT"), &mut desk);
    assert_eq!(turns.len(), 6);
    // MSFT rises without a pause, so its RSI is 100: overbought as well. One part of 10,000: 98 shares.
    assert_eq!(orders(&turns), [order("sell", "GOOG", "100"), order("buy", "AAPL", "98")]);
    assert_eq!(desk.cash, d("200"));
    insta::assert_snapshot!(told(&turns));
}

/// Two rising symbols get equal parts; a position far above its part is reduced.
#[test]
fn momentum_keeps_equal_parts() {
    let mut desk = trends();
    desk.held = [("AAPL".to_owned(), d("100"))].into();
    desk.cash = d("0");
    desk.indicators.insert("IBM", json!({ "sma_20": 180, "sma_50": 170, "rsi_14": 60 }));
    let turns = run("momentum", &question("AAPL, IBM"), &mut desk);
    // Equity 10,000, two parts of 4,900: AAPL 10,000 -> sell 51; IBM 5,100 x 0.99 / 200 -> 24 of 24.5.
    assert_eq!(orders(&turns), [order("sell", "AAPL", "51"), order("buy", "IBM", "24")]);
}

/// Goal: what can only be closed is never bought, in either language, and what is held of it is judged as ever.
#[test]
fn what_can_only_be_closed_is_not_bought() {
    for line in
        ["Closing only: AAPL, GOOG (not in IDX today)", "只可减仓或平仓：AAPL, GOOG（今日不在 IDX 中）"]
    {
        let question = format!("{}\n{line}", question("AAPL, GOOG, IBM, MSFT"));
        let turns = run("momentum", &question, &mut trends());
        assert_eq!(orders(&turns), [order("sell", "GOOG", "100")], "{line}");
    }
}

#[test]
fn contrarian_buys_fear_and_sells_greed() {
    let mut desk = Desk {
        cash: d("6000"),
        prices: [("AAPL", d("100")), ("GOOG", d("50")), ("IBM", d("200"))].into(),
        indicators: [
            ("AAPL", json!({ "rsi_14": 25 })),
            ("GOOG", json!({ "rsi_14": "75.5" })),
            ("IBM", json!({ "rsi_14": 50 })),
        ]
        .into(),
        held: [("GOOG".to_owned(), d("40")), ("IBM".to_owned(), d("10"))].into(),
        ..Desk::default()
    };
    let turns = run("contrarian", &question("AAPL, GOOG, IBM"), &mut desk);
    // Equity 10,000 in three parts of 3,266.67: 32 shares of AAPL.
    assert_eq!(orders(&turns), [order("sell", "GOOG", "40"), order("buy", "AAPL", "32")]);
    insta::assert_snapshot!(turns.last().unwrap().text);
}

/// Buy-and-hold requests no indicators, buys once, and never again.
#[test]
fn buy_and_hold_buys_once() {
    let mut desk =
        Desk { cash: d("10000"), prices: [("AAPL", d("333")), ("IBM", d("200"))].into(), ..Desk::default() };
    let first = run("buy_and_hold", &question("AAPL, IBM"), &mut desk);
    assert_eq!(first.len(), 4);
    assert_eq!(orders(&first), [order("buy", "AAPL", "14"), order("buy", "IBM", "24")]);
    let called = |turns: &[ModelReply], tool: &str| {
        turns.iter().flat_map(|turn| &turn.tool_calls).any(|call| call.name == tool)
    };
    assert!(!called(&first, "get_indicators") && !called(&first, "get_bars"));
    let second = run("buy_and_hold", &question("AAPL, IBM"), &mut desk);
    assert_eq!(orders(&second), []);
    assert_eq!(second.len(), 3);
}

/// The user writes Chinese, and the answer is in Chinese.
#[test]
fn chinese_is_answered_in_chinese() {
    let mut desk = trends();
    desk.exact_texts = true;
    let question = "请分析并更新今天（2013-01-03）的持仓。\n标的：AAPL、GOOG，IBM, MSFT";
    let turns = run("momentum", question, &mut desk);
    assert_eq!(orders(&turns), [order("sell", "GOOG", "100"), order("buy", "AAPL", "98")]);
    insta::assert_snapshot!(told(&turns));
}

/// An order rejected for lack of cash is retried once with a smaller size; then it is dropped, and the text
/// says so.
#[test]
fn a_refused_order_is_tried_smaller_once() {
    let mut desk = Desk {
        cash: d("10000"),
        prices: [("AAPL", d("100"))].into(),
        refusals: [("AAPL", vec!["insufficient_cash", "insufficient_cash"])].into(),
        ..Desk::default()
    };
    let turns = run("buy_and_hold", &question("AAPL"), &mut desk);
    assert_eq!(orders(&turns), [order("buy", "AAPL", "98"), order("buy", "AAPL", "97")]);
    let last = &turns.last().unwrap().text;
    assert!(last.contains("rejected (insufficient_cash), then I tried to buy 97"), "{last}");
}

#[test]
fn refusals_for_lots_are_rounded_and_others_are_taken() {
    let desk = |code| Desk {
        cash: d("100000"),
        prices: [("600519", d("180"))].into(),
        refusals: [("600519", vec![code])].into(),
        ..Desk::default()
    };
    let turns = run("buy_and_hold", &question("600519"), &mut desk("lot_size"));
    assert_eq!(orders(&turns), [order("buy", "600519", "544"), order("buy", "600519", "500")]);
    let turns = run("buy_and_hold", &question("600519"), &mut desk("no_bar_today"));
    assert_eq!(orders(&turns), [order("buy", "600519", "544")]);
    assert!(turns.last().unwrap().text.contains("rejected (no_bar_today)"));
}

/// Pending orders are reported as such, and no further order is placed for their symbols.
#[test]
fn waiting_orders_are_left_alone() {
    let mut desk = trends();
    desk.waits = true;
    let turns = run("momentum", &question("AAPL, GOOG"), &mut desk);
    assert!(turns.last().unwrap().text.contains("my order to sell 100 is pending"));
    let mut desk = trends();
    desk.waiting = vec!["AAPL", "GOOG"];
    assert_eq!(orders(&run("momentum", &question("AAPL, GOOG"), &mut desk)), []);
}

/// Without tools, or with an unreadable portfolio, the day ends with an explanation.
#[test]
fn a_day_that_cannot_be_seen_ends_at_once() {
    let mut request = day_request("momentum", &question("AAPL"));
    request.tools.clear();
    let reply = house::answer(&request).unwrap().reply;
    assert!(reply.tool_calls.is_empty() && reply.text.contains("<FINISH_SIGNAL>"), "{}", reply.text);

    let mut request = day_request("momentum", &question("AAPL"));
    request.tool_choice = ToolChoice::None;
    assert!(house::answer(&request).unwrap().reply.tool_calls.is_empty());

    let mut request = day_request("momentum", &question("AAPL"));
    let first = house::answer(&request).unwrap().reply;
    request.messages.push(first.to_message());
    request.messages.push(answer_to(
        &first.tool_calls[0].id,
        "get_portfolio",
        r#"{"error":"the books are shut"}"#,
    ));
    let reply = house::answer(&request).unwrap().reply;
    assert!(reply.text.contains("the books are shut") && reply.tool_calls.is_empty(), "{}", reply.text);
}

/// A reminder in the middle of the day does not restart it; a new question does.
#[test]
fn the_last_question_with_symbols_begins_the_day() {
    let mut request = day_request("buy_and_hold", &question("AAPL"));
    let first = house::answer(&request).unwrap().reply;
    request.messages.push(first.to_message());
    let portfolio = r#"{"cash":"10","equity":"10","positions":[],"pending_orders":[]}"#;
    request.messages.push(answer_to(&first.tool_calls[0].id, "get_portfolio", portfolio));
    request.messages.push(Message::user("Please go on."));
    let second = house::answer(&request).unwrap().reply;
    assert_eq!(second.tool_calls[0].name, "get_price");
    request.messages.push(second.to_message());
    request.messages.push(Message::user(question("IBM")));
    let third = house::answer(&request).unwrap().reply;
    assert_eq!(third.tool_calls[0].name, "get_portfolio");
}

/// Whatever the tools return, the model answers, and the day ends.
#[test]
fn nonsense_from_the_tools_is_survived() {
    for nonsense in ["", "null", "[]", "{not json", r#"{"cash":"NaN"}"#, r#"{"cash":{},"positions":7}"#] {
        let mut request = day_request("contrarian", &question("AAPL"));
        for _ in 0..10 {
            let reply = house::answer(&request).unwrap().reply;
            if reply.tool_calls.is_empty() {
                break;
            }
            request.messages.push(reply.to_message());
            for call in &reply.tool_calls {
                request.messages.push(answer_to(&call.id, &call.name, nonsense));
            }
        }
        assert!(house::answer(&request).unwrap().reply.tool_calls.is_empty(), "{nonsense}");
    }
}

/// The usage is estimated as one token per four characters.
#[test]
fn usage_is_estimated() {
    let mut request = day_request("momentum", "12345678");
    request.tools.clear();
    request.instructions = Some("1234".to_owned());
    let answer = house::answer(&request).unwrap();
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.cached_tokens), (3, 0));
    assert_eq!(usage.output_tokens, u64::try_from(answer.reply.text.chars().count().div_ceil(4)).unwrap());
    assert!(answer.reply.text.contains("house::momentum is a rule-based stand-in"));
}

const NAMES: [&str; 3] = ["AAPL", "GOOG", "IBM"];

fn any_desk() -> impl Strategy<Value = Desk> {
    let symbol = (1_i64..300_000, 0_i64..200, prop::option::of((1_i64..3000, 1_i64..3000)), 0_i64..101);
    (0_i64..50_000_000, prop::array::uniform3(symbol), any::<bool>()).prop_map(
        |(cash, symbols, exact_texts)| {
            let mut desk = Desk { cash: Decimal::new(cash, 2), exact_texts, ..Desk::default() };
            for (name, (price, held, averages, rsi)) in NAMES.into_iter().zip(symbols) {
                desk.prices.insert(name, Decimal::new(price, 2));
                let (fast, slow) = averages.unzip();
                desk.indicators.insert(name, json!({ "sma_20": fast, "sma_50": slow, "rsi_14": rsi }));
                if held > 0 {
                    desk.held.insert(name.to_owned(), Decimal::from(held));
                }
            }
            desk
        },
    )
}

proptest! {
    /// In any market the day ends, no order exceeds what the account can carry, and without fees no value is
    /// gained or lost.
    #[test]
    fn the_account_is_never_overdrawn(desk in any_desk(), model in prop::sample::select(house::NAMES.to_vec())) {
        let worth = |desk: &Desk| {
            desk.cash + desk.held.iter().map(|(symbol, held)| desk.prices[symbol.as_str()] * held).sum::<Decimal>()
        };
        let mut after = desk.clone();
        let turns = run(model, &question("AAPL, GOOG, IBM"), &mut after);
        prop_assert!(turns.len() <= 6);
        prop_assert!(after.cash >= Decimal::ZERO);
        prop_assert_eq!(worth(&desk), worth(&after));
        let told = told(&turns);
        prop_assert!(!told.contains("refused"), "{}", told);
        prop_assert!(told.contains("<FINISH_SIGNAL>"));
    }
}
