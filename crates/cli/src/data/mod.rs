//! `papertape data`

mod download;
mod export;
mod import;
mod remove;

pub use import::{Exchange, name_taken_error, parse_hours};

use super::failure::{not_found, usage};
use super::output::{count, json, only_json, say, table, text_of};
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_core::id::Symbol;
use papertape_core::time::Date;
use papertape_market::{Catalogue, Entry, MarketError};
use papertape_service::config::Config;
use papertape_service::view::dataset_response;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// List datasets
    List,
    /// Show what a dataset contains
    Show(DatasetArgs),
    /// Create a dataset from files
    Import(Box<import::ImportArgs>),
    /// Download bars and news, and create a dataset
    Download(Box<download::DownloadArgs>),
    /// Recompute a dataset's hash from its rows
    Verify(DatasetArgs),
    /// Export a dataset to files that can be imported again
    Export(export::ExportArgs),
    /// Remove a dataset that no job uses
    Remove(DatasetArgs),
}

#[derive(Debug, Args)]
struct DatasetArgs {
    /// The dataset's name, or six or more digits of its hash
    dataset: String,
}

pub(super) async fn data(common: &Common, config: Config, args: DataArgs) -> Outcome {
    let catalogue = Catalogue::at(config.datasets_dir());
    match args.command {
        DataCommand::List => list(common, &catalogue),
        DataCommand::Show(args) => show(common, catalogue.find(&args.dataset).map_err(market_error)?),
        DataCommand::Import(args) => import::import(common, &config, &catalogue, &args),
        DataCommand::Download(args) => download::download(common, &config, &catalogue, &args).await,
        DataCommand::Verify(args) => verify(common, &catalogue, &args.dataset),
        DataCommand::Export(args) => export::export(common, &catalogue, &args),
        DataCommand::Remove(args) => remove::remove(common, config, &catalogue, &args.dataset).await,
    }
}

/// Maps an unknown dataset and an invalid name to their exit codes.
pub fn market_error(error: MarketError) -> anyhow::Error {
    match error {
        MarketError::NotFound { .. } => not_found(format!("{error}; run `papertape data list`")),
        MarketError::Ambiguous { .. } | MarketError::Name { .. } => usage(error.to_string()),
        other => other.into(),
    }
}

fn list(common: &Common, catalogue: &Catalogue) -> Outcome {
    let datasets = catalogue.list()?;
    if common.json {
        let datasets: Vec<_> = datasets.into_iter().map(dataset_response).collect();
        return only_json(&json!({ "datasets": datasets, "count": datasets.len() }));
    }
    let mut table =
        table(["name", "hash", "~symbols", "first day", "last day", ">days", ">daily bars", "intraday bars"]);
    for one in &datasets {
        let name = if one.replaced { format!("{} (replaced)", one.name) } else { one.name.clone() };
        table.add_row([
            name,
            one.hash.to_hex()[..12].to_owned(),
            symbols(one),
            day(one.first_day),
            day(one.last_day),
            count(one.days as u64),
            count(one.bars as u64),
            intraday(one),
        ]);
    }
    say(text_of(&table))?;
    Ok(ExitCode::SUCCESS)
}

fn show(common: &Common, entry: Entry) -> Outcome {
    if common.json {
        return only_json(&dataset_response(entry));
    }
    let mut table = table(["field", "~value"]);
    let names = |symbols: &[Symbol]| symbols.iter().map(Symbol::as_str).collect::<Vec<_>>().join(", ");
    let indexes = if entry.indexes.is_empty() { "-".to_owned() } else { names(&entry.indexes) };
    let bytes = if entry.bytes == 0 { "bundled".to_owned() } else { count(entry.bytes) };
    for (field, value) in [
        ("name", entry.name.clone()),
        ("hash", entry.hash.to_hex()),
        ("zone", entry.zone.clone()),
        ("market", entry.market.clone().unwrap_or_else(|| "-".to_owned())),
        ("symbols", names(&entry.symbols)),
        ("indexes", indexes),
        ("first day", day(entry.first_day)),
        ("last day", day(entry.last_day)),
        ("days", count(entry.days as u64)),
        ("daily bars", count(entry.bars as u64)),
        ("intraday bars", intraday(&entry)),
        ("corporate actions", count(entry.actions as u64)),
        ("news", count(entry.news as u64)),
        ("fundamentals", count(entry.fundamentals as u64)),
        ("macro values", count(entry.macros as u64)),
        ("universes", universes(&entry)),
        (
            "masked",
            entry.masked.as_ref().map_or("-".to_owned(), |of| format!("{} of {}", of.kind, of.source)),
        ),
        ("bytes", bytes),
    ] {
        table.add_row([field.to_owned(), value]);
    }
    say(text_of(&table))?;
    Ok(ExitCode::SUCCESS)
}

/// The indexes whose members a run can trade.
fn universes(entry: &Entry) -> String {
    let index = |index: &papertape_market::UniverseEntry| {
        let (symbols, periods) = (count(index.symbols as u64), count(index.memberships as u64));
        format!("{}: {symbols} symbols, {periods} memberships", index.name)
    };
    let all: Vec<String> = entry.universes.iter().map(index).collect();
    if all.is_empty() { "-".to_owned() } else { all.join("; ") }
}

fn verify(common: &Common, catalogue: &Catalogue, dataset: &str) -> Outcome {
    let entry = catalogue.verify(dataset).map_err(market_error)?;
    if common.json {
        json(&json!({ "name": entry.name, "hash": entry.hash, "whole": true }))?;
    } else {
        say(format!("{}: verified, hash {}", entry.name, entry.hash))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn day(day: Option<Date>) -> String {
    day.map_or_else(|| "-".to_owned(), |day| day.to_string())
}

/// The first symbols, and the number of the others.
fn symbols(entry: &Entry) -> String {
    let first: Vec<&str> = entry.symbols.iter().take(8).map(Symbol::as_str).collect();
    let more = entry.symbols.len() - first.len();
    let mut text = first.join(", ");
    if more > 0 {
        text += &format!(" and {} more", count(more as u64));
    }
    let universes: Vec<&str> = entry.universes.iter().map(|universe| universe.name.as_str()).collect();
    if !universes.is_empty() {
        text += &format!("; universes: {}", universes.join(", "));
    }
    text
}

fn intraday(entry: &Entry) -> String {
    if entry.intervals.is_empty() {
        return "-".to_owned();
    }
    let lengths: Vec<String> = entry.intervals.iter().map(ToString::to_string).collect();
    format!("{} of {}", count(entry.intraday_bars as u64), lengths.join(", "))
}
