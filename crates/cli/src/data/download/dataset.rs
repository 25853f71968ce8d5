//! The dataset that is made of a download.

use super::super::super::failure::usage;
use super::super::super::output::{count, note};
use super::super::import::{Exchange, parse_hours};
use super::DownloadArgs;
use anyhow::{Context as _, Result};
use papertape_core::id::ContentHash;
use papertape_core::market::{Interval, TradingHours};
use papertape_core::ports::Clock as _;
use papertape_core::time::Date;
use papertape_market::download::{BarInterval, DownloadReport, SourceName, collect_files};
use papertape_market::import::{ImportOptions, import_days};
use papertape_market::{Catalogue, check_name};
use papertape_runtime::clock::SystemClock;
use serde::Serialize;
use std::fmt;

/// A dataset that was made.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    name: String,
    hash: ContentHash,
    /// It was not there before.
    imported: bool,
    symbols: usize,
    days: usize,
    bars: usize,
    bars_within_days: usize,
    report: papertape_market::import::ImportReport,
}

/// Could there be a dataset of this name, with bars of this length?
pub(super) fn check(name: &str, span: BarInterval) -> Result<()> {
    check_name(name).map_err(|error| usage(format!("--name: {error}")))?;
    if let BarInterval::Minutes(minutes) = span
        && u16::try_from(minutes).ok().and_then(Interval::of_minutes).is_none()
    {
        return Err(usage(format!(
            "--interval: no dataset holds bars of {span}; --no-import only downloads"
        )));
    }
    Ok(())
}

/// Makes it, and keeps it.
pub(super) fn make(
    catalogue: &Catalogue,
    args: &DownloadArgs,
    name: &str,
    reports: &[DownloadReport],
) -> Result<Made> {
    let usual = if args.source == SourceName::Binance { Exchange::Crypto } else { Exchange::Us };
    let (zone, hours, currency, market) = args.exchange.unwrap_or(usual).habits();
    let hours = parse_hours(zone, hours).map_err(usage)?;
    let last = last_day(args, &hours);
    let options = ImportOptions {
        name: name.to_owned(),
        zone: zone.to_owned(),
        hours,
        currency: currency.to_owned(),
        format: None,
        symbol: None,
        interval: match args.interval {
            BarInterval::Minutes(minutes) => u16::try_from(minutes).ok().and_then(Interval::of_minutes),
            BarInterval::Day => None,
        },
        basis: args.source.basis(),
    };
    let mut sources = Vec::new();
    for report in reports {
        sources.extend(collect_files(report)?);
    }
    // A row that cannot be true does not lose the others.
    let mut refused = Vec::new();
    let imported = import_days(&sources, &options, Some((args.from, last)), Some(&mut refused), &mut |_| {})?;
    for told in &imported.report.notes {
        note!("{told}");
    }
    for one in &imported.report.refusals {
        note!("left out: {one}");
    }
    let more = imported.report.refused.saturating_sub(imported.report.refusals.len() as u64);
    if more > 0 {
        note!("left out: {} more rows", count(more));
    }
    let dataset = &imported.dataset;
    let is_new = catalogue
        .store(dataset, Some(market), args.replace)
        .context("the answers are kept, the dataset is not; --replace lets the name stand for it")?;
    Ok(Made {
        name: name.to_owned(),
        hash: dataset.hash(),
        imported: is_new,
        symbols: dataset.all_symbols().count(),
        days: dataset.days().len(),
        bars: dataset.bar_count(),
        bars_within_days: dataset.intraday_bars(),
        report: imported.report,
    })
}

/// The last day that is over, as far as the source says so.
fn last_day(args: &DownloadArgs, hours: &TradingHours) -> Date {
    let today = SystemClock.now().to_zoned(hours.zone().clone()).date();
    if args.source.marks_unfinished_bars() || args.to < today {
        return args.to;
    }
    note!("the bars of {today} are left out: nothing says whether they are over");
    today.yesterday().unwrap_or(today)
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {} symbols, {} days, {} daily bars",
            self.name,
            &self.hash.to_hex()[..12],
            count(self.symbols as u64),
            count(self.days as u64),
            count(self.bars as u64)
        )?;
        if self.bars_within_days > 0 {
            write!(f, ", {} bars within days", count(self.bars_within_days as u64))?;
        }
        f.write_str(if self.imported { "" } else { ", as it was there already" })
    }
}
