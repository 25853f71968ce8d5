//! Runs recorded by StockBench: the trades, the net asset value (NAV) and the metrics of a backtest, and the prices,
//! dividends, splits and news of its storage.
//!
//! The books are recomputed from the trades by Papertape's broker. Every NAV, metric and price that differs is reported
//! by file and row with both numbers; none is corrected.

mod data;
mod metrics;
mod run;

pub use data::{DataFiles, data_files};
pub use metrics::compare;
pub use run::{Run, RunFolder, read};

use crate::imports::{RunReport, files};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of these runs in a job's config.
pub const FORMAT: &str = "stockbench";
/// How many folders above the given one are searched for the storage: `storage/reports/backtest/RUN` has three.
const MAX_ABOVE: usize = 3;

/// What is in a folder.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The runs, by folder.
    pub runs: Vec<RunFolder>,
    /// The folder with `parquet` and `cache`.
    pub storage: Option<PathBuf>,
}

/// Finds the runs below a folder, and the storage with the data: `data`, if it is given, or the one in or above the
/// folder.
///
/// # Errors
/// An I/O error.
pub fn find(dir: &Path, data: Option<&Path>, report: &mut RunReport) -> io::Result<Layout> {
    let is_storage = |path: &Path| files::is_folder(&path.join("parquet"));
    let storage = match data {
        Some(data) => [data.to_owned(), data.join("storage")].into_iter().find(|path| is_storage(path)),
        None => {
            let whole = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
            let above = whole.ancestors().skip(1).take(MAX_ABOVE).map(Path::to_owned);
            [dir.join("storage"), dir.to_owned()].into_iter().chain(above).find(|path| is_storage(path))
        }
    };
    let is_cache = |path: &Path| {
        storage.as_ref().is_some_and(|storage| {
            path.starts_with(storage.join("parquet")) || path.starts_with(storage.join("cache"))
        })
    };
    let is_wanted = |path: &Path| {
        !is_cache(path)
            && matches!(files::name(path), "daily_nav.parquet" | "trades.parquet" | "metrics.json")
    };
    let found = files::find(dir, is_wanted, report)?;
    let folders: BTreeSet<&Path> = found.iter().filter_map(|path| path.parent()).collect();
    let runs = folders.into_iter().map(RunFolder::of).collect();
    Ok(Layout { runs, storage })
}
