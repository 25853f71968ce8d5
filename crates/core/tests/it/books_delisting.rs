//! The effect of a delisting on the books.

use crate::books_support::{close, day, lender, money, order, price, prices, trade, us};
use papertape_core::broker::{ActionType, Books, FillModel, MarketProfile, RejectCode, Side, pre, submit};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::money::Money;

const D1: &str = "2020-01-02";
const D2: &str = "2020-01-03";
const D3: &str = "2020-01-06";

fn delisting(pays: Option<&str>) -> CorporateAction {
    let kind = CorporateActionKind::Delisting { pays: pays.map(price) };
    CorporateAction { symbol: Symbol::new("X"), ex_date: day(D2), kind }
}

// Goal: known answers. 100 shares at 50 of 10,000, last seen at 47, long and short: the last price, cash, and nothing.
#[test]
fn a_delisted_position_is_settled_by_its_terms() {
    let cases = [
        (Side::Buy, None, "47", "9700", "-300"),
        (Side::Buy, Some("30"), "30", "8000", "-2000"),
        (Side::Buy, Some("0"), "0", "5000", "-5000"),
        (Side::Short, None, "47", "10300", "300"),
        (Side::Short, Some("30"), "30", "12000", "2000"),
        (Side::Short, Some("0"), "0", "15000", "5000"),
    ];
    for (side, pays, at, cash, pnl) in cases {
        let mut books = us("10000");
        let open = order(&mut books, side, "X", "100");
        trade(&mut books, day(D1), "50", open);
        close(&mut books, day(D1), &prices(&[("X", "47")])).expect("a close");
        let out = pre(&mut books, day(D2), &prices(&[]), &prices(&[("X", "47")]), &[delisting(pays)])
            .expect("a day");
        let [entry] = out.entries.as_slice() else { panic!("{:?}", out.entries) };
        let told = (entry.action_type, entry.price, entry.cash, entry.portfolio_value);
        assert_eq!(
            told,
            (Some(ActionType::Delisting), Some(price(at)), money(cash), money(cash)),
            "{side} {pays:?}"
        );
        let realized = entry.realized().expect("it closes");
        assert_eq!(
            (realized.pnl, realized.fees, realized.position_closed),
            (money(pnl), Money::ZERO, true),
            "{side} {pays:?}"
        );
        assert!(books.account().positions().is_empty());
        // It is settled only once.
        let again = pre(&mut books, day(D3), &prices(&[]), &prices(&[]), &[delisting(pays)]).expect("a day");
        assert!(again.entries.is_empty());
    }
}

// Goal: an order waiting for a price that will never come is rejected, with the reason.
#[test]
fn a_waiting_order_is_refused() {
    let profile = MarketProfile { fill_model: FillModel::NextOpen, ..us("1").profile().clone() };
    let mut books = Books::new("ada", profile, money("10000"));
    let waits = order(&mut books, Side::Buy, "X", "10");
    let approved = crate::books_support::check(&books, day(D1), "50", waits).expect("is allowed");
    submit(&mut books, approved).expect("waits");
    let out = pre(&mut books, day(D2), &prices(&[]), &prices(&[]), &[delisting(None)]).expect("a day");
    let codes: Vec<RejectCode> = out.rejections.iter().map(|rejection| rejection.code).collect();
    assert_eq!((codes, books.pending().len()), (vec![RejectCode::Delisted], 0));
    assert_eq!(books.account().cash(), money("10000"));
}

// Goal: with isolated margin, a worthless share costs the margin and nothing more.
#[test]
fn isolated_margin_bounds_the_loss() {
    let mut books = lender("1000");
    let mut open = order(&mut books, Side::Buy, "X", "10");
    open.leverage = Some(10.into());
    open.stop = Some(price("99"));
    trade(&mut books, day(D1), "100", open);
    let out = pre(&mut books, day(D2), &prices(&[]), &prices(&[("X", "100")]), &[delisting(Some("0"))])
        .expect("a day");
    assert_eq!(out.entries[0].action_type, Some(ActionType::Delisting));
    assert_eq!(books.account().cash(), money("900"));
}
