//! The messages of the protocol.

use crate::wire::bounds;
use crate::wire::lenient::{self, Count};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The body of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Request<'a> {
    pub model: Cow<'a, str>,
    pub stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Cow<'a, Value>>,
    pub messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Cow<'a, [String]>>,
}

/// `DeepSeek`'s switch for thinking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking<'a> {
    /// `enabled` or `disabled`.
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
}

/// What a stream contains besides the response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamOptions {
    /// A last event with the usage.
    pub include_usage: bool,
}

/// A tool offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct Tool<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    pub function: ToolFunction<'a>,
}

/// The function behind a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct ToolFunction<'a> {
    pub name: Cow<'a, str>,
    #[serde(default)]
    pub description: Cow<'a, str>,
    #[serde(default)]
    pub parameters: Cow<'a, Value>,
    #[serde(default)]
    pub strict: bool,
}

/// The response format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<JsonSchema<'a>>,
}

/// The schema of a response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct JsonSchema<'a> {
    pub name: Cow<'a, str>,
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub schema: Value,
}

/// A message in a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Message<'a> {
    pub role: Cow<'a, str>,
    pub content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasoning_details: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<Cow<'a, str>>,
}

/// A message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// Parts, of which only texts are supported.
    Parts(Vec<ContentPart<'a>>),
}

/// A part of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct ContentPart<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
}

/// A tool call of an earlier message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
pub struct Call<'a> {
    #[serde(rename = "type")]
    pub kind: Cow<'a, str>,
    pub id: Cow<'a, str>,
    pub function: CallFunction<'a>,
}

/// The called function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFunction<'a> {
    /// The tool's name.
    pub name: Cow<'a, str>,
    /// The arguments' JSON as a string.
    pub arguments: String,
}

/// A whole response, or one event of a streamed one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Response {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    #[serde(skip_serializing_if = "is_absent")]
    pub created: CreatedAt,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `None`: this is not a chat completion.
    #[serde(deserialize_with = "choices", skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<Choice>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Where Groq puts the usage of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_groq: Option<Groq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<RawValue>>,
}

/// Seconds since the Unix epoch; written, never read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreatedAt(pub Option<i64>);

const fn is_absent(at: &CreatedAt) -> bool {
    at.0.is_none()
}

impl Serialize for CreatedAt {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for CreatedAt {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Self(None))
    }
}

fn choices<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Choice>>, D::Error> {
    bounds::entries(from).map(Some)
}

/// Groq's extension of an event.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Groq {
    /// The response's usage.
    pub usage: Option<Usage>,
}

/// One of possibly several choices.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Choice {
    pub index: Count,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Reply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Reply>,
    #[serde(deserialize_with = "lenient::text")]
    pub finish_reason: Option<String>,
}

/// A model's message, or a chunk of it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Reply {
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub content: ReplyContent,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(deserialize_with = "bounds::entries", skip_serializing_if = "Vec::is_empty")]
    pub reasoning_details: Vec<Box<RawValue>>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    #[serde(deserialize_with = "bounds::tool_calls", skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ReplyCall>,
}

/// A tool call, or a chunk of one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct ReplyCall {
    /// Its index in the response; streams only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<i128>,
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type", deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<ReplyFunction>,
}

/// The called function.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyFunction {
    /// The tool's name.
    #[serde(deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A string that should contain an object; some servers send the object itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
}

/// Token usage of a response.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Usage {
    pub prompt_tokens: Count,
    pub completion_tokens: Count,
    pub total_tokens: Count,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens_details: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens_details: Option<Tokens>,
}

impl Usage {
    /// Whether every count is absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        [self.prompt_tokens, self.completion_tokens, self.total_tokens]
            .iter()
            .all(|count| *count == Count::Absent)
    }
}

/// A breakdown of the tokens.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the protocol's")]
#[serde(default)]
pub struct Tokens {
    pub cached_tokens: Count,
    pub reasoning_tokens: Count,
}

/// The text of a response, and the thinking that Mistral puts in the same field.
#[derive(Debug, Default)]
pub struct ReplyContent {
    /// Text.
    pub text: Option<String>,
    /// Thinking.
    pub thinking: Option<String>,
}

impl Serialize for ReplyContent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ReplyContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyContent)
    }
}

struct AnyContent;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk {
    #[serde(deserialize_with = "lenient::text")]
    text: Option<String>,
    thinking: Option<ThinkingChunk>,
}

/// A text, or parts of one.
struct ThinkingChunk(String);

impl<'de> Deserialize<'de> for ThinkingChunk {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let content = from.deserialize_any(AnyContent)?;
        Ok(Self(content.text.unwrap_or_default()))
    }
}

impl<'de> Visitor<'de> for AnyContent {
    type Value = ReplyContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or its parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<ReplyContent, E> {
        Ok(ReplyContent { text: Some(text.to_owned()), thinking: None })
    }

    fn visit_unit<E>(self) -> Result<ReplyContent, E> {
        Ok(ReplyContent::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ReplyContent, A::Error> {
        let mut content = ReplyContent::default();
        // A chunk's text is moved and the chunk dropped, so no list grows here.
        while let Some(chunk) = list.next_element::<Chunk>()? {
            if let Some(text) = chunk.text {
                content.text.get_or_insert_default().push_str(&text);
            }
            if let Some(ThinkingChunk(thinking)) = chunk.thinking {
                content.thinking.get_or_insert_default().push_str(&thinking);
            }
        }
        Ok(content)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReplyContent, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ReplyContent::default())
    }
}
