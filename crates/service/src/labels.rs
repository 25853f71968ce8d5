//! Changes the name, tags and note of a job.

use crate::app::App;
use crate::error::ServiceError;
use crate::view::{job_id, no_job};
use papertape_core::label::{JobLabels, LabelChanges};
use papertape_redact::Sanitized;
use papertape_store::LabelsWrite;

/// Changes a job's labels, redacted like every text. Each field is replaced as a whole, and the last write wins. `by` is
/// the name of the caller's token.
///
/// # Errors
/// No such job; a text that is too long or contains a control character; too many tags; a database error.
pub async fn change_labels(
    app: &App,
    job: &str,
    changes: LabelChanges,
    by: Option<String>,
) -> Result<JobLabels, ServiceError> {
    let changes = Sanitized::of(&app.services.redactor, changes);
    let at = app.services.clock.now();
    match app.store.write_labels(&job_id(job)?, changes, by, at).await? {
        LabelsWrite::Written(labels) => Ok(labels),
        LabelsWrite::NotFound => Err(no_job(job)),
        LabelsWrite::Rejected(error) => Err(ServiceError::invalid(error.field, error.message)),
    }
}
