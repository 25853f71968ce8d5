//! Content-addressed documents. A long string inside of a document is stored on its own, so that a
//! prompt, an answer and a message that hold the same text hold it once.

use crate::id::ContentHash;
use crate::json;
use crate::record::Text;
use serde_json::{Map, Value};

/// Strings of at least this many bytes are lifted out of a document.
const LIFT_BYTES: usize = 96;
/// The only key of an object that stands for a lifted string.
const TEXT: &str = "$text";
/// The only key of an object that stands for an object whose keys could be taken for ours.
const LITERAL: &str = "$literal";

/// A document with the texts that keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// Hash of the whole document.
    pub hash: ContentHash,
    /// The document's own text and those of its long strings.
    pub texts: Vec<Text>,
}

/// A text that a document refers to is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text {0} is not in the record")]
pub struct Missing(pub ContentHash);

/// A plain text under its own hash.
#[must_use]
pub fn text(body: impl Into<String>) -> Text {
    let body = body.into();
    Text { hash: ContentHash::of(body.as_bytes()), body }
}

impl Doc {
    /// Makes the document of a value. Its hash lives apart from those of plain texts: a document may
    /// read like a text and be kept otherwise.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        let hash = ContentHash::of(format!("json\n{}", json::canonical(value)).as_bytes());
        let mut texts = Vec::new();
        let body = json::canonical(&lift(value, &mut texts));
        texts.push(Text { hash, body });
        Self { hash, texts }
    }

    /// The document's own text, and the texts that it refers to.
    #[must_use]
    pub fn into_parts(mut self) -> (Text, Vec<Text>) {
        let own = self.texts.pop().unwrap_or_else(|| text(""));
        (own, self.texts)
    }
}

/// Puts the lifted strings back.
///
/// # Errors
/// The first text that `lookup` does not have.
pub fn expand(stored: &Value, lookup: &dyn Fn(ContentHash) -> Option<String>) -> Result<Value, Missing> {
    Ok(match stored {
        Value::Object(map) => match reference(map) {
            Some(Marker::Text(hash)) => Value::String(lookup(hash).ok_or(Missing(hash))?),
            Some(Marker::Literal(inner)) => Value::Object(expand_all(inner, lookup)?),
            None => Value::Object(expand_all(map, lookup)?),
        },
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| expand(item, lookup)).collect::<Result<_, _>>()?)
        }
        scalar => scalar.clone(),
    })
}

/// The hashes of all strings that were lifted out of a stored document.
#[must_use]
pub fn references(stored: &Value) -> Vec<ContentHash> {
    match stored {
        Value::Object(map) => match reference(map) {
            Some(Marker::Text(hash)) => vec![hash],
            Some(Marker::Literal(inner)) => inner.values().flat_map(references).collect(),
            None => map.values().flat_map(references).collect(),
        },
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

enum Marker<'a> {
    Text(ContentHash),
    Literal(&'a Map<String, Value>),
}

fn reference(map: &Map<String, Value>) -> Option<Marker<'_>> {
    if map.len() != 1 {
        return None;
    }
    match map.iter().next()? {
        (key, Value::String(hex)) if key == TEXT => ContentHash::from_hex(hex).map(Marker::Text),
        (key, Value::Object(inner)) if key == LITERAL => Some(Marker::Literal(inner)),
        _ => None,
    }
}

fn expand_all(
    map: &Map<String, Value>,
    lookup: &dyn Fn(ContentHash) -> Option<String>,
) -> Result<Map<String, Value>, Missing> {
    map.iter().map(|(key, value)| Ok((key.clone(), expand(value, lookup)?))).collect()
}

fn lift(value: &Value, texts: &mut Vec<Text>) -> Value {
    match value {
        Value::String(long) if long.len() >= LIFT_BYTES => {
            let text = text(long.clone());
            let marker =
                Value::Object(Map::from_iter([(TEXT.to_owned(), Value::String(text.hash.to_hex()))]));
            texts.push(text);
            marker
        }
        Value::Object(map) => {
            let lifted: Map<String, Value> =
                map.iter().map(|(key, value)| (key.clone(), lift(value, texts))).collect();
            if map.len() == 1 && (map.contains_key(TEXT) || map.contains_key(LITERAL)) {
                Value::Object(Map::from_iter([(LITERAL.to_owned(), Value::Object(lifted))]))
            } else {
                Value::Object(lifted)
            }
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| lift(item, texts)).collect()),
        scalar => scalar.clone(),
    }
}
