//! `papertape data`

use super::output::{count, json, say, table, text_of};
use super::{Common, Outcome};
use clap::{Args, Subcommand};
use papertape_market::Catalogue;
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
}

/// Lists them.
pub(super) fn data(common: &Common, args: &DataArgs) -> Outcome {
    let What::List = args.what;
    let datasets = Catalogue::bundled().list();
    if common.json {
        json(&json!({ "datasets": datasets, "count": datasets.len() }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table(["name", "hash", "~symbols", "first day", "last day", ">days", ">bars"]);
    for one in &datasets {
        let symbols: Vec<&str> = one.symbols.iter().map(papertape_core::id::Symbol::as_str).collect();
        let day = |day: Option<papertape_core::time::Date>| {
            day.map_or_else(|| "-".to_owned(), |day| day.to_string())
        };
        table.add_row([
            one.name.clone(),
            one.hash.to_hex()[..12].to_owned(),
            symbols.join(", "),
            day(one.first_day),
            day(one.last_day),
            count(one.days as u64),
            count(one.bars as u64),
        ]);
    }
    say(text_of(&table))?;
    Ok(ExitCode::SUCCESS)
}
