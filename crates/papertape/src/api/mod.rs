//! The HTTP API: one file an endpoint, rules in `docs/api.md`, answers made by [`crate::view`].
//!
//! It decides nothing about a job and knows no SQL. Every refusal has the one shape of
//! [`error::ErrorBody`], whoever refuses: an endpoint, an extractor, the router, a guard or a panic.

pub mod error;

mod actions;
mod branch;
mod cancel;
mod chat;
mod dataset;
mod datasets;
mod desk;
mod docs;
mod exposures;
mod extract;
mod guard;
mod health;
mod job;
mod jobs;
mod landing;
mod live;
mod memory;
mod plan_jobs;
mod plans;
mod queued;
mod reasoning;
mod responses;
mod results;
mod resume;
mod session_memory;
mod state;
mod status;
mod steps;
mod stream;
mod tasks;
mod trigger;

pub(crate) use trigger::simulation;

use crate::app::App;
use anyhow::{Context as _, Result};
use axum::Router;
use error::ApiError;
use papertape_runtime::stopping::StopSignal;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What all endpoints have in common, for the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Papertape",
        description = "Paper-trades desks of LLM agents over market days and keeps everything on one durable \
                       tape. Errors are `{\"error\": \"snake_case_code\", \"message\": \"…\"}`; lists are paged by \
                       `cursor` and `next_cursor`; money and quantities are JSON numbers; days are YYYY-MM-DD, \
                       instants are RFC 3339 in UTC.",
    ),
    components(schemas(error::ErrorBody, crate::view::StreamData)),
    tags(
        (name = "simulation", description = "Start, watch, stop and resume simulations"),
        (name = "record", description = "What agents were shown, said, decided and did"),
        (name = "chat", description = "Conversations with the assistant"),
        (name = "plans", description = "Plans, their tasks, and what was done for them"),
        (name = "data", description = "Datasets"),
        (name = "memory", description = "What traders remember, and what of it they were given"),
        (name = "server", description = "The server itself"),
    )
)]
struct Document;

/// The routes that the OpenAPI document describes.
fn described() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(trigger::trigger))
        .routes(routes!(status::status))
        .routes(routes!(cancel::cancel))
        .routes(routes!(resume::resume))
        .routes(routes!(branch::branch))
        .routes(routes!(jobs::jobs))
        .routes(routes!(job::job))
        .routes(routes!(stream::stream))
        .routes(routes!(plans::plans, plans::create))
        .routes(routes!(plans::plan, plans::update, plans::delete))
        .routes(routes!(tasks::tasks, tasks::create))
        .routes(routes!(tasks::task, tasks::update, tasks::delete))
        .routes(routes!(plan_jobs::decompose))
        .routes(routes!(plan_jobs::execute))
        .routes(routes!(chat::message))
        .routes(routes!(chat::sessions))
        .routes(routes!(chat::session))
        .routes(routes!(actions::jobs))
        .routes(routes!(job::plan_job))
        .routes(routes!(actions::actions))
        .routes(routes!(job::decompose_job))
        .routes(routes!(reasoning::reasoning))
        .routes(routes!(results::results))
        .routes(routes!(steps::steps))
        .routes(routes!(exposures::exposures))
        .routes(routes!(datasets::datasets))
        .routes(routes!(dataset::dataset))
        .routes(routes!(live::live))
        .routes(routes!(live::session_live))
        .routes(routes!(state::state))
        .routes(routes!(memory::rounds_of))
        .routes(routes!(memory::open_positions))
        .routes(routes!(memory::trades))
        .routes(routes!(memory::archives))
        .routes(routes!(memory::compact))
        .routes(routes!(memory::reembed))
        .routes(routes!(session_memory::session_memory))
        .routes(routes!(health::health))
}

/// The OpenAPI document.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    described().into_openapi()
}

/// All of it, with its guards.
pub fn router(app: App) -> Router {
    let (routes, document) = described().split_for_parts();
    let routes = routes
        .merge(docs::routes(document))
        .merge(landing::routes())
        .fallback(async || ApiError::NotFound("there is nothing at this address".to_owned()))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app.clone());
    guard::around(routes, app)
}

/// Answers requests until shutdown, then lets those under way end. Running jobs is another's business.
///
/// # Errors
/// The listener's.
pub async fn serve(app: App, listener: TcpListener, mut shutdown: StopSignal) -> Result<()> {
    let streams = Arc::clone(&app.streams);
    let stopped = async move {
        shutdown.stopped().await;
        // They have no end of their own to wait for.
        streams.close();
    };
    let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(stopped).await.context("the server failed")
}
