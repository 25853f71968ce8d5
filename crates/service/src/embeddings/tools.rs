//! Embedding models as a tool for jobs, so that their results are on the tape.

use super::Embeddings;
use futures::FutureExt as _;
use papertape_agents::memory::EMBEDDINGS;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply, ExternalTool, ToolClient};
use papertape_embed::vector;
use std::sync::Arc;

/// The configured tool servers and the embedding models. Agents do not see the latter.
pub struct ExternalTools {
    servers: Arc<dyn ToolClient>,
    embeddings: Arc<Embeddings>,
}

impl ExternalTools {
    /// Combines both.
    #[must_use]
    pub fn new(servers: Arc<dyn ToolClient>, embeddings: Arc<Embeddings>) -> Self {
        Self { servers, embeddings }
    }

    async fn embed(&self, call: &ExternalCall) -> Result<ExternalReply, CallFailure> {
        let bad = |message: String| CallFailure { kind: FailureKind::BadRequest, message };
        let model = call.tool.parse().map_err(bad)?;
        let texts: Vec<String> = serde_json::from_value(call.arguments["texts"].clone())
            .map_err(|error| bad(format!("no list of texts: {error}")))?;
        let made = self.embeddings.embed(&model, texts).await.map_err(|failed| failed.failure)?;
        Ok(ExternalReply { text: vector::to_json(&made), is_error: false })
    }
}

impl ToolClient for ExternalTools {
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>> {
        self.servers.list()
    }

    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>> {
        if call.server == EMBEDDINGS { self.embed(call).boxed() } else { self.servers.call(call) }
    }
}
