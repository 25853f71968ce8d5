//! Scripted responses of the server.

use papertape_core::message::{FinishReason, ModelReply, ToolCall};
use serde_json::{Value, json};
use std::time::Duration;

/// A tool call as sent: its arguments are text, and may be invalid JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments' text.
    pub arguments: String,
}

/// Token usage that the server reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Cached tokens among them.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
}

/// A well-formed model response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// Its reasoning, sent as `reasoning_content`.
    pub reasoning: Option<String>,
    /// Its tool calls.
    pub calls: Vec<Call>,
    /// `stop`, `tool_calls`, `length`, `content_filter`; derived from the rest if absent.
    pub finish: Option<String>,
    /// Its usage; not reported if absent.
    pub tokens: Option<Tokens>,
}

impl Reply {
    /// The finish reason, as sent.
    #[must_use]
    pub fn finish_reason(&self) -> &str {
        match &self.finish {
            Some(given) => given,
            None if self.calls.is_empty() => "stop",
            None => "tool_calls",
        }
    }
}

impl From<&ModelReply> for Reply {
    /// The same response in the wire format, so that a test can put any `Models` behind HTTP.
    fn from(reply: &ModelReply) -> Self {
        let finish = match reply.finish {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
        };
        let call = |call: &ToolCall| Call {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: match &call.arguments {
                Value::String(raw) => raw.clone(),
                object => object.to_string(),
            },
        };
        Self {
            text: reply.text.clone(),
            reasoning: reply.reasoning.clone(),
            calls: reply.tool_calls.iter().map(call).collect(),
            finish: Some(finish.to_owned()),
            tokens: None,
        }
    }
}

/// How a response ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Broken {
    /// Complete.
    #[default]
    Not,
    /// The connection is closed in the middle of the response.
    Cut,
    /// Silence after the first half of the response, until released or closed.
    Stalled,
}

/// Content of the body.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A response in the wire format, streamed if the request asks for it.
    Reply(Reply),
    /// Exactly this text, with this content type.
    Raw { content_type: String, text: String },
    /// Exactly these bytes, in chunks of 64 KiB.
    Bytes { content_type: String, bytes: Vec<u8> },
    /// `first`, then `again` repeatedly until the client disconnects.
    Endless { content_type: String, first: String, again: String, pause: Duration },
    /// Text that is not JSON, streamed or not as requested.
    Garbage,
}

/// One response of the server.
#[derive(Clone, Debug)]
pub struct ScriptedAnswer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content: Content,
    pub(super) broken: Broken,
    pub(super) held: bool,
    pub(super) delay: Duration,
}

impl ScriptedAnswer {
    /// A well-formed response.
    #[must_use]
    pub fn reply(reply: impl Into<Reply>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            content: Content::Reply(reply.into()),
            broken: Broken::Not,
            held: false,
            delay: Duration::ZERO,
        }
    }

    /// A well-formed response with text only, ten input and five output tokens.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let tokens = Some(Tokens { input: 10, cached: 0, output: 5 });
        Self::reply(Reply { text: text.into(), tokens, ..Reply::default() })
    }

    /// A well-formed response that calls one tool. The arguments are sent unchanged.
    #[must_use]
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        let call = Call { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        let tokens = Some(Tokens { input: 10, cached: 0, output: 5 });
        Self::reply(Reply { calls: vec![call], tokens, ..Reply::default() })
    }

    /// A response without text and calls.
    #[must_use]
    pub fn empty() -> Self {
        Self::text("")
    }

    /// Status 200 with a body that is not JSON.
    #[must_use]
    pub fn garbage() -> Self {
        Self { content: Content::Garbage, ..Self::empty() }
    }

    /// Exactly this text, whatever the request: for other providers' wire formats.
    #[must_use]
    pub fn raw(content_type: &str, text: impl Into<String>) -> Self {
        let content = Content::Raw { content_type: content_type.to_owned(), text: text.into() };
        Self { content, ..Self::empty() }
    }

    /// Exactly these bytes, whatever the request.
    #[must_use]
    pub fn bytes(content_type: &str, bytes: Vec<u8>) -> Self {
        let content = Content::Bytes { content_type: content_type.to_owned(), bytes };
        Self { content, ..Self::empty() }
    }

    /// A body that never ends: `first`, then `again` as often as the client reads it.
    #[must_use]
    pub fn endless(content_type: &str, first: impl Into<String>, again: impl Into<String>) -> Self {
        let (first, again) = (first.into(), again.into());
        let content_type = content_type.to_owned();
        Self {
            content: Content::Endless { content_type, first, again, pause: Duration::ZERO },
            ..Self::empty()
        }
    }

    /// With a delay between the chunks of an endless body. For benchmarks.
    #[must_use]
    pub fn dripping(mut self, every: Duration) -> Self {
        if let Content::Endless { pause, .. } = &mut self.content {
            *pause = every;
        }
        self
    }

    /// An error response with this status and an error body with this code. The body's message repeats a
    /// secret-looking text that must never appear in one of our errors.
    #[must_use]
    pub fn error(status: u16, code: &str) -> Self {
        let body = json!({ "error": { "message": "leak-me-not", "type": code, "code": code } });
        Self { status, ..Self::raw("application/json", body.to_string()) }
    }

    /// With this header, such as `retry-after`.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Breaks off or stalls in the middle.
    #[must_use]
    pub fn broken(mut self, broken: Broken) -> Self {
        self.broken = broken;
        self
    }

    /// Held back before its first byte, until [`super::ModelServer::release`] or until the client disconnects.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Starts after this delay. For benchmarks; tests hold and release.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}
