//! The rules of an order: each rejects with its code and its numbers, in a fixed order.

use crate::books_support::{check, day, dec, lender, money, order, price, quantity, trade, us};
use papertape_core::broker::{
    Books, MarketProfile, Order, Quote, RejectCode, Rejection, Side, StopChange, SubmitError, approve,
    approve_stops, change_stops, parse_amount, submit,
};
use papertape_core::id::Symbol;
use papertape_core::money::Money;
use serde_json::json;

const DAY: &str = "2020-01-02";

fn refused(books: &Books, at: &str, order: Order) -> Rejection {
    check(books, day(DAY), at, order).expect_err("a rule refuses it")
}

fn code(books: &Books, at: &str, order: Order) -> RejectCode {
    let before = books.clone();
    let rejection = refused(books, at, order);
    assert_eq!(*books, before, "a refused order changes nothing");
    assert!(rejection.message.ends_with('.'), "a sentence: {}", rejection.message);
    rejection.code
}

#[test]
fn codes_are_written_as_they_are_serialised() {
    for code in
        [RejectCode::TPlusOne, RejectCode::NoBarToday, RejectCode::InsufficientCash, RejectCode::StopTooFar]
    {
        assert_eq!(json!(code), json!(code.as_str()));
    }
}

#[test]
fn what_is_not_quoted_cannot_be_traded() {
    let mut books = us("1000");
    let buy = order(&mut books, Side::Buy, "X", "-1");
    let of = |quote: Quote| {
        approve(books.account(), books.profile(), &quote, buy.clone()).expect_err("refused").code
    };
    let x = Symbol::new("X");
    assert_eq!(of(Quote::unknown(x.clone(), day(DAY))), RejectCode::UnknownSymbol);
    assert_eq!(of(Quote::at(Symbol::new("Y"), day(DAY), price("1"))), RejectCode::UnknownSymbol);
    assert_eq!(of(Quote::no_bar(x.clone(), day(DAY))), RejectCode::NoBarToday);
    assert_eq!(of(Quote::at(x.clone(), day(DAY), price("0"))), RejectCode::NoBarToday);
    assert_eq!(of(Quote::at(x, day(DAY), price("1"))), RejectCode::InvalidAmount);
}

#[test]
fn amounts_must_be_finite_above_zero_and_whole_lots() {
    let mut books = us("1000");
    for (amount, expected) in [
        ("0", RejectCode::InvalidAmount),
        ("-5", RejectCode::InvalidAmount),
        ("79228162514264337593543950335", RejectCode::InvalidAmount),
        ("1.5", RejectCode::LotSize),
        ("0.000000000000000001", RejectCode::LotSize),
        ("1000000000000000000", RejectCode::InsufficientCash),
    ] {
        let buy = order(&mut books, Side::Buy, "X", amount);
        assert_eq!(code(&books, "10", buy), expected, "{amount}");
    }
    for written in
        [json!("NaN"), json!("inf"), json!("1e400"), json!(null), json!([1]), json!("ten"), json!("")]
    {
        let message = parse_amount(&written).expect_err("not a number for the books");
        let buy = order(&mut books, Side::Buy, "X", "0");
        assert_eq!(Rejection::unreadable_amount(buy, message).code, RejectCode::InvalidAmount);
    }
    for (written, amount) in
        [(json!(12.5), "12.5"), (json!("1,200"), "1200"), (json!(3), "3"), (json!(1e3), "1000")]
    {
        assert_eq!(parse_amount(&written), Ok(dec(amount)));
    }
}

/// Purchases need lots of 100; an odd holding can be sold whole.
#[test]
fn lots_bind_but_for_closing_all() {
    let mut books = Books::new("ada", MarketProfile::cn_a_share().frictionless(), money("100000"));
    let buy = order(&mut books, Side::Buy, "X", "150");
    let rejection = refused(&books, "10", buy);
    assert_eq!(rejection.code, RejectCode::LotSize);
    assert_eq!(rejection.numbers["lot"], dec("100"));
    let short = order(&mut books, Side::Short, "X", "100");
    assert_eq!(code(&books, "10", short), RejectCode::ShortingNotAllowed);
}

#[test]
fn shares_bought_today_are_sold_on_a_later_day() {
    let mut profile = MarketProfile::cn_a_share().frictionless();
    profile.fees.minimum = money("5");
    let mut books = Books::new("ada", profile, money("100000"));
    let buy = order(&mut books, Side::Buy, "X", "200");
    let entry = trade(&mut books, day("2020-01-02"), "10", buy);
    assert_eq!(entry.fill().map(|fill| fill.fee), Some(money("5")), "the least fee");
    let sell = order(&mut books, Side::Sell, "X", "100");
    let rejection = refused(&books, "10", sell.clone());
    assert_eq!(rejection.code, RejectCode::TPlusOne);
    assert_eq!(rejection.numbers["closable"], dec("0"));
    let more = order(&mut books, Side::Buy, "X", "100");
    trade(&mut books, day("2020-01-03"), "10", more);
    let all = order(&mut books, Side::Sell, "X", "300");
    let quote = Quote::at(Symbol::new("X"), day("2020-01-03"), price("10"));
    let rejection = approve(books.account(), books.profile(), &quote, all).expect_err("100 are locked");
    assert_eq!((rejection.code, rejection.numbers["closable"]), (RejectCode::TPlusOne, dec("200")));
    approve(books.account(), books.profile(), &quote, sell).expect("yesterday's may go");
}

#[test]
fn cash_must_cover_the_fee_too() {
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.fees.minimum = money("1");
    profile.slippage_bps = dec("100");
    let mut books = Books::new("ada", profile, money("1010"));
    let buy = order(&mut books, Side::Buy, "X", "10");
    let rejection = refused(&books, "100", buy);
    assert_eq!(rejection.code, RejectCode::InsufficientCash);
    assert_eq!((rejection.numbers["needed"], rejection.numbers["available"]), (dec("1011"), dec("1010")));
    let buy = order(&mut books, Side::Buy, "X", "9");
    let entry = trade(&mut books, day(DAY), "100", buy);
    let fill = entry.fill().expect("a fill");
    assert_eq!((fill.price, fill.fee, fill.slippage), (price("101"), money("1"), money("9")));
    assert_eq!(entry.cash, money("100"));
    assert_eq!(entry.portfolio_value, money("1000"), "less by fee and slippage");
    let sell = order(&mut books, Side::Sell, "X", "9");
    let entry = trade(&mut books, day(DAY), "100", sell);
    assert_eq!(entry.fill().map(|fill| fill.price), Some(price("99")), "slippage is against the seller too");
}

#[test]
fn nobody_sells_what_is_not_held_and_a_reversal_closes_first() {
    let mut books = us("1000");
    let sell = order(&mut books, Side::Sell, "X", "1");
    assert_eq!(code(&books, "10", sell), RejectCode::InsufficientShares);
    let short = order(&mut books, Side::Short, "X", "5");
    let entry = trade(&mut books, day(DAY), "10", short);
    assert_eq!((entry.cash, entry.portfolio_value), (money("1050"), money("1000")));
    assert_eq!(books.account().available(), Ok(money("950")), "proceeds and margin are set aside");
    for (side, amount, expected) in [
        (Side::Buy, "1", RejectCode::OppositePosition),
        (Side::Sell, "5", RejectCode::InsufficientShares),
        (Side::Cover, "6", RejectCode::InsufficientShares),
        (Side::Short, "96", RejectCode::InsufficientCash),
    ] {
        let order = order(&mut books, side, "X", amount);
        assert_eq!(code(&books, "10", order), expected, "{side} {amount}");
    }
}

#[test]
fn leverage_keeps_to_the_range_and_to_the_position() {
    let mut plain = us("1000");
    let mut buy = order(&mut plain, Side::Buy, "X", "1");
    buy.leverage = Some(dec("2"));
    assert_eq!(code(&plain, "10", buy), RejectCode::LeverageLimit, "nothing is lent");
    let mut books = lender("1000");
    for leverage in ["11", "0.5", "0", "-3"] {
        let mut buy = order(&mut books, Side::Buy, "X", "1");
        buy.leverage = Some(dec(leverage));
        assert_eq!(code(&books, "10", buy), RejectCode::LeverageLimit, "{leverage}");
    }
    let mut buy = order(&mut books, Side::Buy, "X", "500");
    buy.leverage = Some(dec("5"));
    buy.stop = Some(price("9.8"));
    let entry = trade(&mut books, day(DAY), "10", buy);
    assert_eq!((entry.cash, entry.portfolio_value), (money("-4000"), money("1000")), "4,000 are lent");
    assert_eq!(books.account().available(), Ok(Money::ZERO));
    assert_eq!(
        books.account().position(&Symbol::new("X")).and_then(|p| p.liquidation_price()),
        Some(price("8"))
    );
    let mut richer = lender("2000");
    let mut first = order(&mut richer, Side::Buy, "X", "100");
    (first.leverage, first.stop) = (Some(dec("5")), Some(price("9.8")));
    trade(&mut richer, day(DAY), "10", first);
    let mut add = order(&mut richer, Side::Buy, "X", "1");
    add.leverage = Some(dec("2"));
    assert_eq!(code(&richer, "10", add), RejectCode::LeverageLimit);
    let same = order(&mut richer, Side::Buy, "X", "1");
    trade(&mut richer, day(DAY), "10", same);
}

/// A leveraged position needs a stop on its losing side, within 10% of leveraged loss.
#[test]
fn the_stop_rule_names_the_largest_distance() {
    let mut books = lender("1000");
    let cases = [
        (Side::Buy, "5", None, None, RejectCode::StopRequired),
        (Side::Buy, "5", Some("10"), None, RejectCode::StopWrongSide),
        (Side::Buy, "5", Some("-1"), None, RejectCode::StopWrongSide),
        (Side::Short, "5", Some("9.9"), None, RejectCode::StopWrongSide),
        (Side::Buy, "5", Some("9.9"), Some("10"), RejectCode::TargetWrongSide),
        (Side::Short, "5", Some("10.1"), Some("10.5"), RejectCode::TargetWrongSide),
        (Side::Short, "5", Some("10.1"), Some("-1"), RejectCode::TargetWrongSide),
        (Side::Buy, "5", Some("9.79"), None, RejectCode::StopTooFar),
        (Side::Short, "5", Some("10.21"), None, RejectCode::StopTooFar),
    ];
    for (side, leverage, stop, target, expected) in cases {
        let mut order = order(&mut books, side, "X", "10");
        order.leverage = Some(dec(leverage));
        order.stop = stop.map(price);
        order.target = target.map(price);
        assert_eq!(code(&books, "10", order), expected, "{side} x{leverage} stop {stop:?} target {target:?}");
    }
    for (side, stop) in [(Side::Buy, "0.01"), (Side::Short, "99")] {
        let mut unleveraged = order(&mut books, side, "X", "10");
        unleveraged.stop = Some(price(stop));
        check(&books, day(DAY), "10", unleveraged).expect("without leverage a stop is anywhere on its side");
    }
    let mut buy = order(&mut books, Side::Buy, "X", "10");
    buy.leverage = Some(dec("3"));
    buy.stop = Some(price("9"));
    let rejection = refused(&books, "10", buy.clone());
    assert_eq!(rejection.numbers["largest_distance"], dec("0.3333333333"));
    assert!(rejection.message.contains("0.3333333333"), "{}", rejection.message);
    buy.stop = Some(papertape_core::money::Price(rejection.numbers["furthest_stop"]));
    check(&books, day(DAY), "10", buy).expect("what the refusal names is admissible");
}

#[test]
fn a_stop_is_tightened_and_never_loosened() {
    let mut books = lender("10000");
    let mut buy = order(&mut books, Side::Buy, "X", "10");
    buy.leverage = Some(dec("2"));
    buy.stop = Some(price("96"));
    trade(&mut books, day(DAY), "100", buy);
    let x = Symbol::new("X");
    let move_to = |books: &mut Books, stop: Option<&str>, target: Option<&str>| {
        let change = StopChange {
            id: books.next_order_id(),
            symbol: x.clone(),
            stop: stop.map(price),
            target: target.map(price),
            reason: None,
        };
        let quote = Quote::at(x.clone(), day(DAY), price("110"));
        match approve_stops(books.account(), &quote, change) {
            Ok(approved) => {
                let entry = change_stops(books, approved).expect("fresh");
                assert_eq!((entry.action_id, entry.action_type), (None, None), "no row of positions");
                Ok(())
            }
            Err(rejection) => Err(rejection.code),
        }
    };
    assert_eq!(move_to(&mut books, Some("95"), None), Err(RejectCode::StopLoosened), "95 is within the 10%");
    assert_eq!(move_to(&mut books, None, None), Err(RejectCode::NothingToChange));
    assert_eq!(move_to(&mut books, Some("111"), None), Err(RejectCode::StopWrongSide));
    assert_eq!(move_to(&mut books, None, Some("109")), Err(RejectCode::TargetWrongSide));
    assert_eq!(move_to(&mut books, Some("105"), Some("130")), Ok(()), "a gain is locked in");
    assert_eq!(move_to(&mut books, None, Some("120")), Ok(()), "a target moves either way");
    assert_eq!(move_to(&mut books, Some("104.99"), None), Err(RejectCode::StopLoosened));
    let position = books.account().position(&x).expect("held");
    assert_eq!((position.stop, position.target), (Some(price("105")), Some(price("120"))));
    let mut add = order(&mut books, Side::Buy, "X", "1");
    add.stop = Some(price("104.6"));
    assert_eq!(code(&books, "110", add), RejectCode::StopLoosened, "adding does not loosen it either");
    let quote = Quote::at(Symbol::new("Y"), day(DAY), price("1"));
    let none = StopChange {
        id: books.next_order_id(),
        symbol: Symbol::new("Y"),
        stop: None,
        target: None,
        reason: None,
    };
    assert_eq!(
        approve_stops(books.account(), &quote, none).expect_err("refused").code,
        RejectCode::NoPosition
    );
}

/// Two orders approved for the same account version: after the first, the second approval is stale.
#[test]
fn an_approval_is_good_for_one_version_of_the_account() {
    let mut books = us("1000");
    let (a, b) = (order(&mut books, Side::Buy, "X", "100"), order(&mut books, Side::Buy, "X", "100"));
    let a = check(&books, day(DAY), "10", a).expect("allowed");
    let b = check(&books, day(DAY), "10", b).expect("allowed, against the same cash");
    submit(&mut books, a).expect("fresh");
    let before = books.clone();
    assert_eq!(submit(&mut books, b), Err(SubmitError::Stale { approved: 0, current: 1 }));
    assert_eq!(books, before);
    let mut other = Books::new("bob", MarketProfile::us_equity().frictionless(), money("1000"));
    let c = order(&mut other, Side::Buy, "X", "1");
    let c = check(&us("1000"), day(DAY), "10", c).expect("allowed to ada");
    let (approved, owner) = ("ada".to_owned(), "bob".to_owned());
    assert_eq!(submit(&mut other, c), Err(SubmitError::OtherAccount { approved, owner }));
}

/// Two violated rules: the one checked first decides.
#[test]
fn rules_are_checked_in_their_order() {
    let mut profile = MarketProfile::cn_a_share().frictionless();
    profile.fees.minimum = money("5");
    let mut books = Books::new("ada", profile, money("3005"));
    let buy = order(&mut books, Side::Buy, "X", "100");
    trade(&mut books, day(DAY), "10", buy);
    // From the last rule to the first, each order violates all rules tested so far.
    let mut buy = order(&mut books, Side::Buy, "X", "100");
    buy.stop = Some(price("11"));
    assert_eq!(code(&books, "10", buy.clone()), RejectCode::StopWrongSide);
    buy.leverage = Some(dec("20"));
    assert_eq!(code(&books, "10", buy.clone()), RejectCode::LeverageLimit);
    buy.quantity = quantity("10000");
    assert_eq!(code(&books, "10", buy.clone()), RejectCode::InsufficientCash);
    buy.quantity = quantity("10001");
    assert_eq!(code(&books, "10", buy.clone()), RejectCode::LotSize);
    buy.quantity = quantity("-10001");
    assert_eq!(code(&books, "10", buy.clone()), RejectCode::InvalidAmount);
    assert_eq!(code(&books, "0", buy), RejectCode::NoBarToday);
    let sell = order(&mut books, Side::Sell, "X", "200");
    assert_eq!(code(&books, "10", sell), RejectCode::TPlusOne, "before the shares are counted");
    let later = Quote::at(Symbol::new("X"), day("2020-01-03"), price("0.01"));
    let sell = order(&mut books, Side::Sell, "X", "200");
    let rejection = approve(books.account(), books.profile(), &later, sell).expect_err("not held");
    assert_eq!(rejection.code, RejectCode::InsufficientShares);
}

#[test]
fn presets_are_markets_and_nonsense_is_named() {
    for name in ["us_equity", "cn_a_share", "crypto"] {
        let profile = MarketProfile::preset(name).expect("a preset");
        assert_eq!((profile.validate(), profile.name.as_str()), (Ok(()), name));
    }
    assert_eq!(MarketProfile::preset("moon"), None);
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.slippage_bps = dec("10000");
    assert_eq!(profile.validate(), Err("slippage_bps must be from 0 to below 10000".to_owned()));
}
