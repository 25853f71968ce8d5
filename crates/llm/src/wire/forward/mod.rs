//! Requests of the model endpoint: sent as they came in, with another model, and read as far as the record needs it. A
//! streamed answer is put together to the whole body that the provider would have sent.

mod chat;
mod embeddings;
pub(crate) mod house;
mod messages;
mod responses;

use super::sse::{Flow, Splitter};
use super::{WireError, WireRequest, anthropic, chat as chat_wire, parse, refused};
use crate::bounds::{self, Bound, Shape};
use crate::config::ProviderKind;
use crate::failure;
use crate::reply::RawReply;
use papertape_core::external::{DoorProtocol, ModelDoorReply, ModelDoorRequest, ModelDoorResponse};
use papertape_core::ports::AttemptFailure;
use serde_json::{Map, Value, json};

impl ProviderKind {
    /// The protocols that requests of the model endpoint can have with a provider of this kind, unless its config says
    /// otherwise. Gemini's are those of Google's endpoint for clients of `OpenAI`.
    #[must_use]
    pub const fn door_protocols(self) -> &'static [DoorProtocol] {
        use DoorProtocol::{AnthropicMessages, ChatCompletions, Embeddings, Responses};
        match self {
            Self::Openai => &[ChatCompletions, Responses, Embeddings],
            Self::Anthropic => &[AnthropicMessages],
            _ => &[ChatCompletions, Embeddings],
        }
    }
}

/// The path of a protocol below a provider's base URL.
fn path(kind: ProviderKind, protocol: DoorProtocol) -> String {
    let path = match protocol {
        DoorProtocol::ChatCompletions => "chat/completions",
        DoorProtocol::Responses => "responses",
        DoorProtocol::AnthropicMessages => "messages",
        DoorProtocol::Embeddings => "embeddings",
    };
    if kind == ProviderKind::Gemini { format!("openai/{path}") } else { path.to_owned() }
}

/// Writes a request: the client's body with the provider's name of the model, whole or streamed.
pub(crate) fn request(
    kind: ProviderKind,
    request: &ModelDoorRequest,
    stream: bool,
) -> Result<WireRequest, Box<AttemptFailure>> {
    let Some(fields) = request.body.as_object() else {
        return Err(refused("the request is not a JSON object"));
    };
    let mut body: Map<String, Value> = fields.clone();
    body.remove("stream");
    body.remove("stream_options");
    body.insert("model".to_owned(), request.model.model.clone().into());
    if stream {
        body.insert("stream".to_owned(), true.into());
        if request.protocol == DoorProtocol::ChatCompletions {
            body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
    }
    WireRequest::new(path(kind, request.protocol), &body, 4096)
}

/// Reads a whole answer.
pub(crate) fn read_whole(
    kind: ProviderKind,
    protocol: DoorProtocol,
    body: &[u8],
) -> Result<ModelDoorResponse, WireError> {
    if body.len() > bounds::MAX_BODY_BYTES {
        return Err(Bound::Body.into());
    }
    let shape = Shape::of(body);
    if shape.values > bounds::MAX_ANSWER_VALUES {
        return Err(Bound::AnswerValues.into());
    }
    let answer = match protocol {
        DoorProtocol::ChatCompletions => chat_wire::read_whole(kind, body)?,
        DoorProtocol::AnthropicMessages => anthropic::read_whole(body)?,
        DoorProtocol::Responses => responses::read_whole(body)?,
        DoorProtocol::Embeddings => {
            let usage = embeddings::read(body)?;
            let reply = ModelDoorReply { body: parse(body)?, text: String::new(), finish: None };
            return Ok(ModelDoorResponse { reply, usage });
        }
    };
    response(parse(body)?, answer)
}

/// The answer with its body. One without text is passed on as well: the client's protocol says what it means.
fn response(body: Value, answer: RawReply) -> Result<ModelDoorResponse, WireError> {
    if !body.is_object() {
        return Err(WireError::Unreadable);
    }
    let finish = Some(answer.finish());
    let usage = answer.usage;
    Ok(ModelDoorResponse { reply: ModelDoorReply { body, text: answer.text, finish }, usage })
}

/// Reads a streamed answer as it arrives.
pub(crate) struct ForwardReader {
    kind: ProviderKind,
    protocol: DoorProtocol,
    splitter: Splitter,
    assembler: Assembler,
    /// Values in events beyond [`EVENT_VALUES`] each.
    values: usize,
    is_done: bool,
}

/// Values of an ordinary event.
const EVENT_VALUES: usize = 64;

enum Assembler {
    Chat(Box<chat::Assembler>),
    Messages(Box<messages::Assembler>),
    Responses(Box<responses::Assembler>),
}

impl ForwardReader {
    /// A reader for answers in this protocol.
    ///
    /// # Errors
    /// Embeddings have no streams.
    pub(crate) fn new(kind: ProviderKind, protocol: DoorProtocol) -> Result<Self, Box<AttemptFailure>> {
        let assembler = match protocol {
            DoorProtocol::ChatCompletions => Assembler::Chat(Box::default()),
            DoorProtocol::AnthropicMessages => Assembler::Messages(Box::default()),
            DoorProtocol::Responses => Assembler::Responses(Box::default()),
            DoorProtocol::Embeddings => return Err(Box::new(failure::not_readable())),
        };
        Ok(Self { kind, protocol, splitter: Splitter::default(), assembler, values: 0, is_done: false })
    }

    /// Takes the next bytes, split anywhere. `delta` gets words that may be passed on early. After [`Flow::Done`] there
    /// is nothing more to read.
    pub(crate) fn push(&mut self, bytes: &[u8], delta: &mut dyn FnMut(&str)) -> Result<Flow, WireError> {
        if self.is_done {
            return Ok(Flow::Done);
        }
        let (assembler, values) = (&mut self.assembler, &mut self.values);
        let flow = self.splitter.push(bytes, &mut |event| {
            *values += Shape::of(event.data.as_bytes()).values.saturating_sub(EVENT_VALUES);
            if *values > bounds::MAX_ANSWER_VALUES {
                return Err(Bound::AnswerValues.into());
            }
            match assembler {
                Assembler::Chat(assembler) => assembler.take(event, delta),
                Assembler::Messages(assembler) => assembler.take(event, delta),
                Assembler::Responses(assembler) => assembler.take(event, delta),
            }
        })?;
        self.is_done = flow == Flow::Done;
        Ok(flow)
    }

    /// The answer.
    ///
    /// # Errors
    /// [`WireError::CutShort`] when the end mark is missing.
    pub(crate) fn finish(self) -> Result<ModelDoorResponse, WireError> {
        if !self.is_done {
            return Err(WireError::CutShort);
        }
        let body = match self.assembler {
            Assembler::Chat(assembler) => assembler.finish(),
            Assembler::Messages(assembler) => assembler.finish()?,
            Assembler::Responses(assembler) => assembler.finish()?,
        };
        let json = serde_json::to_vec(&body).map_err(|_| WireError::Unreadable)?;
        read_whole(self.kind, self.protocol, &json)
    }
}

/// An event's data; `None` if it has none.
fn event_object(data: &str) -> Result<Option<Map<String, Value>>, WireError> {
    let data = data.trim();
    if data.is_empty() {
        return Ok(None);
    }
    match parse(data.as_bytes())? {
        Value::Object(fields) => Ok(Some(fields)),
        _ => Err(WireError::Unreadable),
    }
}

/// An error in place of an answer, or in the middle of one.
fn reported(error: &Value) -> WireError {
    WireError::Reported(Box::new(failure::from_event(error)))
}

/// Appends to the text in a field, and sets a field that has none.
fn append(fields: &mut Map<String, Value>, name: &str, more: Value) {
    match (fields.get_mut(name), more) {
        (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
        (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
        (_, more) => drop(fields.insert(name.to_owned(), more)),
    }
}

/// Sets the fields that are not null.
fn set_known(fields: &mut Map<String, Value>, more: Map<String, Value>) {
    fields.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
}
