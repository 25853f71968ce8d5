//! `papertape data`

mod download;
mod export;
mod import;
mod remove;

pub(super) use import::{Exchange, of_taken, parse_hours};

use super::failure::{not_found, usage};
use super::output::{count, json, say, table, text_of};
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_core::id::Symbol;
use papertape_core::time::Date;
use papertape_market::{Catalogue, Entry, MarketError};
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

/// What to do with datasets.
#[derive(Debug, Args)]
pub(super) struct DataArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the datasets at hand
    List,
    /// Show what a dataset holds
    Show(Named),
    /// Make a dataset of files: bars, corporate actions, news, figures
    Import(Box<import::ImportArgs>),
    /// Download bars and news, and make a dataset of them
    Download(Box<download::DownloadArgs>),
    /// Read a dataset once more and compute its hash from its rows
    Verify(Named),
    /// Write a dataset out in files that can be imported again
    Export(export::ExportArgs),
    /// Take a dataset away that no job uses
    Remove(Named),
}

/// A dataset.
#[derive(Debug, Args)]
struct Named {
    /// The dataset's name, or six or more digits of its hash
    dataset: String,
}

/// Does it.
pub(super) async fn data(common: &Common, config: Config, args: DataArgs) -> Outcome {
    let catalogue = Catalogue::at(config.datasets_dir());
    match args.what {
        What::List => list(common, &catalogue),
        What::Show(named) => show(common, &catalogue.find(&named.dataset).map_err(of_market)?),
        What::Import(args) => import::import(common, &config, &catalogue, &args),
        What::Download(args) => download::download(common, &config, &catalogue, &args).await,
        What::Verify(named) => verify(common, &catalogue, &named.dataset),
        What::Export(args) => export::export(common, &catalogue, &args),
        What::Remove(named) => remove::remove(common, config, &catalogue, &named.dataset).await,
    }
}

/// Why there is no dataset, in the command line's words.
pub(super) fn of_market(error: MarketError) -> anyhow::Error {
    match error {
        MarketError::NotFound { .. } => not_found(format!("{error}; `papertape data list` lists them")),
        MarketError::Ambiguous { .. } | MarketError::Name { .. } => usage(error.to_string()),
        other => other.into(),
    }
}

fn list(common: &Common, catalogue: &Catalogue) -> Outcome {
    let datasets = catalogue.list()?;
    if common.json {
        json(&json!({ "datasets": datasets, "count": datasets.len() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table =
        table(["name", "hash", "~symbols", "first day", "last day", ">days", ">bars", "within days"]);
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
            within(one),
        ]);
    }
    say(text_of(&table))?;
    Ok(ExitCode::SUCCESS)
}

fn show(common: &Common, entry: &Entry) -> Outcome {
    if common.json {
        json(entry)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table(["what", "~value"]);
    let names = |symbols: &[Symbol]| symbols.iter().map(Symbol::as_str).collect::<Vec<_>>().join(", ");
    let indexes = if entry.indexes.is_empty() { "-".to_owned() } else { names(&entry.indexes) };
    let bytes = if entry.bytes == 0 { "part of the program".to_owned() } else { count(entry.bytes) };
    for (what, value) in [
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
        ("bars within days", within(entry)),
        ("corporate actions", count(entry.actions as u64)),
        ("news", count(entry.news as u64)),
        ("fundamentals", count(entry.fundamentals as u64)),
        ("macro values", count(entry.macros as u64)),
        ("universes", universes(entry)),
        ("bytes", bytes),
    ] {
        table.add_row([what.to_owned(), value]);
    }
    say(text_of(&table))?;
    Ok(ExitCode::SUCCESS)
}

/// The indexes that can be a run's universe.
fn universes(entry: &Entry) -> String {
    let index = |index: &papertape_market::UniverseEntry| {
        let (symbols, periods) = (count(index.symbols as u64), count(index.memberships as u64));
        format!("{}: {symbols} symbols, {periods} memberships", index.name)
    };
    let all: Vec<String> = entry.universes.iter().map(index).collect();
    if all.is_empty() { "-".to_owned() } else { all.join("; ") }
}

fn verify(common: &Common, catalogue: &Catalogue, wanted: &str) -> Outcome {
    let entry = catalogue.verify(wanted).map_err(of_market)?;
    if common.json {
        json(&json!({ "name": entry.name, "hash": entry.hash, "whole": true }))?;
    } else {
        say(format!("{}: its rows have the hash {}", entry.name, entry.hash))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn day(day: Option<Date>) -> String {
    day.map_or_else(|| "-".to_owned(), |day| day.to_string())
}

/// The first symbols, and how many more there are.
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

fn within(entry: &Entry) -> String {
    if entry.intervals.is_empty() {
        return "-".to_owned();
    }
    let lengths: Vec<String> = entry.intervals.iter().map(ToString::to_string).collect();
    format!("{} of {}", count(entry.bars_within_days as u64), lengths.join(", "))
}
