//! The rules of stops and leverage over random positions and random paths with gaps: the code enforces them,
//! and every rejection reports what would have been allowed.

use crate::books_support::{close, day, lender, price};
use papertape_core::broker::{
    Books, MAX_LEVERAGED_LOSS, Ohlc, Order, Quote, RejectCode, Side, StopChange, Submission, approve,
    approve_stops, bar, change_stops, pre, submit,
};
use papertape_core::id::Symbol;
use papertape_core::ledger::FillCause;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::Date;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

const OPEN: i64 = 1_000;

fn symbol() -> Symbol {
    Symbol::new("BTC")
}

fn quote(on: Date, at: Decimal) -> Quote {
    Quote::at(symbol(), on, Price(at))
}

fn wish(books: &mut Books, short: bool, leverage: i64, stop: Option<Decimal>) -> Order {
    Order {
        id: books.next_order_id(),
        symbol: symbol(),
        side: if short { Side::Short } else { Side::Buy },
        quantity: Quantity(Decimal::TEN),
        stop: stop.map(Price),
        target: None,
        leverage: Some(leverage.into()),
        reason: None,
    }
}

/// The stop at `distance` on the losing side.
fn away(short: bool, entry: Decimal, distance: Decimal) -> Decimal {
    if short { entry + distance } else { entry - distance }
}

fn prices(at: Decimal) -> BTreeMap<Symbol, Price> {
    BTreeMap::from([(symbol(), Price(at))])
}

proptest! {
    /// Goal: a leveraged order needs a stop, on the losing side, within `|entry - stop| / entry x leverage <=
    /// 10%`; beyond it the rejection reports the maximum distance, which is itself allowed, while anything
    /// further is not. A leverage out of range is rejected with the range. A rejection changes nothing.
    #[test]
    fn what_is_refused_says_what_is_admissible(
        short in any::<bool>(),
        leverage in -3_i64..20,
        distance in prop::option::of(-200_i64..400),
    ) {
        let mut books = lender("100000");
        let on = day("2024-01-02");
        let open = Decimal::from(OPEN);
        let distance = distance.map(Decimal::from);
        let stop = distance.map(|distance| away(short, open, distance));
        let order = wish(&mut books, short, leverage, stop);
        let before = books.account().clone();
        let decided = approve(books.account(), books.profile(), &quote(on, open), order.clone());
        prop_assert_eq!(&before, books.account());
        let (least, most) = (books.profile().min_leverage, books.profile().leverage_limit());
        let times = Decimal::from(leverage);
        let loss = distance.map(|distance| distance / open * times);
        let expected = if times < least || times > most {
            Some(RejectCode::LeverageLimit)
        } else if let Some(distance) = distance {
            let gone = away(short, open, distance) <= Decimal::ZERO;
            if distance <= Decimal::ZERO || gone {
                Some(RejectCode::StopWrongSide)
            } else {
                let bound = loss.filter(|loss| times > Decimal::ONE && *loss > MAX_LEVERAGED_LOSS);
                bound.map(|_| RejectCode::StopTooFar)
            }
        } else {
            (times > Decimal::ONE).then_some(RejectCode::StopRequired)
        };
        prop_assert_eq!(decided.as_ref().err().map(|refusal| refusal.code), expected);
        let Err(refusal) = decided else { return Ok(()) };
        match refusal.code {
            RejectCode::StopTooFar => {
                let largest = refusal.numbers["largest_distance"];
                let furthest = Order { stop: Some(Price(refusal.numbers["furthest_stop"])), ..order.clone() };
                prop_assert!(refusal.message.contains(&largest.to_string()));
                let told = approve(books.account(), books.profile(), &quote(on, open), furthest);
                prop_assert!(told.is_ok(), "what is told must be admissible: {told:?}");
                let beyond = away(short, open, largest + Decimal::new(1, 6));
                let beyond = Order { stop: Some(Price(beyond)), ..order };
                let code = approve(books.account(), books.profile(), &quote(on, open), beyond)
                    .err()
                    .map(|refusal| refusal.code);
                prop_assert_eq!(code, Some(RejectCode::StopTooFar));
            }
            RejectCode::LeverageLimit => {
                prop_assert_eq!((refusal.numbers["least"], refusal.numbers["most"]), (least, most));
            }
            RejectCode::StopWrongSide => prop_assert_eq!(refusal.numbers["price"], open),
            other => prop_assert_eq!(other, RejectCode::StopRequired),
        }
    }

    /// Goal: along any path with gaps a leveraged position always has its stop; the stop only ever moves
    /// towards the price; the position ends at the stop, at an open beyond it, or at its liquidation; and it
    /// never touches another position's margin while the path has no gap.
    #[test]
    fn a_stop_is_tightened_and_ends_the_position(
        short in any::<bool>(),
        leverage in 2_i64..=10,
        path in prop::collection::vec((-9_i64..10, 0_i64..8, 0_i64..8, -60_i64..60), 1..12),
    ) {
        let mut books = lender("100000");
        let mut date = day("2024-01-02");
        let mut last = Decimal::from(OPEN);
        pre(&mut books, date, &prices(last), &BTreeMap::new(), &[]).expect("begins");
        let most = last * MAX_LEVERAGED_LOSS / Decimal::from(leverage);
        let stop = away(short, last, most.trunc_with_scale(4));
        let order = wish(&mut books, short, leverage, Some(stop));
        let approved = approve(books.account(), books.profile(), &quote(date, last), order).expect("is allowed");
        prop_assert!(matches!(submit(&mut books, approved), Ok(Submission::Filled(_))));
        let mut in_force = stop;
        for (n, (gap, up, down, asked)) in path.into_iter().enumerate() {
            if n > 0 {
                date = date.tomorrow().expect("a day");
                last = (last * Decimal::from(100 + gap) / Decimal::ONE_HUNDRED).round_dp(6);
                let out = pre(&mut books, date, &prices(last), &BTreeMap::new(), &[]).expect("begins");
                for fill in out.entries.iter().filter_map(|entry| entry.fill()) {
                    // A gap fills at the open, never at a price that did not trade, except beyond the margin,
                    // where the loss is the margin.
                    match fill.cause {
                        FillCause::Liquidation => {
                            let better = if short { fill.price.0 <= last } else { fill.price.0 >= last };
                            prop_assert!(better, "{fill:?} is worse than {last}");
                        }
                        _ => prop_assert_eq!(fill.price, Price(last)),
                    }
                }
            }
            if books.account().position(&symbol()).is_some() {
                // The agent requests a stop; only a tighter one on the right side is accepted.
                let wanted = away(short, last, Decimal::from(asked));
                let change =
                    StopChange { id: books.next_order_id(), symbol: symbol(), stop: Some(Price(wanted)), target: None, reason: None };
                let looser = if short { wanted > in_force } else { wanted < in_force };
                match approve_stops(books.account(), &quote(date, last), change) {
                    Ok(approved) => {
                        prop_assert!(!looser && asked > 0);
                        change_stops(&mut books, approved).expect("is fresh");
                        in_force = wanted;
                    }
                    Err(refusal) => {
                        prop_assert!(looser || asked <= 0 || wanted <= Decimal::ZERO, "{refusal:?}");
                    }
                }
            }
            let percent = |change: i64| (last * Decimal::from(100 + change) / Decimal::ONE_HUNDRED).round_dp(6);
            let ohlc = Ohlc { open: Price(last), high: Price(percent(up)), low: Price(percent(-down)), close: Price(last) };
            let out = bar(&mut books, date, &BTreeMap::from([(symbol(), ohlc)])).expect("passes");
            for fill in out.entries.iter().filter_map(|entry| entry.fill()) {
                // In a bar that opens on the right side, the fill price is the stop.
                prop_assert_eq!(fill.cause, FillCause::Stop);
                prop_assert_eq!(fill.price, Price(in_force));
            }
            let reached = if short { percent(up) >= in_force } else { percent(-down) <= in_force };
            match books.account().position(&symbol()) {
                Some(held) => {
                    prop_assert!(!reached);
                    prop_assert_eq!(held.stop, Some(Price(in_force)));
                    // The stop is reached before the margin is lost.
                    let liquidation = held.liquidation_price().expect("it is leveraged").0;
                    let before = if short { in_force < liquidation } else { in_force > liquidation };
                    prop_assert!(before, "the stop at {in_force} comes after {liquidation}");
                }
                None => {
                    close(&mut books, date, &prices(last)).expect("ends");
                    return Ok(());
                }
            }
            close(&mut books, date, &prices(last)).expect("ends");
        }
    }
}

/// Goal: margins are isolated: a liquidated position leaves another one's margin and stop unchanged.
#[test]
fn a_lost_position_takes_its_own_margin_alone() {
    let mut books = lender("100000");
    let on = day("2024-01-02");
    pre(&mut books, on, &BTreeMap::new(), &BTreeMap::new(), &[]).expect("begins");
    for (name, stop) in [("BTC", "995"), ("ETH", "990")] {
        let order = Order { symbol: Symbol::new(name), ..wish(&mut books, false, 10, Some(price(stop).0)) };
        let at = Quote::at(order.symbol.clone(), on, Price(OPEN.into()));
        let approved = approve(books.account(), books.profile(), &at, order).expect("is allowed");
        submit(&mut books, approved).expect("is fresh");
    }
    let kept = books.account().position(&Symbol::new("ETH")).cloned();
    let fall = Ohlc { open: price("1000"), high: price("1000"), low: price("500"), close: price("500") };
    let out = bar(&mut books, on, &BTreeMap::from([(symbol(), fall)])).expect("passes");
    let realized = out.entries[0].realized().expect("it was closed");
    assert_eq!((realized.exit_price, realized.pnl), (price("995"), Money((-50).into())));
    assert!(realized.pnl.abs() <= realized.margin);
    assert_eq!(books.account().position(&Symbol::new("ETH")).cloned(), kept);
}
