//! Outside tools.
use crate::config::ToolServer;
use futures::FutureExt as _;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply, ExternalTool, Tools};
use std::collections::BTreeMap;
/// Outside tools.
pub struct McpTools {
    servers: BTreeMap<String, ToolServer>,
}
impl McpTools {
    /// x
    pub fn new(servers: BTreeMap<String, ToolServer>) -> Self {
        Self { servers }
    }
}
impl Tools for McpTools {
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>> {
        async { Ok(vec![]) }.boxed()
    }
    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>> {
        async move {
            Err(CallFailure {
                kind: FailureKind::ToolError,
                message: format!("{} {}", call.server, self.servers.len()),
            })
        }
        .boxed()
    }
}
