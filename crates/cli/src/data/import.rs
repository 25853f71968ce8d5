//! `papertape data import`

use super::super::failure::{FAILED, usage};
use super::super::output::{count, counted, json, note, say};
use super::super::terminal::above_bars;
use super::super::{Common, Outcome};
use super::market_error;
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use papertape_core::id::Symbol;
use papertape_core::market::{Interval, TradingHours};
use papertape_market::import::{
    Basis, ImportError, ImportOptions, ImportReport, Imported, Progress, SkippedFile, Source, all_formats,
    import as read,
};
use papertape_market::{Catalogue, check_name};
use papertape_service::app::make_data_dir;
use papertape_service::config::Config;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Files, or folders to search for data files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The dataset's name
    #[arg(long)]
    name: String,
    /// Exchange: sets the zone, hours, currency and market
    #[arg(long, value_enum, default_value_t = Exchange::Us)]
    exchange: Exchange,
    /// The exchange's time zone, such as Europe/London
    #[arg(long)]
    zone: Option<String>,
    /// The exchange's trading hours, such as 09:30-16:00
    #[arg(long, value_name = "FROM-TO")]
    hours: Option<String>,
    /// Currency of instruments whose files name none
    #[arg(long)]
    currency: Option<String>,
    /// Market profile of runs that name none
    #[arg(long)]
    market: Option<String>,
    /// File format [default: detected for each file]
    #[arg(long, value_parser = format_names())]
    format: Option<String>,
    /// Symbol of rows that have none [default: the file's name]
    #[arg(long)]
    symbol: Option<String>,
    /// Length of intraday bars, such as 5m, if the rows do not say
    #[arg(long)]
    interval: Option<Interval>,
    /// Share units of prices, if the format's default is wrong
    #[arg(long, value_enum)]
    prices: Option<Prices>,
    /// Write rejected rows to this file, and import the others
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// Reassign a name that is taken; its old content stays available by hash
    #[arg(long)]
    replace: bool,
}

/// The defaults of an exchange.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Exchange {
    /// New York, 09:30-16:00, USD
    Us,
    /// Shanghai, 09:30-15:00, CNY
    Cn,
    /// 24 hours a day in UTC, USD
    Crypto,
}

/// The share units of prices.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Prices {
    /// Unadjusted, as traded on the day
    AsTraded,
    /// Adjusted for all splits up to the date of the file
    SplitAdjusted,
}

impl Exchange {
    /// Zone, hours, currency and market profile.
    pub fn defaults(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Us => (TradingHours::US_ZONE, "09:30-16:00", "USD", "us_equity"),
            Self::Cn => ("Asia/Shanghai", "09:30-15:00", "CNY", "cn_a_share"),
            Self::Crypto => ("UTC", "00:00-24:00", "USD", "crypto"),
        }
    }
}

fn format_names() -> clap::builder::PossibleValuesParser {
    all_formats().map(|format| clap::builder::PossibleValue::new(format.name).help(format.description)).into()
}

pub(super) fn import(common: &Common, config: &Config, catalogue: &Catalogue, args: &ImportArgs) -> Outcome {
    check_name(&args.name).map_err(market_error)?;
    let (zone, hours, currency, market) = args.exchange.defaults();
    let market = args.market.as_deref().unwrap_or(market);
    config.market(market).map_err(|message| usage(format!("--market: {message}")))?;
    let zone = args.zone.as_deref().unwrap_or(zone);
    let options = ImportOptions {
        name: args.name.clone(),
        zone: zone.to_owned(),
        hours: parse_hours(zone, args.hours.as_deref().unwrap_or(hours)).map_err(usage)?,
        currency: args.currency.clone().unwrap_or_else(|| currency.to_owned()),
        format: args.format.clone(),
        symbol: args.symbol.as_deref().map(Symbol::new),
        interval: args.interval,
        basis: args.prices.map(|prices| match prices {
            Prices::AsTraded => Basis::AsTraded,
            Prices::SplitAdjusted => Basis::SplitAdjusted,
        }),
    };
    let sources = sources(&args.files)?;
    let mut quarantine = args.quarantine.as_deref().map(Quarantine::open).transpose()?;
    let mut progress_line = ProgressLine::new();
    let result = {
        let quarantine = quarantine.as_mut().map(|one| &mut one.file as &mut dyn Write);
        read(&sources, &options, quarantine, &mut |progress| progress_line.show(progress))
    };
    progress_line.end();
    let imported = match result {
        Ok(imported) => imported,
        Err(error) => return report_failure(common, error),
    };
    make_data_dir(&config.data_dir)?;
    let is_new = catalogue.store(&imported.dataset, Some(market), args.replace).map_err(name_taken_error)?;
    if let Some(quarantine) = quarantine {
        quarantine.end()?;
    }
    report_success(common, &imported, args.quarantine.as_deref(), is_new)
}

/// Parses `09:30-16:00`; `24:00` is the end of the day.
pub fn parse_hours(zone: &str, text: &str) -> Result<TradingHours, String> {
    let invalid = || format!("--hours: invalid `{text}`; expected the form 09:30-16:00");
    let (open, close) = text.split_once('-').ok_or_else(invalid)?;
    let time = |text: &str| text.trim().parse::<jiff::civil::Time>().map_err(|_| invalid());
    let close = if close.trim() == "24:00" { jiff::civil::Time::midnight() } else { time(close)? };
    TradingHours::new(zone, time(open)?, close).map_err(|error| format!("--zone: {error}"))
}

/// The named files, and all files below the named folders, sorted, without hidden ones.
fn sources(files: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in files {
        let metadata = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        if metadata.is_dir() {
            let mut found = Vec::new();
            walk(path, &mut found)?;
            sources.extend(found.into_iter().map(Source::found));
        } else {
            sources.push(Source::file(path));
        }
    }
    Ok(sources)
}

/// Does not follow links to folders, which may form a cycle.
fn walk(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let named = || dir.display().to_string();
    let entries = std::fs::read_dir(dir).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.with_context(named)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        if entry.file_type().with_context(named)?.is_dir() {
            walk(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The error of a name that is in use.
pub fn name_taken_error(error: papertape_market::MarketError) -> anyhow::Error {
    let is_taken = matches!(error, papertape_market::MarketError::NameTaken { .. });
    let error = market_error(error);
    if is_taken {
        error.context("the dataset name is taken by other content; reassign it with --replace")
    } else {
        error
    }
}

fn report_failure(common: &Common, error: ImportError) -> Outcome {
    let report = match &error {
        ImportError::Refused(report) | ImportError::Nothing(report) => report,
        ImportError::Format(_) => return Err(usage(error.to_string())),
        _ => return Err(error.into()),
    };
    let message = match &error {
        ImportError::Refused(_) if report.rows == 0 => {
            let files: BTreeSet<&str> = report.refusals.iter().map(|one| one.file.as_str()).collect();
            let files: Vec<&str> = files.into_iter().collect();
            format!("no rows in {}; nothing imported", files.join(", "))
        }
        ImportError::Refused(_) => format!(
            "{} of {} rows rejected; nothing imported. To import the others, use --quarantine FILE",
            count(report.refused),
            count(report.rows)
        ),
        _ => error.to_string(),
    };
    if common.json {
        json(&json!({ "error": message, "report": report }))?;
    }
    print_report(report);
    note!("error: {message}");
    Ok(ExitCode::from(FAILED))
}

/// Prints notes and rejected rows to stderr.
fn print_report(report: &ImportReport) {
    for one in &report.notes {
        note!("{one}");
    }
    print_skipped(&report.skipped);
    for problem in &report.problems {
        note!("{problem}");
    }
}

/// One line per reason.
fn print_skipped(files: &[SkippedFile]) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        by_reason.entry(&file.reason).or_default().push(&file.file);
    }
    for (reason, files) in by_reason {
        note!("skipped {} file(s) without data: {} ({reason})", count(files.len() as u64), files.join(", "));
    }
}

fn report_success(common: &Common, imported: &Imported, quarantine: Option<&Path>, is_new: bool) -> Outcome {
    let (dataset, report) = (&imported.dataset, &imported.report);
    print_report(report);
    if let Some(file) = quarantine.filter(|_| report.refused > 0) {
        note!(
            "{} of {} rejected and written to {}",
            count(report.refused),
            counted(report.rows, "row"),
            file.display()
        );
    }
    if common.json {
        json(&json!({
            "name": dataset.name(),
            "hash": dataset.hash(),
            "imported": is_new,
            "symbols": dataset.tradable_symbols().count(),
            "indexes": dataset.indexes().count(),
            "days": dataset.days().len(),
            "bars": dataset.bar_count(),
            "intraday_bars": dataset.intraday_bars(),
            "report": report,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let intraday = match dataset.intraday_bars() {
        0 => String::new(),
        bars => format!(", {}", counted(bars as u64, "intraday bar")),
    };
    let indexes = match dataset.indexes().count() {
        0 => String::new(),
        1 => ", 1 index".to_owned(),
        several => format!(", {several} indexes"),
    };
    let suffix = if is_new { "" } else { "; already imported" };
    say(format!(
        "{} {}: {}{indexes}, {}, {}{intraday} from {}{suffix}",
        dataset.name(),
        &dataset.hash().to_hex()[..12],
        counted(dataset.tradable_symbols().count() as u64, "symbol"),
        counted(dataset.days().len() as u64, "day"),
        counted(dataset.bar_count() as u64, "daily bar"),
        counted(report.rows, "row"),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The file of rejected rows. It appears under its name only if the import succeeds.
struct Quarantine {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Quarantine {
    fn open(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| usage("--quarantine: not a file name"))?;
        let temporary = path.with_file_name(format!(".{}.part", name.to_string_lossy()));
        let file = File::create(&temporary).with_context(|| temporary.display().to_string())?;
        Ok(Self { file: BufWriter::new(file), temporary, path: path.to_owned() })
    }

    fn end(mut self) -> Result<()> {
        let written = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        let renamed = written.and_then(|()| std::fs::rename(&self.temporary, &self.path));
        renamed.with_context(|| self.path.display().to_string())
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        // After a successful import it has been renamed.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

/// The progress of a long import, on stderr.
struct ProgressLine {
    bar: Option<indicatif::ProgressBar>,
    last_printed: Instant,
}

impl ProgressLine {
    /// The interval between lines if stderr is not a terminal.
    const INTERVAL: Duration = Duration::from_secs(5);

    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(indicatif::ProgressBar::new_spinner);
        Self { bar, last_printed: Instant::now() }
    }

    fn show(&mut self, progress: Progress<'_>) {
        let Progress { file, done, files, rows } = progress;
        let text = || {
            format!("{} of {} files, {} rows: {file}", count(done as u64), count(files as u64), count(rows))
        };
        match &self.bar {
            Some(bar) => {
                bar.set_message(text());
                bar.tick();
            }
            None if self.last_printed.elapsed() >= Self::INTERVAL => {
                note!("{}", text());
                self.last_printed = Instant::now();
            }
            None => {}
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            above_bars(|| bar.finish_and_clear());
        }
    }
}
