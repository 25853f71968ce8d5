//! Job streams.

use super::{job_id, no_job};
use crate::app::App;
use crate::error::ServiceError;
use crate::streams::{Source, StreamReader};
use std::sync::Arc;

/// Starts reading a job's stream after event number `after` (0: from the beginning). If `after` is absent, or
/// beyond the newest event, the stream starts with a snapshot of the job as it is now. Returns `None` if
/// `after` is the event at which the job ended, so that there is nothing to read.
///
/// # Errors
/// No such job; a number below 0; a database error.
pub async fn read_stream(
    app: &App,
    job: &str,
    after: Option<i64>,
) -> Result<Option<StreamReader>, ServiceError> {
    let id = job_id(job)?;
    if let Some(after) = after.filter(|after| *after < 0) {
        return Err(ServiceError::invalid("after", format!("{after} is below 0")));
    }
    let tail = app.store.tail(&id, i64::MAX, 1).await?.ok_or_else(|| no_job(job))?;
    let source = Source { store: &app.store, clock: Arc::clone(&app.services.clock), deltas: &app.deltas };
    Ok(app.streams.read(&source, &id, &tail, after))
}
