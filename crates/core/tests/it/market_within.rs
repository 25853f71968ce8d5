//! Intraday bars: none is visible before it is known, and daily bars are exact aggregates of them.

use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BarAfterOpen, BarRange, BuildError, DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType,
    Interval, IntradayBar, TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp, parse_date};
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::time::Duration;

const A: &str = "A";

fn days() -> Vec<TradingDay> {
    // The clocks change between the first two dates.
    let dates = ["2024-03-08", "2024-03-11", "2024-03-12"];
    dates.iter().map(|date| TradingHours::us_equity().day(day(date)).expect("a day")).collect()
}

fn day(text: &str) -> Date {
    parse_date(text).expect("a date")
}

fn minutes(count: u16) -> Interval {
    Interval::from_minutes(count).expect("an interval")
}

fn cents(cents: u32) -> Price {
    Price(Decimal::new(i64::from(cents), 2))
}

/// A bar of day `day`, `slot` intervals after its open, from its lowest price and three rises in cents.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    day: usize,
    slot: u32,
    low: u32,
    rises: (u32, u32, u32),
}

impl Drawn {
    fn bar(self, interval: Interval) -> IntradayBar {
        let (open, high, close) = self.rises;
        let high = high.max(open).max(close);
        let after = Duration::from_secs(u64::from(self.slot) * u64::from(interval.minutes()) * 60);
        IntradayBar {
            opens_at: days()[self.day].open + after,
            open: cents(self.low + open),
            rest: Some(BarAfterOpen {
                high: cents(self.low + high),
                low: cents(self.low),
                close: cents(self.low + close),
                volume: Quantity::from(i64::from(self.low)),
            }),
        }
    }
}

fn builder() -> DatasetBuilder {
    let mut builder = DatasetBuilder::new("within", TradingHours::US_ZONE);
    days().into_iter().for_each(|day| builder.day(day).expect("a day"));
    let (name, currency) = (A.to_owned(), "USD".to_owned());
    builder.instrument(Instrument {
        symbol: A.into(),
        name,
        currency,
        instrument_type: InstrumentType::Stock,
    });
    builder
}

fn build(bars: &[Drawn], interval: Interval, is_split: bool) -> Dataset {
    let mut builder = builder();
    for bar in bars {
        builder.bar_within_day(&A.into(), interval, &bar.bar(interval)).expect("a bar");
    }
    if is_split {
        let kind = CorporateActionKind::Split { ratio: Decimal::TWO };
        let ex_date = day("2024-03-11");
        builder.action(CorporateAction { symbol: A.into(), ex_date, kind }).expect("a split");
    }
    builder.build().expect("a dataset")
}

/// Half-hour bars: thirteen per day, any of them missing.
fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let one = (1..50_000_u32, (0..500_u32, 0..500_u32, 0..500_u32));
    prop::collection::btree_map((0..3_usize, 0..13_u32), one, 1..30).prop_map(|all| {
        all.into_iter().map(|((day, slot), (low, rises))| Drawn { day, slot, low, rises }).collect()
    })
}

fn instants(dataset: &Dataset) -> Vec<Timestamp> {
    let second = Duration::from_secs(1);
    let mut all = Vec::new();
    for day in dataset.days() {
        let halves = (0..14_u64).map(|half| day.open + Duration::from_secs(half * 1_800));
        all.extend(halves.chain([day.close]).flat_map(|at| [at - second, at, at + second]));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Goal: a view never contains an intraday bar, or a daily bar built from them, that was not known at its
    // instant; and it contains each one from exactly that instant on.
    #[test]
    fn nothing_is_seen_before_it_is_known(bars in drawn(), is_split: bool) {
        let half = minutes(30);
        let dataset = build(&bars, half, is_split);
        for instant in instants(&dataset) {
            let view = dataset.view(instant);
            let ends = |bar: &Drawn| {
                let end = bar.bar(half).opens_at + Duration::from_secs(1_800);
                end.min(days()[bar.day].close)
            };
            let known: Vec<Timestamp> =
                bars.iter().filter(|bar| ends(bar) <= instant).map(|bar| bar.bar(half).opens_at).collect();
            let seen = view.intraday_bars(&A.into(), half, BarRange::default());
            if let Ok(seen) = &seen {
                prop_assert!(seen.exposure.latest_known_at.expect("read") <= instant);
                prop_assert!(seen.value.iter().all(|bar| bar.closes_at <= instant));
            }
            let seen: Vec<Timestamp> =
                seen.map(|seen| seen.value.iter().map(|bar| bar.opens_at).collect()).unwrap_or_default();
            prop_assert_eq!(seen, known, "at {}", instant);
            let has_opened = bars.iter().any(|bar| bar.bar(half).opens_at <= instant);
            prop_assert_eq!(view.instrument(&A.into()).is_ok(), has_opened);
            if let Ok(open) = view.open_price(&A.into()) {
                prop_assert!(open.value.known_at <= instant);
                prop_assert_eq!(open.exposure.latest_known_at, Some(open.value.known_at));
            }
            if let Ok(daily) = view.bars(&A.into(), BarRange::default()) {
                prop_assert!(daily.value.iter().all(|bar| bar.closes_at <= instant));
            }
        }
    }

    // Goal: a dataset truncated at an instant gives the same results as the full one at that instant.
    #[test]
    fn a_cut_changes_no_answer(bars in drawn(), is_split: bool) {
        let half = minutes(30);
        let dataset = build(&bars, half, is_split);
        for instant in instants(&dataset).into_iter().step_by(5) {
            let cut = dataset.truncate_at(instant);
            let (whole, cut) = (dataset.view(instant), cut.view(instant));
            let symbol = Symbol::new(A);
            let range = BarRange::newest(5);
            prop_assert_eq!(
                whole.intraday_bars(&symbol, half, range).map(|read| read.value),
                cut.intraday_bars(&symbol, half, range).map(|read| read.value)
            );
            prop_assert_eq!(
                whole.bars(&symbol, range).map(|read| read.value),
                cut.bars(&symbol, range).map(|read| read.value)
            );
            prop_assert_eq!(
                whole.price(&symbol).map(|read| read.value),
                cut.price(&symbol).map(|read| read.value)
            );
        }
    }

    // Goal: a daily bar is the exact aggregate of its bars: first open, highest high, lowest low, last close,
    // all volume.
    #[test]
    fn days_are_made_of_their_bars(bars in drawn()) {
        let half = minutes(30);
        let dataset = build(&bars, half, false);
        let view = dataset.view(Timestamp::MAX);
        let daily = view.bars(&A.into(), BarRange::default()).expect("days").value;
        for bar in daily {
            let of_day: Vec<IntradayBar> =
                bars.iter().filter(|one| days()[one.day].date == bar.date).map(|one| one.bar(half)).collect();
            let rests: Vec<BarAfterOpen> = of_day.iter().filter_map(|one| one.rest).collect();
            prop_assert_eq!(bar.open, of_day[0].open);
            prop_assert_eq!(bar.opens_at, of_day[0].opens_at);
            prop_assert_eq!(Some(bar.high), rests.iter().map(|rest| rest.high).max());
            prop_assert_eq!(Some(bar.low), rests.iter().map(|rest| rest.low).min());
            prop_assert_eq!(Some(bar.close), rests.last().map(|rest| rest.close));
            prop_assert_eq!(bar.volume, rests.iter().map(|rest| rest.volume).sum());
        }
    }

    // Goal: a dataset that is packed and unpacked is equal, to the last row.
    #[test]
    fn packing_loses_nothing(bars in drawn(), is_split: bool) {
        let dataset = build(&bars, minutes(30), is_split);
        let mut bytes = Vec::new();
        dataset.pack(&mut bytes).expect("packs");
        let again = Dataset::unpack("other", &mut bytes.as_slice()).expect("unpacks");
        prop_assert_eq!(again.hash(), dataset.hash());
        prop_assert_eq!(again.computed_hash(), dataset.hash());
        prop_assert_eq!(again.name(), "other");
    }
}

// Goal: truncated or changed bytes give an error or another dataset, never a panic.
#[test]
fn broken_bytes_do_no_harm() {
    let bars = [Drawn { day: 0, slot: 0, low: 100, rises: (1, 2, 3) }];
    let dataset = build(&bars, minutes(5), true);
    let mut bytes = Vec::new();
    dataset.pack(&mut bytes).expect("packs");
    for end in 0..bytes.len() {
        assert!(Dataset::unpack("x", &mut &bytes[..end]).is_err(), "cut at {end}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut other = bytes.clone();
            other[at] ^= 1 << bit;
            let _ = Dataset::unpack("x", &mut other.as_slice());
        }
    }
}

// Goal: an explicit daily bar takes precedence over one built from intraday bars.
#[test]
fn a_given_day_stands() {
    let mut builder = builder();
    let bar = Drawn { day: 1, slot: 2, low: 100, rises: (1, 2, 3) };
    builder.bar_within_day(&A.into(), minutes(30), &bar.bar(minutes(30))).expect("a bar");
    let (price, volume) = (cents(777), Quantity::from(9));
    let given = DailyBar { date: days()[1].date, open: price, high: price, low: price, close: price, volume };
    builder.bar(&A.into(), given).expect("a bar");
    let dataset = builder.build().expect("a dataset");
    let view = dataset.view(days()[1].open);
    assert_eq!(view.open_price(&A.into()).expect("an open").value.price, price);
    assert_eq!(dataset.contents().bars(&A.into()).len(), 1);
    assert_eq!(build(&[bar], minutes(30), false).contents().bars(&A.into()).len(), 0, "made, not given");
}

// Goal: the latest bar, daily or intraday, may contain only the open; any other may not.
#[test]
fn the_newest_bar_may_hold_the_open_alone() {
    let mut newest = builder();
    newest.opening(&A.into(), days()[2].date, cents(500)).expect("an open");
    let dataset = newest.build().expect("a dataset");
    let view = dataset.view(days()[2].close);
    assert_eq!(view.open_price(&A.into()).expect("an open").value.price, cents(500));
    assert!(view.today_bar(&A.into()).is_err(), "there is no more, ever");
    assert_eq!(dataset.contents().bars(&A.into())[0].rest, None);

    let mut early = builder();
    early.opening(&A.into(), days()[1].date, cents(500)).expect("an open");
    let error = early.build().expect_err("refused").to_string();
    assert_eq!(error, "A 2024-03-11: bar rejected: only an open, but it is not on the newest day");

    let mut within = builder();
    let opens_at = days()[2].open;
    let bar = IntradayBar { opens_at, open: cents(500), rest: None };
    within.bar_within_day(&A.into(), minutes(60), &bar).expect("a bar");
    let dataset = within.build().expect("a dataset");
    let view = dataset.view(days()[2].close);
    assert_eq!(view.open_price(&A.into()).expect("the day's open").value.price, cents(500));
    assert!(view.intraday_bars(&A.into(), minutes(60), BarRange::default()).is_err());
}

// Goal: intraday bars that overlap, are duplicated, lie outside trading hours or are impossible are rejected.
#[test]
fn misplaced_bars_are_refused() {
    let refused = |bars: &[(u64, u32)]| {
        let mut builder = builder();
        for (after, price) in bars {
            let rest = BarAfterOpen {
                high: cents(*price),
                low: cents(*price),
                close: cents(*price),
                volume: Quantity::ZERO,
            };
            let opens_at = days()[0].open + Duration::from_secs(after * 60);
            let bar = IntradayBar { opens_at, open: cents(*price), rest: Some(rest) };
            if let Err(error) = builder.bar_within_day(&A.into(), minutes(5), &bar) {
                return error.to_string();
            }
        }
        builder.build().expect_err("refused").to_string()
    };
    for (bars, reason) in [
        (&[(0, 100), (3, 100)][..], "it opens before the bar before it ends"),
        (&[(0, 100), (0, 100)], "duplicate"),
        (&[(600, 100)], "it opens outside of trading hours"),
        (&[(0, 0)], "a price of 0"),
    ] {
        assert!(refused(bars).ends_with(reason), "{}", refused(bars));
    }
    let mut other = builder();
    let bar = Drawn { day: 0, slot: 0, low: 5, rises: (1, 1, 1) }.bar(minutes(5));
    let fine = IntradayBar { opens_at: bar.opens_at + Duration::from_nanos(10), ..bar };
    let error = other.bar_within_day(&A.into(), minutes(5), &fine).expect_err("too fine");
    assert!(matches!(error, BuildError::Within { .. }));
}

// Goal: round-the-clock hours give days that share no instant, and hours across midnight end on the next day.
#[test]
fn hours_around_the_clock() {
    use jiff::civil::time;
    let always = TradingHours::new("UTC", time(0, 0, 0, 0), time(0, 0, 0, 0)).expect("hours");
    let (one, two) =
        (always.day(day("2024-03-09")).expect("a day"), always.day(day("2024-03-10")).expect("a day"));
    assert_eq!(two.open.duration_since(one.close).as_micros(), 1);
    assert_eq!(always.day_of(one.close - Duration::from_micros(1)).map(|day| day.date), Some(one.date));
    let night = TradingHours::new("America/New_York", time(18, 0, 0, 0), time(17, 0, 0, 0)).expect("hours");
    let session = night.day(day("2024-03-08")).expect("a day");
    assert_eq!(session.close.to_string(), "2024-03-09T22:00:00Z");
    assert_eq!(night.day_of(session.close - Duration::from_secs(1)).map(|day| day.date), Some(session.date));
}

// Goal: intervals are parsed in vendors' spellings, and nothing else is accepted.
#[test]
fn intervals_are_read() {
    for (text, spelt) in [("1m", "1m"), ("5min", "5m"), ("60min", "1h"), ("1h", "1h"), ("240m", "4h")] {
        assert_eq!(text.parse::<Interval>().expect(text).to_string(), spelt);
    }
    for text in ["", "7m", "m", "1d", "-1m", "1", "99999999m", "1 h"] {
        assert!(text.parse::<Interval>().is_err(), "{text}");
    }
}
