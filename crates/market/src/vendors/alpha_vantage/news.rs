//! Alpha Vantage's news: the `feed` of `NEWS_SENTIMENT`.

use crate::input::{Format, Hints, ImportedRow, Location, ReadAbort, Sink, Source, fields, whole_json};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::market::News;
use papertape_core::time::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fs, io};

/// Sentiments are ignored, because nothing says when they were computed, or from what.
pub(super) const NEWS: Format = Format {
    name: "alpha-vantage-news",
    description: "Alpha Vantage's NEWS_SENTIMENT: headlines and summaries, times in UTC",
    detect: |_, head| {
        let head = String::from_utf8_lossy(head);
        let first = head.trim_start();
        first.starts_with('{')
            && (first.contains("\"sentiment_score_definition\"")
                || first.contains("\"overall_sentiment_score\""))
    },
    read,
};

fn read(source: &Source, _hints: &Hints, sink: &mut dyn Sink) -> Result<(), ReadAbort> {
    let body = whole_json(source)?;
    let feed = Feed::read(&body).map_err(|reason| ReadAbort::file(1, reason))?;
    for (at, item) in feed.items.iter().enumerate() {
        let path = format!("$.feed[{at}]");
        sink.row(Location { line: 1, path: Some(&path) }, row(item), item)?;
    }
    Ok(())
}

/// A feed as received.
pub(super) struct Feed<'a> {
    /// Its items.
    pub(super) items: &'a [Value],
}

impl<'a> Feed<'a> {
    /// Finds the items of a response.
    pub(super) fn read(body: &'a Value) -> Result<Self, String> {
        let items = body.get("feed").and_then(Value::as_array).ok_or("it has no list `feed`")?;
        Ok(Self { items })
    }

    /// When an item was published, `20240510T133000` in UTC.
    pub(super) fn published_at(item: &Value) -> Result<Timestamp, String> {
        let text = item.get("time_published").and_then(Value::as_str).unwrap_or_default();
        let at: Result<DateTime, _> = match text.len() {
            13 => DateTime::strptime("%Y%m%dT%H%M", text),
            _ => DateTime::strptime("%Y%m%dT%H%M%S", text),
        };
        let at = at.map_err(|_| format!("time_published: {} is not a time", fields::quote(text)))?;
        let at = at.to_zoned(TimeZone::UTC).map_err(|_| "time_published: it is out of range".to_owned())?;
        Ok(at.timestamp())
    }
}

/// The feeds of these files as one, without duplicate items; `None` if there are no items.
pub(super) fn merge(files: &[PathBuf]) -> Result<Option<String>, (PathBuf, io::Error)> {
    let mut seen = BTreeSet::new();
    let mut feed = Vec::new();
    for file in files {
        let read = fs::read(file).and_then(|bytes| Ok(serde_json::from_slice::<Value>(&bytes)?));
        let mut body = read.map_err(|error| (file.clone(), error))?;
        let Some(Value::Array(items)) = body.get_mut("feed").map(Value::take) else { continue };
        for item in items {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            if seen.insert((text("url"), text("time_published"), text("title"))) {
                feed.push(item);
            }
        }
    }
    let merged = || serde_json::json!({ "sentiment_score_definition": null, "feed": feed }).to_string();
    Ok((!feed.is_empty()).then(merged))
}

fn row(item: &Value) -> Result<ImportedRow, String> {
    let text =
        |key: &str| item.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let headline = text("title").ok_or("it has no `title`")?.to_owned();
    let published_at = Some(Feed::published_at(item)?);
    let url = text("url").map(str::to_owned);
    let mut symbols = Vec::new();
    for one in item.get("ticker_sentiment").and_then(Value::as_array).into_iter().flatten() {
        let ticker =
            one.get("ticker").and_then(Value::as_str).ok_or("a `ticker_sentiment` names no ticker")?;
        symbols.push(fields::symbol(ticker)?);
    }
    symbols.sort_unstable();
    symbols.dedup();
    // The same item is returned for each of its symbols, but it is a single item.
    let identity = url.clone().unwrap_or_else(|| format!("{published_at:?} {headline}"));
    let id = format!("av-{}", &ContentHash::of(identity.as_bytes()).to_hex()[..16]);
    let source = text("source").unwrap_or("unknown").to_owned();
    let body = text("summary").map(str::to_owned);
    let item = News { id, symbols: symbols as Vec<Symbol>, source, headline, body, url };
    Ok(ImportedRow::News { published_at, item })
}
