//! The HTTP API: one file an endpoint, rules in `docs/api.md`, answers made by [`papertape_service::view`].
//!
//! It decides nothing about a job and knows no SQL. Every refusal has the one shape of
//! [`error::ErrorBody`], whoever refuses: an endpoint, an extractor, the router, a guard or a panic.

pub mod error;

mod access;
mod actions;
mod bars;
mod branch;
mod cancel;
mod chat;
mod codes;
mod compare_traces;
mod curves;
mod dataset;
mod datasets;
mod delete_job;
mod desk;
mod docs;
mod doctor;
mod exposures;
mod exposures_by_item;
mod extract;
mod facts;
mod head;
mod health;
mod html;
mod job;
mod job_response;
mod jobs;
mod layers;
mod listen;
mod live;
mod login;
mod memory;
mod messages;
mod metrics;
mod options;
mod outlet;
mod pages;
mod plan_jobs;
mod plans;
mod reasoning;
mod responses;
mod results;
mod resume;
mod session;
mod session_memory;
mod state;
mod status;
mod steps;
mod stream;
mod tasks;
mod trigger;

pub(crate) use trigger::{MAX_AGENTS, simulation};

use anyhow::{Context as _, Result, bail};
use axum::Router;
use error::ApiError;
use papertape_runtime::cancellation::CancelToken;
use papertape_service::app::App;
use papertape_service::config::Config;
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
    components(schemas(error::ErrorBody, codes::Codes, papertape_service::view::StreamData)),
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
        .routes(routes!(options::options))
        .routes(routes!(status::status))
        .routes(routes!(cancel::cancel))
        .routes(routes!(resume::resume))
        .routes(routes!(branch::branch))
        .routes(routes!(jobs::jobs))
        .routes(routes!(job::job, delete_job::delete_job))
        .routes(routes!(head::head, head::publish))
        .routes(routes!(curves::curves))
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
        .routes(routes!(messages::messages))
        .routes(routes!(steps::steps))
        .routes(routes!(exposures::exposures))
        .routes(routes!(exposures_by_item::shown))
        .routes(routes!(session::session))
        .routes(routes!(datasets::datasets))
        .routes(routes!(dataset::dataset))
        .routes(routes!(bars::bars))
        .routes(routes!(facts::news))
        .routes(routes!(facts::fundamentals))
        .routes(routes!(facts::macros))
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
        .routes(routes!(compare_traces::compare_traces))
        .routes(routes!(health::health))
        .routes(routes!(doctor::doctor))
        .routes(routes!(access::access))
        .routes(routes!(metrics::metrics))
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
        .merge(login::routes())
        .merge(pages::routes())
        .fallback(async || ApiError::NotFound("there is nothing at this address".to_owned()))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app.clone());
    layers::apply(routes, app)
}

/// Answers requests until shutdown, then lets those under way end. Running jobs is another's business.
///
/// # Errors
/// A socket that others than this machine reach, where no token is configured: see [`ensure_safe_bind`].
pub async fn serve(app: App, listener: TcpListener, shutdown: CancelToken) -> Result<()> {
    let address = listener.local_addr().context("the socket has no address")?;
    ensure_safe_bind(&app.config, address)?;
    let streams = Arc::clone(&app.streams);
    let stopped = shutdown.clone();
    let listening = listen::listen(&app, listener, router(app.clone()), shutdown);
    let closing = async {
        stopped.stopped().await;
        // They have no end of their own to wait for.
        streams.close();
    };
    futures::future::join(listening, closing).await;
    Ok(())
}

/// May this configuration be served at this address?
///
/// # Errors
/// An address that others than this machine reach needs tokens.
pub fn ensure_safe_bind(config: &Config, address: SocketAddr) -> Result<()> {
    if address.ip().to_canonical().is_loopback() || !config.auth.tokens.is_empty() {
        return Ok(());
    }
    bail!(
        "{address} can be reached from elsewhere, and `auth.tokens` is empty: whoever comes could read \
         everything and start jobs. `papertape auth token NAME --scope operate` makes a token; or listen on \
         127.0.0.1"
    )
}
