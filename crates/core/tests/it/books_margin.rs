//! Properties of borrowing and losses: every night is paid for once, an isolated position loses at most its
//! margin, and an account with nothing left records its insolvency and stops trading.

use crate::books_support::{dec, lender, money, prices, us};
use papertape_core::broker::{
    Books, LedgerEntry, Ohlc, Order, Quote, RejectCode, Side, Submission, approve, bar, close, pre, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::{FillCause, LedgerEvent};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::Date;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

fn x() -> Symbol {
    Symbol::new("X")
}

fn at(price: Decimal) -> BTreeMap<Symbol, Price> {
    BTreeMap::from([(x(), Price(price))])
}

fn day_one() -> Date {
    "2024-01-02".parse().expect("a date")
}

fn later(date: Date, days: i64) -> Date {
    date.checked_add(jiff::Span::new().days(days)).expect("a date")
}

fn open(books: &mut Books, on: Date, price: Decimal, side: Side, units: Decimal, leverage: Decimal) -> bool {
    let away = price * dec("0.05") / leverage;
    let stop = if side.is_long() { price - away } else { price + away };
    let order = Order {
        id: books.next_order_id(),
        symbol: x(),
        side,
        quantity: Quantity(units),
        stop: Some(Price(stop.round_dp(6))).filter(|_| leverage > Decimal::ONE),
        target: None,
        leverage: Some(leverage),
        reason: None,
    };
    let quote = Quote::at(x(), on, Price(price));
    let Ok(approved) = approve(books.account(), books.profile(), &quote, order) else { return false };
    matches!(submit(books, approved), Ok(Submission::Filled(_)))
}

fn with_costs(mut books: Books, change: impl Fn(&mut serde_json::Value)) -> Books {
    let mut stored = serde_json::to_value(&books).expect("JSON");
    change(&mut stored["profile"]);
    books = serde_json::from_value(stored).expect("books");
    books
}

fn charges(entries: &[LedgerEntry]) -> Vec<(u32, Decimal, Decimal)> {
    let of = |entry: &LedgerEntry| match &entry.event {
        Some(LedgerEvent::Financing { amount, nights, unit, .. }) => {
            Some((nights.expect("is said"), amount.0, unit.expect("is said").0))
        }
        _ => None,
    };
    entries.iter().filter_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Goal: a position held through a night pays for it, once, even when the calendar turned out different
    /// from expected: the nights charged are those between the opening and the day of the close-out. A charge
    /// is units x charge per unit, and the charge per unit follows from the loan, or from the market value of
    /// a short position.
    #[test]
    fn every_night_is_paid_for_once(
        short in any::<bool>(),
        leverage in 1_i64..5,
        units in 1_i64..100_000,
        rate in 1_i64..5_000,
        days in prop::collection::vec((1_i64..6, 1_i64..6, 95_i64..106), 1..12),
    ) {
        let side = if short { Side::Short } else { Side::Buy };
        let (leverage, units) = (Decimal::from(leverage), Decimal::new(units, 3));
        let mut books = with_costs(lender("1000000"), |profile| {
            profile["financing_bps_a_year"] = rate.to_string().into();
        });
        let mut on = day_one();
        let mut price = Decimal::ONE_HUNDRED;
        pre(&mut books, on, &at(price), &BTreeMap::new(), &[]).expect("begins");
        prop_assert!(open(&mut books, on, price, side, units, leverage));
        let position = books.account().position(&x()).cloned().expect("is held");
        let loan = position.cost.0 - position.margin.0;
        let first = on;
        let mut nights = 0;
        let mut cash = books.account().cash().0;
        let mut check = |entries: &[LedgerEntry], price: Decimal, cash_now: Decimal| {
            for (n, amount, unit) in charges(entries) {
                nights += n;
                cash -= amount;
                prop_assert!((amount - (unit * units).round_dp(8)).abs() <= dec("0.00000001"));
                let financed = if short { units * price } else { loan };
                let due = financed * Decimal::from(rate) / dec("10000") * Decimal::from(n) / dec("365");
                prop_assert!((amount - due).abs() < dec("0.000001"), "{amount} for {due}");
            }
            prop_assert_eq!(cash_now, cash);
            Ok(())
        };
        for (thought, really, percent) in days {
            let end = close(&mut books, on, later(on, thought), &at(price)).expect("ends");
            check(&end.entries, price, end.cash.0)?;
            on = later(on, really);
            // The price never falls, so the stop, which does not move, is never reached.
            let next = Decimal::from(percent.clamp(100, 101));
            let out = pre(&mut books, on, &at(next), &at(price), &[]).expect("begins");
            check(&out.entries, price, books.account().cash().0)?;
            price = next;
        }
        let sold = Order {
            id: books.next_order_id(),
            symbol: x(),
            side: position.closing_side(),
            quantity: Quantity(units),
            stop: None,
            target: None,
            leverage: None,
            reason: None,
        };
        let quote = Quote::at(x(), on, Price(price));
        let approved = approve(books.account(), books.profile(), &quote, sold).expect("may be closed");
        submit(&mut books, approved).expect("is closed");
        let end = close(&mut books, on, later(on, 3), &at(price)).expect("ends");
        prop_assert!(charges(&end.entries).is_empty(), "what is closed pays nothing more");
        let held = first.until((jiff::Unit::Day, on)).expect("days").get_days();
        let paid_ahead = books_paid_beyond(nights, held);
        prop_assert!(leverage == Decimal::ONE && !short || paid_ahead.is_some(), "{nights} nights of {held}");
    }

    /// Goal: with isolated margin, no path, gap, fee or slippage takes more from a position than its margin:
    /// closing it never reduces the available amount.
    #[test]
    fn an_isolated_position_loses_its_margin_at_most(
        short in any::<bool>(),
        leverage in prop::sample::select(vec!["1", "2", "3.7", "5", "10"]),
        units in 1_i64..90_000,
        slippage in prop::sample::select(vec!["0", "2", "250"]),
        fee in prop::sample::select(vec![("0", "0"), ("10", "0"), ("40", "25")]),
        path in prop::collection::vec((-90_i64..300, 0_i64..60, 0_i64..60), 1..8),
    ) {
        let side = if short { Side::Short } else { Side::Buy };
        let mut books = with_costs(lender("10000"), |profile| {
            profile["slippage_bps"] = slippage.into();
            profile["fees"]["bps"] = fee.0.into();
            profile["fees"]["minimum"] = fee.1.into();
        });
        let mut on = day_one();
        let mut price = Decimal::ONE_HUNDRED;
        pre(&mut books, on, &at(price), &BTreeMap::new(), &[]).expect("begins");
        let opened = open(&mut books, on, price, side, Decimal::new(units, 3), dec(leverage));
        prop_assume!(opened);
        let own = books.account().position(&x()).cloned().expect("is held");
        let available = books.account().available().expect("fits");
        let check = |books: &Books, entries: &[LedgerEntry]| {
            for entry in entries {
                let Some(realized) = entry.realized() else { continue };
                let closing_fee = entry.fill().map_or(Decimal::ZERO, |fill| fill.fee.0);
                let lost = -(realized.gross_pnl.0 - closing_fee);
                prop_assert!(lost <= realized.margin.0, "{lost} of {} in {entry:?}", realized.margin);
                prop_assert!(entry.fill().is_some_and(|fill| !fill.slippage.is_negative()));
                prop_assert!(books.account().available().expect("fits") >= available, "{entry:?}");
                prop_assert_eq!(books.insolvency(), None, "{:?} was all that could be lost", own.margin);
            }
            Ok(())
        };
        for (gap, up, down) in path {
            let by = |from: Decimal, percent: i64| (from * Decimal::new(100 + percent, 2)).round_dp(4);
            let bar_of = Ohlc {
                open: Price(price),
                high: Price(by(price, up)),
                low: Price(by(price, -down)),
                close: Price(price),
            };
            let out = bar(&mut books, on, &BTreeMap::from([(x(), bar_of)])).expect("passes");
            check(&books, &out.entries)?;
            let end = close(&mut books, on, later(on, 1), &at(price)).expect("ends");
            check(&books, &end.entries)?;
            on = later(on, 1);
            price = by(price, gap).max(dec("0.01"));
            let out = pre(&mut books, on, &at(price), &BTreeMap::new(), &[]).expect("begins");
            check(&books, &out.entries)?;
        }
    }

    /// Goal: an account is insolvent from the first open or close at which its value is zero or below,
    /// permanently: this is recorded once, with the loss; every order is rejected; holdings are closed at the
    /// next open; and a later gain changes nothing. An account that always has something left is never
    /// insolvent.
    #[test]
    fn an_insolvent_account_is_named_and_stopped(
        units in 1_i64..100,
        path in prop::collection::vec((-60_i64..400, -20_i64..60, any::<bool>()), 1..10),
    ) {
        let mut books = us("10000");
        let mut on = day_one();
        let mut price = Decimal::ONE_HUNDRED;
        pre(&mut books, on, &at(price), &BTreeMap::new(), &[]).expect("begins");
        prop_assert!(open(&mut books, on, price, Side::Short, units.into(), Decimal::ONE));
        let mut named = Vec::new();
        let mut ruined = false;
        let mut last_value = Decimal::from(10_000);
        for (gap, move_by, has_bar) in path {
            let insolvent_before = books.insolvency();
            let end_price = (price * Decimal::new(100 + move_by, 2)).round_dp(2);
            let end = close(&mut books, on, later(on, 1), &at(end_price)).expect("ends");
            ruined |= end.portfolio_value.0 <= Decimal::ZERO;
            prop_assert_eq!(end.insolvency.is_some(), ruined, "{:?}", end);
            prop_assert!(insolvent_before.is_none() || end.insolvency == insolvent_before);
            let value = end.portfolio_value.0;
            named.extend(end.entries.into_iter().filter(is_insolvency).map(|entry| (entry, last_value)));
            last_value = value;
            on = later(on, 1);
            price = (end_price * Decimal::new(100 + gap, 2)).round_dp(2);
            let opens = if has_bar { at(price) } else { prices(&[]) };
            let was = books.insolvency().is_some();
            let out = pre(&mut books, on, &opens, &BTreeMap::new(), &[]).expect("begins");
            if !was {
                // Only the values at the open, before the remaining positions were closed.
                ruined |= out.entries.iter().any(is_insolvency);
            }
            named.extend(out.entries.iter().filter(|e| is_insolvency(e)).map(|e| (e.clone(), last_value)));
            if books.insolvency().is_some() {
                prop_assert!(!has_bar || books.account().positions().is_empty(), "{books:?}");
                for side in [Side::Buy, Side::Short, Side::Cover, Side::Sell] {
                    let order = Order {
                        id: books.next_order_id(),
                        symbol: x(),
                        side,
                        quantity: Quantity(Decimal::ONE),
                        stop: None,
                        target: None,
                        leverage: None,
                        reason: None,
                    };
                    let quote = Quote::at(x(), on, Price(price));
                    let code = approve(books.account(), books.profile(), &quote, order).map_err(|r| r.code);
                    prop_assert_eq!(code.err(), Some(RejectCode::Insolvent));
                }
            }
            if !has_bar {
                price = end_price;
            }
        }
        prop_assert!(named.len() <= 1, "it is said once: {named:?}");
        for (entry, before) in &named {
            let Some(LedgerEvent::Insolvency { loss, owed, .. }) = &entry.event else { continue };
            prop_assert_eq!(loss.0, *before - entry.portfolio_value.0);
            prop_assert_eq!(*owed, Money(-entry.portfolio_value.0));
            prop_assert!(entry.portfolio_value <= money("0"));
        }
    }
}

fn is_insolvency(entry: &LedgerEntry) -> bool {
    matches!(entry.event, Some(LedgerEvent::Insolvency { .. }))
}

/// The nights charged beyond those held, which a close expected to be without trading: at most four.
fn books_paid_beyond(nights: u32, held: i32) -> Option<u32> {
    nights.checked_sub(u32::try_from(held).ok()?).filter(|ahead| *ahead <= 4)
}

/// Goal: the random paths reach the cases they are meant for: gaps through the margin, and ruin.
#[test]
fn a_gap_through_the_margin_costs_the_margin() {
    for (side, gap) in [(Side::Buy, "40"), (Side::Short, "900")] {
        let mut books = with_costs(lender("1000"), |profile| {
            profile["slippage_bps"] = "10".into();
            profile["fees"]["bps"] = "10".into();
        });
        let on = day_one();
        pre(&mut books, on, &at(Decimal::ONE_HUNDRED), &BTreeMap::new(), &[]).expect("begins");
        assert!(open(&mut books, on, Decimal::ONE_HUNDRED, side, dec("20"), dec("4")));
        let before = books.account().available().expect("fits");
        close(&mut books, on, later(on, 1), &at(Decimal::ONE_HUNDRED)).expect("ends");
        let out = pre(&mut books, later(on, 1), &at(dec(gap)), &BTreeMap::new(), &[]).expect("begins");
        let fill = out.entries[0].fill().expect("a fill");
        assert_eq!((fill.cause, fill.fee, fill.slippage), (FillCause::Liquidation, Money::ZERO, Money::ZERO));
        let after = books.account().available().expect("fits");
        assert!(after >= before && after.0 - before.0 < dec("0.000001"), "{before} {after}");
    }
}
