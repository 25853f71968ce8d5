//! Changes the score and note of a session.

use crate::app::App;
use crate::error::ServiceError;
use papertape_core::record::SessionId;
use papertape_core::review::{ReviewChanges, SessionReview};
use papertape_redact::Sanitized;
use papertape_store::ReviewWrite;

/// Changes a session's review, redacted like every text. Each field is replaced as a whole, and the last write wins.
/// `by` is the name of the caller's token.
///
/// # Errors
/// No such session; a score out of range; a note that is too long or contains a control character; a database error.
pub async fn change_review(
    app: &App,
    session: i64,
    changes: ReviewChanges,
    by: Option<String>,
) -> Result<SessionReview, ServiceError> {
    let id = SessionId(session);
    let changes = Sanitized::of(&app.services.redactor, changes);
    let at = app.services.clock.now();
    match app.store.write_review(id, changes, by, at).await? {
        ReviewWrite::Written(review) => Ok(review),
        ReviewWrite::NotFound => Err(ServiceError::no_session(id)),
        ReviewWrite::Rejected(error) => Err(ServiceError::invalid(error.field, error.message)),
    }
}
