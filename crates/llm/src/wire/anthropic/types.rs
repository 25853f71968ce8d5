//! The messages of the protocol.

use crate::wire::bounds;
use crate::wire::lenient::{self, Count};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The body of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Request<'a> {
    pub model: Cow<'a, str>,
    pub stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'a>>,
    pub messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub stop_sequences: Cow<'a, [String]>,
    pub max_tokens: u32,
}

/// A tool offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct Tool<'a> {
    pub name: Cow<'a, str>,
    #[serde(default)]
    pub description: Cow<'a, str>,
    #[serde(default)]
    pub input_schema: Cow<'a, Value>,
}

/// Whether the model may or must call tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct ToolChoice<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
}

/// How the model thinks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Thinking<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display: Option<Cow<'a, str>>,
}

/// The response format, and the effort level.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format<'a>>,
}

/// The response format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct Format<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default)]
    pub schema: Value,
}

/// A message in a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct Message<'a> {
    pub role: Cow<'a, str>,
    pub content: Content<'a>,
}

/// A message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// Blocks.
    Blocks(Vec<RequestBlock<'a>>),
}

/// A block of a message in a request: a known one, or any other unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(untagged)]
pub enum RequestBlock<'a> {
    Known(KnownBlock<'a>),
    Other(Value),
}

/// The blocks that are interpreted here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum KnownBlock<'a> {
    Text { text: Cow<'a, str> },
    Thinking { thinking: String, signature: String },
    ToolUse { id: Cow<'a, str>, name: Cow<'a, str>, input: Cow<'a, Value> },
    ToolResult { tool_use_id: Cow<'a, str>, content: Cow<'a, Value> },
}

/// A whole response, or the frame of a streamed one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Response {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type", deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `None`: this is not a message. Each is a [`Block`].
    #[serde(deserialize_with = "blocks", skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Box<RawValue>>>,
    #[serde(deserialize_with = "lenient::text")]
    pub stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
}

fn blocks<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<Box<RawValue>>>, D::Error> {
    bounds::entries(from).map(Some)
}

/// A block of a response.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Block {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<RawValue>>,
}

/// Token usage of a response.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Usage {
    pub input_tokens: Count,
    pub cache_creation_input_tokens: Count,
    pub cache_read_input_tokens: Count,
    pub output_tokens: Count,
}

/// An event of a streamed response.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Event {
    #[serde(rename = "type", deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Response>,
    /// A [`Block`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_block: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
}

/// What an event adds to a block or to the message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Delta {
    #[serde(rename = "type", deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub partial_json: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}
