//! Canonical JSON: one text per value, so that equal values have equal hashes.

use crate::id::ContentHash;
use serde::Serialize;
use serde_json::Value;

/// The value as JSON.
///
/// # Panics
/// Never for the types of this project: none has a map with keys other than strings, nor a
/// serialiser that fails.
#[must_use]
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).expect("our own types serialise to JSON")
}

/// JSON without insignificant spaces and with the keys of every object in byte order.
///
/// Whether `serde_json` keeps maps in insertion order is a feature that any crate can switch on, so
/// the order is made here.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The hash of the value's canonical JSON.
#[must_use]
pub fn hash(value: &Value) -> ContentHash {
    ContentHash::of(canonical(value).as_bytes())
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (at, key) in keys.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(&map[key], out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The first place where two values differ: a JSON pointer (RFC 6901) and what stands there on
/// either side, `None` where one has nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// JSON pointer, `""` for the whole value.
    pub pointer: String,
    /// What the first value has there.
    pub left: Option<Value>,
    /// What the second value has there.
    pub right: Option<Value>,
}

/// Finds the first difference of two values in key order; `None` where they are equal.
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
