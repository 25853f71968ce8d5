//! The data of StockBench's storage: daily bars, dividends, splits and news.

use crate::imports::{RowPlace, RunReport, files};
use papertape_core::id::Symbol;
use papertape_market::import::Source;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The files of a dataset.
#[derive(Clone, Debug, Default)]
pub struct DataFiles {
    /// All of them.
    pub sources: Vec<Source>,
    /// The number of symbols with bars.
    pub symbols: usize,
}

/// The files below a storage folder. Its prices are adjusted for splits, so a symbol without a file of splits is left
/// out.
///
/// # Errors
/// An I/O error.
pub fn data_files(storage: &Path, report: &mut RunReport) -> io::Result<DataFiles> {
    let cache = storage.join("cache");
    let mut bars: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in files::find(&storage.join("parquet"), |path| files::name(path).ends_with(".parquet"), report)?
    {
        match symbol_above(&path) {
            Some(symbol) => bars.entry(symbol).or_default().push(path),
            None => report.skip(&path.display().to_string(), "not in a folder SYMBOL/day"),
        }
    }
    let mut data = DataFiles::default();
    let actions = cache.join("corporate_actions");
    let mut complete = BTreeSet::new();
    if files::is_folder(&actions) {
        let is_wanted = |path: &Path| {
            [".dividends.json", ".splits.json"].iter().any(|end| files::name(path).ends_with(end))
        };
        for path in files::find(&actions, is_wanted, report)? {
            let symbol = files::name(&path).split('.').next().unwrap_or_default().to_owned();
            let is_dividends = files::name(&path).ends_with(".dividends.json");
            if !bars.contains_key(&symbol) {
                report.skip(&path.display().to_string(), "its symbol has no bars");
            } else if is_dividends && is_empty_list(&path, None) {
                // No dividends.
            } else if is_usable(&path, report) {
                if !is_dividends {
                    complete.insert(symbol.clone());
                }
                data.sources.push(Source::file(&path).about(Symbol::new(symbol)));
            }
        }
    }
    for (symbol, paths) in &bars {
        if !complete.contains(symbol) {
            let why = "it has no corporate_actions/SYMBOL.splits.json, which its split-adjusted prices need";
            report.skip(&format!("prices of {symbol}"), why);
            continue;
        }
        data.symbols += 1;
        data.sources.extend(paths.iter().map(|path| Source::file(path).about(Symbol::new(symbol))));
    }
    let news = cache.join("news_by_day");
    if files::is_folder(&news) {
        for path in files::find(&news, |path| files::name(path).ends_with(".json"), report)? {
            let symbol = path.parent().map(files::name).unwrap_or_default();
            if complete.contains(symbol) && bars.contains_key(symbol) {
                if !is_empty_list(&path, Some("items")) && is_usable(&path, report) {
                    data.sources.push(Source::file(&path).about(Symbol::new(symbol)));
                }
            } else {
                report.skip(&path.display().to_string(), "its symbol has no prices");
            }
        }
    }
    Ok(data)
}

/// The symbol of `SYMBOL/day/DATE.parquet`.
fn symbol_above(path: &Path) -> Option<String> {
    let day = path.parent().filter(|parent| files::name(parent) == "day")?;
    let symbol = day.parent().map(files::name)?;
    (!symbol.is_empty()).then(|| symbol.to_owned())
}

/// Whether a small JSON file has an empty list; StockBench writes one for a symbol without events.
fn is_empty_list(path: &Path, key: Option<&str>) -> bool {
    let Ok(text) = files::text(path) else { return false };
    if text.len() > 1_024 {
        return false;
    }
    let Ok(value) = files::parse_json::<Value>(&text) else { return false };
    let list = key.map_or(Some(&value), |key| value.get(key)).and_then(Value::as_array);
    list.is_some_and(Vec::is_empty)
}

/// Whether a file can be read as a text; if not, the reason goes into the report.
fn is_usable(path: &Path, report: &mut RunReport) -> bool {
    match files::text(path) {
        Ok(_) => true,
        Err((line, reason)) => {
            report.problem(RowPlace { file: path.display().to_string(), line }, reason);
            false
        }
    }
}
