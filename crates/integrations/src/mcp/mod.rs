//! External tools over the Model Context Protocol: a server is a child process that uses its standard
//! streams, or an address that offers streamable HTTP.
//!
//! A connection is opened on first use, shared by all sessions, and reopened after it breaks. Deadlines
//! belong to the caller, who drops the call; the server is then notified of the cancellation. Dropping
//! [`McpTools`] ends the child processes.

mod bounded;
mod child;
mod connection;
mod ending;
mod forward;
mod http;
pub mod names;
mod reply;

pub use forward::forward;
pub(crate) use http::client as http_client;

use connection::{Connection, ConnectionError};
use futures::FutureExt as _;
use futures::future::try_join_all;
use papertape_agents::solo::LIST_TOOLS;
use papertape_core::message::{CallFailure, FailureKind, ToolSpec};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply, ExternalTool, ToolClient};
use papertape_service::config::ToolServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, Tool};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long a server may take to show that it still responds after an abandoned call.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// The configured tool servers.
pub struct McpTools {
    servers: BTreeMap<String, Server>,
    ping_timeout: Duration,
}

struct Server {
    name: String,
    config: ToolServer,
    /// Held while a connection is being opened, so that only one is opened at a time.
    slot: Mutex<Option<Arc<Connection>>>,
}

impl McpTools {
    /// Connects to none of them yet.
    #[must_use]
    pub fn new(servers: BTreeMap<String, ToolServer>) -> Self {
        let server = |(name, config): (String, ToolServer)| {
            (name.clone(), Server { name, config, slot: Mutex::default() })
        };
        Self { servers: servers.into_iter().map(server).collect(), ping_timeout: PING_TIMEOUT }
    }

    /// Sets how long a server may take to show that it still responds after an abandoned call. If it does
    /// not, the next call opens a new connection.
    #[must_use]
    pub fn with_ping_timeout(self, ping_timeout: Duration) -> Self {
        Self { ping_timeout, ..self }
    }

    fn server(&self, name: &str) -> Result<&Server, CallFailure> {
        self.servers.get(name).ok_or_else(|| CallFailure {
            kind: FailureKind::BadRequest,
            message: format!("there is no tool server `{name}` in the config"),
        })
    }
}

impl ToolClient for McpTools {
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>> {
        async move {
            let lists =
                try_join_all(self.servers.values().map(|server| server.list(self.ping_timeout))).await?;
            Ok(lists.into_iter().flatten().collect())
        }
        .boxed()
    }

    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>> {
        async move {
            let server = self.server(&call.server)?;
            if call.tool == LIST_TOOLS {
                let entry = |tool: ExternalTool| json!({ "spec": tool.spec, "repeatable": tool.repeatable });
                let list: Vec<Value> = server.list(self.ping_timeout).await?.into_iter().map(entry).collect();
                let reply = ExternalReply { text: Value::Array(list).to_string(), is_error: false };
                return reply::bounded(reply).map_err(|reason| server.error(&reason));
            }
            server.call(call, self.ping_timeout).await
        }
        .boxed()
    }
}

impl Server {
    /// The server's tools, sorted by name.
    async fn list(&self, ping_timeout: Duration) -> Result<Vec<ExternalTool>, CallFailure> {
        let connection = self.connect(ping_timeout).await?;
        let tools = connection.list().await.map_err(|error| match error {
            ConnectionError::Protocol { code, .. } => {
                self.error(&format!("rejected the request for its tools (code {code})"))
            }
            ConnectionError::Failed(reason) => self.error(&reason),
        })?;
        let mut seen = BTreeSet::new();
        let mut listed = Vec::with_capacity(tools.len());
        for tool in tools {
            let tool = self.listed(tool)?;
            if !seen.insert(tool.spec.name.clone()) {
                return Err(self.error(&format!("offers `{}` twice", tool.spec.name)));
            }
            listed.push(tool);
        }
        listed.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        Ok(listed)
    }

    /// A tool as the model sees it.
    fn listed(&self, tool: Tool) -> Result<ExternalTool, CallFailure> {
        let name = names::to_model(&tool.name);
        if name.is_empty() || names::is_too_long(&self.name, &name) {
            return Err(self.error(&format!(
                "offers a tool by a name that no model can call: `{}`, with the server's name before it, \
                 must have 1 to {} characters; a shorter server name in the config may help",
                tool.name,
                names::MAX_CHARS
            )));
        }
        let hints = tool.annotations.unwrap_or_default();
        let hinted = hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true);
        Ok(ExternalTool {
            server: self.name.clone(),
            repeatable: hinted || self.config.idempotent_tools.iter().any(|known| *known == tool.name),
            spec: ToolSpec {
                name,
                description: tool.description.map(Into::into).or(tool.title).unwrap_or_default(),
                parameters: Value::Object(tool.input_schema.as_ref().clone()),
            },
        })
    }

    async fn call(&self, call: &ExternalCall, ping_timeout: Duration) -> Result<ExternalReply, CallFailure> {
        let mut params = CallToolRequestParams::new(names::to_server(&call.tool));
        params.arguments = Some(arguments(&call.arguments)?);
        let connection = self.connect(ping_timeout).await?;
        let reply = match connection.call(params).await {
            Ok(CallToolResponse::Complete(result)) => reply::reply(result),
            Ok(_) => return Err(self.error("asks for more than the call, which is not supported")),
            // The protocol's own errors (no such tool, wrong arguments) are for the model to read.
            Err(ConnectionError::Protocol { code, message }) => {
                ExternalReply { text: format!("{message} (code {code})"), is_error: true }
            }
            Err(ConnectionError::Failed(reason)) => return Err(self.error(&reason)),
        };
        reply::bounded(reply).map_err(|reason| self.error(&reason))
    }

    /// The current connection if it is healthy; else a new one.
    async fn connect(&self, ping_timeout: Duration) -> Result<Arc<Connection>, CallFailure> {
        let mut slot = self.slot.lock().await;
        if let Some(connection) = &*slot {
            if connection.is_healthy().await {
                return Ok(Arc::clone(connection));
            }
            tracing::info!(server = %self.name, "reconnecting to a tool server");
        }
        // Calls in progress on the old connection hold it until they end.
        *slot = None;
        let opened = Connection::open(&self.name, &self.config, ping_timeout).await;
        let connection = Arc::new(opened.map_err(|reason| {
            let is_limit = reason.starts_with(bounded::EXCEEDED);
            self.failure(if is_limit { FailureKind::BadAnswer } else { FailureKind::Unavailable }, &reason)
        })?);
        *slot = Some(Arc::clone(&connection));
        Ok(connection)
    }

    fn error(&self, reason: &str) -> CallFailure {
        let is_limit = reason.starts_with(bounded::EXCEEDED);
        self.failure(if is_limit { FailureKind::BadAnswer } else { FailureKind::ToolError }, reason)
    }

    fn failure(&self, kind: FailureKind, reason: &str) -> CallFailure {
        CallFailure { kind, message: format!("the tool server `{}` {reason}", self.name) }
    }
}

fn arguments(given: &Value) -> Result<JsonObject, CallFailure> {
    match given {
        Value::Object(map) => Ok(map.clone()),
        Value::Null => Ok(JsonObject::new()),
        _ => Err(CallFailure {
            kind: FailureKind::BadRequest,
            message: "the arguments are not a JSON object".to_owned(),
        }),
    }
}
