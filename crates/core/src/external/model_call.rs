//! Calls at the model endpoint of an external agent's session.

use crate::message::{CallFailure, FinishReason, ModelName, Usage};
use crate::ports::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The protocol of a request at the model endpoint. It is sent to the provider in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoorProtocol {
    /// `OpenAI`'s chat completions.
    ChatCompletions,
    /// `OpenAI`'s responses.
    Responses,
    /// Anthropic's messages.
    AnthropicMessages,
    /// `OpenAI`'s embeddings.
    Embeddings,
}

crate::words!(DoorProtocol {
    ChatCompletions = "chat_completions", Responses = "responses", AnthropicMessages = "anthropic_messages",
    Embeddings = "embeddings",
});

/// A request as it came in, checked and bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelDoorRequest {
    /// The protocol.
    pub protocol: DoorProtocol,
    /// The configured model that it is sent to.
    pub model: ModelName,
    /// The house model's version, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house_version: Option<u32>,
    /// The body as it is sent, except for `model` and the fields that select a stream, which the gateway adds. The digest
    /// covers its [`digest_body`](super::digest_body) and the client's key, after call IDs are numbered and the agent's
    /// `normalize` rules are applied.
    pub body: Value,
    /// The client's key for equal requests (`X-Papertape-Key`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A provider's answer to a request at the model endpoint: what is recorded, and what the client gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelDoorReply {
    /// The whole answer in the request's protocol. A streamed answer is written from it.
    pub body: Value,
    /// Its text, for the transcript.
    pub text: String,
    /// Why the model stopped; `None`: not stated, or an embedding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
}

/// The result of one successful attempt.
#[derive(Clone, Debug)]
pub struct ModelDoorResponse {
    /// The answer.
    pub reply: ModelDoorReply,
    /// Its usage; `None`: not reported.
    pub usage: Option<Usage>,
}

/// The client of a call.
pub trait ModelDoorClient: Send + Sync {
    /// Words of the answer as they arrive. They count for nothing: only [`Self::answer`] does.
    fn delta(&self, text: &str);

    /// A further attempt begins: the words so far are void.
    fn restarted(&self) {}

    /// The answer, when it is durable.
    fn answer(&self, answer: Result<ModelDoorReply, CallFailure>);

    /// Whether the client has closed its connection.
    fn has_left(&self) -> bool;

    /// Resolves when the client has closed its connection.
    fn left(&self) -> BoxFuture<'_, ()>;
}

/// A call that waits to be made.
#[derive(Clone)]
pub struct ModelDoorCall {
    /// The request.
    pub request: ModelDoorRequest,
    /// Who gets the answer.
    pub client: Arc<dyn ModelDoorClient>,
}
