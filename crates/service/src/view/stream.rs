//! Job streams.

use super::{job_id, no_job};
use crate::app::App;
use crate::error::ServiceError;
use crate::streams::{Source, StreamReader};
use papertape_core::part::EventPosition;
use std::sync::Arc;

/// Starts reading a job's stream after position `after` (0: from the beginning). If `after` is absent, or beyond the
/// newest event, the stream starts with a snapshot of the job as it is now. Returns `None` if `after` is the event at
/// which the job ended, so that there is nothing to read.
///
/// # Errors
/// No such job; a database error.
pub async fn read_stream(
    app: &App,
    job: &str,
    after: Option<EventPosition>,
) -> Result<Option<StreamReader>, ServiceError> {
    let id = job_id(job)?;
    // Nothing is up to here: only the newest position is of interest.
    let none = EventPosition::default();
    let tail = app.store.tail(&id, &none, Some(&none), 1).await?.ok_or_else(|| no_job(job))?;
    let source = Source { store: &app.store, clock: Arc::clone(&app.services.clock), deltas: &app.deltas };
    Ok(app.streams.read(&source, &id, &tail, after.as_ref()))
}
