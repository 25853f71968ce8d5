//! A local end of another MCP server's tools, for clients that can only start a program and use its standard
//! streams.

use super::{connection, http};
use anyhow::{Context as _, Result, anyhow};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{
    ClientCacheConfig, RequestContext, RunningService, ServerInitializeError, ServiceError, serve_client,
    serve_server,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler};
use tokio::io::{AsyncRead, AsyncWrite};

/// The maximum line of the client: a request of an agent, and what MCP writes around it.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024 + 64 * 1024;

/// Forwards the tools of the server at this URL to one client until it closes its end.
///
/// # Errors
/// A server that cannot be reached, or rejects the token; a client that does not begin with a handshake.
pub async fn forward(
    url: &str,
    token: Option<&str>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<()> {
    let transport = http::transport(url, token).map_err(|reason| anyhow!("the MCP server {reason}"))?;
    let us = || Implementation::new("papertape", env!("CARGO_PKG_VERSION"));
    let client = ClientConfig::new(ClientCapabilities::default(), us());
    let remote = serve_client(client, transport).await;
    let remote = remote.map_err(|error| anyhow!("the MCP server {}", connection::open_error(&error)))?;
    remote.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
    let about = remote.peer().peer_info().and_then(|about| about.instructions.clone());
    let config =
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(us());
    let config = match about {
        Some(about) => config.with_instructions(about),
        None => config,
    };
    let transport = AsyncRwTransport::new_server(reader, writer).with_max_line_length(MAX_LINE_BYTES);
    let serving = match serve_server(Forwarder { remote, config }, transport).await {
        Ok(serving) => serving,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error).context("the client did not complete MCP's handshake"),
    };
    serving.waiting().await?;
    Ok(())
}

struct Forwarder {
    remote: RunningService<RoleClient, ClientConfig>,
    config: ServerConfig,
}

impl ServerHandler for Forwarder {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let page = page.map(|page| PaginatedRequestParams::default().with_cursor(page.cursor));
        self.remote.peer().list_tools(page).await.map_err(|error| match error {
            ServiceError::McpError(error) => error,
            error => ErrorData::internal_error(
                format!("the MCP server {}", connection::broken_reason(&error)),
                None,
            ),
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // What the client says about its own protocol is not the server's.
        let mut call = CallToolRequestParams::new(request.name);
        call.arguments = request.arguments;
        match self.remote.peer().call_tool_once(call).await {
            Ok(response) => Ok(response),
            Err(ServiceError::McpError(error)) => Err(error),
            // For the model to read.
            Err(error) => {
                let reason = format!("the MCP server {}", connection::broken_reason(&error));
                Ok(CallToolResult::error(vec![ContentBlock::text(reason)]).into())
            }
        }
    }
}
