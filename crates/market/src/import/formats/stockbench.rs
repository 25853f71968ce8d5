//! StockBench's caches: news by day, and Polygon's dividends and splits.

use crate::input::{Format, Hints, ImportedRow, Location, ReadAbort, Sink, Source, fields, whole_json};
use jiff::tz::TimeZone;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::News;
use papertape_core::money::Price;
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde_json::Value;

/// News of one symbol.
pub(super) const NEWS: Format = Format {
    name: "stockbench-news",
    description: "StockBench's news_by_day/SYMBOL/DATE.json: headlines, times in UTC",
    detect: |_, head| starts(head, b'{') && has(head, "\"items\"") && has(head, "\"published_utc\""),
    read: read_news,
};

/// Dividends of one symbol.
pub(super) const DIVIDENDS: Format = Format {
    name: "polygon-dividends",
    description: "Polygon's dividends as StockBench stores them: SYMBOL.dividends.json",
    detect: |_, head| starts(head, b'[') && has(head, "\"ex_dividend_date\""),
    read: |source, _, sink| each_action(source, sink, false, dividend),
};

/// Splits of one symbol: the file has all of them, even if it is empty.
pub(super) const SPLITS: Format = Format {
    name: "polygon-splits",
    description: "Polygon's splits as StockBench stores them: SYMBOL.splits.json",
    detect: |name, head| {
        let is_empty = head.trim_ascii() == b"[]" && name.ends_with(".splits.json");
        is_empty || (starts(head, b'[') && has(head, "\"split_to\""))
    },
    read: |source, _, sink| each_action(source, sink, true, split),
};

fn starts(head: &[u8], first: u8) -> bool {
    head.trim_ascii_start().first() == Some(&first)
}

fn has(head: &[u8], text: &str) -> bool {
    head.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The symbol that a file is about: its source's, or the part of its name before the first dot.
fn symbol_of(source: &Source) -> Result<Symbol, ReadAbort> {
    if let Some(symbol) = source.symbol() {
        return Ok(symbol.clone());
    }
    let name = source.file_name();
    let stem = name.strip_suffix(".dividends.json").or_else(|| name.strip_suffix(".splits.json"));
    let symbol = stem.ok_or("the file's name gives no symbol").map_err(str::to_owned);
    symbol.and_then(fields::symbol).map_err(|reason| ReadAbort::file(1, reason))
}

fn read_news(source: &Source, _: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    let body = whole_json(source)?;
    let items = body.get("items").and_then(Value::as_array);
    let items = items.ok_or_else(|| ReadAbort::file(1, "it has no list `items`"))?;
    for (at, item) in items.iter().enumerate() {
        let path = format!("$.items[{at}]");
        sink.row(Location { line: 1, path: Some(&path) }, news(item, source.symbol()), item)?;
    }
    Ok(())
}

fn text<'a>(item: &'a Value, key: &str) -> Result<Option<&'a str>, String> {
    match item.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("`{key}` is not a string")),
    }
}

/// A news item. The same item in the files of two symbols is one item for each: their lists of symbols differ.
fn news(item: &Value, about: Option<&Symbol>) -> Result<ImportedRow, String> {
    let headline = text(item, "title")?.ok_or("it has no `title`")?.to_owned();
    let published_at = published(item)?;
    let url = text(item, "url")?.map(str::to_owned);
    let mut symbols: Vec<Symbol> = about.cloned().into_iter().collect();
    for key in ["related_symbols", "tickers"] {
        for one in item.get(key).and_then(Value::as_array).into_iter().flatten() {
            symbols.push(fields::symbol(one.as_str().ok_or_else(|| format!("`{key}` has no strings"))?)?);
        }
    }
    symbols.sort_unstable();
    symbols.dedup();
    let own = match item.get("id") {
        Some(Value::Number(number)) if number.as_i64() != Some(0) => number.to_string(),
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim().to_owned(),
        _ => {
            let identity = format!("{published_at:?}\n{headline}\n{url:?}");
            ContentHash::of(identity.as_bytes()).to_hex()[..16].to_owned()
        }
    };
    let id = about.map_or_else(|| own.clone(), |symbol| format!("{symbol}:{own}"));
    let source = match text(item, "source")? {
        Some(source) => source.to_owned(),
        None => "unknown".to_owned(),
    };
    let body = text(item, "description")?.map(str::to_owned);
    let item = News { id, symbols, source, headline, body, url };
    Ok(ImportedRow::News { published_at, item })
}

/// When an item was published. The file may have a time in UTC and the vendor's seconds since 1970. StockBench derives
/// the former from the latter by the clock of its own machine, so they can differ by a time zone; the later one counts.
fn published(item: &Value) -> Result<Option<Timestamp>, String> {
    let written = match text(item, "published_utc")? {
        Some(text) => {
            Some(fields::instant(text, &TimeZone::UTC).map_err(|reason| format!("published_utc: {reason}"))?)
        }
        None => None,
    };
    let vendor = match item.get("datetime") {
        None | Some(Value::Null) => None,
        Some(Value::Number(seconds)) if seconds.as_i64() == Some(0) => None,
        Some(value) => {
            let seconds = value.as_i64().ok_or("`datetime` is not a number of seconds")?;
            Some(Timestamp::from_second(seconds).map_err(|_| format!("datetime: {seconds} is not a time"))?)
        }
    };
    Ok(written.max(vendor))
}

type ActionReader = fn(&Value) -> Result<(Date, CorporateActionKind), String>;

fn each_action(
    source: &Source,
    sink: &mut dyn Sink,
    is_complete: bool,
    read: ActionReader,
) -> Result<(), ReadAbort> {
    let symbol = symbol_of(source)?;
    let body = whole_json(source)?;
    let items = body.as_array().ok_or_else(|| ReadAbort::file(1, "it is not a list"))?;
    if is_complete {
        let row = ImportedRow::SplitsComplete { symbol: symbol.clone() };
        sink.row(Location { line: 1, path: Some("$") }, Ok(row), &"all splits")?;
    }
    for (at, item) in items.iter().enumerate() {
        let path = format!("$[{at}]");
        let row = own(item, &symbol).and_then(|()| read(item)).map(|(ex_date, kind)| {
            ImportedRow::Action(CorporateAction { symbol: symbol.clone(), ex_date, kind })
        });
        sink.row(Location { line: 1, path: Some(&path) }, row, item)?;
    }
    Ok(())
}

/// Checks that a row is about the file's symbol.
fn own(item: &Value, symbol: &Symbol) -> Result<(), String> {
    match text(item, "ticker")? {
        Some(ticker) if ticker != symbol.as_str() => {
            Err(format!("its ticker is {}, but the file is of {symbol}", fields::quote(ticker)))
        }
        _ => Ok(()),
    }
}

fn amount(item: &Value, key: &str) -> Result<Decimal, String> {
    match item.get(key) {
        Some(Value::Number(number)) => {
            fields::decimal(&number.to_string()).map_err(|reason| format!("{key}: {reason}"))
        }
        _ => Err(format!("there is no number `{key}`")),
    }
}

fn day(item: &Value, key: &str) -> Result<Date, String> {
    let text = text(item, key)?.ok_or_else(|| format!("there is no `{key}`"))?;
    fields::date(text).map_err(|reason| format!("{key}: {reason}"))
}

fn dividend(item: &Value) -> Result<(Date, CorporateActionKind), String> {
    let amount = Price(amount(item, "cash_amount")?);
    Ok((day(item, "ex_dividend_date")?, CorporateActionKind::Dividend { amount }))
}

fn split(item: &Value) -> Result<(Date, CorporateActionKind), String> {
    let (new, old) = (amount(item, "split_to")?, amount(item, "split_from")?);
    let ratio = new.checked_div(old).ok_or_else(|| format!("{new} for {old} is not a ratio"))?;
    Ok((day(item, "execution_date")?, CorporateActionKind::Split { ratio }))
}
