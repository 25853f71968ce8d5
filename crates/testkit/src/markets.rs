//! Synthetic markets with the calendars and peculiarities of their kind: Chinese A shares and crypto.
//!
//! The prices are not real. A small integer generator produces them, so that they are the same on every machine
//! and in every run.

use jiff::civil::{Weekday, date, time};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use rust_decimal::Decimal;

/// The A share that pays [`A_SHARE_DIVIDEND`].
pub const A_SHARE_PAYER: &str = "600519.SH";
/// Its dividend per share, on 2024-02-21.
pub const A_SHARE_DIVIDEND: (Date, &str) = (date(2024, 2, 21), "19.106");
/// The A share with a bonus issue of four new shares for ten, on 2024-02-20.
pub const A_SHARE_BONUS: (Date, &str) = (date(2024, 2, 20), "000001.SZ");
/// The coin that opens 45% lower, on 2024-04-13.
pub const CRASH: (Date, &str) = (date(2024, 4, 13), "SOL-USD");

/// A symbol's price path: starting price, precision, and drift by number of days.
struct Story {
    symbol: &'static str,
    first: &'static str,
    /// Decimals of a price.
    dp: u32,
    /// Max deviation of a day from its drift, in basis points.
    noise: i64,
    /// Number of days, and drift in basis points per day.
    phases: &'static [(usize, i64)],
    /// Whether a day's prices are limited to 10% above and below the previous close.
    limited: bool,
}

/// Three A shares from 2023-10-09 to 2024-03-29, 09:30 to 15:00 in Shanghai: weekdays, without New Year's Day and
/// the Spring Festival (2024-02-09 to 2024-02-16). Prices stay within 10% of the previous close; on some days,
/// the price stays at that limit all day. There are a cash dividend and a bonus issue of four for ten, which
/// leaves odd lots.
///
/// # Panics
/// Never: the rows are valid.
#[must_use]
pub fn a_shares() -> Dataset {
    let hours = TradingHours::new("Asia/Shanghai", time(9, 30, 0, 0), time(15, 0, 0, 0)).expect("a zone");
    let is_open = |day: Date| {
        let spring_festival = date(2024, 2, 9)..=date(2024, 2, 16);
        let weekend = matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        !weekend && day != date(2024, 1, 1) && !spring_festival.contains(&day)
    };
    let mut builder = DatasetBuilder::new("synthetic-a-shares", "Asia/Shanghai");
    let days = calendar(&mut builder, &hours, (date(2023, 10, 9), date(2024, 3, 29)), is_open);
    let instruments = [
        Story {
            symbol: A_SHARE_PAYER,
            first: "1688.00",
            dp: 2,
            noise: 90,
            phases: &[(70, 25), (20, -60), (200, 40)],
            limited: true,
        },
        Story {
            symbol: A_SHARE_BONUS.1,
            first: "9.85",
            dp: 2,
            noise: 160,
            phases: &[(60, 10), (18, 90), (9, -130), (200, 60)],
            limited: true,
        },
        Story {
            symbol: "300750.SZ",
            first: "163.20",
            dp: 2,
            noise: 220,
            phases: &[(72, -15), (4, 1_100), (6, -40), (3, -1_100), (200, 20)],
            limited: true,
        },
    ];
    let (bonus_day, bonus_symbol) = A_SHARE_BONUS;
    let ratio = Decimal::new(14, 1);
    for story in &instruments {
        add(&mut builder, &days, story, "CNY", |day, before| {
            let is_bonus = day == bonus_day && story.symbol == bonus_symbol;
            if is_bonus { (before / ratio).round_dp(2) } else { before }
        });
    }
    let (paid_on, amount) = A_SHARE_DIVIDEND;
    let dividend = CorporateActionKind::Dividend { amount: Price(decimal(amount)) };
    action(&mut builder, A_SHARE_PAYER, paid_on, dividend);
    action(&mut builder, bonus_symbol, bonus_day, CorporateActionKind::Split { ratio });
    builder.build().expect("possible rows")
}

/// Four coins on every day from 2024-01-01 to 2024-04-30, including weekends and the leap day, from midnight to
/// the last second in UTC. Prices range from five digits before the point to five zeros after it, opens gap, and
/// one coin crashes overnight: [`CRASH`].
///
/// # Panics
/// Never: the rows are valid.
#[must_use]
pub fn crypto() -> Dataset {
    let hours = TradingHours::new("UTC", time(0, 0, 0, 0), time(23, 59, 59, 0)).expect("a zone");
    let mut builder = DatasetBuilder::new("synthetic-crypto", "UTC");
    let days = calendar(&mut builder, &hours, (date(2024, 1, 1), date(2024, 4, 30)), |_| true);
    let instruments = [
        Story {
            symbol: "BTC-USD",
            first: "42350.5",
            dp: 1,
            noise: 150,
            phases: &[(80, 45), (30, -120), (50, 60)],
            limited: false,
        },
        Story {
            symbol: "ETH-USD",
            first: "2310.25",
            dp: 2,
            noise: 120,
            phases: &[(85, 10), (9, 330), (9, -360), (10, 300), (50, -200)],
            limited: false,
        },
        Story {
            symbol: "SHIB-USD",
            first: "0.0000102350",
            dp: 10,
            noise: 400,
            phases: &[(60, 30), (35, 130), (60, -90)],
            limited: false,
        },
        Story {
            symbol: CRASH.1,
            first: "101.250",
            dp: 3,
            noise: 110,
            phases: &[(60, 5), (43, 25), (60, -50)],
            limited: false,
        },
    ];
    for story in &instruments {
        add(&mut builder, &days, story, "USD", |day, before| {
            let is_crash = day == CRASH.0 && story.symbol == CRASH.1;
            if is_crash { (before * Decimal::new(55, 2)).round_dp(story.dp) } else { before }
        });
    }
    builder.build().expect("possible rows")
}

fn calendar(
    builder: &mut DatasetBuilder,
    hours: &TradingHours,
    (first, last): (Date, Date),
    is_open: impl Fn(Date) -> bool,
) -> Vec<TradingDay> {
    let mut days = Vec::new();
    let mut at = first;
    while at <= last {
        if is_open(at) {
            let day = hours.day(at).expect("a day");
            builder.day(day).expect("a new day");
            days.push(day);
        }
        at = at.tomorrow().expect("a date");
    }
    days
}

/// Adds a symbol's bars. `carried` converts the previous close to the base of the day: for an ex-date's price, or
/// a gap.
fn add(
    builder: &mut DatasetBuilder,
    days: &[TradingDay],
    story: &Story,
    currency: &str,
    carried: impl Fn(Date, Decimal) -> Decimal,
) {
    let symbol = Symbol::new(story.symbol);
    let name = format!("{} (made up)", story.symbol);
    builder.instrument(Instrument {
        symbol: symbol.clone(),
        name,
        currency: currency.to_owned(),
        instrument_type: InstrumentType::Stock,
    });
    let mut draws = Draws::of(story.symbol);
    let mut drifts = story.phases.iter().flat_map(|(days, drift)| std::iter::repeat_n(*drift, *days));
    let mut before = decimal(story.first);
    for day in days {
        let drift = drifts.next().unwrap_or_default();
        before = carried(day.date, before);
        let moved = |from: Decimal, bps: i64| {
            let to = from * (Decimal::ONE + Decimal::new(bps, 4));
            let limit = before / Decimal::TEN;
            let to = if story.limited { to.clamp(before - limit, before + limit) } else { to };
            to.round_dp(story.dp)
        };
        // The wicks are short enough to stay within the limits too.
        let open = moved(before, drift / 3 + draws.within(story.noise / 2));
        let close = moved(before, drift + draws.within(story.noise));
        let (wick_up, wick_down) = (draws.up_to(story.noise), draws.up_to(story.noise));
        let high = moved(open.max(close), wick_up);
        let low = moved(open.min(close), -wick_down);
        let volume = Quantity(Decimal::new(100_000_000 + draws.up_to(900_000_000), 4));
        let bar = DailyBar {
            date: day.date,
            open: Price(open),
            high: Price(high),
            low: Price(low),
            close: Price(close),
            volume,
        };
        builder.bar(&symbol, bar).expect("a possible bar");
        before = close;
    }
}

fn action(builder: &mut DatasetBuilder, symbol: &str, ex_date: Date, kind: CorporateActionKind) {
    builder.action(CorporateAction { symbol: symbol.into(), ex_date, kind }).expect("a possible action");
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

/// A linear congruential generator (Knuth's MMIX constants), seeded by a name.
struct Draws(u64);

impl Draws {
    fn of(name: &str) -> Self {
        Self(name.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte)))
    }

    /// From 0 to `most`, inclusive.
    fn up_to(&mut self, most: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap_or_default() % (most + 1)
    }

    /// From `-most` to `most`.
    fn within(&mut self, most: i64) -> i64 {
        self.up_to(2 * most) - most
    }
}
