//! Datasets are found by name and by hash prefix.

use papertape_core::market::{DatasetBuilder, TradingHours};
use papertape_market::{BUNDLED_NAME, Catalogue, MarketError, bundled};
use std::sync::Arc;

// Goal: the bundled dataset is listed and opens by its name and by its hash.
#[test]
fn the_bundled_dataset_is_listed_and_opens() {
    let catalogue = Catalogue::bundled();
    let list = catalogue.list().expect("lists");
    assert_eq!(list.len(), 1);
    let entry = &list[0];
    assert_eq!(entry.name, BUNDLED_NAME);
    assert_eq!(
        entry.symbols.iter().map(|s| s.as_str()).collect::<Vec<_>>(),
        ["AAPL", "FB", "GOOG", "IBM", "MSFT"]
    );
    assert_eq!(entry.first_day.map(|day| day.to_string()).as_deref(), Some("2000-03-01"));
    assert_eq!(entry.last_day.map(|day| day.to_string()).as_deref(), Some("2013-03-01"));
    let hash = entry.hash.to_hex();
    for wanted in [BUNDLED_NAME, &hash, &hash[..6], &hash[..12].to_uppercase()] {
        assert_eq!(catalogue.open(wanted).expect(wanted).hash(), entry.hash);
    }
}

// Goal: a missing dataset, a prefix that is too short and a taken name are errors that say so.
#[test]
fn misses_and_clashes_are_told() {
    let mut catalogue = Catalogue::bundled();
    let hash = bundled().hash().to_hex();
    for wanted in ["", "nothing", &hash[..5]] {
        assert!(matches!(catalogue.open(wanted), Err(MarketError::NotFound { .. })), "{wanted}");
    }
    catalogue.add(bundled()).expect("the same again");
    let empty =
        |name: &str| Arc::new(DatasetBuilder::new(name, TradingHours::US_ZONE).build().expect("dataset"));
    let taken = catalogue.add(empty(BUNDLED_NAME)).expect_err("taken");
    assert_eq!(taken.to_string(), "a different dataset named `us-daily-2000-2013` already exists");
    catalogue.add(empty("empty")).expect("another name");
    let names: Vec<String> = catalogue.list().expect("lists").into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["empty", BUNDLED_NAME]);
}
