//! Creates a dataset from a download.

use super::super::super::failure::usage;
use super::super::super::output::{count, counted, note};
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

#[derive(Debug, Serialize)]
pub(super) struct CreatedDataset {
    name: String,
    hash: ContentHash,
    /// `false` if the same content was already imported.
    imported: bool,
    symbols: usize,
    days: usize,
    bars: usize,
    intraday_bars: usize,
    report: papertape_market::import::ImportReport,
}

/// Checks before the download that a dataset can have this name and bars of this length.
pub(super) fn check(name: &str, span: BarInterval) -> Result<()> {
    check_name(name).map_err(|error| usage(format!("--name: {error}")))?;
    if let BarInterval::Minutes(minutes) = span
        && u16::try_from(minutes).ok().and_then(Interval::from_minutes).is_none()
    {
        return Err(usage(format!(
            "--interval: a dataset cannot hold bars of {span}; use --no-import to download without creating one"
        )));
    }
    Ok(())
}

pub(super) fn create(
    catalogue: &Catalogue,
    args: &DownloadArgs,
    name: &str,
    reports: &[DownloadReport],
) -> Result<CreatedDataset> {
    let default = if args.source == SourceName::Binance { Exchange::Crypto } else { Exchange::Us };
    let (zone, hours, currency, market) = args.exchange.unwrap_or(default).defaults();
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
            BarInterval::Minutes(minutes) => u16::try_from(minutes).ok().and_then(Interval::from_minutes),
            BarInterval::Day => None,
        },
        basis: args.source.basis(),
    };
    let mut sources = Vec::new();
    for report in reports {
        sources.extend(collect_files(report)?);
    }
    // With a quarantine, an invalid row does not reject the others.
    let mut quarantine = Vec::new();
    let imported =
        import_days(&sources, &options, Some((args.from, last)), Some(&mut quarantine), &mut |_| {})?;
    for text in &imported.report.notes {
        note!("{text}");
    }
    for row in &imported.report.refusals {
        note!("skipped: {row}");
    }
    let more = imported.report.refused.saturating_sub(imported.report.refusals.len() as u64);
    if more > 0 {
        note!("skipped: {} more rows", count(more));
    }
    let dataset = &imported.dataset;
    let is_new = catalogue
        .store(dataset, Some(market), args.replace)
        .context("the responses are stored, but not as a dataset; if its name is taken, use --replace")?;
    Ok(CreatedDataset {
        name: name.to_owned(),
        hash: dataset.hash(),
        imported: is_new,
        symbols: dataset.all_symbols().count(),
        days: dataset.days().len(),
        bars: dataset.bar_count(),
        intraday_bars: dataset.intraday_bars(),
        report: imported.report,
    })
}

/// The last day whose bars are final, as far as the source reports it.
fn last_day(args: &DownloadArgs, hours: &TradingHours) -> Date {
    let today = SystemClock.now().to_zoned(hours.zone().clone()).date();
    if args.source.marks_unfinished_bars() || args.to < today {
        return args.to;
    }
    note!("skipped the bars of {today}, which may not be final");
    today.yesterday().unwrap_or(today)
}

impl fmt::Display for CreatedDataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}: {}, {}, {}",
            self.name,
            &self.hash.to_hex()[..12],
            counted(self.symbols as u64, "symbol"),
            counted(self.days as u64, "day"),
            counted(self.bars as u64, "daily bar")
        )?;
        if self.intraday_bars > 0 {
            write!(f, ", {}", counted(self.intraday_bars as u64, "intraday bar"))?;
        }
        f.write_str(if self.imported { "" } else { "; already imported" })
    }
}
