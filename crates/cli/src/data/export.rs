//! `papertape data export`

use super::super::output::{json, say};
use super::super::{Common, Outcome};
use super::market_error;
use clap::{Args, ValueEnum};
use papertape_market::Catalogue;
use papertape_market::export::{ExportFormat, export as write};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The dataset's name, or six or more digits of its hash
    dataset: String,
    /// Directory to write to; created if missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t = FileFormat::Csv)]
    format: FileFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FileFormat {
    /// CSV with a header
    Csv,
    /// One JSON object per line
    Jsonl,
    /// Apache Parquet
    Parquet,
}

pub(super) fn export(common: &Common, catalogue: &Catalogue, args: &ExportArgs) -> Outcome {
    let dataset = catalogue.open(&args.dataset).map_err(market_error)?;
    let format = match args.format {
        FileFormat::Csv => ExportFormat::Csv,
        FileFormat::Jsonl => ExportFormat::Jsonl,
        FileFormat::Parquet => ExportFormat::Parquet,
    };
    let files = write(&dataset, &args.output, format)?;
    if common.json {
        json(
            &json!({ "name": dataset.name(), "hash": dataset.hash(), "zone": dataset.zone(), "files": files }),
        )?;
    } else {
        for file in files {
            say(file.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
