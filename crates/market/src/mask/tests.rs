use super::mask;
use crate::{BUNDLED_NAME, Catalogue, bundled};
use papertape_core::broker::{FeeInput, MarketProfile, Side};
use papertape_core::id::Symbol;
use papertape_core::ledger::CorporateActionKind;
use papertape_core::market::{
    DailyBar, Dataset, DatasetBuilder, Fundamental, Instrument, InstrumentType, MaskKind, Masking, News,
    TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use papertape_testkit::data::SmallData;
use rust_decimal::Decimal;

fn factor(masking: &Masking, real: &Symbol) -> Decimal {
    let found = masking.symbols.values().find(|of| of.symbol == *real);
    found.map_or(Decimal::ONE, |of| of.price_factor)
}

fn decimal(text: &str) -> Decimal {
    text.parse().expect("a decimal")
}

/// Goal: the same dataset and kind always give the same masked dataset, which is stored once, names its source, and is
/// found with its translation.
#[test]
fn a_mask_is_stable_and_stored_with_its_way_back() {
    let source = bundled();
    let dir = tempfile::tempdir().expect("a directory");
    let catalogue = Catalogue::at(dir.path());
    let mut hashes = vec![source.hash()];
    for kind in MaskKind::ALL {
        let (dataset, masking) = catalogue.masked(&source, kind).expect("masks");
        let again = mask(&source, kind).expect("masks");
        assert_eq!((dataset.hash(), &masking), (again.dataset.hash(), &again.masking));
        assert_eq!(catalogue.masked(&source, kind).expect("is stored").1, masking);
        let entry = catalogue.find(dataset.name()).expect("is listed");
        let of = entry.masked.expect("it says what it is");
        assert_eq!((of.kind, of.source.as_str(), of.source_hash), (kind, BUNDLED_NAME, source.hash()));
        assert_eq!(catalogue.masking(&dataset.hash().to_hex()).expect("reads"), Some(masking.clone()));
        assert_eq!(catalogue.verify(dataset.name()).expect("is intact").hash, dataset.hash());
        assert_eq!(masking.shift_days != 0, kind.shifts_dates());
        assert_eq!(masking.shift_days % 364, 0);
        assert_eq!(masking.symbols.len(), if kind.replaces_entities() { 5 } else { 0 });
        hashes.push(dataset.hash());
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4, "each kind is a dataset of its own");
    assert_eq!(catalogue.masking(BUNDLED_NAME).expect("reads"), None);
}

/// Goal: prices are scaled exactly, volumes to whole shares, splits not at all; days keep their weekday and their local
/// hours, in whichever years daylight saving time had which rules.
#[test]
fn a_masked_market_is_the_same_market() {
    let source = bundled();
    let masked = mask(&source, MaskKind::All).expect("masks");
    let (masking, dataset) = (&masked.masking, &masked.dataset);
    assert_eq!(source.days().len(), dataset.days().len());
    let hours = TradingHours::us_equity();
    for (real, day) in source.days().iter().zip(dataset.days()) {
        assert_eq!(day.date, masking.masked_date(real.date));
        assert_eq!((day.date.weekday(), real.date), (real.date.weekday(), masking.real_date(day.date)));
        let local = |at: Timestamp| at.to_zoned(hours.zone().clone()).time();
        assert_eq!((local(day.open), local(day.close)), (local(real.open), local(real.close)));
    }
    let in_range =
        |factor: Decimal| factor >= decimal("0.8") && factor <= decimal("1.25") && factor != Decimal::ONE;
    for symbol in source.all_symbols() {
        let factor = factor(masking, symbol);
        assert!(in_range(factor), "{factor}");
        let own = masking.masked_symbol(symbol).expect("a symbol");
        assert_eq!(masking.real_symbol(&own), symbol);
        let (a, b) = (source.contents().bars(symbol), dataset.contents().bars(&own));
        assert_eq!(a.len(), b.len());
        for (real, bar) in a.iter().zip(&b) {
            let (r, m) = (real.rest.expect("complete"), bar.rest.expect("complete"));
            assert_eq!(bar.date, masking.masked_date(real.date));
            for (real, masked) in
                [(real.open, bar.open), (r.high, m.high), (r.low, m.low), (r.close, m.close)]
            {
                assert_eq!(masked.0, real.0 * factor);
            }
            assert!(
                (m.volume.0 * factor - r.volume.0).abs() <= decimal("0.625"),
                "{} {}",
                m.volume,
                r.volume
            );
        }
    }
    let actions: Vec<_> = source.contents().actions().collect();
    for action in &actions {
        let own = masking.masked_symbol(&action.symbol).expect("a symbol");
        let ex_date = masking.masked_date(action.ex_date);
        let contents = dataset.contents();
        let found = contents.actions().find(|it| it.symbol == own && it.ex_date == ex_date);
        match (action.kind, found.expect("an action").kind) {
            (CorporateActionKind::Dividend { amount: a }, CorporateActionKind::Dividend { amount: b }) => {
                assert_eq!(a.0 * factor(masking, &action.symbol), b.0);
            }
            (a, b) => assert_eq!(a, b),
        }
    }
}

/// A month around a change to daylight saving time, with a news item each hour, and figures.
fn month() -> Dataset {
    let mut builder = DatasetBuilder::new("month", TradingHours::US_ZONE);
    let hours = TradingHours::us_equity();
    let first = jiff::civil::date(2013, 3, 1);
    let day = |n: i32| first.saturating_add(jiff::Span::new().days(n));
    let symbol = Symbol::new("AAPL");
    builder.instrument(Instrument {
        symbol: symbol.clone(),
        name: "Apple Inc.".to_owned(),
        currency: "USD".to_owned(),
        instrument_type: InstrumentType::Stock,
    });
    for n in 0..25 {
        builder.day(hours.day(day(n)).expect("a day")).expect("a day");
        let (price, volume) = (Price(decimal("10")), Quantity(Decimal::from(1_000)));
        let bar = DailyBar { date: day(n), open: price, high: price, low: price, close: price, volume };
        builder.bar(&symbol, bar).expect("a bar");
    }
    let mut at = hours.day(first).expect("a day").open;
    for n in 0..24 * 20 {
        at += std::time::Duration::from_secs(3_600);
        let news = News {
            id: format!("AAPL {n}"),
            symbols: vec![symbol.clone()],
            source: "wire".to_owned(),
            headline: format!("item {n}"),
            body: None,
            url: None,
        };
        builder.news(Some(at), news).expect("news");
    }
    for (metric, value, unit) in
        [("revenue", "1000", "USD"), ("eps", "2.50", "USD"), ("pe", "15", "ratio"), ("st", "1", "flag")]
    {
        let figure = Fundamental {
            symbol: symbol.clone(),
            metric: metric.to_owned(),
            period_end: first,
            value: decimal(value),
            unit: unit.to_owned(),
        };
        builder.fundamental(Some(at), figure).expect("a figure");
    }
    builder.build().expect("a dataset")
}

/// Goal: no item is known earlier, relative to any open or close, than in the source; figures keep what they relate to.
#[test]
fn a_shifted_calendar_shows_nothing_earlier() {
    let source = month();
    let masked = mask(&source, MaskKind::All).expect("masks");
    let news = |dataset: &Dataset| -> Vec<Timestamp> {
        dataset.contents().news().iter().map(|item| item.published_at).collect()
    };
    let (before, after) = (news(&source), news(&masked.dataset));
    assert!(after.is_sorted() && before.len() == after.len());
    for (real, day) in source.days().iter().zip(masked.dataset.days()) {
        for (a, b) in [(real.open, day.open), (real.close, day.close)] {
            let known = |items: &[Timestamp], at: Timestamp| items.iter().filter(|item| **item <= at).count();
            assert_eq!(known(&before, a), known(&after, b), "{}", real.date);
        }
    }
    let values: Vec<(String, Decimal)> =
        masked.dataset.contents().fundamentals().map(|it| (it.item.metric.clone(), it.item.value)).collect();
    let value = |metric: &str| values.iter().find(|(name, _)| name == metric).expect("a figure").1;
    let factor = factor(&masked.masking, &"AAPL".into());
    assert_eq!(value("eps"), decimal("2.50") * factor);
    assert_ne!(value("revenue"), decimal("1000"));
    assert_eq!((value("pe"), value("st")), (decimal("15"), Decimal::ONE));
}

/// Goal: what is at a price limit is at it in the masked market too, and a tick below is not; fees per share and dated
/// rates are those of the real market.
#[test]
fn market_rules_are_those_of_the_real_market() {
    let bar = |price: &'static str| [price, price, price, price];
    let limits = ["10.05", "11.06", "11.05"];
    let data = SmallData::new("2023-09-01", 3)
        .symbol("600519.SH", &[bar(limits[0]), bar(limits[1]), bar(limits[1])])
        .symbol("600520.SH", &[bar(limits[0]), bar(limits[2]), bar(limits[2])]);
    let source = data.build();
    let masked = mask(&source, MaskKind::All).expect("masks");
    let real = MarketProfile::cn_a_share();
    let market = masked.masking.market(&real);
    for (dataset, market, own) in [(&source, &real, false), (&masked.dataset, &market, true)] {
        for (symbol, is_limit) in [("600519.SH", true), ("600520.SH", false)] {
            let symbol = Symbol::new(symbol);
            let symbol = if own { masked.masking.masked_symbol(&symbol).expect("a symbol") } else { symbol };
            let view = dataset.view(dataset.days()[1].open);
            let open = view.open_price(&symbol).expect("an open").value.price;
            let band = view.conditions(market, &symbol).band.expect("a limit");
            assert_eq!(band.stops(Side::Buy, open), is_limit, "{symbol} {open} {band:?}");
        }
    }
    // Stamp duty was halved on 2023-08-28, and commissions are per share in the United States.
    for (real, price) in [(MarketProfile::cn_a_share(), "20"), (MarketProfile::us_equity(), "20")] {
        let symbol = Symbol::new("600519.SH");
        let own = masked.masking.masked_symbol(&symbol).expect("a symbol");
        let factor = factor(&masked.masking, &symbol);
        let market = masked.masking.market(&real);
        for date in [jiff::civil::date(2023, 8, 25), jiff::civil::date(2023, 8, 28)] {
            let fee =
                |market: &MarketProfile, day: Date, symbol: &Symbol, quantity: Decimal, price: Decimal| {
                    let (quantity, price) = (Quantity(quantity), Price(price));
                    market.fee(&FeeInput { day, symbol, side: Side::Sell, quantity, price }).expect("a fee").0
                };
            let quantity = Decimal::from(100_000);
            let a = fee(&real, date, &symbol, quantity, decimal(price));
            let day = masked.masking.masked_date(date);
            let b = fee(&market, day, &own, quantity / factor, decimal(price) * factor);
            assert!((a - b).abs() <= decimal("0.01"), "{} on {date}: {a} {b}", real.name);
        }
    }
}
