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
#[serde(default, rename_all = "camelCase")]
pub struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_instruction: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_config: Option<Value>,
    pub contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    pub generation_config: GenerationConfig<'a>,
}

/// Sampling parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_config: Option<ThinkingConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_mime_type: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_json_schema: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub stop_sequences: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl GenerationConfig<'_> {
    /// Whether every field is absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How the model thinks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct ThinkingConfig<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<Cow<'a, str>>,
}

/// The tools offered to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Tool<'a> {
    /// Their function declarations.
    pub function_declarations: Vec<FunctionDeclaration<'a>>,
}

/// A function offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(rename_all = "camelCase")]
pub struct FunctionDeclaration<'a> {
    pub name: Cow<'a, str>,
    #[serde(default)]
    pub description: Cow<'a, str>,
    #[serde(default)]
    pub parameters_json_schema: Cow<'a, Value>,
}

/// A message in a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Cow<'a, str>>,
    pub parts: Vec<Part<'a>>,
}

/// A part of a message in a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
}

/// A function call of an earlier message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct FunctionCall<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Cow<'a, str>>,
    pub name: Cow<'a, str>,
    #[serde(default)]
    pub args: Cow<'a, Value>,
}

/// The result of a function call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct FunctionResponse<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Cow<'a, str>>,
    pub name: Cow<'a, str>,
    #[serde(default)]
    pub response: Value,
}

/// A whole response, or one event of a streamed one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct Response {
    /// `None`: there is no response.
    #[serde(deserialize_with = "candidates", skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Candidate>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_feedback: Option<PromptFeedback>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage_metadata: Option<Usage>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
}

fn candidates<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<Candidate>>, D::Error> {
    bounds::entries(from).map(Some)
}

/// Why there is no response.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PromptFeedback {
    /// The filter that blocked the prompt.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub block_reason: Option<String>,
}

/// One of possibly several candidates.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct Candidate {
    pub content: Option<ReplyContent>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
}

/// A model's message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct ReplyContent {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(deserialize_with = "bounds::entries")]
    pub parts: Vec<ReplyPart>,
}

/// A part of a model's message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct ReplyPart {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(deserialize_with = "lenient::flag", skip_serializing_if = "std::ops::Not::not")]
    pub thought: bool,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_call: Option<ReplyCall>,
}

/// A function call requested by the model.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct ReplyCall {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Box<RawValue>>,
}

/// Token usage of a response.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default, rename_all = "camelCase")]
pub struct Usage {
    pub prompt_token_count: Count,
    pub tool_use_prompt_token_count: Count,
    pub cached_content_token_count: Count,
    pub candidates_token_count: Count,
    pub thoughts_token_count: Count,
    pub total_token_count: Count,
}
