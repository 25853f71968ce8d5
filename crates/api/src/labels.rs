//! `PATCH /jobs/{job_id}/labels`

use super::error::ApiResult;
use super::extract::{Body, JobPath};
use super::responses::BodyErrors;
use axum::extract::State;
use axum::{Extension, Json};
use papertape_protocol::labels::{LabelsPatch, LabelsResponse};
use papertape_service::access::Caller;
use papertape_service::app::App;
use papertape_service::{labels, view};

/// Change a job's name, tags and note
///
/// Each field is replaced as a whole and absent fields stay, so the last write of a field wins. Nothing that a job does
/// or proves depends on them: they are in no hash, prompt or canonical export, and may change at any time.
#[utoipa::path(
    patch,
    operation_id = "change_labels",
    path = "/jobs/{job_id}/labels",
    tag = "simulation",
    params(("job_id" = String, Path, description = "The job")),
    request_body = LabelsPatch,
    responses((status = 200, body = LabelsResponse, description = "The labels"), BodyErrors)
)]
pub(super) async fn change(
    State(app): State<App>,
    JobPath(job): JobPath,
    caller: Option<Extension<Caller>>,
    Body(body): Body<LabelsPatch>,
) -> ApiResult<LabelsResponse> {
    let by = caller.map(|Extension(caller)| caller.name);
    let labels = labels::change_labels(&app, &job, body.into(), by).await?.into();
    Ok(Json(LabelsResponse { job_id: job, labels, deployment: view::deployment(&app) }))
}
