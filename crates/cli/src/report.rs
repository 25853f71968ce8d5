//! `papertape report`

use super::export::Output;
use super::failure::service_error;
use super::output::{bytes, only_json};
use super::record_access::{Target, find_target};
use super::terminal::terminal_language;
use super::{Common, Outcome, record_access};
use anyhow::Context as _;
use clap::Args;
use papertape_core::language::Language;
use papertape_service::config::Config;
use papertape_service::report::{experiment_report, job_report};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The job or experiment, or `latest`
    #[arg(value_name = "JOB|EXPERIMENT")]
    target: String,
    /// File to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of the report: en or zh [default: the terminal's, else en]
    #[arg(long, value_parser = str::parse::<Language>)]
    language: Option<Language>,
}

pub(super) async fn report(common: &Common, config: Config, args: ReportArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let language = args.language.or_else(terminal_language).unwrap_or(Language::En);
    let page = match find_target(&app, &args.target).await? {
        Target::Job(job) => job_report(&app, &job, language).await,
        Target::Experiment(experiment) => experiment_report(&app, &experiment, language).await,
    };
    let page = page.map_err(service_error)?;
    if common.json && args.output.is_none() {
        return only_json(&json!({ "html": page, "language": language.as_str() }));
    }
    let mut out = Output::open(args.output.clone())?;
    let written = out.write_all(page.as_bytes()).context("cannot write the report");
    out.finish(written)?;
    match &args.output {
        Some(file) if common.json => {
            only_json(&json!({ "file": file, "bytes": page.len(), "language": language.as_str() }))
        }
        Some(_) => {
            super::output::note!("{}; open it in a browser, also offline", bytes(page.len() as u64));
            Ok(ExitCode::SUCCESS)
        }
        None => Ok(ExitCode::SUCCESS),
    }
}
