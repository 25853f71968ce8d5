//! Real MCP clients, and sessions of external agents that a test plays itself.

use futures::future::join_all;
use papertape_core::external::{AgentReply, AgentRequest, ErrorCode, ReplyError, SessionEnding};
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::ToolSpec;
use papertape_runtime::doors::{DoorScope, OpenDoor};
use papertape_service::app::App;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, Tool,
};
use rmcp::service::{ClientInitializeError, RunningService, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A client of an MCP server.
pub(crate) struct McpClient(pub(crate) RunningService<RoleClient, ClientConfig>);

pub(crate) fn client_config() -> ClientConfig {
    ClientConfig::new(ClientCapabilities::default(), Implementation::new("test", "1"))
}

impl McpClient {
    /// Connects to `/mcp` of a server, with a bearer token if there is one.
    pub(crate) async fn connect(url: &str, token: Option<&str>) -> Result<Self, ClientInitializeError> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{url}/mcp"));
        config.auth_header = token.map(str::to_owned);
        let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
        Ok(Self(Box::pin(serve_client(client_config(), transport)).await?))
    }

    pub(crate) async fn tools(&self) -> Vec<Tool> {
        self.0.peer().list_all_tools().await.expect("it lists its tools")
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        self.tools().await.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let mut call = CallToolRequestParams::new(tool);
        call.arguments = arguments.as_object().cloned();
        Box::pin(self.0.peer().call_tool(call)).await.expect("an answer")
    }

    /// The structured answer of a call that must succeed. Its text is the same.
    pub(crate) async fn good(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(false), "{tool}: {result:?}");
        let answer = result.structured_content.expect("structured content");
        let text = &result.content[0].as_text().expect("a text").text;
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), answer, "{tool}");
        answer
    }

    /// The error of a call that must fail.
    pub(crate) async fn error(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
        result.structured_content.expect("structured content")
    }
}

/// A session that answers until its agent finishes, and what it was asked.
pub(crate) struct Played {
    pub(crate) token: String,
    asked: UnboundedReceiver<AgentRequest>,
}

impl Played {
    /// Opens the doors of a session of the agent `name`, which may read with `reads`.
    pub(crate) fn start(app: &App, name: &str, reads: &[&str]) -> Self {
        let spec = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: format!("the tool {name}"),
            parameters: json!({ "type": "object", "properties": { "symbol": { "type": "string" } } }),
        };
        let open = app.services.doors.open(DoorScope {
            job: JobId::new("job"),
            name: AgentName::new(name),
            agent: name.to_owned(),
            date: jiff::civil::date(2012, 10, 1),
            instant: "2012-10-01T13:30:00Z".parse().expect("an instant"),
            reads: reads.iter().map(|name| spec(name)).collect(),
            orders: ["buy", "sell"].map(spec).to_vec(),
            models: Vec::new(),
        });
        let (told, asked) = unbounded_channel();
        let token = open.token.clone();
        let name = name.to_owned();
        tokio::spawn(async move {
            let mut open: OpenDoor = open;
            while let Some(next) = open.requests.recv().await {
                let is_done = matches!(next.request, AgentRequest::Done { .. });
                let reply = reply(&name, &next.request);
                told.send(next.request).expect("the test waits");
                next.reply.send(reply).expect("the client waits");
                if is_done {
                    break;
                }
            }
            open.close(SessionEnding::Completed);
        });
        Self { token, asked }
    }

    /// The next request that reached the session.
    pub(crate) async fn asked(&mut self) -> AgentRequest {
        self.asked.recv().await.expect("a request")
    }

    /// Whether nothing else has reached the session.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.asked.try_recv().is_err()
    }

    /// Waits until the doors are closed.
    pub(crate) async fn closed(&mut self, app: &App) {
        assert!(self.asked.recv().await.is_none());
        assert!(app.services.doors.find(&self.token).is_none());
    }
}

fn reply(name: &str, request: &AgentRequest) -> AgentReply {
    let result = match request {
        AgentRequest::Read { tool, arguments } => json!({ "of": name, "tool": tool, "given": arguments }),
        AgentRequest::Order { arguments, .. } if arguments.get("quantity") == Some(&json!(0)) => {
            let error = ReplyError {
                code: ErrorCode::OrderRejected,
                message: "the quantity must be above zero".to_owned(),
                expected: Vec::new(),
                reason: Some("invalid_quantity".to_owned()),
            };
            return AgentReply::Error { error };
        }
        AgentRequest::Order { side, .. } => json!({ "of": name, "status": "filled", "side": side }),
        AgentRequest::Done { .. } => json!({ "state_stored": true }),
        AgentRequest::Malformed { error, .. } => return AgentReply::Error { error: error.clone() },
    };
    AgentReply::Ok { result }
}

/// Calls one tool from several clients at the same time.
pub(crate) async fn at_once(clients: &[&McpClient], tool: &'static str) -> Vec<Value> {
    join_all(clients.iter().map(|client| client.good(tool, json!({})))).await
}
