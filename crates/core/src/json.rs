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
        scalar => scalar_into(scalar, out),
    }
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
        scalar_into(key, out);
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

/// Appends a string, a number, a boolean or null.
pub(crate) fn scalar_into<T: Serialize + ?Sized>(scalar: &T, out: &mut Vec<u8>) {
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
