//! The doors of running sessions: where external agents reach their session, each with the session's own token.
//!
//! A server offers them with its other routes. A process without a server, such as `papertape run`, offers only them.

use super::access::bearer;
use super::error::ApiError;
use super::extract::{is_json, read_within};
use super::layers;
use super::mcp;
use super::model_endpoint;
use super::responses::DoorErrors;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::{Json, Router};
use papertape_core::external::{AgentDoor as _, MAX_MESSAGE_BYTES, parse_message, reply_message};
use papertape_protocol::doors::{SessionReply, SessionRequest};
use papertape_runtime::doors::SessionDoor;
use papertape_service::app::App;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// All doors. Each checks the session's token itself; see [`session`].
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(current))
}

/// The doors, to be merged with other routes.
pub(super) fn open(app: &App) -> Router {
    let (routes, _) = routes().split_for_parts();
    let routes =
        routes.method_not_allowed_fallback(async || ApiError::MethodNotAllowed).with_state(app.clone());
    routes.merge(model_endpoint::router(app.clone()))
}

/// A router that serves only the doors.
pub(super) fn router(app: App) -> Router {
    let routes = open(&app).merge(mcp::router(app.clone()));
    let routes = routes.fallback(async || ApiError::NotFound("no such route".to_owned()));
    layers::apply_to_doors(routes, app)
}

/// The running session whose token the request has.
///
/// # Errors
/// There is no token, no session has it, or the session has ended.
pub(super) fn session(app: &App, headers: &HeaderMap) -> Result<Arc<SessionDoor>, ApiError> {
    let token = bearer(headers).unwrap_or_default();
    app.services.doors.find(token).ok_or(ApiError::NoSession)
}

/// Make a request of a running session
///
/// For external agents. The body is a `read`, `order` or `done` message, and the response its `reply`, also if the
/// request fails. Requests of a session are answered one at a time, in the order in which they arrive. The token is that
/// of the session, from `doors.token` of its day, and ends with it. A request that was sent is handled, even if its
/// client closes the connection.
#[utoipa::path(
    post,
    path = "/sessions/current",
    tag = "doors",
    request_body = SessionRequest,
    responses((status = 200, body = SessionReply, description = "The reply"), DoorErrors)
)]
async fn current(State(app): State<App>, request: Request) -> Result<Json<serde_json::Value>, ApiError> {
    let door = session(&app, request.headers())?;
    if !is_json(request.headers()) {
        return Err(ApiError::MediaType);
    }
    let body = read_within(request, &app, MAX_MESSAGE_BYTES).await?;
    let message = parse_message(&body);
    let reply = door.ask(message.request).await;
    Ok(Json(reply_message(&message.id, &reply)))
}
