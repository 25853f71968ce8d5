//! Canonical JSON: one text per value, so that equal values have equal hashes.

use crate::id::ContentHash;
use serde::Serialize;
use serde_json::Value;

/// The value as JSON.
///
/// # Panics
/// Never for the types of this project: none has a map with non-string keys or a serializer that fails.
#[must_use]
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).expect("our own types serialise to JSON")
}

/// JSON without insignificant whitespace, object keys sorted by bytes.
///
/// Any crate can enable the `serde_json` feature that keeps maps in insertion order, so keys are sorted here.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    text(out)
}

/// The value as it is read back from its canonical JSON, which orders the keys of objects. `None` if it is too
/// deep to be read.
#[must_use]
pub fn read_back(mut value: Value) -> Option<Value> {
    sort(&mut value, MAX_READ_DEPTH).then_some(value)
}

/// The maximum number of levels that `serde_json` reads.
const MAX_READ_DEPTH: u32 = 127;

/// Sorts the keys of all objects by bytes. Returns whether the value has at most `depth` levels.
fn sort(value: &mut Value, depth: u32) -> bool {
    match (value, depth.checked_sub(1)) {
        (Value::Array(items), Some(depth)) => items.iter_mut().all(|item| sort(item, depth)),
        (Value::Object(map), Some(depth)) => {
            if !map.keys().is_sorted() {
                map.sort_keys();
            }
            map.values_mut().all(|inner| sort(inner, depth))
        }
        (Value::Array(_) | Value::Object(_), None) => false,
        _ => true,
    }
}

/// The hash of the value's canonical JSON.
#[must_use]
pub fn hash(value: &Value) -> ContentHash {
    let mut out = Vec::new();
    write(value, &mut out);
    ContentHash::of(&out)
}

/// Canonical JSON written by this module, as text.
pub(crate) fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).expect("JSON is written as UTF-8")
}

/// Appends the value's canonical JSON.
pub(crate) fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) => {
            list(items.iter(), (b'[', b']'), out, write);
        }
        Value::Object(map) => object(map, out, write),
        Value::String(text) => string_into(text, out),
        scalar => scalar_into(scalar, out),
    }
}

/// Appends a string.
pub(crate) fn string_into(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut rest = bytes;
    while !rest.is_empty() {
        let (plain, escaped) = rest.split_at(unescaped_len(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = escaped.split_first() else { break };
        rest = after;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
    }
    out.push(b'"');
}

/// The number of bytes at the start that are written as they are.
fn unescaped_len(bytes: &[u8]) -> usize {
    const BLOCK: usize = 16;
    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    // A block is checked without a branch for each byte.
    let is_whole = |block: &&[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let whole = bytes.chunks_exact(BLOCK).take_while(is_whole).count() * BLOCK;
    whole + bytes[whole..].iter().take_while(|byte| is_plain(byte)).count()
}

/// Appends an object with its keys sorted by bytes; `value` writes the values.
pub(crate) fn object(
    map: &serde_json::Map<String, Value>,
    out: &mut Vec<u8>,
    mut value: impl FnMut(&Value, &mut Vec<u8>),
) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    if !entries.is_sorted_by_key(|entry| entry.0) {
        entries.sort_unstable_by_key(|entry| entry.0);
    }
    list(entries.into_iter(), (b'{', b'}'), out, |(key, inner), out| {
        string_into(key, out);
        out.push(b':');
        value(inner, out);
    });
}

/// Appends items in brackets, separated by commas.
pub(crate) fn list<T>(
    items: impl Iterator<Item = T>,
    (open, close): (u8, u8),
    out: &mut Vec<u8>,
    mut item: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(open);
    for (at, one) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item(one, out);
    }
    out.push(close);
}

/// Appends a number, a boolean or null.
fn scalar_into(scalar: &Value, out: &mut Vec<u8>) {
    serde_json::to_writer(out, scalar).expect("a scalar is JSON, and a vector takes all that is written");
}

/// The first place where two values differ: its JSON pointer (RFC 6901) and the value on each side, `None`
/// where a side has no value there.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// JSON pointer, `""` for the whole value.
    pub pointer: String,
    /// The first value at the pointer.
    pub left: Option<Value>,
    /// The second value at the pointer.
    pub right: Option<Value>,
}

/// Finds the first difference of two values in key order; `None` when they are equal.
#[must_use]
pub fn difference(left: &Value, right: &Value) -> Option<Difference> {
    find(Some(left), Some(right), &mut String::new())
}

fn find(left: Option<&Value>, right: Option<&Value>, at: &mut String) -> Option<Difference> {
    match (left, right) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                within(at, &escaped, |at| find(a.get(key), b.get(key), at))
            })
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => (0..a.len().max(b.len()))
            .find_map(|i| within(at, &i.to_string(), |at| find(a.get(i), b.get(i), at))),
        (a, b) if a == b => None,
        (a, b) => Some(Difference { pointer: at.clone(), left: a.cloned(), right: b.cloned() }),
    }
}

fn within<T>(at: &mut String, segment: &str, f: impl FnOnce(&mut String) -> T) -> T {
    let length = at.len();
    at.push('/');
    at.push_str(segment);
    let found = f(at);
    at.truncate(length);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Goal: strings are written as `serde_json` writes them, wherever their escapes are.
        #[test]
        fn a_string_is_written_as_usual(text in r#"([ -~]|[a-z]{0,40}|[\x00-\x1f"\\]|.|贵){0,40}"#) {
            let mut json = Vec::new();
            string_into(&text, &mut json);
            prop_assert_eq!(super::text(json), serde_json::to_string(&text).expect("is JSON"));
        }
    }
}
