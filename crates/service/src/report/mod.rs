//! Reports: one self-contained HTML page about a job or an experiment, without scripts, fonts or images from elsewhere.
//!
//! `data` and `trades` read the record, everything below `sections` only renders. A report has no time of its own: the
//! same record gives the same bytes.

mod bundled;
mod chart;
mod data;
pub(crate) mod elements;
mod reasons;
mod run;
mod sections;
#[cfg(test)]
mod tests;
mod trades;
pub(crate) mod words;

use crate::app::App;
use crate::error::ServiceError;
use data::ReportData;
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::language::Language;
use words::Words;

pub(crate) use bundled::bundled_report;
pub use elements::REPORT_POLICY;

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
    elements::document(data.words, &sections::title(data), |html| sections::render(html, data))
}
