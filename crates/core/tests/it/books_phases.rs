//! The phases of a day, each driven with prices that trigger it.

use crate::books_support::{
    bars, check, close, day, dec, lender, money, order, price, prices, quantity, trade, us,
};
use papertape_core::broker::{
    self, ActionType, Books, FillModel, LedgerEntry, MarketProfile, PendingOrder, RejectCode, Side,
    Submission, bar, expire, pre, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind, FillCause, LedgerError, LedgerEvent};
use rust_decimal::Decimal;

const D1: &str = "2020-01-02";
const D2: &str = "2020-01-03";
const D3: &str = "2020-01-06";

fn action(symbol: &str, on: &str, kind: CorporateActionKind) -> CorporateAction {
    CorporateAction { symbol: Symbol::new(symbol), ex_date: day(on), kind }
}

fn split(symbol: &str, on: &str, ratio: &str) -> CorporateAction {
    action(symbol, on, CorporateActionKind::Split { ratio: dec(ratio) })
}

fn dividend(symbol: &str, on: &str, amount: &str) -> CorporateAction {
    action(symbol, on, CorporateActionKind::Dividend { amount: price(amount) })
}

/// 100 shares bought at 100 with a stop at 95 and a target at 110, or the mirror image sold short.
fn holding(side: Side) -> Books {
    let mut books = us("100000");
    let mut open = order(&mut books, side, "X", "100");
    let (stop, target) = if side == Side::Buy { ("95", "110") } else { ("105", "90") };
    open.stop = Some(price(stop));
    open.target = Some(price(target));
    trade(&mut books, day(D1), "100", open);
    books
}

fn told(entries: &[LedgerEntry]) -> Vec<(Option<ActionType>, Option<papertape_core::money::Price>)> {
    entries.iter().map(|entry| (entry.action_type, entry.price)).collect()
}

/// The effect of one bar on the holding: the row's kind and price, if any.
fn check_bar(side: Side, bar_of: [&str; 4], expected: Option<(ActionType, &str)>) {
    let mut books = holding(side);
    let out = bar(&mut books, day(D1), &bars(&[("X", bar_of)])).expect("a bar");
    let expected: Vec<_> = expected.into_iter().map(|(kind, at)| (Some(kind), Some(price(at)))).collect();
    assert_eq!(told(&out.entries), expected, "{side} {bar_of:?}");
    assert_eq!(books.account().positions().is_empty(), !expected.is_empty());
}

#[test]
fn stops_and_targets_trigger_inside_the_bar() {
    use ActionType::{Stop, Target};
    check_bar(Side::Buy, ["100", "109.99", "95.01", "100"], None);
    check_bar(Side::Buy, ["100", "101", "95", "96"], Some((Stop, "95")));
    check_bar(Side::Buy, ["100", "110", "99", "109"], Some((Target, "110")));
    check_bar(Side::Buy, ["100", "115", "90", "100"], Some((Stop, "95")));
    check_bar(Side::Buy, ["94", "115", "90", "100"], Some((Stop, "94")));
    check_bar(Side::Buy, ["112", "115", "90", "100"], Some((Target, "112")));
    check_bar(Side::Short, ["100", "104.99", "90.01", "100"], None);
    check_bar(Side::Short, ["100", "105", "99", "100"], Some((Stop, "105")));
    check_bar(Side::Short, ["100", "101", "90", "91"], Some((Target, "90")));
    check_bar(Side::Short, ["100", "120", "80", "100"], Some((Stop, "105")));
    check_bar(Side::Short, ["107", "120", "80", "100"], Some((Stop, "107")));
    check_bar(Side::Short, ["88", "120", "80", "100"], Some((Target, "88")));
}

/// A stop or target that the open has passed fills at the open, before the agent acts.
#[test]
fn gaps_fill_at_the_open_in_the_pre_phase() {
    for (side, open, expected) in [
        (Side::Buy, "90", Some(ActionType::Stop)),
        (Side::Buy, "120", Some(ActionType::Target)),
        (Side::Buy, "100", None),
        (Side::Short, "120", Some(ActionType::Stop)),
        (Side::Short, "80", Some(ActionType::Target)),
    ] {
        let mut books = holding(side);
        let out = pre(&mut books, day(D2), &prices(&[("X", open)]), &prices(&[("X", "100")]), &[]);
        let expected: Vec<_> = expected.into_iter().map(|kind| (Some(kind), Some(price(open)))).collect();
        assert_eq!(told(&out.expect("a day").entries), expected, "{side} {open}");
    }
}

/// A leveraged position is liquidated when its loss reaches its margin, and loses no more even after a gap.
#[test]
fn a_position_is_liquidated_when_its_margin_is_lost() {
    let mut books = lender("1000");
    let short = order(&mut books, Side::Short, "X", "10");
    trade(&mut books, day(D1), "100", short);
    let out = bar(&mut books, day(D1), &bars(&[("X", ["100", "199", "90", "150"])])).expect("a bar");
    assert!(out.entries.is_empty(), "the loss is not yet the margin");
    let out = bar(&mut books, day(D1), &bars(&[("X", ["100", "201", "90", "150"])])).expect("a bar");
    assert_eq!(told(&out.entries), [(Some(ActionType::Liquidation), Some(price("200")))]);
    assert_eq!(books.account().cash(), money("0"));

    let mut books = lender("1000");
    let mut long = order(&mut books, Side::Buy, "X", "100");
    (long.leverage, long.stop) = (Some(dec("10")), Some(price("99")));
    trade(&mut books, day(D1), "100", long);
    let out = pre(&mut books, day(D2), &prices(&[("X", "80")]), &prices(&[]), &[]).expect("a day");
    assert_eq!(out.entries[0].action_type, Some(ActionType::Liquidation));
    assert_eq!(out.entries[0].cash, money("0"), "the gap took the margin and no more");
    let fill = out.entries[0].fill().expect("a fill");
    assert_eq!((fill.price, fill.slippage), (price("90"), money("0")), "where the margin was lost");
}

/// A dividend that a short cannot pay is a margin call, recorded at once and covered the next morning.
#[test]
fn a_margin_call_is_covered_in_the_next_pre_phase() {
    let mut books = us("1000");
    let short = order(&mut books, Side::Short, "X", "10");
    trade(&mut books, day(D1), "50", short);
    let long = order(&mut books, Side::Buy, "Y", "50");
    trade(&mut books, day(D1), "10", long);
    assert!(books.account().available().is_ok_and(|money| money.is_zero()));
    let opens = prices(&[("X", "50"), ("Y", "10")]);
    let out = pre(&mut books, day(D2), &opens, &opens, &[dividend("X", D2, "2.5")]).expect("a day");
    assert_eq!(told(&out.entries), [(Some(ActionType::Dividend), Some(price("2.5"))), (None, None)]);
    assert_eq!(books.account().margin_call().map(|call| call.shortfall), Some(money("25")));
    let buy = order(&mut books, Side::Buy, "Y", "1");
    assert_eq!(
        check(&books, day(D2), "10", buy).expect_err("nothing left").code,
        RejectCode::InsufficientCash
    );
    // 3 of Y free 30 at 10; both positions have the value 500, so the symbol decides: X.
    let out = pre(&mut books, day(D3), &opens, &opens, &[]).expect("a day");
    let fill = out.entries[0].fill().expect("a forced fill");
    assert_eq!((fill.cause, fill.side, fill.quantity), (FillCause::MarginCall, Side::Cover, quantity("1")));
    assert_eq!(out.entries[0].action_type, Some(ActionType::Liquidation));
    assert_eq!(books.account().margin_call(), None);
    assert_eq!(books.account().available(), Ok(money("25")));
    assert_eq!(out.entries.len(), 1, "no more than is needed");
}

#[test]
fn fractions_of_a_split_become_cash_and_value_stays() {
    let mut books = us("10000");
    let buy = order(&mut books, Side::Buy, "X", "15");
    trade(&mut books, day(D1), "30", buy);
    let closes = prices(&[("X", "36")]);
    let value = close(&mut books, day(D1), &closes).expect("a close").portfolio_value;
    let out =
        pre(&mut books, day(D2), &prices(&[("X", "24")]), &closes, &[split("X", D2, "1.5")]).expect("a day");
    let entry = &out.entries[0];
    assert_eq!((entry.amount, entry.price), (Some(quantity("22")), Some(price("24"))));
    assert_eq!((entry.portfolio_value, entry.cash), (value, money("9562")), "half a share of 24 in cash");
    let realized = entry.realized().expect("the fraction was sold");
    assert_eq!((realized.quantity, realized.cause, realized.pnl), (quantity("0.5"), None, money("2")));

    // 1:3 has no exact decimal, but a holding of whole triples still leaves no fraction.
    let mut books = us("10000");
    let buy = order(&mut books, Side::Buy, "X", "300");
    trade(&mut books, day(D1), "10", buy);
    let third = (Decimal::ONE / dec("3")).to_string();
    let closes = prices(&[("X", "10")]);
    let out = pre(&mut books, day(D2), &closes, &closes, &[split("X", D2, &third)]).expect("a day");
    assert_eq!(out.entries[0].amount, Some(quantity("100")));
    assert_eq!(out.entries[0].realized(), None);

    // A reverse split of less than one new share pays everything out and closes the position.
    let mut books = us("10000");
    let buy = order(&mut books, Side::Buy, "X", "5");
    trade(&mut books, day(D1), "10", buy);
    let out = pre(&mut books, day(D2), &closes, &closes, &[split("X", D2, "0.1")]).expect("a day");
    assert_eq!((out.entries[0].amount, out.entries[0].cash), (Some(quantity("0")), money("10000")));
    assert!(books.account().positions().is_empty());
}

fn model(fill_model: FillModel) -> Books {
    let mut profile = MarketProfile::us_equity().frictionless();
    profile.fill_model = fill_model;
    Books::new("ada", profile, money("1000"))
}

fn place(books: &mut Books, side: Side, amount: &str, at: &str) -> PendingOrder {
    let order = order(books, side, "X", amount);
    let approved = check(books, day(D1), at, order).expect("allowed at the open that was shown");
    match submit(books, approved).expect("fresh") {
        Submission::Pending(pending) => *pending,
        Submission::Filled(entry) => panic!("filled: {entry:?}"),
    }
}

/// `next_open` waits, is converted by a split, is checked again and fills or is rejected.
#[test]
fn orders_for_the_next_open_are_checked_again_there() {
    let mut books = model(FillModel::NextOpen);
    place(&mut books, Side::Buy, "10", "80");
    assert_eq!(books.account().version(), 0, "nothing has happened to the account");
    let end = close(&mut books, day(D1), &prices(&[("X", "90")])).expect("a close");
    assert_eq!(end.entries[0].action_type, Some(ActionType::NoTrade));
    let mut dear = books.clone();
    let out = pre(&mut dear, day(D2), &prices(&[("X", "100.01")]), &prices(&[]), &[]).expect("a day");
    assert_eq!(out.rejections[0].code, RejectCode::InsufficientCash, "the gap made it too dear");
    assert!(dear.pending().is_empty() && dear.account() == books.account());

    let mut absent = books.clone();
    pre(&mut absent, day(D2), &prices(&[]), &prices(&[]), &[]).expect("a day without a bar");
    assert_eq!(absent.pending().len(), 1, "it waits on");
    let out = pre(&mut absent, day(D3), &prices(&[("X", "50")]), &prices(&[]), &[]).expect("a day");
    assert_eq!(told(&out.entries), [(Some(ActionType::Buy), Some(price("50")))]);

    let split_by = [split("X", D2, "2")];
    let out =
        pre(&mut books, day(D2), &prices(&[("X", "46")]), &prices(&[("X", "90")]), &split_by).expect("a day");
    let fill = out.entries[0].fill().expect("a fill");
    assert_eq!((fill.quantity, fill.price, out.entries[0].action_id), (quantity("20"), price("46"), Some(1)));
    assert_eq!(fill.order.map(|id| id.0), Some(1));
}

#[test]
fn orders_for_the_close_fill_at_the_close_or_are_refused() {
    let mut books = model(FillModel::Close);
    place(&mut books, Side::Buy, "10", "80");
    place(&mut books, Side::Buy, "10", "80");
    let end = close(&mut books, day(D1), &prices(&[("X", "90")])).expect("a close");
    assert_eq!(told(&end.entries), [(Some(ActionType::Buy), Some(price("90")))]);
    assert_eq!(end.rejections[0].code, RejectCode::InsufficientCash, "the first took the cash");
    assert_eq!((end.cash, end.portfolio_value), (money("100"), money("1000")));
    assert_eq!(end.snapshots[0].unrealised_pnl, money("0"));
    let mut books = model(FillModel::Close);
    place(&mut books, Side::Buy, "10", "80");
    let end = close(&mut books, day(D1), &prices(&[])).expect("a close");
    assert_eq!(end.rejections[0].code, RejectCode::NoBarToday);
}

#[test]
fn what_is_left_at_the_end_expires() {
    let mut books = model(FillModel::NextOpen);
    let pending = place(&mut books, Side::Buy, "10", "80");
    let rejections = expire(&mut books);
    assert_eq!((rejections[0].code, rejections[0].order()), (RejectCode::Expired, Some(&pending.order)));
    assert!(books.pending().is_empty() && expire(&mut books).is_empty());
}

/// A day's rows: numbers from 1, the profit since the previous close, the last mark when there is no bar.
#[test]
fn a_close_compares_with_the_close_before() {
    let mut books = holding(Side::Buy);
    let first = close(&mut books, day(D1), &prices(&[("X", "101")])).expect("a close");
    assert_eq!((first.daily_profit, first.daily_return_pct), (money("100"), Some(dec("0.1"))));
    assert_eq!(first.gross_exposure, money("10100"));
    assert_eq!(first.last_action_id, 1, "the buy is the session's newest row");
    pre(&mut books, day(D2), &prices(&[]), &prices(&[("X", "101")]), &[]).expect("no bar at all");
    bar(&mut books, day(D2), &bars(&[])).expect("no bar at all");
    let second = close(&mut books, day(D2), &prices(&[])).expect("a close");
    assert_eq!((second.portfolio_value, second.daily_profit), (money("100100"), money("0")));
    assert_eq!(second.snapshots[0].close, price("101"), "the last mark is kept");
    assert_eq!((second.entries.len(), second.last_action_id), (1, 1), "numbers begin again");
    assert_eq!(second.entries[0].action_type, Some(ActionType::NoTrade));
    let again = close(&mut books, day(D2), &prices(&[]));
    assert_eq!(again, Err(LedgerError::OutOfOrder { reached: day(D2), day: day(D2) }));
    let before = books.clone();
    let again = pre(&mut books, day(D2), &prices(&[]), &prices(&[]), &[split("X", D2, "2")]);
    assert!(again.is_err() && books == before, "a day's actions happen once");
}

/// A loan costs 3 basis points per night: shares bought on Friday pay for three nights, and shares sold at
/// Monday's open have paid for them.
#[test]
fn loans_are_charged_for_the_nights_until_the_next_trading_day() {
    let mut books = lender("2000");
    let mut profile = serde_json::to_value(&books).expect("JSON");
    profile["profile"]["financing_bps_a_year"] = "1095".into();
    books = serde_json::from_value(profile).expect("books");
    let mut long = order(&mut books, Side::Buy, "X", "50");
    (long.leverage, long.stop) = (Some(dec("5")), Some(price("98")));
    trade(&mut books, day(D1), "100", long);
    let marks = prices(&[("X", "100")]);
    for (on, next, nights, charge) in [(D1, D2, 1, "1.2"), (D2, D3, 3, "3.6")] {
        pre(&mut books, day(on), &marks, &marks, &[]).expect("a day");
        let end = broker::close(&mut books, day(on), day(next), &marks).expect("a close");
        let row = end.entries.iter().find(|entry| entry.action_type == Some(ActionType::Financing));
        let row = row.expect("a charge is a row");
        let unit = money(charge).0 / dec("50");
        assert_eq!((row.amount, row.price), (Some(quantity("50")), Some(papertape_core::money::Price(unit))));
        let expected = LedgerEvent::Financing {
            day: day(on),
            symbol: Symbol::new("X"),
            amount: money(charge),
            nights: Some(nights),
            unit: Some(papertape_core::money::Price(unit)),
        };
        assert_eq!(row.event, Some(expected), "{on}");
        assert_eq!(row.action_id, Some(end.last_action_id), "it is the day's last row");
    }
    let sell = order(&mut books, Side::Sell, "X", "50");
    pre(&mut books, day(D3), &marks, &marks, &[]).expect("a day");
    trade(&mut books, day(D3), "100", sell);
    let end = close(&mut books, day(D3), &marks).expect("a close");
    assert!(end.entries.iter().all(|entry| entry.action_type != Some(ActionType::Financing)));
    assert_eq!(books.account().cash(), money("1995.2"));
}

/// Nights that no close has paid for, because the exchange opened later than expected, are charged before the
/// next open, and none is charged twice.
#[test]
fn nights_that_are_still_owed_are_charged_before_the_open() {
    let mut books = lender("1000");
    let mut stored = serde_json::to_value(&books).expect("JSON");
    stored["profile"]["financing_bps_a_year"] = "1095".into();
    books = serde_json::from_value(stored).expect("books");
    let mut long = order(&mut books, Side::Buy, "X", "50");
    (long.leverage, long.stop) = (Some(dec("5")), Some(price("98")));
    trade(&mut books, day(D1), "100", long);
    let marks = prices(&[("X", "100")]);
    let nights = |entries: &[LedgerEntry]| -> Vec<u32> {
        let of = |entry: &LedgerEntry| match entry.event {
            Some(LedgerEvent::Financing { nights, .. }) => nights,
            _ => None,
        };
        entries.iter().filter_map(of).collect()
    };
    let end = broker::close(&mut books, day(D1), day(D2), &marks).expect("a close");
    assert_eq!(nights(&end.entries), [1]);
    let out = pre(&mut books, day(D3), &marks, &marks, &[]).expect("a day");
    assert_eq!(nights(&out.entries), [3], "from the second to the sixth but for the night that was paid");
    // The exchange opened earlier than expected.
    let end = broker::close(&mut books, day(D3), day("2020-01-09"), &marks).expect("a close");
    assert_eq!(nights(&end.entries), [3]);
    let out = pre(&mut books, day("2020-01-07"), &marks, &marks, &[]).expect("a day");
    assert_eq!(nights(&out.entries), [0_u32; 0]);
    let end = broker::close(&mut books, day("2020-01-07"), day("2020-01-10"), &marks).expect("a close");
    assert_eq!(nights(&end.entries), [1]);
}

/// An insolvent account records its insolvency, closes its holdings at the next open, and trades no more.
#[test]
fn an_insolvent_account_trades_no_more() {
    let mut books = us("1000");
    let short = order(&mut books, Side::Short, "X", "8");
    trade(&mut books, day(D1), "100", short);
    let buy = order(&mut books, Side::Buy, "Y", "10");
    trade(&mut books, day(D1), "10", buy);
    let marks = prices(&[("X", "100"), ("Y", "10")]);
    close(&mut books, day(D1), &marks).expect("a close");
    // The gap costs 2,400; the account had 1,000.
    let opens = prices(&[("X", "400"), ("Y", "10")]);
    let out = pre(&mut books, day(D2), &opens, &prices(&[]), &[]).expect("a day");
    let found = books.account().insolvency().expect("it is named");
    assert_eq!((found.since, found.loss, found.owed), (day(D2), money("2400"), money("1400")));
    let causes: Vec<FillCause> =
        out.entries.iter().filter_map(|entry| entry.fill().map(|fill| fill.cause)).collect();
    assert_eq!(causes, [FillCause::Liquidation; 2], "the short, and then what is left");
    assert!(books.account().positions().is_empty());
    let again = order(&mut books, Side::Buy, "Y", "1");
    let rejection = check(&books, day(D2), "10", again).expect_err("nothing can be traded");
    assert_eq!((rejection.code, rejection.numbers["owed"]), (RejectCode::Insolvent, dec("1400")));
    let end = close(&mut books, day(D2), &opens).expect("a close");
    assert_eq!((end.insolvency, end.portfolio_value), (Some(found), money("-1400")));
    assert_eq!(end.daily_return_pct, Some(dec("-240")), "the day of the ruin has a return");
    pre(&mut books, day(D3), &opens, &opens, &[]).expect("a day");
    let end = close(&mut books, day(D3), &opens).expect("a close");
    assert_eq!((end.insolvency, end.daily_profit, end.daily_return_pct), (Some(found), money("0"), None));

    // At the close: holdings are closed at the next open, and waiting orders are rejected.
    let mut books = model(FillModel::NextOpen);
    place(&mut books, Side::Short, "10", "80");
    pre(&mut books, day(D2), &prices(&[("X", "80")]), &prices(&[]), &[]).expect("a day");
    let waits = place(&mut books, Side::Cover, "10", "80");
    let end = close(&mut books, day(D2), &prices(&[("X", "190")])).expect("a close");
    assert_eq!(end.insolvency.map(|found| found.owed), Some(money("100")));
    assert_eq!(end.snapshots.len(), 1);
    let out = pre(&mut books, day(D3), &prices(&[("X", "100")]), &prices(&[]), &[]).expect("a day");
    assert_eq!(out.rejections[0].code, RejectCode::Insolvent);
    assert_eq!(out.rejections[0].order(), Some(&waits.order));
    assert_eq!(told(&out.entries), [(Some(ActionType::Liquidation), Some(price("100")))]);
    let end = close(&mut books, day(D3), &prices(&[])).expect("a close");
    assert!(end.insolvency.is_some() && end.portfolio_value.is_positive(), "it is final");
}

/// A stop on the day of a T+1 purchase cannot sell; the next day it does.
#[test]
fn a_stop_waits_for_t_plus_one() {
    let mut books = Books::new("ada", MarketProfile::cn_a_share().frictionless(), money("100000"));
    let mut buy = order(&mut books, Side::Buy, "X", "200");
    buy.stop = Some(price("9.5"));
    trade(&mut books, day(D1), "10", buy);
    let falling = bars(&[("X", ["10", "10", "9", "9.6"])]);
    assert!(bar(&mut books, day(D1), &falling).expect("a bar").entries.is_empty());
    close(&mut books, day(D1), &prices(&[("X", "9.6")])).expect("a close");
    pre(&mut books, day(D2), &prices(&[("X", "9.6")]), &prices(&[]), &[]).expect("a day");
    let out = bar(&mut books, day(D2), &falling).expect("a bar");
    assert_eq!(told(&out.entries), [(Some(ActionType::Stop), Some(price("9.5")))]);
}
