//! The MCP server: the tools of a running session, for an external agent, and read-only tools over the record.
//!
//! A session's token gets the tools of that session and nothing else. Every other caller gets the record tools, if the
//! API would let it read. No state is kept between requests, so there is nothing to end when a client leaves.

mod server;
mod session;
mod tool;

use super::access::bearer;
use super::error::ApiError;
use super::extract::read_within;
use super::layers::same_origin;
use anyhow::{Context as _, Result};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Json, Router};
use papertape_protocol::error::ErrorBody;
use papertape_service::app::App;
use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use server::McpServer;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

const PATH: &str = "/mcp";
/// The maximum body of a request: a message of the turn protocol, and what MCP writes around it.
const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024 + 64 * 1024;
/// The maximum line of a client on standard input, which only reads the record.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// `/mcp` of the API's server: sessions and the record. It authenticates its callers itself.
pub(super) fn routes() -> Router<App> {
    Router::new().route(PATH, any(serve_all))
}

/// `/mcp` with the tools of running sessions only, for a listener that external agents can reach.
pub fn router(app: App) -> Router {
    Router::new()
        .route(PATH, any(serve_sessions))
        .layer(from_fn_with_state(app.clone(), same_origin))
        .with_state(app)
}

/// Serves the record tools to one client until it closes its end.
///
/// # Errors
/// A client that does not begin with a handshake.
pub async fn serve_stdio(
    app: App,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<()> {
    let transport = AsyncRwTransport::new_server(reader, writer).with_max_line_length(MAX_LINE_BYTES);
    let serving = match serve_server(McpServer::Record(Box::new(app)), transport).await {
        Ok(serving) => serving,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error).context("the client did not complete MCP's handshake"),
    };
    serving.waiting().await?;
    Ok(())
}

async fn serve_all(State(app): State<App>, request: Request) -> Response {
    respond(&app, request, true).await.unwrap_or_else(ApiError::into_response)
}

async fn serve_sessions(State(app): State<App>, request: Request) -> Response {
    respond(&app, request, false).await.unwrap_or_else(ApiError::into_response)
}

/// The tools that a caller may use.
fn caller(app: &App, headers: &HeaderMap, has_record: bool) -> Result<McpServer, ApiError> {
    let token = bearer(headers);
    if let Some(token) = token.filter(|token| token.starts_with(session::TOKEN_PREFIX)) {
        return Ok(app.services.doors.find(token).map_or(McpServer::Ended, McpServer::Session));
    }
    let is_known = || token.is_some_and(|token| app.authenticator.by_token(token).is_some());
    if has_record && (app.authenticator.is_open() || is_known()) {
        return Ok(McpServer::Record(Box::new(app.clone())));
    }
    Err(ApiError::Unauthorized)
}

async fn respond(app: &App, request: Request, has_record: bool) -> Result<Response, ApiError> {
    let server = caller(app, request.headers(), has_record)?;
    let limit = match server {
        McpServer::Session(_) => MAX_REQUEST_BYTES,
        McpServer::Ended | McpServer::Record(_) => app.config.server.body_limit_bytes,
    };
    let (mut parts, body) = request.into_parts();
    let body = read_within(Request::from_parts(parts.clone(), body), app, limit).await?;
    // A client that is connected when its session ends lists no tools and reads why its calls fail: an HTTP error would end
    // some clients' programs. A new client is rejected.
    if matches!(server, McpServer::Ended) && !is_connected(&body) {
        return Ok(rejected());
    }
    for credential in [AUTHORIZATION, COOKIE] {
        parts.headers.remove(credential);
    }
    // Hosts and origins were checked before.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limit);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let handling = Box::pin(service.handle(Request::from_parts(parts, Body::from(body))));
    Ok(handling.await.map(Body::new))
}

/// The first message of a client, by version of the protocol.
const FIRST_METHODS: [&str; 2] = ["initialize", "server/discover"];

/// Whether the message is a later one of a client that is connected.
fn is_connected(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message {
        method: String,
    }
    serde_json::from_slice(body).is_ok_and(|message: Message| !FIRST_METHODS.contains(&&*message.method))
}

fn rejected() -> Response {
    let body = ErrorBody { error: "unauthorized".to_owned(), message: session::ENDED.to_owned() };
    let scheme = [(WWW_AUTHENTICATE, "Bearer realm=\"papertape\"")];
    (StatusCode::UNAUTHORIZED, scheme, Json(body)).into_response()
}
