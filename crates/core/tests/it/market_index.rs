//! Indexes: in a dataset, and in no view of it.

use papertape_core::id::Symbol;
use papertape_core::json;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BarRange, BuildError, DailyBar, DatasetBuilder, Instrument, InstrumentType, ReadError, TradingDay,
    TradingHours,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::Date;
use papertape_testkit::data::SmallData;
use rust_decimal::Decimal;

const LEVELS: [(usize, [&str; 4]); 3] = [
    (0, ["1400", "1410", "1390", "1405"]),
    (1, ["1405", "1420", "1400", "1415"]),
    (2, ["1415", "1430", "1410", "1425"]),
];

fn data() -> SmallData {
    SmallData::new("2024-03-04", 3).symbol("AAA", &[["10", "11", "9", "10"]; 3])
}

// Goal: no view says of an index that it exists: not among its symbols, not by name, not as a tag of the news, at whatever
// instant; all else that a view says is what it says without the index.
#[test]
fn no_view_has_an_index() {
    let tagged = |data: SmallData| {
        let at = data.day(0).open;
        data.news("SPX", at, "levels").build()
    };
    let (plain, with) = (tagged(data()), tagged(data().index("SPX", &LEVELS)));
    let spx = Symbol::new("SPX");
    for day in with.days() {
        for instant in [day.open, day.close] {
            let (view, other) = (with.view(instant), plain.view(instant));
            assert_eq!(view.symbols().value, [Symbol::new("AAA")]);
            assert_eq!(view.symbols().value, other.symbols().value);
            assert!(!view.is_listed(&spx) && view.listed([&spx]).is_empty());
            let unknown = ReadError::UnknownSymbol { symbol: spx.clone() };
            assert_eq!(view.bars(&spx, BarRange::default()).err(), Some(unknown.clone()));
            assert_eq!(view.price(&spx).err(), Some(unknown.clone()));
            assert_eq!(view.instrument(&spx).err(), Some(unknown.clone()));
            assert_eq!(view.news(Some(&spx), 5).err(), Some(unknown));
            assert_eq!(view.bars(&"AAA".into(), BarRange::default()).map(|read| read.value).ok(), {
                other.bars(&"AAA".into(), BarRange::default()).map(|read| read.value).ok()
            });
        }
    }
}

// Goal: the dataset itself has the index with its levels, and says which of its symbols can be traded.
#[test]
fn a_dataset_has_its_indexes() {
    let dataset = data().index("SPX", &LEVELS).build();
    let symbols = |found: Vec<&Symbol>| found.into_iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(symbols(dataset.all_symbols().collect()), ["AAA", "SPX"]);
    assert_eq!(symbols(dataset.tradable_symbols().collect()), ["AAA"]);
    assert_eq!(symbols(dataset.indexes().collect()), ["SPX"]);
    let instrument = dataset.instrument(&"SPX".into()).expect("is there");
    assert_eq!((instrument.name.as_str(), instrument.instrument_type.as_str()), ("SPX Index", "index"));
    let closes = dataset.contents().daily_bars(&"SPX".into());
    let closes: Vec<String> = closes.iter().filter_map(|bar| Some(bar.rest?.close.to_string())).collect();
    assert_eq!(closes, ["1405", "1415", "1425"]);
}

// Goal: an index is part of the content: it changes the hash, packing keeps it, and a cut holds the levels of its time. A
// dataset without one hashes as it did before there were types.
#[test]
fn an_index_is_part_of_the_content_hash() {
    let (plain, with) = (data().build(), data().index("SPX", &LEVELS).build());
    assert_ne!(plain.hash(), with.hash());
    let stock = plain.instrument(&"AAA".into()).expect("is there");
    let canonical = json::canonical(&json::to_value(stock));
    assert_eq!(canonical, r#"{"currency":"USD","name":"AAA Inc.","symbol":"AAA"}"#);
    let mut packed = Vec::new();
    with.pack(&mut packed).expect("packs");
    let back = papertape_core::market::Dataset::unpack("small", &mut packed.as_slice()).expect("unpacks");
    assert_eq!((back.computed_hash(), back.indexes().count()), (with.hash(), 1));
    let last = with.days()[2];
    assert_eq!(with.truncate_at(last.close).hash(), with.hash());
    let cut = with.truncate_at(with.days()[1].close);
    assert_eq!(cut.contents().daily_bars(&"SPX".into()).len(), 2);
}

// Goal: an index has no splits and no dividends.
#[test]
fn an_index_has_no_corporate_actions() {
    let mut builder = DatasetBuilder::new("small", TradingHours::US_ZONE);
    let date = Date::constant(2024, 3, 4);
    let day: TradingDay = TradingHours::us_equity().day(date).expect("a day");
    builder.day(day).expect("a day");
    let symbol = Symbol::new("SPX");
    builder.instrument(Instrument {
        symbol: symbol.clone(),
        name: "S&P 500".to_owned(),
        currency: "USD".to_owned(),
        instrument_type: InstrumentType::Index,
    });
    let [open, high, low, close] = [Price(Decimal::from(5100)); 4];
    builder.bar(&symbol, DailyBar { date, open, high, low, close, volume: Quantity::ZERO }).expect("a bar");
    let kind = CorporateActionKind::Dividend { amount: Price(Decimal::ONE) };
    builder.action(CorporateAction { symbol, ex_date: date, kind }).expect("by itself it is possible");
    match builder.build() {
        Err(BuildError::Action { reason, .. }) => assert!(reason.contains("index"), "{reason}"),
        other => panic!("{other:?}"),
    }
}
