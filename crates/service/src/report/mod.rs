//! Reports: one self-contained HTML page about a job or an experiment, without scripts, fonts or images from elsewhere.
//!
//! `data` and `trades` read the record, everything below `sections` only renders. A report has no time of its own: the
//! same record gives the same bytes.

mod chart;
mod data;
mod reasons;
mod run;
mod sections;
#[cfg(test)]
mod tests;
mod trades;
mod words;

use crate::app::App;
use crate::error::ServiceError;
use crate::html::Html;
use data::ReportData;
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::language::Language;
use words::Words;

/// What a browser may load and run in a report: its own styles, and nothing else.
pub const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The report of a job.
///
/// # Errors
/// No such job, or it is not a simulation; no day is closed; a database error.
pub async fn job_report(app: &App, job: &JobId, language: Language) -> Result<String, ServiceError> {
    let data = data::of_job(app, job, Words(language)).await?;
    rendered(data).await
}

/// The report of an experiment.
///
/// # Errors
/// No such experiment; no day is closed; a database error.
pub async fn experiment_report(
    app: &App,
    experiment: &ExperimentId,
    language: Language,
) -> Result<String, ServiceError> {
    let data = data::of_experiment(app, experiment, Words(language)).await?;
    rendered(data).await
}

async fn rendered(data: ReportData) -> Result<String, ServiceError> {
    // For long runs, this is CPU work.
    Ok(tokio::task::spawn_blocking(move || page(&data)).await.map_err(anyhow::Error::from)?)
}

fn page(data: &ReportData) -> String {
    let words = data.words;
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"").text(words.pick("en", "zh-CN")).raw("\">\n<head>\n");
    html.raw("<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    // `frame-ancestors` is for the header only.
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html.text(REPORT_POLICY.trim_end_matches("; frame-ancestors 'none'")).raw("\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.raw("<meta name=\"generator\" content=\"papertape ")
        .text(env!("CARGO_PKG_VERSION"))
        .raw("\">\n<title>");
    html.text(sections::title(data)).raw("</title>\n<style>\n");
    html.raw(include_str!("report.css")).raw("</style>\n</head>\n<body>\n<main>\n");
    sections::render(&mut html, data);
    html.raw("</main>\n</body>\n</html>\n");
    html.finish()
}
