//! Indexes among the files of an import.

use crate::support::{files, lenient, options, refusals, strict};
use papertape_core::id::Symbol;
use papertape_core::market::Dataset;
use papertape_market::export::{ExportFormat, export};
use papertape_market::import::Source;

const STOCK: (&str, &str) =
    ("A.csv", "date,open,high,low,close,volume\n2024-01-02,10,12,9,11,5\n2024-01-03,11,13,10,12,5\n");
/// As a vendor has it: with an adjusted close, and without a volume that means anything.
const LEVELS: (&str, &str) = (
    "SPX.csv",
    "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-02,4745,4754,4722,4742.83,4742.83,0\n\
     2024-01-03,4725,4729,4699,4704.81,4704.81,0\n",
);
const TYPES: (&str, &str) =
    ("i.csv", "symbol,name,currency,type\nSPX,S&P 500,USD,index\nA,Alpha,USD,stock\n");

fn names<'a>(symbols: impl Iterator<Item = &'a Symbol>) -> Vec<String> {
    symbols.map(ToString::to_string).collect()
}

fn close(dataset: &Dataset, symbol: &str) -> Vec<String> {
    let bars = dataset.contents().daily_bars(&symbol.into());
    bars.iter().filter_map(|bar| Some(bar.rest?.close.to_string())).collect()
}

// Goal: `type` makes an instrument an index: its bars are read as usual, its levels as they are (an index is never split, so
// adjusted closes ask for no splits), and it is not tradable. The type stands in every form of table.
#[test]
fn the_type_column_makes_an_index() {
    let lines = "{\"symbol\":\"SPX\",\"type\":\"index\",\"name\":\"S&P 500\"}\n";
    for instruments in [TYPES, ("i.jsonl", lines), ("i.csv", "symbol,type\nSPX,index\n")] {
        let imported = strict(&files(&[STOCK, LEVELS, instruments]), &options("x")).expect("it is imported");
        let dataset = imported.dataset;
        assert_eq!(names(dataset.tradable_symbols()), ["A"], "{instruments:?}");
        assert_eq!(names(dataset.indexes()), ["SPX"]);
        assert_eq!(close(&dataset, "SPX"), ["4742.83", "4704.81"]);
        assert_eq!(dataset.days().len(), 2);
    }
}

// Goal: a column that says what is assumed anyway changes nothing: the same hash with `stock`, without a type, and without
// instruments that have a name of their own.
#[test]
fn stock_is_what_an_instrument_is() {
    let hash = |instruments: &str| {
        strict(&files(&[STOCK, ("i.csv", instruments)]), &options("x")).expect("imported").dataset.hash()
    };
    let plain = hash("symbol,name,currency\nA,Alpha,USD\n");
    assert_eq!(hash("symbol,name,currency,type\nA,Alpha,USD,stock\n"), plain);
    assert_eq!(hash("symbol,name,currency,type\nA,Alpha,USD,\n"), plain);
    assert_ne!(hash("symbol,name,currency,type\nA,Alpha,USD,index\n"), plain);
}

// Goal: a type that is none of the two is refused by its line, with what is expected; so are splits and dividends of an index.
#[test]
fn what_an_index_cannot_have_is_refused() {
    let told = refusals(&files(&[STOCK, ("i.csv", "symbol,name,type\nA,Alpha,fund\n")]), &options("x"));
    assert_eq!(
        told,
        ["i.csv, line 2: `fund` is not a type of instrument; expected `stock` or `index`"],
        "{told:?}"
    );
    let dividend = ("a.csv", "symbol,ex_date,kind,value\nSPX,2024-01-03,dividend,1\n");
    let (dataset, _, lines) = lenient(&files(&[STOCK, LEVELS, TYPES, dividend]), &options("x"));
    assert_eq!(lines[0]["reason"], "SPX is an index, which has no corporate actions");
    assert_eq!((lines.len(), names(dataset.indexes())), (1, vec!["SPX".to_owned()]));
}

// Goal: a dataset with an index, written out in any form and imported, is itself.
#[test]
fn an_index_survives_an_export() {
    let dataset = strict(&files(&[STOCK, LEVELS, TYPES]), &options("x")).expect("imported").dataset;
    for form in [ExportFormat::Csv, ExportFormat::Jsonl, ExportFormat::Parquet] {
        let dir = tempfile::tempdir().expect("a directory");
        let written = export(&dataset, dir.path(), form).expect("exports");
        let sources: Vec<Source> = written.iter().map(Source::file).collect();
        let back = strict(&sources, &options("again")).expect("imports").dataset;
        assert_eq!(
            (back.hash(), names(back.indexes())),
            (dataset.hash(), vec!["SPX".to_owned()]),
            "{form:?}"
        );
    }
}
