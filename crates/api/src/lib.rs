//! The HTTP API: one file per endpoint. `docs/api.md` has the rules, [`papertape_service::view`] builds the responses.
//!
//! It must never decide anything about a job, and never know SQL, a terminal or an integration. Every error has the
//! shape of [`papertape_protocol::error::ErrorBody`], whether it comes from an endpoint, an extractor, the router, a
//! layer or a panic.

pub mod error;
pub mod mcp;
pub mod model_endpoint;

mod access;
mod actions;
mod audit;
mod bars;
mod branch;
mod bundle;
mod cancel;
mod chat;
mod codes;
mod compare;
mod compare_traces;
mod curves;
mod dataset;
mod datasets;
mod delete_job;
mod docs;
mod doctor;
mod doors;
mod experiment;
mod experiments;
mod exposures;
mod exposures_by_item;
mod extract;
mod facts;
mod head;
mod headers;
mod health;
mod job;
mod job_response;
mod jobs;
mod labels;
mod layers;
mod leaderboard;
mod lineage;
mod listen;
mod live;
mod login;
mod memory;
mod messages;
mod metrics;
mod monitored_socket;
mod options;
mod pages;
mod plan_jobs;
mod plans;
mod probes;
mod reasoning;
mod report;
mod responses;
mod results;
mod resume;
mod reviews;
mod session;
mod session_memory;
mod state;
mod status;
mod steps;
mod stream;
mod tasks;
mod trigger;

use anyhow::{Context as _, Result, bail};
use axum::Router;
use error::ApiError;
use papertape_protocol::stream::StreamData;
use papertape_runtime::cancellation::{CancelSource, CancelToken};
use papertape_service::app::App;
use papertape_service::config::Config;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The OpenAPI document without its routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Papertape",
        description = "Paper trading for desks of LLM agents over market days, recorded on one durable tape. \
                       Errors are `{\"error\": \"snake_case_code\", \"message\": \"…\"}`. Lists are paged with \
                       `cursor` and `next_cursor`. Money and quantities are JSON numbers. Days are YYYY-MM-DD, \
                       instants RFC 3339 in UTC.",
    ),
    components(schemas(papertape_protocol::error::ErrorBody, codes::Codes, StreamData)),
    tags(
        (name = "simulation", description = "Start, watch, stop and resume simulations"),
        (name = "record", description = "What agents saw, said, decided and did"),
        (name = "chat", description = "Conversations with the assistant"),
        (name = "plans", description = "Plans, their tasks and jobs"),
        (name = "data", description = "Datasets"),
        (name = "memory", description = "Traders' memories, and what sessions recalled of them"),
        (name = "doors", description = "Where external agents reach their running session, by its own token"),
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
        .routes(routes!(branch::command))
        .routes(routes!(experiments::experiments, experiments::create))
        .routes(routes!(experiments::estimate))
        .routes(routes!(experiments::command))
        .routes(routes!(experiment::experiment))
        .routes(routes!(experiment::results))
        .routes(routes!(experiment::cancel))
        .routes(routes!(experiment::resume))
        .routes(routes!(probes::create))
        .routes(routes!(probes::estimate))
        .routes(routes!(probes::probe))
        .routes(routes!(probes::counterfactual))
        .routes(routes!(jobs::jobs))
        .routes(routes!(job::job, delete_job::delete_job))
        .routes(routes!(labels::change))
        .routes(routes!(reviews::reviews))
        .routes(routes!(reviews::change))
        .routes(routes!(head::head, head::publish))
        .routes(routes!(audit::audit))
        .routes(routes!(bundle::job))
        .routes(routes!(bundle::experiment))
        .routes(routes!(curves::curves))
        .routes(routes!(report::job_report))
        .routes(routes!(report::experiment_report))
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
        .routes(routes!(exposures_by_item::exposures_by_item))
        .routes(routes!(session::session))
        .routes(routes!(lineage::lineage))
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
        .routes(routes!(compare::compare))
        .routes(routes!(compare_traces::compare_traces))
        .routes(routes!(leaderboard::leaderboard))
        .routes(routes!(health::health))
        .routes(routes!(doctor::doctor))
        .routes(routes!(access::access))
        .routes(routes!(metrics::metrics))
}

/// The OpenAPI document with all routes.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    described().merge(doors::routes()).into_openapi()
}

/// All routes, with the layers around them.
pub fn router(app: App) -> Router {
    let document = openapi();
    let (routes, _) = described().split_for_parts();
    let routes = routes
        .merge(docs::routes(document))
        .merge(login::routes())
        .merge(mcp::routes())
        .merge(pages::routes())
        .fallback(async || ApiError::NotFound("no such route".to_owned()))
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .with_state(app.clone());
    layers::apply(routes, doors::open(&app), app)
}

/// Serves only the doors of running sessions, until the runtime ends.
pub async fn serve_doors(app: App, listener: TcpListener) {
    // It never stops: the sessions that use it end before the runtime does.
    let endless = CancelSource::default();
    listen::listen(&app, listener, doors::router(app.clone()), endless.signal()).await;
}

/// Serves requests until shutdown, then lets those in progress finish. Does not run jobs.
///
/// # Errors
/// An address that other machines can reach, if no token is configured: see [`ensure_safe_bind`].
pub async fn serve(app: App, listener: TcpListener, shutdown: CancelToken) -> Result<()> {
    let address = listener.local_addr().context("the socket has no address")?;
    ensure_safe_bind(&app.config, address)?;
    let streams = Arc::clone(&app.streams);
    let stopped = shutdown.clone();
    let listening = listen::listen(&app, listener, router(app.clone()), shutdown);
    let closing = async {
        stopped.stopped().await;
        // Streams have no end to wait for.
        streams.close();
    };
    futures::future::join(listening, closing).await;
    Ok(())
}

/// Checks that this configuration may be served at this address.
///
/// # Errors
/// An address that other machines can reach requires tokens.
pub fn ensure_safe_bind(config: &Config, address: SocketAddr) -> Result<()> {
    if address.ip().to_canonical().is_loopback() || !config.auth.tokens.is_empty() {
        return Ok(());
    }
    bail!(
        "{address} can be reached from other machines, and `auth.tokens` is empty: anyone who can reach it would have \
         full access. Create a token with `papertape auth token NAME --scope operate`, or listen on 127.0.0.1"
    )
}
