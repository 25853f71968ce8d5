//! `papertape data export`

use super::super::output::{json, say};
use super::super::{Common, Outcome};
use super::of_market;
use clap::{Args, ValueEnum};
use papertape_market::Catalogue;
use papertape_market::export::{ExportFormat, export as write};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to export.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The dataset's name, or six or more digits of its hash
    dataset: String,
    /// The folder that the files are written to; it is made where it is not there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The form of the files
    #[arg(long, value_enum, default_value_t = FileFormat::Csv)]
    format: FileFormat,
}

/// The form of files.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FileFormat {
    /// Tables with a header
    Csv,
    /// An object a line
    Jsonl,
    /// Columns
    Parquet,
}

/// Exports it.
pub(super) fn export(common: &Common, catalogue: &Catalogue, args: &ExportArgs) -> Outcome {
    let dataset = catalogue.open(&args.dataset).map_err(of_market)?;
    let form = match args.format {
        FileFormat::Csv => ExportFormat::Csv,
        FileFormat::Jsonl => ExportFormat::Jsonl,
        FileFormat::Parquet => ExportFormat::Parquet,
    };
    let files = write(&dataset, &args.to, form)?;
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
