//! Members of an index: those of the day, as far as they are known, and a view that shows nothing else.

use crate::market_answers::{answers, around};
use crate::market_rows::{Rows, rows};
use papertape_core::broker::{MarketProfile, Order, Quote, RejectCode, Side, approve};
use papertape_core::id::Symbol;
use papertape_core::ledger::{Account, OrderId};
use papertape_core::market::{Dataset, MarketView, Membership, ReadError};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeSet;

const INDEX: &str = "IDX";
const SYMBOLS: [&str; 4] = ["AAA", "BBB", "CCC", "DDD"];

/// Rows in which symbols join and leave: every other of some dates is the end of a period. Announcements are a number
/// of hours from the change.
fn changing() -> impl Strategy<Value = Rows> {
    let announced = prop::option::of(-80..80_i64);
    let dates = prop::collection::btree_map(1..17_i8, announced, 0..5);
    (rows(), prop::collection::vec(dates, SYMBOLS.len())).prop_map(|(mut rows, changes)| {
        for (symbol, dates) in SYMBOLS.iter().zip(changes) {
            let dates: Vec<(Date, Option<Timestamp>)> = dates
                .into_iter()
                .map(|(day, hours)| {
                    let date = Date::constant(2024, 3, day);
                    let noon = date.at(12, 0, 0, 0).in_tz("America/New_York").expect("a time").timestamp();
                    (date, hours.map(|hours| noon + jiff::SignedDuration::from_hours(hours)))
                })
                .collect();
            rows.memberships.extend(dates.chunks(2).map(|chunk| Membership {
                index: INDEX.to_owned(),
                symbol: Symbol::new(symbol),
                from: chunk[0].0,
                until: chunk.get(1).map(|(date, _)| *date),
                announced_at: chunk[0].1,
                until_announced_at: chunk.get(1).and_then(|(_, at)| *at),
            }));
        }
        rows
    })
}

fn instants(rows: &Rows) -> Vec<Timestamp> {
    let days = rows.days.iter().flat_map(|day| [day.open, day.close]);
    let announced =
        rows.memberships.iter().flat_map(|one| [one.announced_at, one.until_announced_at]).flatten();
    days.chain(announced).flat_map(around).filter(|at| *at >= rows.days[0].open).collect()
}

/// The rule, written anew: by days, of which each takes over what it had before unless a change says otherwise.
fn is_member(rows: &Rows, symbol: &str, instant: Timestamp) -> bool {
    let today = rows.days.iter().rev().find(|day| day.open <= instant).expect("a day has begun").date;
    let known = |date: Date, announced: Option<Timestamp>| {
        let first = rows.days.iter().find(|day| day.date >= date);
        announced.or(first.map(|day| day.open)).is_some_and(|at| at <= instant)
    };
    let mut date = Date::constant(2024, 1, 1);
    let mut member = false;
    while date <= today {
        for one in rows.memberships.iter().filter(|one| one.symbol.as_str() == symbol) {
            if one.until == Some(date) && known(date, one.until_announced_at) {
                member = false;
            }
        }
        for one in rows.memberships.iter().filter(|one| one.symbol.as_str() == symbol) {
            if one.from == date && known(date, one.announced_at) {
                member = true;
            }
        }
        date = date.tomorrow().expect("a date");
    }
    member
}

fn members(view: &MarketView<'_>) -> BTreeSet<Symbol> {
    view.members(INDEX).map(|read| read.value).unwrap_or_default()
}

fn dates(rows: &Rows) -> Vec<Date> {
    rows.days.iter().map(|day| day.date).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Goal: at every instant the members are those of the day whose changes were known, nothing read is known later,
    // and a dataset cut at the instant says the same.
    #[test]
    fn members_are_those_that_were_known(rows in changing()) {
        let dataset = rows.build();
        for instant in instants(&rows) {
            let view = dataset.view(instant);
            let expected: BTreeSet<Symbol> =
                SYMBOLS.iter().filter(|symbol| is_member(&rows, symbol, instant)).map(Symbol::new).collect();
            prop_assert_eq!(members(&view), expected.clone(), "at {}", instant);
            if let Ok(read) = view.members(INDEX) {
                prop_assert!(read.exposure.latest_known_at.is_none_or(|at| at <= instant));
            }
            prop_assert_eq!(members(&dataset.truncate_at(instant).view(instant)), expected);
        }
    }

    // Goal: a view of a universe answers everything as if there were no symbols but the members and what is held: one
    // that joins later, or has left, or is in no index looks like one that does not exist.
    #[test]
    fn a_universe_shows_what_there_would_be_without_the_others(rows in changing(), held in 0..5_usize) {
        let dataset = rows.build();
        let held: BTreeSet<Symbol> = SYMBOLS.get(held).map(Symbol::new).into_iter().collect();
        for day in &rows.days {
            for instant in [day.open, day.close] {
                let view = dataset.view(instant).in_universe(INDEX, &held);
                let mut shown = members(&dataset.view(instant));
                shown.extend(held.iter().cloned());
                let mut only = rows.clone();
                only.keep_symbols(&shown);
                let only = only.build();
                let (dates, all) = (dates(&rows), SYMBOLS.map(Symbol::new));
                prop_assert_eq!(
                    answers(&view, &all, &dates),
                    answers(&only.view(instant), &all, &dates),
                    "at {}", instant
                );
                let listed: Vec<Symbol> = only.view(instant).symbols().value;
                prop_assert_eq!(view.all_listed().iter().cloned().collect::<Vec<_>>(), listed);
            }
        }
    }
}

fn small() -> Dataset {
    let symbol = |name: &str, data: papertape_testkit::data::SmallData| {
        data.symbol(name, &[["10", "11", "9", "10"], ["10", "11", "9", "10"]])
    };
    let data = papertape_testkit::data::SmallData::new("2024-03-04", 2);
    let data = symbol("IN", symbol("LEFT", symbol("OUT", data)));
    data.member(INDEX, "IN", 0, None).member(INDEX, "LEFT", 0, Some(1)).member(INDEX, "OUT", 1, None).build()
}

/// Goal: outside of the universe nothing is opened or enlarged, what is held is closed; whether a symbol joins later,
/// has bars or does not exist, the rejection is the same but for its name.
#[test]
fn what_is_outside_of_the_universe_can_only_be_closed() {
    let dataset = small();
    let day = dataset.days()[0];
    let profile = MarketProfile::us_equity().frictionless();
    let account = Account::new("one", Money::from(1_000));
    let view = dataset.view(day.open).in_universe(INDEX, &BTreeSet::new());
    let order = |symbol: &str, side| Order {
        id: OrderId(1),
        symbol: symbol.into(),
        side,
        quantity: Quantity::from(1),
        stop: None,
        target: None,
        leverage: None,
        reason: None,
    };
    let quote = |symbol: &str| {
        let symbol = Symbol::new(symbol);
        let conditions = view.conditions(&profile, &symbol);
        match view.price(&symbol) {
            Ok(read) => Quote::at(symbol, day.date, read.value.price).under(conditions),
            Err(_) => Quote::unknown(symbol, day.date).under(conditions),
        }
    };
    assert!(approve(&account, &profile, &quote("IN"), order("IN", Side::Buy)).is_ok());
    for side in [Side::Buy, Side::Sell, Side::Short] {
        let told = |symbol: &str| {
            let refused =
                approve(&account, &profile, &quote(symbol), order(symbol, side)).expect_err("refused");
            (refused.code, refused.message.replace(symbol, "IT"), refused.numbers)
        };
        assert_eq!(told("OUT").0, RejectCode::NotInUniverse);
        assert_eq!(told("OUT"), told("NOBODY"), "{side}");
    }
    assert!(matches!(
        view.bars(&Symbol::new("OUT"), Default::default()),
        Err(ReadError::UnknownSymbol { .. })
    ));
    // A quote of what is held and has left: it is not enlarged, and closing is for the later checks to decide.
    let left =
        dataset.view(dataset.days()[1].open).in_universe(INDEX, &BTreeSet::from([Symbol::new("LEFT")]));
    let conditions = left.conditions(&profile, &Symbol::new("LEFT"));
    assert!(conditions.outside_universe);
    let at = Quote::at(Symbol::new("LEFT"), dataset.days()[1].date, Price::from(10)).under(conditions);
    let code = |side| approve(&account, &profile, &at, order("LEFT", side)).expect_err("refused").code;
    assert_eq!(
        (code(Side::Buy), code(Side::Sell)),
        (RejectCode::NotInUniverse, RejectCode::InsufficientShares)
    );
}
