//! The files of a download, as input for the import.

use super::DownloadError;
use super::report::DownloadReport;
use crate::import::Source;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// The format of news, where several files may contain the same item.
const NEWS: &str = "alpha-vantage-news";

/// The files that the import reads for a download. Every news item is included once, although it is in the
/// responses of each of its symbols.
///
/// # Errors
/// [`DownloadError::Disk`].
pub fn collect_files(report: &DownloadReport) -> Result<Vec<Source>, DownloadError> {
    let files = report.symbols.iter().flat_map(|symbol| &symbol.files);
    if report.format != NEWS {
        return Ok(files.map(Source::file).collect());
    }
    let mut seen = BTreeSet::new();
    let mut feed = Vec::new();
    for file in files {
        for item in items(file).map_err(|error| DownloadError::disk(file, error))? {
            let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            if seen.insert((text("url"), text("time_published"), text("title"))) {
                feed.push(item);
            }
        }
    }
    if feed.is_empty() {
        return Ok(Vec::new());
    }
    let whole = serde_json::json!({ "sentiment_score_definition": null, "feed": feed });
    Ok(vec![Source::bytes("the news of the download", whole.to_string())])
}

fn items(file: &Path) -> io::Result<Vec<Value>> {
    let mut body: Value = serde_json::from_slice(&fs::read(file)?)?;
    Ok(match body.get_mut("feed").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    })
}
