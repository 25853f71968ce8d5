//! What one caller can list and call.

use super::{session, tool};
use papertape_core::external::{AgentDoor as _, AgentReply, ErrorCode};
use papertape_runtime::doors::SessionDoor;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::record_tools::{INSTRUCTIONS, call_record_tool, record_tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The tools of one caller.
#[derive(Clone)]
pub(super) enum McpServer {
    /// Of a running session.
    Session(Arc<SessionDoor>),
    /// Of a session that has ended, or that never was: none.
    Ended,
    /// Of the record.
    Record(Box<App>),
}

impl McpServer {
    fn tools(&self) -> Vec<Tool> {
        match self {
            Self::Session(door) => session::tools(door.scope()),
            Self::Ended => Vec::new(),
            Self::Record(_) => record_tools().into_iter().map(tool::reading).collect(),
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let instructions = match self {
            Self::Session(door) => session::instructions(door.scope()),
            Self::Ended => session::ENDED.to_owned(),
            Self::Record(_) => INSTRUCTIONS.to_owned(),
        };
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("papertape", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let result = match self {
            Self::Session(door) => {
                let request = session::request(door.scope(), &request.name, arguments);
                session::result(door.ask(request).await)
            }
            Self::Ended => session::result(AgentReply::error(ErrorCode::SessionEnded, session::ENDED)),
            Self::Record(app) => record(app, &request.name, &arguments).await,
        };
        Ok(result.into())
    }
}

async fn record(app: &App, name: &str, arguments: &Map<String, Value>) -> CallToolResult {
    let error = match Box::pin(call_record_tool(app, name, arguments)).await {
        Ok(answer) => return CallToolResult::structured(answer),
        Err(error) => error,
    };
    let (code, message) = match &error {
        ServiceError::Invalid { .. } => ("invalid_input", error.to_string()),
        ServiceError::UnknownJob(_) | ServiceError::NotFound(_) => ("not_found", error.to_string()),
        ServiceError::Conflict(_) => ("conflict", error.to_string()),
        ServiceError::Internal(cause) => {
            tracing::error!(tool = name, error = format!("{cause:#}"), "a record tool failed");
            ("internal_error", "internal error; see the log of Papertape".to_owned())
        }
    };
    CallToolResult::structured_error(json!({ "code": code, "message": message }))
}
