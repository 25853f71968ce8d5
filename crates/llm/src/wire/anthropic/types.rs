//! The messages of the protocol.

use crate::bounds;
use crate::wire::lenient::{self, Count};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The body of a request.
#[derive(Debug, Serialize)]
pub(in crate::wire) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Value>,
    pub(super) messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    pub(super) output_config: OutputConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) stop_sequences: &'a [String],
    pub(super) max_tokens: u32,
}

/// A tool offered to the model.
#[derive(Debug, Serialize)]
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) input_schema: &'a Value,
}

/// How the model thinks.
#[derive(Debug, Serialize)]
pub(super) struct Thinking {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) display: Option<&'static str>,
}

/// The effort level, and the response format.
#[derive(Debug, Serialize)]
pub(super) struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Value>,
}

impl OutputConfig {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

/// A message in a request.
#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Content<'a>,
}

/// A message's content.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Value>),
}

/// A whole response, or the frame of a streamed one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    /// `None`: this is not a message. Each is a [`Block`].
    #[serde(deserialize_with = "bounds::some_entries")]
    pub(super) content: Option<Vec<Box<RawValue>>>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) error: Option<Box<RawValue>>,
}

/// A block of a response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) thinking: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) signature: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) name: Option<String>,
    pub(super) input: Option<Box<RawValue>>,
}

/// Token usage of a response.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) input_tokens: Count,
    pub(super) cache_creation_input_tokens: Count,
    pub(super) cache_read_input_tokens: Count,
    pub(super) output_tokens: Count,
}

/// An event of a streamed response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    pub(super) kind: Option<String>,
    pub(super) index: Option<i128>,
    pub(super) message: Option<Response>,
    /// A [`Block`].
    pub(super) content_block: Option<Box<RawValue>>,
    pub(super) delta: Option<Delta>,
    pub(super) usage: Option<Usage>,
    pub(super) error: Option<Box<RawValue>>,
}

/// What an event adds to a block or to the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) thinking: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) signature: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) partial_json: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) stop_reason: Option<String>,
}
