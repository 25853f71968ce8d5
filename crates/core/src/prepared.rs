//! Documents that repeat long strings of earlier documents.

use crate::content::{ContentDoc, LIFT_BYTES, StoredText, extract, needs_mark, reference_to};
use crate::id::ContentHash;
use crate::json;
use serde_json::Value;

/// A string with its hash and its JSON, so that a document that contains it again computes neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedText {
    hash: ContentHash,
    body: String,
    json: Vec<u8>,
}

impl PreparedText {
    /// Hashes the string and writes its JSON.
    #[must_use]
    pub fn new(body: String) -> Self {
        let mut json = Vec::with_capacity(body.len() + body.len() / 8);
        json::string_into(&body, &mut json);
        Self { hash: ContentHash::of(body.as_bytes()), body, json }
    }

    /// The string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.body
    }
}

impl ContentDoc {
    /// Makes the same document as [`ContentDoc::of`]. The strings of the array at `path`, keys from the outermost
    /// object on, are given prepared: `strings` has the same ones. If the value has no such array, `strings` is not
    /// used.
    #[must_use]
    pub fn with_prepared(value: &Value, path: &[&str], strings: &[&PreparedText]) -> Self {
        let mut whole = b"json\n".to_vec();
        write(value, path, &mut whole, strings);
        let hash = ContentHash::of(&whole);
        let mut texts = Vec::new();
        let mut body = Vec::new();
        write_extracted(value, path, strings, &mut body, &mut texts);
        texts.push(StoredText { hash, body: json::text(body) });
        Self { hash, texts }
    }
}

/// Appends the value's canonical JSON.
fn write(value: &Value, path: &[&str], out: &mut Vec<u8>, strings: &[&PreparedText]) {
    match (value, path) {
        (Value::Object(map), [key, rest @ ..]) => {
            let at = map.get(*key);
            json::object(map, out, |inner, out| match at {
                Some(at) if std::ptr::eq(at, inner) => write(inner, rest, out, strings),
                _ => json::write(inner, out),
            });
        }
        (Value::Array(_), []) => {
            json::list(strings.iter(), (b'[', b']'), out, |text, out| out.extend_from_slice(&text.json));
        }
        (other, _) => json::write(other, out),
    }
}

/// Appends the value's canonical JSON with its long strings extracted.
fn write_extracted(
    value: &Value,
    path: &[&str],
    strings: &[&PreparedText],
    out: &mut Vec<u8>,
    texts: &mut Vec<StoredText>,
) {
    match (value, path) {
        (Value::Object(map), [key, rest @ ..]) if !needs_mark(map) => {
            let at = map.get(*key);
            json::object(map, out, |inner, out| match at {
                Some(at) if std::ptr::eq(at, inner) => write_extracted(inner, rest, strings, out, texts),
                _ => extract(inner, out, texts),
            });
        }
        (Value::Array(_), []) => json::list(strings.iter(), (b'[', b']'), out, |text, out| {
            if text.body.len() < LIFT_BYTES {
                out.extend_from_slice(&text.json);
                return;
            }
            out.extend_from_slice(reference_to(text.hash).as_bytes());
            texts.push(StoredText { hash: text.hash, body: text.body.clone() });
        }),
        (other, _) => extract(other, out, texts),
    }
}
