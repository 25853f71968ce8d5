//! Streams written from recorded answers, in the events of each protocol. The words that came early are not sent again.

mod chat;
mod messages;
mod responses;

use super::error::{DoorError, ErrorShape};
use super::request::Streaming;
use papertape_core::external::{DoorProtocol, ModelDoorRequest};
use papertape_core::json;
use papertape_core::time::Timestamp;
use serde_json::{Map, Value};

/// Bytes of text per event.
const PIECE_BYTES: usize = 8 << 10;

/// Writes one stream.
pub(super) enum Writer {
    Chat(chat::Writer),
    Messages(messages::Writer),
    Responses(responses::Writer),
}

impl Writer {
    /// A writer for the answer to this request. What is sent before the answer is known has an ID of its own.
    pub(super) fn new(request: &ModelDoorRequest, streaming: Streaming, now: Timestamp) -> Self {
        let id = || json::hash(&request.body).to_hex().chars().take(24).collect::<String>();
        match request.protocol {
            DoorProtocol::AnthropicMessages => Self::Messages(messages::Writer::new(&id(), &request.model)),
            DoorProtocol::Responses => Self::Responses(responses::Writer::default()),
            DoorProtocol::ChatCompletions | DoorProtocol::Embeddings => {
                Self::Chat(chat::Writer::new(&id(), &request.model, now, streaming))
            }
        }
    }

    /// Whether words can be sent before the answer. The events of responses refer to items of the answer by their IDs,
    /// which clients send back, so nothing can precede them.
    pub(super) const fn takes_words(&self) -> bool {
        !matches!(self, Self::Responses(_))
    }

    /// Words of the answer before it is known.
    pub(super) fn words(&mut self, words: &str) -> String {
        let mut out = Events::default();
        match self {
            Self::Chat(writer) => writer.words(words, &mut out),
            Self::Messages(writer) => writer.words(words, &mut out),
            Self::Responses(_) => {}
        }
        out.0
    }

    /// The answer, after the words that were sent; `None`: it does not begin with them.
    pub(super) fn end(&mut self, body: &Value, sent: &str) -> Option<String> {
        let mut out = Events::default();
        match self {
            Self::Chat(writer) => writer.end(body, sent, &mut out)?,
            Self::Messages(writer) => writer.end(body, sent, &mut out)?,
            Self::Responses(writer) => writer.end(body, &mut out),
        }
        Some(out.0)
    }

    /// The end of a stream without an answer.
    pub(super) fn failed(&mut self, error: &DoorError) -> String {
        let mut out = Events::default();
        match self {
            Self::Chat(_) => out.data(&error.body(ErrorShape::OpenAi)),
            Self::Messages(_) => out.event("error", &error.body(ErrorShape::Anthropic)),
            Self::Responses(writer) => writer.failed(error, &mut out),
        }
        out.0
    }
}

/// Events as text.
#[derive(Default)]
struct Events(String);

impl Events {
    /// An event without a name.
    fn data(&mut self, data: &Value) {
        self.0.push_str("data: ");
        self.0.push_str(&data.to_string());
        self.0.push_str("\n\n");
    }

    /// An event with a name.
    fn event(&mut self, name: &str, data: &Value) {
        self.0.push_str("event: ");
        self.0.push_str(name);
        self.0.push('\n');
        self.data(data);
    }
}

/// A text in pieces of at most [`PIECE_BYTES`].
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = after;
        Some(piece)
    })
}

/// The field's object; empty if it has none.
fn object(of: &Value, field: &str) -> Map<String, Value> {
    of.get(field).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The field's list; empty if it has none.
fn list<'a>(of: &'a Value, field: &str) -> &'a [Value] {
    of.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The field's text; empty if it has none.
fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// An object with some fields changed.
fn with<const N: usize>(of: &Value, changes: [(&str, Value); N]) -> Value {
    let mut fields = of.as_object().cloned().unwrap_or_default();
    for (name, value) in changes {
        fields.insert(name.to_owned(), value);
    }
    Value::Object(fields)
}
