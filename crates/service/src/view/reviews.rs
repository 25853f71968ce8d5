//! The reviewed sessions of a job: `GET /jobs/{job_id}/reviews`.

use super::{Configs, job_id, masked, no_job, page};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_core::ports::Queue as _;
use papertape_core::review::{MAX_SCORE, MIN_SCORE};
use papertape_protocol::reviews::{ReviewedSessionResponse, ReviewsQuery, ReviewsResponse};
use papertape_store::{ReviewFilter, ReviewedSession};

/// A job's sessions with a score or a note.
///
/// # Errors
/// No such job; a score or a limit out of range, a bad cursor; a database error.
pub async fn reviews(app: &App, job: &str, query: ReviewsQuery) -> Result<ReviewsResponse, ServiceError> {
    for (field, score) in [("min_score", query.min_score), ("max_score", query.max_score)] {
        if let Some(score) = score.filter(|score| !(MIN_SCORE..=MAX_SCORE).contains(score)) {
            let message = format!("{score} is out of range; expected {MIN_SCORE} to {MAX_SCORE}");
            return Err(ServiceError::invalid(field, message));
        }
    }
    let id = job_id(job)?;
    let page = page(query.limit, query.cursor)?;
    if app.store.get_job(&id).await?.is_none() {
        return Err(no_job(job));
    }
    let mut configs = Configs::default();
    let config = configs.of(app, &id).await?;
    let filter = ReviewFilter { job: id, min_score: query.min_score, max_score: query.max_score };
    let found = app.store.job_reviews(&filter, &page).await?;
    let reviewed = |session: ReviewedSession| ReviewedSessionResponse {
        session_id: session.id.0,
        date: masked::real_date(config, session.date),
        model: session.agent.to_string(),
        status: session.status,
        review: session.review.into(),
    };
    let reviews: Vec<ReviewedSessionResponse> = found.items.into_iter().map(reviewed).collect();
    Ok(ReviewsResponse {
        job_id: job.to_owned(),
        count: reviews.len(),
        reviews,
        next_cursor: found.next,
        masked: config.and_then(masked::mark),
        deployment: deployment(app),
    })
}
