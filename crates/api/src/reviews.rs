//! `PATCH /sessions/{session_id}/review` and `GET /jobs/{job_id}/reviews`

use super::error::ApiResult;
use super::extract::{Body, JobPath, Query, SessionPath};
use super::responses::{BodyErrors, ReadErrors};
use axum::extract::State;
use axum::{Extension, Json};
use papertape_protocol::reviews::{ReviewPatch, ReviewResponse, ReviewsQuery, ReviewsResponse};
use papertape_service::access::Caller;
use papertape_service::app::App;
use papertape_service::{reviews, view};

/// Change a session's score and note
///
/// Each field is replaced as a whole and absent fields stay, so the last write of a field wins. Nothing that a session
/// does or proves depends on them: they are in no hash, prompt or canonical export, and may change at any time.
#[utoipa::path(
    patch,
    operation_id = "change_review",
    path = "/sessions/{session_id}/review",
    tag = "record",
    params(("session_id" = i64, Path, description = "The session", minimum = 1)),
    request_body = ReviewPatch,
    responses((status = 200, body = ReviewResponse, description = "The review"), BodyErrors)
)]
pub(super) async fn change(
    State(app): State<App>,
    SessionPath(session_id): SessionPath,
    caller: Option<Extension<Caller>>,
    Body(body): Body<ReviewPatch>,
) -> ApiResult<ReviewResponse> {
    let by = caller.map(|Extension(caller)| caller.name);
    let review = reviews::change_review(&app, session_id, body.into(), by).await?.into();
    Ok(Json(ReviewResponse { session_id, review, deployment: view::deployment(&app) }))
}

/// List a job's sessions with a score or a note
#[utoipa::path(
    get,
    operation_id = "reviews",
    path = "/jobs/{job_id}/reviews",
    tag = "record",
    params(("job_id" = String, Path, description = "The job"), ReviewsQuery),
    responses(
        (status = 200, body = ReviewsResponse, description = "Reviewed sessions, by day and agent"),
        ReadErrors
    )
)]
pub(super) async fn reviews(
    State(app): State<App>,
    JobPath(job): JobPath,
    Query(query): Query<ReviewsQuery>,
) -> ApiResult<ReviewsResponse> {
    Ok(Json(view::reviews(&app, &job, query).await?))
}
