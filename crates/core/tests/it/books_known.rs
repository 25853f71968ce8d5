//! Known results: numbers worked out by hand or taken from other sources.

use crate::books_support::{close, day, dec, money, order, price, prices, quantity, trade, us};
use papertape_core::broker::{ActionType, Books, MarketProfile, Side, pre};
use papertape_core::id::Symbol;
use papertape_core::ledger::{Account, CorporateAction, CorporateActionKind, LedgerEvent};
use papertape_core::money::Money;

/// 697 SPY at 143.372382812 with a fee of 3.485, marked at 149.813850982.
#[test]
fn a_holding_of_spy_is_worth_what_it_must_be() {
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.fees.minimum = money("3.485");
    let mut books = Books::new("ada", profile, money("100000"));
    let on = day("2012-11-15");
    let buy = order(&mut books, Side::Buy, "SPY", "697");
    let entry = trade(&mut books, on, "143.372382812", buy);
    assert_eq!(entry.cash, money("65.964180036"));
    assert_eq!(entry.portfolio_value, money("99996.515"), "opening costs the fee and nothing else");
    let end = close(&mut books, on, &prices(&[("SPY", "149.813850982")])).expect("a close");
    assert_eq!(end.portfolio_value.0.round_dp(2), dec("104486.22"));
    assert_eq!(end.portfolio_value, money("104486.21831449"));
    assert_eq!(end.daily_profit, money("4486.21831449"));
    assert_eq!(end.daily_return_pct, Some(dec("4.4862183145")));
}

/// A one-day buyer holds through a split; at the previous close divided by the ratio nothing changes.
fn check_split(symbol: &str, [before, ex]: [&str; 2], last_close: &str, open: &str, halved: &str) {
    let mut books = us("100000");
    pre(&mut books, day(before), &prices(&[(symbol, last_close)]), &prices(&[]), &[]).expect("a day");
    let mut buy = order(&mut books, Side::Buy, symbol, "100");
    buy.stop = Some(price("44"));
    trade(&mut books, day(before), "45", buy);
    let closes = prices(&[(symbol, last_close)]);
    let value = close(&mut books, day(before), &closes).expect("a close").portfolio_value;
    let action = CorporateAction {
        symbol: Symbol::new(symbol),
        ex_date: day(ex),
        kind: CorporateActionKind::Split { ratio: dec("2") },
    };
    let opens = prices(&[(symbol, open)]);
    let out = pre(&mut books, day(ex), &opens, &closes, std::slice::from_ref(&action)).expect("a day");
    let entry = &out.entries[0];
    assert_eq!(entry.action_type, Some(ActionType::Split));
    assert_eq!((entry.amount, entry.price), (Some(quantity("200")), Some(price(halved))));
    assert_eq!(entry.portfolio_value, value, "{symbol} {ex}: a split makes nobody richer");
    let position = books.account().position(&Symbol::new(symbol)).expect("still held");
    assert_eq!(position.stop, Some(price("22")), "the stop is converted, and is not loosened by it");
    assert_eq!(position.avg_price, price("22.5"));
    assert!(out.entries.len() == 1, "an open of {open} is no fall below a stop of 22: {out:?}");
}

#[test]
fn known_splits_leave_the_holders_value_unchanged() {
    check_split("AAPL", ["2000-06-20", "2000-06-21"], "101.25", "50.5", "50.625");
    check_split("AAPL", ["2005-02-25", "2005-02-28"], "88.99", "44.68", "44.495");
    check_split("MSFT", ["2003-02-14", "2003-02-18"], "48.3", "24.62", "24.15");
}

/// The special dividend of Microsoft is paid in cash at the open of its ex-date, and owed by a short
/// position.
#[test]
fn a_known_dividend_arrives_as_cash() {
    for (side, cash) in [(Side::Buy, "7311"), (Side::Short, "12689")] {
        let mut books = us("10000");
        let buy = order(&mut books, side, "MSFT", "100");
        trade(&mut books, day("2004-11-12"), "29.97", buy);
        close(&mut books, day("2004-11-12"), &prices(&[("MSFT", "29.97")])).expect("a close");
        let action = CorporateAction {
            symbol: Symbol::new("MSFT"),
            ex_date: day("2004-11-15"),
            kind: CorporateActionKind::Dividend { amount: price("3.08") },
        };
        let (opens, closes) = (prices(&[("MSFT", "27.35")]), prices(&[("MSFT", "29.97")]));
        let out = pre(&mut books, day("2004-11-15"), &opens, &closes, &[action]).expect("a day");
        assert_eq!(out.entries[0].action_type, Some(ActionType::Dividend));
        assert_eq!(out.entries[0].cash, money(cash), "{side}");
        assert_eq!(out.entries[0].price, Some(price("3.08")));
    }
}

/// A position with every kind of cost: its realized result equals its effect on the cash.
#[test]
fn realised_results_carry_fees_dividends_and_days() {
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.fees.minimum = money("2");
    let mut books = Books::new("ada", profile, money("10000"));
    let buy = order(&mut books, Side::Buy, "IBM", "30");
    let opened = trade(&mut books, day("2010-01-04"), "100", buy);
    assert!(opened.applied.as_ref().is_some_and(|applied| applied.opened));
    let more = order(&mut books, Side::Buy, "IBM", "10");
    let added = trade(&mut books, day("2010-01-04"), "120", more);
    assert!(added.applied.is_some_and(|applied| !applied.opened));
    let dividend = CorporateAction {
        symbol: Symbol::new("IBM"),
        ex_date: day("2010-01-06"),
        kind: CorporateActionKind::Dividend { amount: price("0.5") },
    };
    let opens = prices(&[("IBM", "110")]);
    pre(&mut books, day("2010-01-06"), &opens, &prices(&[]), &[dividend]).expect("a day");
    let part = order(&mut books, Side::Sell, "IBM", "10");
    let part = trade(&mut books, day("2010-01-06"), "110", part);
    let first = part.realized().expect("a closing fill");
    // Cost 4,200 for 40: average 105. Fees: 2 for this fill, a quarter of the 4 paid at opening.
    assert_eq!((first.entry_price, first.exit_price), (price("105"), price("110")));
    assert_eq!((first.gross_pnl, first.fees, first.income), (money("50"), money("3"), money("5")));
    assert_eq!((first.pnl, first.holding_days, first.position_closed), (money("52"), 2, false));
    let rest = order(&mut books, Side::Sell, "IBM", "30");
    let rest = trade(&mut books, day("2010-01-11"), "100", rest);
    let second = rest.realized().expect("a closing fill");
    assert_eq!((second.pnl, second.holding_days, second.position_closed), (money("-140"), 7, true));
    assert_eq!(books.account().cash(), money("10000") + first.pnl + second.pnl);
    assert_eq!(second.position.as_str(), "ada-1");
    let again = order(&mut books, Side::Buy, "IBM", "1");
    trade(&mut books, day("2010-01-11"), "100", again);
    let position = books.account().position(&Symbol::new("IBM")).expect("opened again");
    assert_eq!(position.id.as_str(), "ada-2", "a new position has an id of its own");
}

/// Events parsed from JSON give the same account; an impossible event changes nothing.
#[test]
fn an_account_is_a_fold_over_its_events() {
    let mut books = us("1000");
    let buy = order(&mut books, Side::Buy, "X", "3");
    let entry = trade(&mut books, day("2020-01-02"), "33.333", buy);
    let event = entry.event.expect("a fill");
    let text = serde_json::to_string(&event).expect("JSON");
    let read: LedgerEvent = serde_json::from_str(&text).expect("the same event");
    let (account, applied) = Account::fold(Account::new("ada", Money::from(1000)), [&read]).expect("a fold");
    assert_eq!(&account, books.account());
    assert_eq!(applied.len(), 1);
    let mut twice = account.clone();
    let LedgerEvent::Fill(mut fill) = read else { panic!("not a fill") };
    fill.side = Side::Sell;
    fill.quantity = quantity("4");
    twice.apply(&LedgerEvent::Fill(fill)).expect_err("more than is held");
    assert_eq!(twice, account);
}
