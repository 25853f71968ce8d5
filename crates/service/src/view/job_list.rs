//! Lists of jobs: searched, filtered and sorted.

use super::jobs::summary;
use super::{deployment, page, plain, quality};
use crate::app::App;
use crate::error::ServiceError;
use jiff::tz::TimeZone;
use papertape_core::id::JobId;
use papertape_core::record::JobKind;
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::jobs::{JobSummary, JobsQuery, JobsResponse};
use papertape_store::{JobFilter, JobSearch};

/// Maximum characters of a search.
const MAX_SEARCH_CHARS: usize = 200;
/// Maximum terms of a search.
const MAX_TERMS: usize = 10;

/// The jobs that match, newest first or in the requested order.
///
/// # Errors
/// An invalid parameter, limit or cursor; a database error.
pub async fn jobs(app: &App, query: JobsQuery) -> Result<JobsResponse, ServiceError> {
    let page = page(query.limit, query.cursor.clone())?;
    let found = app.store.find_jobs(&search(query)?, &page).await?;
    let ids: Vec<JobId> = found.items.iter().map(|item| item.job.id.clone()).collect();
    let degraded = app.store.degraded_counts(&ids).await?;
    let of = |job: &JobId| degraded.get(job).map(quality::counted).unwrap_or_default();
    let jobs: Vec<JobSummary> = found
        .items
        .into_iter()
        .map(|item| {
            let quality = of(&item.job.id);
            summary(item, quality)
        })
        .collect();
    Ok(JobsResponse { count: jobs.len(), jobs, next_cursor: found.next, deployment: deployment(app) })
}

fn search(query: JobsQuery) -> Result<JobSearch, ServiceError> {
    let kind = query.kind.map(JobKind::from);
    if let Some(JobKind::Unknown(kind)) = &kind {
        let known = JobKind::ALL.iter().map(JobKind::as_str).collect::<Vec<_>>().join(", ");
        return Err(ServiceError::invalid(
            "kind",
            format!("unknown kind `{}`; expected one of {known}", kind.escape_default()),
        ));
    }
    let filter = |field, text: &Option<String>| -> Result<Option<String>, ServiceError> {
        Ok(plain(field, text.as_ref())?.map(str::to_owned))
    };
    Ok(JobSearch {
        filter: JobFilter { kind, status: query.status },
        terms: terms(plain("search", query.search.as_ref())?.unwrap_or_default())?,
        tag: filter("tag", &query.tag)?,
        model: filter("model", &query.model)?,
        dataset: filter("dataset", &query.dataset)?,
        quality: query.quality,
        from: query.from.map(|day| start_of(day, "from")).transpose()?,
        before: query.to.map(|day| start_of(day.tomorrow().unwrap_or(day), "to")).transpose()?,
        order: query.sort.unwrap_or_default(),
    })
}

/// The words of a search, each of which must occur.
fn terms(text: &str) -> Result<Vec<String>, ServiceError> {
    let terms: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    if text.chars().nth(MAX_SEARCH_CHARS).is_some() || terms.len() > MAX_TERMS {
        let why = format!("more than {MAX_SEARCH_CHARS} characters or {MAX_TERMS} words");
        return Err(ServiceError::invalid("search", why));
    }
    Ok(terms)
}

/// The first instant of a day in UTC.
fn start_of(day: Date, field: &'static str) -> Result<Timestamp, ServiceError> {
    let start =
        day.to_zoned(TimeZone::UTC).map_err(|error| ServiceError::invalid(field, error.to_string()))?;
    Ok(start.timestamp())
}
