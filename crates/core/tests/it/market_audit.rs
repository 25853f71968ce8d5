//! Data for audits: at its instant nothing differs from the source, and after it nothing is as in the source.

use crate::market_answers::{answers, around};
use crate::market_rows::{Rows, rows};
use papertape_core::id::Symbol;
use papertape_core::json::difference;
use papertape_core::market::{
    AuditDataset, BarRange, Dataset, Future, Indicator, Interval, Leak, MarketView, TradingDay,
};
use papertape_core::time::{Date, Timestamp};
use papertape_testkit::data::SmallData;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn all_answers(view: &MarketView<'_>, whole: &Dataset) -> Value {
    let symbols: Vec<Symbol> = whole.all_symbols().cloned().collect();
    let dates: Vec<Date> = whole.days().iter().map(|day| day.date).collect();
    let mut all = answers(view, &symbols, &dates);
    all["listed"] = json!(view.all_listed());
    all["members"] = json!(format!("{:?}", view.members("INDEX").map(|read| read.value)));
    for symbol in &symbols {
        let hours = view.intraday_bars(symbol, hour(), BarRange::default());
        all[format!("{symbol}/hours")] = json!(hours.ok().map(|read| read.value));
    }
    all
}

fn hour() -> Interval {
    Interval::from_minutes(60).expect("an interval")
}

/// Everything that a dataset physically has.
fn content(dataset: &Dataset) -> Vec<String> {
    let contents = dataset.contents();
    let mut all = vec![
        format!("{:?}", contents.days()),
        format!("{:?}", contents.instruments().collect::<Vec<_>>()),
        format!("{:?}", contents.actions().collect::<Vec<_>>()),
        format!("{:?}", contents.news()),
        format!("{:?}", contents.fundamentals().collect::<Vec<_>>()),
        format!("{:?}", contents.macros().collect::<Vec<_>>()),
        format!("{:?}", contents.memberships()),
    ];
    for symbol in dataset.all_symbols() {
        all.push(format!("{symbol} {:?}", contents.daily_bars(symbol)));
        for (interval, bars) in contents.intraday_bars(symbol) {
            all.push(format!("{symbol} {interval} {:?}", bars.collect::<Vec<_>>()));
        }
    }
    all
}

fn instants(rows: &Rows) -> Vec<Timestamp> {
    let edges = rows.days.iter().flat_map(|day| [day.open, day.close]);
    let published = rows.news.iter().map(|one| one.published_at);
    edges.chain(published).flat_map(around).collect()
}

/// The daily bars of all symbols after an instant, by symbol and date.
fn later_bars(dataset: &Dataset, instant: Timestamp) -> Vec<(Symbol, Date, String)> {
    let contents = dataset.contents();
    let close = |date: Date| dataset.day(date).map(|day| day.close);
    let bars = |symbol: &Symbol| {
        let later = contents.daily_bars(symbol).into_iter().filter(|bar| close(bar.date) > Some(instant));
        later
            .filter_map(|bar| Some((symbol.clone(), bar.date, format!("{:?}", bar.rest?))))
            .collect::<Vec<_>>()
    };
    dataset.all_symbols().flat_map(bars).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // Goal: whatever way an audit's instant moves, a view at or before it answers as over the whole data, with nothing
    // after it or with another future; and data without a future hold exactly what was known.
    #[test]
    fn a_cut_and_a_poison_change_no_answer_at_their_instant(
        rows in rows(),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let whole = Arc::new(rows.build());
        let all = instants(&rows);
        let mut cut = AuditDataset::new(Arc::clone(&whole), Future::Cut);
        let mut poisoned = AuditDataset::new(Arc::clone(&whole), Future::Poisoned);
        for pick in picks {
            let instant = *pick.get(&all);
            let expected = all_answers(&whole.view(instant), &whole);
            for data in [cut.at(instant), poisoned.at(instant)] {
                prop_assert_eq!(data.hash(), whole.hash());
                let found = difference(&all_answers(&data.view(instant), &whole), &expected);
                prop_assert_eq!(found, None, "at {}", instant);
                let earlier = all.iter().copied().filter(|at| *at <= instant).nth(3).unwrap_or(instant);
                let expected = all_answers(&whole.view(earlier), &whole);
                let found = difference(&all_answers(&data.view(earlier), &whole), &expected);
                prop_assert_eq!(found, None, "at {}", earlier);
            }
            prop_assert_eq!(content(cut.dataset()), content(&whole.truncate_at(instant)), "at {}", instant);
        }
    }

    // Goal: after the instant no complete bar is as in the source, and no list of news, figures or days.
    #[test]
    fn nothing_after_the_instant_is_as_in_the_source(rows in rows(), pick: prop::sample::Index) {
        let whole = Arc::new(rows.build());
        let day = *pick.get(whole.days());
        let mut data = AuditDataset::new(Arc::clone(&whole), Future::Poisoned);
        for instant in [day.open, day.close] {
            let poisoned = data.at(instant);
            let truth = later_bars(&whole, instant);
            let idle = |bar: &str| bar.contains("volume: Quantity(0)");
            for bar in later_bars(poisoned, instant) {
                prop_assert!(idle(&bar.2) || !truth.contains(&bar), "{:?} is the truth at {}", bar, instant);
            }
            let (one, other) = (content(poisoned), content(&whole));
            let news = |lists: &[String]| lists[3].clone();
            prop_assert_ne!(news(&one), news(&other));
            prop_assert_ne!(&one[0], &other[0], "the calendar");
            let invented = |symbol: &Symbol| whole.instrument(symbol).is_none();
            prop_assert!(poisoned.all_symbols().any(invented) && !poisoned.view(instant).symbols().value.iter().any(invented));
        }
    }
}

fn intraday() -> (Arc<Dataset>, Vec<TradingDay>) {
    let flat = |price: &'static str| vec![[price, price, price, price]; 6];
    let rising: Vec<[&str; 4]> =
        vec![["10", "11", "9", "10"], ["11", "12", "10", "11"], ["12", "13", "11", "13"]];
    let mut data = SmallData::new("2024-03-08", 6)
        .symbol("AAA", &flat("50"))
        .symbol_from("NEW", 3, &flat("7")[..3])
        .symbol_from("HHH", 0, &[]);
    for day in 0..6 {
        data = data.hours("HHH", day, &rising);
    }
    let data = data
        .split("AAA", 4, 2)
        .dividend("AAA", 2, "0.5")
        .member("INDEX", "AAA", 0, Some(4))
        .member("INDEX", "NEW", 4, None);
    let days = (0..6).map(|n| data.day(n)).collect();
    (Arc::new(data.build()), days)
}

// Goal: the same for intraday bars, memberships, splits and later listings, at instants within the day.
#[test]
fn intraday_bars_listings_and_members_are_cut_and_poisoned_too() {
    let (whole, days) = intraday();
    let mut cut = AuditDataset::new(Arc::clone(&whole), Future::Cut);
    let mut poisoned = AuditDataset::new(Arc::clone(&whole), Future::Poisoned);
    for day in &days {
        for minutes in [0, 1, 59, 60, 61, 180, 390, 500] {
            let instant = day.open + Duration::from_secs(60 * minutes);
            let expected = all_answers(&whole.view(instant), &whole);
            assert_eq!(all_answers(&cut.at(instant).view(instant), &whole), expected, "{instant}");
            assert_eq!(all_answers(&poisoned.at(instant).view(instant), &whole), expected, "{instant}");
            assert_eq!(content(cut.dataset()), content(&whole.truncate_at(instant)), "{instant}");
        }
    }
    let new = Symbol::new("NEW");
    assert!(
        cut.at(days[2].close).instrument(&new).is_none(),
        "nothing is there of a symbol that is not listed"
    );
    let listing = |data: &Dataset| data.contents().daily_bars(&new).first().map(|bar| bar.date);
    assert_ne!(listing(poisoned.at(days[2].close)), Some(days[3].date), "another day of listing");
}

// Goal: of the calendar after a close, only the date of the next trading day is there, and at an open not even that.
#[test]
fn only_the_next_day_is_announced_and_only_at_the_close() {
    let days = [["10", "11", "9", "10"]; 4];
    let data = SmallData::new("2024-03-06", 4).symbol("AAA", &days);
    let (today, next) = (data.day(1), data.date(2));
    let whole = Arc::new(data.build());
    for future in [Future::Cut, Future::Poisoned] {
        let mut audit = AuditDataset::new(Arc::clone(&whole), future);
        assert_eq!(audit.at_close(&today).next_trading_day(today.date), next);
        let days = audit.dataset().days();
        assert!(days.iter().all(|day| day.date <= today.date || !whole.days().contains(day)), "{days:?}");
    }
    let mut audit = AuditDataset::new(Arc::clone(&whole), Future::Poisoned);
    assert_ne!(audit.at(today.open).next_trading_day(today.date), next);
}

// Goal: a view that leaks answers differently over audit data, where a copy made by the view itself would hide it.
#[test]
fn a_view_that_leaks_is_not_believed() {
    let (whole, days) = intraday();
    let leaks = [(Leak::TodaysBar, days[1].open), (Leak::Listings, days[1].open)];
    for (leak, instant) in leaks {
        let built = Arc::new(Arc::into_inner(intraday().0).expect("one owner").with_leak(leak));
        let recorded = all_answers(&built.view(instant), &whole);
        assert_ne!(recorded, all_answers(&whole.view(instant), &whole), "{leak:?} leaks");
        let copied = built.truncate_at(instant).with_leak(leak);
        assert_eq!(all_answers(&copied.view(instant), &whole), recorded, "{leak:?} is in the copy");
        for future in [Future::Cut, Future::Poisoned] {
            let mut audit = AuditDataset::new(Arc::clone(&built), future);
            assert_ne!(
                all_answers(&audit.at(instant).view(instant), &whole),
                recorded,
                "{leak:?} {future:?}"
            );
        }
    }
}

// Goal: a cache that is keyed wrongly gives another value than data without a future.
#[test]
fn a_cache_that_is_keyed_wrongly_shows() {
    let bars: Vec<[&str; 4]> = (0..400)
        .map(|n| if n % 3 == 0 { ["100", "110", "90", "105"] } else { ["101", "108", "95", "98"] })
        .collect();
    let data = SmallData::new("2022-01-01", 400).symbol("AAA", &bars).split("AAA", 350, 2);
    let (before, after) = (data.day(340), data.day(399));
    let whole = Arc::new(data.build().with_leak(Leak::CacheWithoutShareUnits));
    let ema: Indicator = "ema(20)".parse().expect("an indicator");
    let read = |data: &Dataset, at: Timestamp| {
        data.view(at).indicators(&Symbol::new("AAA"), &[ema], 1).expect("a table").value
    };
    read(&whole, after.close);
    let recorded = read(&whole, before.close);
    let mut audit = AuditDataset::new(Arc::clone(&whole), Future::Cut);
    assert_ne!(read(audit.at(before.close), before.close), recorded);
}
