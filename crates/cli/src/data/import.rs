//! `papertape data import`

use super::super::failure::{FAILED, usage};
use super::super::output::{count, json, note, say};
use super::super::progress::above_the_bars;
use super::super::{Common, Outcome};
use super::of_market;
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
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What to import.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// Files, or folders, of which everything is read that is data
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The dataset's name
    #[arg(long)]
    name: String,
    /// Zone, hours and currency of an exchange, and the market of runs
    #[arg(long, value_enum, default_value_t = Exchange::Us)]
    exchange: Exchange,
    /// The exchange's time zone, such as Europe/London
    #[arg(long)]
    zone: Option<String>,
    /// The exchange's hours, such as 09:30-16:00
    #[arg(long, value_name = "FROM-TO")]
    hours: Option<String>,
    /// The currency of instruments for which no file gives one
    #[arg(long)]
    currency: Option<String>,
    /// The market profile of runs that name none
    #[arg(long)]
    market: Option<String>,
    /// The format of the files [default: each is recognised]
    #[arg(long, value_parser = format_names())]
    format: Option<String>,
    /// The symbol of rows that name none [default: the file's name]
    #[arg(long)]
    symbol: Option<String>,
    /// How long bars within the day last, such as 5m, where the rows do not say
    #[arg(long)]
    interval: Option<Interval>,
    /// In which share units prices are, whatever the format takes them for
    #[arg(long, value_enum)]
    prices: Option<Prices>,
    /// Write refused rows to this file, and import the others
    #[arg(long, value_name = "FILE")]
    quarantine: Option<PathBuf>,
    /// Let the name stand for these files from now on; what it stood for is kept, by its hash
    #[arg(long)]
    replace: bool,
}

/// An exchange's habits.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Exchange {
    /// New York, 09:30-16:00, USD
    Us,
    /// Shanghai, 09:30-15:00, CNY
    Cn,
    /// UTC, around the clock, USD
    Crypto,
}

/// In which share units prices are.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Prices {
    /// Those of their day
    AsTraded,
    /// Those of the day on which the file was made
    SplitAdjusted,
}

impl Exchange {
    /// Zone, hours, currency and market profile.
    pub(crate) fn habits(self) -> (&'static str, &'static str, &'static str, &'static str) {
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

/// Imports them.
pub(super) fn import(common: &Common, config: &Config, catalogue: &Catalogue, args: &ImportArgs) -> Outcome {
    check_name(&args.name).map_err(of_market)?;
    let (zone, hours, currency, market) = args.exchange.habits();
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
    let mut sign = Sign::new();
    let result = {
        let quarantine = quarantine.as_mut().map(|one| &mut one.file as &mut dyn Write);
        read(&sources, &options, quarantine, &mut |progress| sign.show(progress))
    };
    sign.end();
    let imported = match result {
        Ok(imported) => imported,
        Err(error) => return refused(common, error),
    };
    make_data_dir(&config.data_dir)?;
    let is_new = catalogue.store(&imported.dataset, Some(market), args.replace).map_err(of_taken)?;
    if let Some(quarantine) = quarantine {
        quarantine.end()?;
    }
    done(common, &imported, is_new)
}

/// `09:30-16:00`; `24:00` is the end of the day.
pub(crate) fn parse_hours(zone: &str, text: &str) -> Result<TradingHours, String> {
    let wrong = || format!("--hours: `{text}` is not of the form 09:30-16:00");
    let (open, close) = text.split_once('-').ok_or_else(wrong)?;
    let time = |text: &str| text.trim().parse::<jiff::civil::Time>().map_err(|_| wrong());
    let close = if close.trim() == "24:00" { jiff::civil::Time::midnight() } else { time(close)? };
    TradingHours::new(zone, time(open)?, close).map_err(|error| format!("--zone: {error}"))
}

/// The files, and those of the folders and of what lies in them, without hidden ones, by name.
fn sources(files: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in files {
        let about = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        if about.is_dir() {
            let mut within = Vec::new();
            walk(path, &mut within)?;
            sources.extend(within.into_iter().map(Source::found));
        } else {
            sources.push(Source::file(path));
        }
    }
    Ok(sources)
}

/// Links to folders are not followed: they could lead in a circle.
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

pub(crate) fn of_taken(error: papertape_market::MarketError) -> anyhow::Error {
    let is_taken = matches!(error, papertape_market::MarketError::NameTaken { .. });
    let error = of_market(error);
    if is_taken {
        error.context("the name stands for other content; --replace lets it stand for this")
    } else {
        error
    }
}

fn refused(common: &Common, error: ImportError) -> Outcome {
    let report = match &error {
        ImportError::Refused(report) | ImportError::Nothing(report) => report,
        ImportError::Format(_) => return Err(usage(error.to_string())),
        _ => return Err(error.into()),
    };
    if common.json {
        json(&json!({ "error": error.to_string(), "report": report }))?;
    }
    print_report(report);
    match &error {
        ImportError::Refused(_) => note!(
            "error: {} of {} rows refused, nothing is imported; --quarantine FILE imports the others",
            count(report.refused),
            count(report.rows)
        ),
        _ => note!("error: {error}"),
    }
    Ok(ExitCode::from(FAILED))
}

/// Notes and refusals, to stderr.
fn print_report(report: &ImportReport) {
    for one in &report.notes {
        note!("{one}");
    }
    skipped(&report.skipped);
    for problem in &report.problems {
        note!("{problem}");
    }
}

/// One sentence for the files of each reason.
fn skipped(files: &[SkippedFile]) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        by_reason.entry(&file.reason).or_default().push(&file.file);
    }
    for (reason, files) in by_reason {
        note!("skipped {}, not data: {} ({reason})", count(files.len() as u64), files.join(", "));
    }
}

fn done(common: &Common, imported: &Imported, is_new: bool) -> Outcome {
    let (dataset, report) = (&imported.dataset, &imported.report);
    print_report(report);
    if common.json {
        json(&json!({
            "name": dataset.name(),
            "hash": dataset.hash(),
            "imported": is_new,
            "symbols": dataset.tradable_symbols().count(),
            "indexes": dataset.indexes().count(),
            "days": dataset.days().len(),
            "bars": dataset.bar_count(),
            "bars_within_days": dataset.intraday_bars(),
            "report": report,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let within = match dataset.intraday_bars() {
        0 => String::new(),
        bars => format!(", {} bars within days", count(bars as u64)),
    };
    let indexes = match dataset.indexes().count() {
        0 => String::new(),
        1 => ", 1 index".to_owned(),
        several => format!(", {several} indexes"),
    };
    let there = if is_new { "" } else { ", as it was there already" };
    say(format!(
        "{} {}: {} symbols{indexes}, {} days, {} daily bars{within} from {} rows{there}",
        dataset.name(),
        &dataset.hash().to_hex()[..12],
        count(dataset.tradable_symbols().count() as u64),
        count(dataset.days().len() as u64),
        count(dataset.bar_count() as u64),
        count(report.rows),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The quarantine's file, which is there when the import is.
struct Quarantine {
    file: BufWriter<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Quarantine {
    fn open(path: &Path) -> Result<Self> {
        let name = path.file_name().ok_or_else(|| usage("--quarantine: this is no file"))?;
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
        // Gone already where the import went well.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

/// Says to stderr how far a long import is.
struct Sign {
    bar: Option<indicatif::ProgressBar>,
    told: Instant,
}

impl Sign {
    /// How often a line is written where there is no terminal.
    const EVERY: Duration = Duration::from_secs(5);

    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(indicatif::ProgressBar::new_spinner);
        Self { bar, told: Instant::now() }
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
            None if self.told.elapsed() >= Self::EVERY => {
                note!("{}", text());
                self.told = Instant::now();
            }
            None => {}
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            above_the_bars(|| bar.finish_and_clear());
        }
    }
}
