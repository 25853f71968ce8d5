//! The providers' wire formats: three protocols, each with a request writer, a reader of whole responses and
//! a reader of streams. Nothing here uses a socket: bytes go in, our own types come out, and whatever exceeds
//! a bound ([`bounds`]) or cannot be read is an error.

pub(crate) mod anthropic;
mod chat;
mod effort;
pub(crate) mod forward;
mod gemini;
mod lenient;
pub(crate) mod listing;
mod schema;
pub mod sse;

pub use lenient::MAX_TOKENS;

use effort::Effort;

use crate::bounds::{self, Bound, MAX_ARGUMENT_BYTES, Trees};
use crate::config::ProviderKind;
use crate::failure;
use crate::reply::RawReply;
use papertape_core::message::{FailureKind, Message, ModelRequest, ToolCall};
use papertape_core::ports::AttemptFailure;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sse::{Flow, Splitter};

/// The protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `OpenAI`'s chat completions, which most other providers use as well.
    ChatCompletions,
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// Gemini's `generateContent`.
    GeminiContent,
}

impl Protocol {
    /// Whether a request has a sampling seed. Anthropic's has none.
    #[must_use]
    pub const fn takes_seed(self) -> bool {
        match self {
            Self::ChatCompletions | Self::GeminiContent => true,
            Self::AnthropicMessages => false,
        }
    }
}

impl ProviderKind {
    /// The protocol of providers of this kind.
    #[must_use]
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Anthropic => Protocol::AnthropicMessages,
            Self::Gemini => Protocol::GeminiContent,
            Self::Openai
            | Self::Deepseek
            | Self::Groq
            | Self::Xai
            | Self::Openrouter
            | Self::Mistral
            | Self::Together
            | Self::Moonshot
            | Self::Qwen
            | Self::Ollama
            | Self::OpenaiCompatible => Protocol::ChatCompletions,
        }
    }
}

/// Why bytes are not a response.
#[derive(Debug)]
pub enum WireError {
    /// They do not follow the protocol.
    Unreadable,
    /// They exceed a bound.
    Exceeded(Bound),
    /// The stream ended before its end mark.
    CutShort,
    /// They are an error from the provider.
    Reported(Box<AttemptFailure>),
}

impl From<Bound> for WireError {
    fn from(bound: Bound) -> Self {
        Self::Exceeded(bound)
    }
}

impl WireError {
    /// Converts it to a failure.
    #[must_use]
    pub fn into_failure(self) -> Box<AttemptFailure> {
        match self {
            Self::Unreadable => Box::new(failure::not_readable()),
            Self::Exceeded(bound) => Box::new(failure::exceeded(bound)),
            Self::CutShort => Box::new(failure::cut()),
            Self::Reported(failure) => failure,
        }
    }
}

/// A request as it is sent.
#[derive(Debug)]
pub struct WireRequest {
    /// The path below the provider's base URL, unescaped.
    pub path: String,
    /// A parameter added to the URL's query.
    pub query: Option<(&'static str, &'static str)>,
    /// The JSON body.
    pub body: Vec<u8>,
}

impl WireRequest {
    /// `length`: about how many bytes the body has.
    fn new(path: String, body: &impl serde::Serialize, length: usize) -> Result<Self, Box<AttemptFailure>> {
        let mut json = Vec::with_capacity(length);
        let written = serde_json::to_writer(&mut json, body);
        written.map_err(|_| refused("the request cannot be written as JSON"))?;
        Ok(Self { path, query: None, body: json })
    }
}

/// Writes a request.
///
/// # Errors
/// [`FailureKind::BadRequest`] for anything that the protocol cannot express.
pub fn request(
    kind: ProviderKind,
    request: &ModelRequest,
    stream: bool,
) -> Result<WireRequest, Box<AttemptFailure>> {
    let length = body_length(request);
    let effort = request.sampling.reasoning_effort.as_deref().map(str::parse).transpose().map_err(refused)?;
    match kind.protocol() {
        Protocol::ChatCompletions => WireRequest::new(
            "chat/completions".to_owned(),
            &chat::write(request, kind, effort, stream),
            length,
        ),
        Protocol::AnthropicMessages => {
            WireRequest::new("messages".to_owned(), &anthropic::write(request, effort, stream)?, length)
        }
        Protocol::GeminiContent => {
            let method = if stream { "streamGenerateContent" } else { "generateContent" };
            let path = gemini::path(&request.model.model, method)?;
            let query = stream.then_some(("alt", "sse"));
            Ok(WireRequest { query, ..WireRequest::new(path, &gemini::write(request, effort)?, length)? })
        }
    }
}

/// About how many bytes a request's body has: its texts, an eighth more for escapes, and room for the tools.
fn body_length(request: &ModelRequest) -> usize {
    let texts = request.messages.iter().map(Message::content).chain(request.instructions.as_deref());
    let text: usize = texts.map(str::len).sum();
    text + text / 8 + 1024 * (1 + request.tools.len())
}

/// Reads a whole response.
///
/// # Errors
/// Bytes that are not a response.
pub fn read_whole(kind: ProviderKind, body: &[u8]) -> Result<RawReply, WireError> {
    if body.len() > bounds::MAX_BODY_BYTES {
        return Err(Bound::Body.into());
    }
    match kind.protocol() {
        Protocol::ChatCompletions => chat::read_whole(kind, body),
        Protocol::AnthropicMessages => anthropic::read_whole(body),
        Protocol::GeminiContent => gemini::read_whole(body),
    }
}

/// Reads a streamed response as it arrives.
#[derive(Debug)]
pub struct StreamReader {
    splitter: Splitter,
    decoder: Decoder,
    is_done: bool,
}

#[derive(Debug)]
enum Decoder {
    Chat(Box<chat::Stream>),
    Anthropic(Box<anthropic::Stream>),
    Gemini(Box<gemini::Stream>),
}

impl StreamReader {
    /// A reader for responses of a provider of this kind.
    #[must_use]
    pub fn new(kind: ProviderKind) -> Self {
        let decoder = match kind.protocol() {
            Protocol::ChatCompletions => Decoder::Chat(Box::new(chat::Stream::new(kind))),
            Protocol::AnthropicMessages => Decoder::Anthropic(Box::default()),
            Protocol::GeminiContent => Decoder::Gemini(Box::default()),
        };
        Self { splitter: Splitter::default(), decoder, is_done: false }
    }

    /// Takes the next bytes, split anywhere. `delta` gets the text as it arrives. After [`Flow::Done`] there
    /// is nothing more to read.
    ///
    /// # Errors
    /// Bytes that are not a response.
    pub fn push(&mut self, bytes: &[u8], delta: &mut dyn FnMut(&str)) -> Result<Flow, WireError> {
        if self.is_done {
            return Ok(Flow::Done);
        }
        let decoder = &mut self.decoder;
        let flow = self.splitter.push(bytes, &mut |event| match decoder {
            Decoder::Chat(stream) => stream.take(event, delta),
            Decoder::Anthropic(stream) => stream.take(event, delta),
            Decoder::Gemini(stream) => stream.take(event, delta),
        })?;
        self.is_done = flow == Flow::Done;
        Ok(flow)
    }

    /// The response.
    ///
    /// # Errors
    /// [`WireError::CutShort`] when the end mark is missing.
    pub fn finish(self) -> Result<RawReply, WireError> {
        if !self.is_done {
            return Err(WireError::CutShort);
        }
        match self.decoder {
            Decoder::Chat(stream) => stream.finish(),
            Decoder::Anthropic(stream) => stream.finish(),
            Decoder::Gemini(stream) => stream.finish(),
        }
    }
}

/// Writes a request for the embeddings of texts.
///
/// # Errors
/// [`FailureKind::BadRequest`] for a provider without embeddings.
pub fn embedding_request(
    kind: ProviderKind,
    model: &str,
    texts: &[String],
) -> Result<WireRequest, Box<AttemptFailure>> {
    let length = 1024 + texts.iter().map(String::len).sum::<usize>();
    match kind.protocol() {
        Protocol::ChatCompletions => {
            WireRequest::new("embeddings".to_owned(), &chat::embedding_request(model, texts), length)
        }
        Protocol::AnthropicMessages => Err(refused("the provider makes no vectors")),
        Protocol::GeminiContent => WireRequest::new(
            gemini::path(model, "batchEmbedContents")?,
            &gemini::embedding_request(model, texts),
            length,
        ),
    }
}

/// Reads the embeddings of `count` texts, in the order of the texts.
///
/// # Errors
/// A response that does not match the request.
pub fn read_embeddings(kind: ProviderKind, body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, WireError> {
    if body.len() > bounds::MAX_BODY_BYTES {
        return Err(Bound::Body.into());
    }
    let vectors = match kind.protocol() {
        Protocol::ChatCompletions => chat::read_embeddings(body)?,
        Protocol::AnthropicMessages => Vec::new(),
        Protocol::GeminiContent => gemini::read_embeddings(body)?,
    };
    let is_vector = |vector: &Vec<f32>| !vector.is_empty() && vector.iter().all(|number| number.is_finite());
    if vectors.len() != count || !vectors.iter().all(is_vector) {
        let message = format!("{count} vectors were requested, and the answer has others");
        return Err(WireError::Reported(Box::new(failure::plain(FailureKind::BadAnswer, message))));
    }
    Ok(vectors)
}

/// A failure for a request that is rejected before it is sent.
pub(crate) fn refused(message: impl Into<String>) -> Box<AttemptFailure> {
    Box::new(failure::plain(FailureKind::BadRequest, message))
}

/// Parses a response or an event of one.
fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, WireError> {
    bounds::check_depth(json)?;
    serde_json::from_slice(json).map_err(|error| match bounds::exceeded(&error) {
        Some(bound) => bound.into(),
        None => WireError::Unreadable,
    })
}

/// An error in place of a response.
fn reported(error: &RawValue) -> WireError {
    let json = error.get().as_bytes();
    if json.len() > bounds::MAX_ERROR_BYTES {
        return Bound::ErrorBody.into();
    }
    let error = serde_json::from_slice(json).unwrap_or(Value::Null);
    WireError::Reported(Box::new(failure::from_event(&error)))
}

/// Parses a tree that is stored with the response.
fn tree(json: &RawValue, trees: &mut Trees) -> Result<Value, WireError> {
    trees.admit(json.get().as_bytes())?;
    serde_json::from_str(json.get()).map_err(|_| WireError::Unreadable)
}

/// A tool call whose arguments came as JSON: an object, or a string that contains one.
fn tool_call(
    (id, at): (Option<String>, usize),
    name: Option<String>,
    arguments: Option<&RawValue>,
    trees: &mut Trees,
) -> Result<ToolCall, WireError> {
    let json = arguments.map_or("", RawValue::get);
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).map_err(|_| WireError::Unreadable)?;
        return spelled_call((id, at), name, &text, trees);
    }
    spelled_call((id, at), name, json, trees)
}

/// A tool call whose arguments came as a string.
fn spelled_call(
    (id, at): (Option<String>, usize),
    name: Option<String>,
    arguments: &str,
    trees: &mut Trees,
) -> Result<ToolCall, WireError> {
    if at >= bounds::MAX_TOOL_CALLS {
        return Err(Bound::ToolCalls.into());
    }
    Ok(ToolCall {
        // Some local servers send no IDs; the index within the response is used instead.
        id: id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{at}")),
        name: name.unwrap_or_default(),
        arguments: read_arguments(arguments, trees)?,
    })
}

/// A call's arguments: an object, or a JSON string with the raw text of anything else. Calls without
/// arguments often come with an empty string or null, which mean an empty object.
fn read_arguments(text: &str, trees: &mut Trees) -> Result<Value, WireError> {
    if text.len() > MAX_ARGUMENT_BYTES {
        return Err(Bound::Arguments.into());
    }
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return Ok(Value::Object(Map::new()));
    }
    if trimmed.starts_with('{') {
        trees.admit(trimmed.as_bytes())?;
        if let Ok(object @ Value::Object(_)) = serde_json::from_str(trimmed) {
            return Ok(object);
        }
    }
    Ok(Value::String(text.to_owned()))
}

/// Arguments in a form that can be sent. Providers reject a conversation with arguments that are not an
/// object, even if the model itself wrote them. The model sees its own text again, wrapped.
fn sendable(arguments: &Value) -> std::borrow::Cow<'_, Value> {
    use std::borrow::Cow;
    match arguments {
        Value::Object(_) => Cow::Borrowed(arguments),
        Value::Null => Cow::Owned(Value::Object(Map::new())),
        malformed => Cow::Owned(serde_json::json!({ "malformed_arguments": malformed })),
    }
}

/// The turns of a conversation; consecutive tool results form one turn, because some providers expect the
/// results of all calls of a turn in one message.
fn turns(messages: &[Message]) -> impl Iterator<Item = &[Message]> {
    messages.chunk_by(|one, next| matches!((one, next), (Message::Tool { .. }, Message::Tool { .. })))
}
