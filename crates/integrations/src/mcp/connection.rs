//! One connection to a tool server, shared by concurrent calls until it breaks.

use super::bounded::EXCEEDED;
use super::ending::Ending;
use super::{child, http};
use papertape_service::config::ToolServer;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    PaginatedRequestParams, PingRequest, Tool,
};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, Peer, RunningService, ServiceError, serve_client,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The maximum number of pages in a list of tools.
const MAX_PAGES: usize = 20;
/// The maximum number of tools per server.
const MAX_TOOLS: usize = 1_000;

/// Why a request failed.
pub(super) enum ConnectionError {
    /// The server returned a protocol error.
    Protocol {
        /// JSON-RPC's code.
        code: i32,
        /// The server's message.
        message: String,
    },
    /// There was no response. The text is ours and follows the server's name.
    Failed(String),
}

/// A connection and its health.
pub(super) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    health: Arc<watch::Sender<Health>>,
    ending: Ending,
    ping_timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Healthy,
    /// A call was abandoned, and a ping checks whether the server still responds.
    InDoubt,
    Broken,
}

impl Connection {
    /// Starts or reaches the server and completes the handshake. The error text follows the server's name.
    pub(super) async fn open(
        name: &str,
        config: &ToolServer,
        ping_timeout: Duration,
    ) -> Result<Self, String> {
        let ending = Ending::default();
        let implementation = Implementation::new("papertape", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), implementation);
        let served = match &config.url {
            Some(url) => serve_client(client, http::transport(url, None)?).await,
            None => serve_client(client, child::spawn(name, config, Arc::clone(&ending))?).await,
        };
        let service = served.map_err(|error| match ending.get() {
            Some(ending) => ending.clone(),
            None => open_error(&error),
        })?;
        // A requested list must be current, never from a cache.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        let health = Arc::new(watch::Sender::new(Health::Healthy));
        Ok(Self { service, health, ending, ping_timeout })
    }

    /// Whether the connection is usable. Waits until a server in doubt has responded or timed out.
    pub(super) async fn is_healthy(&self) -> bool {
        let mut health = self.health.subscribe();
        let settled = health.wait_for(|health| *health != Health::InDoubt).await;
        let is_healthy = settled.is_ok_and(|health| *health == Health::Healthy);
        is_healthy && !self.service.is_closed() && !self.service.peer().is_transport_closed()
    }

    /// All tools of the server, in its order.
    pub(super) async fn list(&self) -> Result<Vec<Tool>, ConnectionError> {
        let mut tools = Vec::new();
        let mut page = None;
        for _ in 0..MAX_PAGES {
            let listed = self.wait(self.service.peer().list_tools(page.take())).await?;
            if tools.len() + listed.tools.len() > MAX_TOOLS {
                return Err(ConnectionError::Failed(format!("{EXCEEDED}more than {MAX_TOOLS} tools")));
            }
            tools.extend(listed.tools);
            let Some(cursor) = listed.next_cursor else { return Ok(tools) };
            page = Some(PaginatedRequestParams::default().with_cursor(Some(cursor)));
        }
        Err(ConnectionError::Failed(format!("lists its tools on more than {MAX_PAGES} pages")))
    }

    /// Calls a tool once.
    pub(super) async fn call(
        &self,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, ConnectionError> {
        self.wait(self.service.peer().call_tool_once(params)).await
    }

    /// Waits for a response. A failure, or dropping this future, updates the connection's health.
    async fn wait<T>(
        &self,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ConnectionError> {
        let mut guard = AbandonedCall { connection: Some(self) };
        let result = request.await;
        guard.connection = None;
        result.map_err(|error| match error {
            ServiceError::McpError(error) => {
                ConnectionError::Protocol { code: error.code.0, message: error.message.into_owned() }
            }
            ServiceError::UnexpectedResponse => {
                ConnectionError::Failed("returned an answer that does not match the request".to_owned())
            }
            error => {
                self.health.send_replace(Health::Broken);
                ConnectionError::Failed(self.ending.get().cloned().unwrap_or_else(|| broken_reason(&error)))
            }
        })
    }
}

/// On drop: the caller stopped waiting. The SDK notifies the server; we ping it, because a server that hangs
/// would hang every later call as well.
struct AbandonedCall<'a> {
    connection: Option<&'a Connection>,
}

impl Drop for AbandonedCall<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection else { return };
        let in_doubt = connection.health.send_if_modified(|health| {
            let is_healthy = *health == Health::Healthy;
            if is_healthy {
                *health = Health::InDoubt;
            }
            is_healthy
        });
        if !in_doubt {
            return;
        }
        let health = Arc::clone(&connection.health);
        // Without a runtime the process is shutting down.
        let Ok(runtime) = Handle::try_current() else {
            health.send_replace(Health::Broken);
            return;
        };
        let peer = connection.service.peer().clone();
        let timeout = connection.ping_timeout;
        runtime.spawn(async move {
            let responds = tokio::time::timeout(timeout, responds(&peer)).await.unwrap_or(false);
            health.send_if_modified(|health| {
                let is_in_doubt = *health == Health::InDoubt;
                if is_in_doubt {
                    *health = if responds { Health::Healthy } else { Health::Broken };
                }
                is_in_doubt
            });
        });
    }
}

/// Any response to a ping is enough, even an error.
async fn responds(peer: &Peer<RoleClient>) -> bool {
    let ping = ClientRequest::PingRequest(PingRequest::default());
    matches!(peer.send_request(ping).await, Ok(_) | Err(ServiceError::McpError(_)))
}

pub(super) fn broken_reason(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => {
            http::reason(&*error.error).unwrap_or_else(|| "closed the connection".to_owned())
        }
        _ => "closed the connection".to_owned(),
    }
}

/// Why a connection failed to open. The SDK's own text is not used: it may print payloads and addresses.
pub(super) fn open_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            http::reason(&*error.error).unwrap_or_else(|| "cannot be reached".to_owned())
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("rejected the connection (code {})", error.code.0)
        }
        ClientInitializeError::ConnectionClosed(_) => "ended before it was ready".to_owned(),
        _ => "does not support a known version of MCP".to_owned(),
    }
}
