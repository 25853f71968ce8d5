//! What the server can be told to answer.

use papertape_core::message::{FinishReason, ModelReply, ToolCall};
use serde_json::{Value, json};
use std::time::Duration;

/// A tool call as it goes over the wire: its arguments are text, and may be no JSON at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments' text.
    pub arguments: String,
}

/// Tokens that the server says were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Read, cached ones included.
    pub input: u64,
    /// Of these, cached.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

/// A well-formed answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// Its reasoning, sent as `reasoning_content`.
    pub reasoning: Option<String>,
    /// The calls it asks for.
    pub calls: Vec<Call>,
    /// `stop`, `tool_calls`, `length`, `content_filter`; made from the rest where absent.
    pub finish: Option<String>,
    /// What it used; none is told where absent.
    pub tokens: Option<Tokens>,
}

impl Reply {
    /// The reason for which it ended, as the wire spells it.
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
    /// The same answer on the wire, so that a test can put any `Models` behind HTTP.
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

/// How an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Broken {
    /// Whole.
    #[default]
    Not,
    /// The connection is closed in the middle of the answer.
    Cut,
    /// The middle of the answer is followed by silence, until released or closed.
    Stalled,
}

/// What the body is.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// An answer in the wire format, streamed if the request asks for it.
    Reply(Reply),
    /// These very bytes, with this content type.
    Raw { content_type: String, text: String },
    /// These very bytes, in pieces of 64 KiB.
    Bytes { content_type: String, bytes: Vec<u8> },
    /// A beginning, then the same piece again and again until the client goes away.
    Endless { content_type: String, first: String, again: String, pause: Duration },
    /// Text that is no JSON, in the form (streamed or not) that was asked for.
    Garbage,
}

/// One answer of the server.
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
    /// A well-formed answer.
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

    /// A well-formed answer of text alone, with ten tokens read and five written.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let tokens = Some(Tokens { input: 10, cached: 0, output: 5 });
        Self::reply(Reply { text: text.into(), tokens, ..Reply::default() })
    }

    /// A well-formed answer that calls one tool. The arguments are sent as they are given.
    #[must_use]
    pub fn call(id: &str, name: &str, arguments: &str) -> Self {
        let call = Call { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        let tokens = Some(Tokens { input: 10, cached: 0, output: 5 });
        Self::reply(Reply { calls: vec![call], tokens, ..Reply::default() })
    }

    /// An answer without text and without calls.
    #[must_use]
    pub fn empty() -> Self {
        Self::text("")
    }

    /// 200 with something that is no JSON.
    #[must_use]
    pub fn garbage() -> Self {
        Self { content: Content::Garbage, ..Self::empty() }
    }

    /// These bytes, whatever was asked: for other providers' wire formats.
    #[must_use]
    pub fn raw(content_type: &str, text: impl Into<String>) -> Self {
        let content = Content::Raw { content_type: content_type.to_owned(), text: text.into() };
        Self { content, ..Self::empty() }
    }

    /// These bytes, whatever was asked.
    #[must_use]
    pub fn bytes(content_type: &str, bytes: Vec<u8>) -> Self {
        let content = Content::Bytes { content_type: content_type.to_owned(), bytes };
        Self { content, ..Self::empty() }
    }

    /// A body that never ends: `first`, then `again` as often as the client takes it.
    #[must_use]
    pub fn endless(content_type: &str, first: impl Into<String>, again: impl Into<String>) -> Self {
        let (first, again) = (first.into(), again.into());
        let content_type = content_type.to_owned();
        Self {
            content: Content::Endless { content_type, first, again, pause: Duration::ZERO },
            ..Self::empty()
        }
    }

    /// With so long between the pieces of an endless body. For measurements.
    #[must_use]
    pub fn dripping(mut self, every: Duration) -> Self {
        if let Content::Endless { pause, .. } = &mut self.content {
            *pause = every;
        }
        self
    }

    /// A refusal with this status and an error body of this code. The body's message repeats a
    /// secret-looking text that must never get into an error of ours.
    #[must_use]
    pub fn error(status: u16, code: &str) -> Self {
        let body = json!({ "error": { "message": "leak-me-not", "type": code, "code": code } });
        Self { status, ..Self::raw("application/json", body.to_string()) }
    }

    /// With this header, as `retry-after`.
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

    /// Breaking off in the middle, or falling silent there.
    #[must_use]
    pub fn broken(mut self, broken: Broken) -> Self {
        self.broken = broken;
        self
    }

    /// Held back before its first byte, until [`super::ModelServer::release`] or until the client
    /// goes away.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Beginning after so long. For measurements; a test holds and releases.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}
