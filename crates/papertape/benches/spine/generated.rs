//! A dataset whose prices repeat every ten trading days, so that a rule-based agent does the same work in the first
//! weeks of a run as years later.

use papertape_core::market::{
    DailyBar, Dataset, DatasetBuilder, Instrument, InstrumentType, TradingDay, TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use papertape_service::app::App;
use rust_decimal::Decimal;

/// The dataset's name.
pub(crate) const NAME: &str = "generated";
/// Its symbols: the prices of the second are half a period behind those of the first.
pub(crate) const SYMBOLS: [&str; 2] = ["ALPHA", "BETA"];
/// The trading days after which prices repeat.
pub(crate) const PERIOD: usize = 10;
const FIRST: Date = jiff::civil::date(2000, 1, 3);
/// Trading days before a run, so that every indicator has its data on the run's first day.
const BEFORE: usize = 300;
/// Opens and closes of a period, in cents above 100 dollars. The averages of 20 and 50 days are always 45 cents above:
/// a follower of trends buys on the second day, at 50 cents, and sells on the seventh, at 40.
const OPENS: [i64; PERIOD] = [-100, 50, 160, 250, 300, 240, 40, -60, -190, -240];
const CLOSES: [i64; PERIOD] = [0, 130, 240, 310, 260, 120, -40, -180, -250, -140];

/// Stores the dataset with enough days for a run of this many, and returns the run's first and last day.
pub(crate) fn store(app: &App, days: usize) -> (Date, Date) {
    let (dataset, dates) = generate(BEFORE + days);
    app.catalogue.store(&dataset, Some("us_equity"), false).expect("is stored");
    (dates[BEFORE], dates[BEFORE + days - 1])
}

fn generate(days: usize) -> (Dataset, Vec<Date>) {
    let mut builder = DatasetBuilder::new(NAME, TradingHours::US_ZONE);
    let hours = TradingHours::us_equity();
    let is_weekday = |date: &Date| date.weekday().to_monday_one_offset() <= 5;
    let dates = std::iter::successors(Some(FIRST), |date| date.tomorrow().ok()).filter(is_weekday);
    let days: Vec<TradingDay> = dates.take(days).map(|date| hours.day(date).expect("a day")).collect();
    for day in &days {
        builder.day(*day).expect("a new day");
    }
    for (symbol, shift) in SYMBOLS.into_iter().zip([0, PERIOD / 2]) {
        builder.instrument(Instrument {
            symbol: symbol.into(),
            name: format!("{symbol} (made up)"),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Stock,
        });
        for (number, day) in days.iter().enumerate() {
            let at = (number + shift) % PERIOD;
            let price = |cents: i64| Price(Decimal::new(10_000 + cents, 2));
            let bar = DailyBar {
                date: day.date,
                open: price(OPENS[at]),
                high: price(OPENS[at].max(CLOSES[at]) + 35),
                low: price(OPENS[at].min(CLOSES[at]) - 35),
                close: price(CLOSES[at]),
                volume: Quantity(Decimal::from(20_000_000 + 1_000_000 * at)),
            };
            builder.bar(&symbol.into(), bar).expect("a possible bar");
        }
    }
    let dates = days.into_iter().map(|day| day.date).collect();
    (builder.build().expect("possible rows"), dates)
}
