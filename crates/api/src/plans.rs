//! `/plans` and `/plans/{plan_id}`

use super::error::{ApiError, ApiResult};
use super::extract::{Body, PlanPath, Query};
use super::responses::{BodyErrors, ReadErrors, WriteErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_core::plan::{NewPlan, PlanChanges, PlanId, PlanWrite, WriteResult};
use papertape_core::ports::Plans as _;
use papertape_protocol::plans::{PlanBody, PlanPatch, PlanResponse, PlansResponse};
use papertape_protocol::query::PageQuery;
use papertape_redact::Sanitized;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::view;

/// List plans, newest first
#[utoipa::path(
    get,
    path = "/plans",
    tag = "plans",
    params(PageQuery),
    responses((status = 200, body = PlansResponse, description = "A page of plans"), ReadErrors)
)]
pub(super) async fn plans(
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> ApiResult<PlansResponse> {
    Ok(Json(view::plans(&app, query).await?))
}

/// Create a plan without tasks
#[utoipa::path(
    post,
    operation_id = "create_plan",
    path = "/plans",
    tag = "plans",
    request_body = PlanBody,
    responses((status = 201, body = PlanResponse, description = "The plan"), BodyErrors)
)]
pub(super) async fn create(
    State(app): State<App>,
    Body(body): Body<PlanBody>,
) -> Result<(StatusCode, Json<PlanResponse>), ApiError> {
    let new = NewPlan { id: None, name: body.name, goal: body.goal, chat_session: None, origin: None };
    let written = write(&app, vec![PlanWrite::Create(new)]).await?;
    Ok((StatusCode::CREATED, Json(view::plan(&app, written.plan.0).await?)))
}

/// Get a plan
#[utoipa::path(
    get,
    path = "/plans/{plan_id}",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    responses((status = 200, body = PlanResponse, description = "The plan"), ReadErrors)
)]
pub(super) async fn plan(State(app): State<App>, PlanPath(plan): PlanPath) -> ApiResult<PlanResponse> {
    Ok(Json(view::plan(&app, plan).await?))
}

/// Update a plan's name or goal
#[utoipa::path(
    patch,
    operation_id = "update_plan",
    path = "/plans/{plan_id}",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    request_body = PlanPatch,
    responses((status = 200, body = PlanResponse, description = "The updated plan"), BodyErrors)
)]
pub(super) async fn update(
    State(app): State<App>,
    PlanPath(plan): PlanPath,
    Body(body): Body<PlanPatch>,
) -> ApiResult<PlanResponse> {
    let changes = PlanChanges { name: body.name, goal: body.goal, status: None };
    write(&app, vec![PlanWrite::Update { plan: PlanId(plan), changes }]).await?;
    Ok(Json(view::plan(&app, plan).await?))
}

/// Delete a plan with its tasks
///
/// Its jobs and their action logs remain.
#[utoipa::path(
    delete,
    operation_id = "delete_plan",
    path = "/plans/{plan_id}",
    tag = "plans",
    params(("plan_id" = i64, Path, description = "The plan")),
    responses((status = 204, description = "The plan is deleted"), WriteErrors)
)]
pub(super) async fn delete(State(app): State<App>, PlanPath(plan): PlanPath) -> Result<StatusCode, ApiError> {
    write(&app, vec![PlanWrite::Delete { plan: PlanId(plan) }]).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Writes changes in one transaction. Returns the plan and task of the first change.
pub(super) async fn write(app: &App, writes: Vec<PlanWrite>) -> Result<WriteResult, ApiError> {
    let writes = Sanitized::of(&app.services.redactor, writes);
    let at = app.services.clock.now();
    let written = app.store.write_plans(writes, at).await.map_err(ServiceError::from)?;
    let nothing = || ApiError::Internal(anyhow::anyhow!("nothing was written"));
    written.first().copied().ok_or_else(nothing)
}
