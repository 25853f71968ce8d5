//! `papertape data download`

mod dataset;

use super::super::failure::{FAILED, STOPPED, usage};
use super::super::output::{bytes, count, json, note, only_json, say, seconds, table, text_of};
use super::super::{Common, Outcome, signals, terminal};
use super::import::Exchange;
use anyhow::{Context as _, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use papertape_core::time::{Date, parse_date};
use papertape_llm::{ApiKey, find_key};
use papertape_market::Catalogue;
use papertape_market::download::{
    BarInterval, DataKind, DownloadError, DownloadReport, DownloadRequest, Downloader, Event, Planned,
    ProgressSink, SourceName, State, SymbolReport,
};
use papertape_redact::Redactor;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::clock::SystemClock;
use papertape_service::app::make_data_dir;
use papertape_service::config::Config;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const AFTER_HELP: &str = "Responses are stored in the data directory. To continue a stopped download, run the same \
    command again.\n\nYou are responsible for complying with the source's terms.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct DownloadArgs {
    /// Data source
    #[arg(value_name = "SOURCE", value_parser = source())]
    source: SourceName,
    /// Symbols, as the source spells them
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    symbols: Vec<String>,
    /// First day
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    from: Date,
    /// Last day
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    to: Date,
    /// Length of bars, such as 1d, 1h or 5m
    #[arg(long, value_name = "LENGTH", default_value = "1d")]
    interval: BarInterval,
    /// Also download news (alpha-vantage)
    #[arg(long)]
    news: bool,
    /// Include splits and dividends (alpha-vantage, paid plans)
    #[arg(long)]
    actions: bool,
    /// The dataset's name
    #[arg(long, required_unless_present_any = ["no_import", "dry_run"])]
    name: Option<String>,
    /// Exchange: sets the zone, hours, currency and market [default: crypto for binance, else us]
    #[arg(long, value_enum)]
    exchange: Option<Exchange>,
    /// Reassign a name that is taken; its old content stays available by hash
    #[arg(long)]
    replace: bool,
    /// Store the responses without creating a dataset
    #[arg(long)]
    no_import: bool,
    /// Print the requests without sending them
    #[arg(long)]
    dry_run: bool,
}

fn source() -> impl clap::builder::TypedValueParser<Value = SourceName> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(SourceName::ALL.map(SourceName::as_str)).map(|name| {
        let found = SourceName::ALL.into_iter().find(|source| source.as_str() == name);
        found.unwrap_or(SourceName::Yahoo)
    })
}

pub(super) async fn download(
    common: &Common,
    config: &Config,
    catalogue: &Catalogue,
    args: &DownloadArgs,
) -> Outcome {
    let requests = requests(args)?;
    let name = args.name.as_deref().filter(|_| !args.no_import);
    if let Some(name) = name {
        dataset::check(name, args.interval)?;
    }
    let key = key(common, config, args.source, args.dry_run)?;
    let root = config.data_dir.join("downloads");
    let clock = Arc::new(SystemClock);
    let mut downloader = Downloader::new(args.source, &config.download, key, &root, clock)?;
    let mut plans = Vec::new();
    for request in &requests {
        plans.extend(downloader.plan(request).map_err(download_error)?);
    }
    if args.dry_run {
        return show_plan(common, &plans);
    }
    make_data_dir(&config.data_dir)?;
    let cancel = CancelSource::default();
    let stopped = cancel.signal();
    signals::listen(&cancel, || {})?;
    let mut reports = Vec::new();
    for request in &requests {
        let bar = Bar::new(request.symbols().len());
        // Cancelling drops the current request; the responses stored before remain.
        let report = tokio::select! {
            report = downloader.run(request, &bar) => Some(report.map_err(download_error)?),
            _ = stopped.stopped() => None,
        };
        drop(bar);
        let Some(report) = report else {
            note!("stopped; run the same command again to continue");
            return Ok(ExitCode::from(STOPPED));
        };
        print_report(&report);
        let has_ended = report.ended.is_some();
        reports.push(report);
        if has_ended {
            break;
        }
    }
    let dataset = match name {
        Some(name) if can_be_imported(&reports) => Some(dataset::create(catalogue, args, name, &reports)?),
        _ => None,
    };
    if common.json {
        json(&json!({ "downloads": reports, "dataset": dataset }))?;
    } else {
        print_symbols(&reports)?;
        if let Some(dataset) = &dataset {
            say(dataset)?;
        }
    }
    let is_lacking = name.is_some() && dataset.is_none();
    Ok(exit_code(&reports, is_lacking))
}

fn requests(args: &DownloadArgs) -> Result<Vec<DownloadRequest>> {
    let bars = DataKind::Bars { interval: args.interval, actions: args.actions };
    let news = args.news.then_some(DataKind::News);
    let request = |kind| DownloadRequest::new(&args.symbols, args.from, args.to, kind).map_err(usage);
    std::iter::once(bars).chain(news).map(request).collect()
}

fn download_error(error: DownloadError) -> anyhow::Error {
    match error {
        DownloadError::Request(what) => usage(what),
        other => other.into(),
    }
}

/// Whether another attempt would change nothing, so that the responses can become a dataset.
fn can_be_imported(reports: &[DownloadReport]) -> bool {
    let rows = reports.iter().flat_map(|report| &report.symbols).map(|one| one.rows).sum::<u64>();
    let is_open =
        |report: &DownloadReport| report.ended.is_some() || report.in_state(State::Failed).next().is_some();
    if reports.iter().any(is_open) {
        note!(
            "no dataset created: the download is incomplete; run the same command again, or leave out the symbols \
             that fail"
        );
        return false;
    }
    if rows == 0 {
        note!("no dataset created: the responses have no rows");
    }
    rows > 0
}

/// The source's key. From here on, the log redacts it.
fn key(common: &Common, config: &Config, source: SourceName, is_dry: bool) -> Result<Option<SecretString>> {
    let variable = config.download.api_key_env(source);
    match find_key(source.as_str(), variable, &|name| std::env::var(name).ok()) {
        ApiKey::NotNeeded => Ok(None),
        ApiKey::Found { variable, value } => {
            let redactor = Redactor::new(vec![(variable, value.expose_secret().to_owned())])
                .context("the key cannot be redacted from the log")?;
            common.product.redact_log(&Arc::new(redactor));
            Ok(Some(value))
        }
        ApiKey::Missing(_) if !source.needs_key() => Ok(None),
        // A dry run sends nothing.
        ApiKey::Missing(_) if is_dry => Ok(Some(SecretString::from("none"))),
        ApiKey::Missing(what) => Err(usage(what)),
    }
}

fn show_plan(common: &Common, plan: &[Planned]) -> Outcome {
    if common.json {
        return only_json(&json!({ "symbols": plan }));
    }
    let mut table = table(["symbol", ">stored", "~next request"]);
    for one in plan {
        let next = one.next_url.clone().unwrap_or_else(|| "none: complete".to_owned());
        table.add_row([one.symbol.to_string(), count(one.cached), next]);
    }
    say(text_of(&table))?;
    Ok(ExitCode::SUCCESS)
}

fn print_symbols(reports: &[DownloadReport]) -> Result<()> {
    let mut table = table(["symbol", "data", "state", ">rows", ">files", "~reason"]);
    for report in reports {
        for one in &report.symbols {
            table.add_row([
                one.symbol.to_string(),
                report.kind.clone(),
                state(one.state).to_owned(),
                count(one.rows),
                count(one.files.len() as u64),
                one.reason.clone().unwrap_or_default(),
            ]);
        }
    }
    say(text_of(&table))
}

/// Prints notes and missing symbols to stderr.
fn print_report(report: &DownloadReport) {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in &report.symbols {
        for text in &one.notes {
            match notes.iter_mut().find(|(known, _)| known == text) {
                Some((_, symbols)) => symbols.push(one.symbol.as_str()),
                None => notes.push((text, vec![one.symbol.as_str()])),
            }
        }
    }
    for (text, symbols) in notes {
        note!("{}: {text}", symbols.join(", "));
    }
    note!(
        "{}: {} requests, {} stored responses reused, {} downloaded",
        report.kind,
        count(report.requests),
        count(report.cached),
        bytes(report.bytes)
    );
    if let Some(ended) = &report.ended {
        let missing: Vec<&str> = report.in_state(State::Missing).map(|one| one.symbol.as_str()).collect();
        note!("{} ended the download: {ended}", report.source.as_str());
        note!("still missing: {}", missing.join(", "));
        if ended.is_resumable() {
            note!("run the same command again to continue");
        }
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Complete => "complete",
        State::Unknown => "unknown",
        State::Rejected => "rejected",
        State::Failed => "failed",
        State::Missing => "missing",
    }
}

/// 3 if the same command can continue, 1 if something has to change first.
fn exit_code(reports: &[DownloadReport], is_lacking: bool) -> ExitCode {
    let mut ended = reports.iter().filter_map(|report| report.ended.as_ref());
    match ended.next() {
        Some(ended) if ended.is_resumable() => ExitCode::from(STOPPED),
        None if !is_lacking && reports.iter().all(DownloadReport::is_complete) => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    }
}

/// A bar in a terminal; elsewhere a line per symbol.
struct Bar {
    bar: ProgressBar,
    is_hidden: bool,
}

impl Bar {
    fn new(symbols: usize) -> Self {
        let bar = terminal::add_bar(ProgressBar::new(symbols as u64));
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:20} {pos:>4}/{len} symbols  {msg}") {
            bar.set_style(style.progress_chars("━╸─").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { is_hidden: bar.is_hidden(), bar }
    }
}

impl ProgressSink for Bar {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::Started { symbol, .. } => self.bar.set_message(symbol.to_string()),
            Event::Page { symbol, rows, .. } => {
                self.bar.set_message(format!("{symbol}: {} rows", count(*rows)));
            }
            Event::Waiting { symbol, pause, reason: why } => {
                let pause = seconds(pause.as_secs_f64());
                if self.is_hidden {
                    note!("{symbol}: waiting {pause}: {why}");
                } else {
                    self.bar.set_message(format!("{symbol}: waiting {pause}: {why}"));
                }
            }
            Event::Finished { report } => {
                self.bar.inc(1);
                if self.is_hidden {
                    note!("{}", line(report));
                }
            }
        }
    }
}

fn line(report: &SymbolReport) -> String {
    let rows = count(report.rows);
    match &report.reason {
        Some(reason) => format!("{}: {}: {reason}", report.symbol, state(report.state)),
        None => format!("{}: {}, {rows} rows", report.symbol, state(report.state)),
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        terminal::clear();
    }
}
