//! The messages of the protocol.

use crate::bounds;
use crate::wire::lenient::{self, Count};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// The body of a request.
#[derive(Debug, Default, Serialize)]
pub(in crate::wire) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_effort: Option<&'a str>,
    /// `DeepSeek`'s switch for thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<&'a str>,
    pub(super) messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) random_seed: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) stop: &'a [String],
}

/// A tool offered to the model.
#[derive(Debug, Serialize)]
pub(super) struct Tool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) function: ToolFunction<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolFunction<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a Value,
    pub(super) strict: bool,
}

/// A message in a request.
#[derive(Debug, Default, Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'a str,
    pub(super) content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasoning_details: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<&'a str>,
}

/// A whole response, or one event of a streamed one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    /// `None`: this is not a chat completion.
    #[serde(deserialize_with = "bounds::some_entries")]
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<Usage>,
    /// Where Groq puts the usage of a stream.
    pub(super) x_groq: Option<Groq>,
    pub(super) error: Option<Box<RawValue>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Groq {
    pub(super) usage: Option<Usage>,
}

/// One of possibly several choices.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) message: Option<Reply>,
    pub(super) delta: Option<Reply>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) finish_reason: Option<String>,
}

/// A model's message, or a chunk of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reply {
    pub(super) content: ReplyContent,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning: Option<String>,
    #[serde(deserialize_with = "bounds::entries")]
    pub(super) reasoning_details: Vec<Box<RawValue>>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) refusal: Option<String>,
    #[serde(deserialize_with = "bounds::tool_calls")]
    pub(super) tool_calls: Vec<ReplyCall>,
}

/// A tool call, or a chunk of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReplyCall {
    /// Its index in the response; streams only.
    pub(super) index: Option<i128>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) id: Option<String>,
    pub(super) function: Option<ReplyFunction>,
}

/// The called function.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReplyFunction {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) name: Option<String>,
    /// A string that should contain an object; some servers send the object itself.
    pub(super) arguments: Option<Box<RawValue>>,
}

/// Token usage of a response.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) prompt_tokens: Count,
    pub(super) completion_tokens: Count,
    pub(super) total_tokens: Count,
    pub(super) prompt_tokens_details: Option<Tokens>,
    pub(super) completion_tokens_details: Option<Tokens>,
}

impl Usage {
    pub(super) fn is_empty(&self) -> bool {
        [self.prompt_tokens, self.completion_tokens, self.total_tokens] == [Count::Absent; 3]
    }
}

/// A breakdown of the tokens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    pub(super) cached_tokens: Count,
    pub(super) reasoning_tokens: Count,
}

/// The text of a response, and the thinking that Mistral puts in the same field.
#[derive(Debug, Default)]
pub(super) struct ReplyContent {
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
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
    thinking: Option<ReplyContent>,
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
            if let Some(thinking) = chunk.thinking {
                content.thinking.get_or_insert_default().push_str(&thinking.text.unwrap_or_default());
            }
        }
        Ok(content)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReplyContent, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ReplyContent::default())
    }
}
