//! Content-addressed documents. A long string inside a document is stored separately, so a prompt, a response
//! and a message with the same text store it once.

use crate::id::ContentHash;
use crate::json;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Strings of at least this many bytes are extracted from a document.
pub(crate) const LIFT_BYTES: usize = 96;
/// The only key of an object that replaces an extracted string.
const TEXT: &str = "$text";
/// The only key of an object that wraps an object whose keys could be mistaken for ours.
const LITERAL: &str = "$literal";

/// A text, stored once per hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredText {
    /// Hash of the text itself, or of the whole document before long strings were extracted.
    pub hash: ContentHash,
    /// The text; for a document, canonical JSON with long strings extracted.
    pub body: String,
}

/// A document with the texts to store for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentDoc {
    /// Hash of the whole document.
    pub hash: ContentHash,
    /// The document's own text and its extracted strings.
    pub texts: Vec<StoredText>,
}

/// A text that a document references is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text {0} is not in the record")]
pub struct MissingBlob(pub ContentHash);

/// A plain text, stored under its own hash.
#[must_use]
pub fn text(body: impl Into<String>) -> StoredText {
    let body = body.into();
    StoredText { hash: ContentHash::of(body.as_bytes()), body }
}

impl ContentDoc {
    /// Makes the document of a value. Its hash differs from that of a plain text: a document and a text with
    /// equal content are stored differently.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        Self::with_json(value).0
    }

    /// The same, with the value's canonical JSON.
    pub(crate) fn with_json(value: &Value) -> (Self, Vec<u8>) {
        const PREFIX: &[u8] = b"json\n";
        let mut whole = PREFIX.to_vec();
        json::write(value, &mut whole);
        let hash = ContentHash::of(&whole);
        let mut texts = Vec::new();
        let mut body = Vec::new();
        extract(value, &mut body, &mut texts);
        texts.push(StoredText { hash, body: json::text(body) });
        whole.drain(..PREFIX.len());
        (Self { hash, texts }, whole)
    }

    /// Adds a plain text to `texts`, unless the document has it as an extracted string. Returns its hash.
    pub(crate) fn add_text(&self, body: Cow<'_, str>, texts: &mut Vec<StoredText>) -> ContentHash {
        // Comparing is cheaper than hashing. The last text is the document's own.
        let extracted = self.texts.split_last().map_or(&[][..], |(_, extracted)| extracted);
        if let Some(known) = extracted.iter().find(|text| text.body == *body) {
            return known.hash;
        }
        let added = text(body);
        let hash = added.hash;
        texts.push(added);
        hash
    }

    /// The document's own text, and the texts it references.
    #[must_use]
    pub fn into_parts(mut self) -> (StoredText, Vec<StoredText>) {
        let own = self.texts.pop().unwrap_or_else(|| text(""));
        (own, self.texts)
    }
}

/// Puts the extracted strings back.
///
/// # Errors
/// The first text that `lookup` does not find.
pub fn inline(stored: &Value, lookup: &dyn Fn(ContentHash) -> Option<String>) -> Result<Value, MissingBlob> {
    Ok(match stored {
        Value::Object(map) => match reference(map) {
            Some(Marker::Text(hash)) => Value::String(lookup(hash).ok_or(MissingBlob(hash))?),
            Some(Marker::Literal(inner)) => Value::Object(expand_all(inner, lookup)?),
            None => Value::Object(expand_all(map, lookup)?),
        },
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| inline(item, lookup)).collect::<Result<_, _>>()?)
        }
        scalar => scalar.clone(),
    })
}

/// The hashes of all strings extracted from a stored document.
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

/// The documents that a link of a conversation's request chain references; none for other documents.
#[must_use]
pub fn linked_documents(document: &Value) -> Vec<ContentHash> {
    let is_link = document.as_object().is_some_and(|map| {
        map.len() == 3 && ["previous", "head", "added"].iter().all(|key| map.contains_key(*key))
    });
    if !is_link {
        return Vec::new();
    }
    let added = document["added"].as_array().into_iter().flatten();
    [&document["previous"], &document["head"]]
        .into_iter()
        .chain(added)
        .filter_map(|value| value.as_str().and_then(ContentHash::from_hex))
        .collect()
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
) -> Result<Map<String, Value>, MissingBlob> {
    map.iter().map(|(key, value)| Ok((key.clone(), inline(value, lookup)?))).collect()
}

/// Appends the value's canonical JSON with its long strings extracted.
pub(crate) fn extract(value: &Value, out: &mut Vec<u8>, texts: &mut Vec<StoredText>) {
    match value {
        Value::String(long) if long.len() >= LIFT_BYTES => {
            let text = text(long.clone());
            out.extend_from_slice(reference_to(text.hash).as_bytes());
            texts.push(text);
        }
        Value::Object(map) => {
            let is_like_ours = needs_mark(map);
            if is_like_ours {
                out.extend_from_slice(format!("{{\"{LITERAL}\":").as_bytes());
            }
            json::object(map, out, |inner, out| extract(inner, out, texts));
            if is_like_ours {
                out.push(b'}');
            }
        }
        Value::Array(items) => {
            json::list(items.iter(), (b'[', b']'), out, |item, out| extract(item, out, texts));
        }
        other => json::write(other, out),
    }
}

/// The JSON that replaces an extracted string.
pub(crate) fn reference_to(hash: ContentHash) -> String {
    format!("{{\"{TEXT}\":\"{}\"}}", hash.to_hex())
}

/// Whether an object could be mistaken for a reference.
pub(crate) fn needs_mark(map: &Map<String, Value>) -> bool {
    map.len() == 1 && (map.contains_key(TEXT) || map.contains_key(LITERAL))
}
