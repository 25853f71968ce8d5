//! Layer 3 on JSON values: what a key's name says about its value.

use super::class::{Class, Strength};
use super::heuristics::{self, Style};
use super::keys;
use super::{RedactionFailed, Redactor, span};
use serde_json::Value;

/// Maximum depth; a deeper value, which no JSON parser produces, is replaced and not followed.
pub(super) const MAX_DEPTH: u32 = 160;

/// What the keys above a value say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing is known.
    Plain,
    /// It is the value of a secret's name.
    Named(Class),
    /// It is part of a secret: all of it is replaced.
    Whole(&'static str),
    /// It is a set of header fields.
    Headers,
}

impl Context {
    /// The context of the value of `key` in an object of this context.
    pub(super) fn under(self, key: &str) -> Self {
        match self {
            Self::Whole(_) if keys::is_about(key) => Self::Plain,
            Self::Whole(label) => Self::Whole(label),
            Self::Headers if keys::is_plain_header(key) => Self::Plain,
            Self::Headers => Self::Whole("header"),
            Self::Plain | Self::Named(_) if keys::is_ordinary(key) => Self::Plain,
            Self::Plain | Self::Named(_) => match keys::classify(key) {
                Some(class) => Self::Named(class),
                None if keys::is_headers(key) => Self::Headers,
                None => Self::Plain,
            },
        }
    }

    /// The context inside an object; `is_schema` when it describes a type (`"type": "string"`) and holds no
    /// value.
    pub(super) fn for_object(self, is_schema: bool) -> Self {
        match self {
            Self::Named(class) if class.strength == Strength::Strong && !is_schema => {
                Self::Whole(class.label)
            }
            Self::Named(_) => Self::Plain,
            other => other,
        }
    }

    /// The context of an array's items: a list of headers is a table's header row, or a list of pairs.
    pub(super) fn for_items(self) -> Self {
        if self == Self::Headers { Self::Plain } else { self }
    }

    /// The label for a number in this context, if it must be replaced.
    pub(super) fn label_of_number(self) -> Option<&'static str> {
        match self {
            Self::Whole(label) => Some(label),
            Self::Named(class) if class.strength == Strength::Strong => Some(class.label),
            _ => None,
        }
    }
}

/// Whether an object's `type` makes it part of a JSON Schema.
pub(super) fn is_schema_type(text: &str) -> bool {
    matches!(text, "string" | "number" | "integer" | "boolean" | "object" | "array" | "null")
}

/// `{"name": "X-API-Key", "value": "…"}`: the keys whose text names what `value` holds.
pub(super) fn names_pair(key: &str) -> bool {
    matches!(key, "name" | "key" | "header" | "field" | "Name" | "Key")
}

/// The key that holds a pair's value.
pub(super) fn holds_pair(key: &str) -> bool {
    matches!(key, "value" | "Value" | "val")
}

/// The context of the second of two strings, when the first is a secret's name.
pub(super) fn second_of_pair(first: &str, second: &str) -> Context {
    match keys::classify(first) {
        Some(class) if heuristics::looks_random(second, true) || second.contains(' ') => {
            Context::Named(class)
        }
        _ => Context::Plain,
    }
}

/// Redacts in place and counts.
pub(super) fn redact(redactor: &Redactor, value: &mut Value) -> Result<u32, RedactionFailed> {
    walk(redactor, value, Context::Plain, 0)
}

/// Removes configured credentials from every string, number and key, in place, and counts them.
pub(super) fn redact_exact(
    redactor: &Redactor,
    value: &mut Value,
    depth: u32,
) -> Result<u32, RedactionFailed> {
    if depth > MAX_DEPTH {
        return Err(RedactionFailed);
    }
    match value {
        Value::Null | Value::Bool(_) => Ok(0),
        Value::Number(number) => {
            let text = number.to_string();
            let Some(label) = redactor.exact.label_of_whole(&text) else { return Ok(0) };
            *value = span::placeholder(label).into();
            Ok(1)
        }
        Value::String(text) => {
            let Some((next, removed)) = redactor.without_credentials(text)? else { return Ok(0) };
            *text = next;
            Ok(removed)
        }
        Value::Array(items) => items.iter_mut().try_fold(0_u32, |removed, item| {
            Ok(removed.saturating_add(redact_exact(redactor, item, depth + 1)?))
        }),
        Value::Object(map) => {
            let mut removed: u32 = 0;
            for (key, mut item) in std::mem::take(map) {
                removed = removed.saturating_add(redact_exact(redactor, &mut item, depth + 1)?);
                let key = match redactor.without_credentials(&key)? {
                    Some((key, more)) => {
                        removed = removed.saturating_add(more);
                        key
                    }
                    None => key,
                };
                map.insert(key, item);
            }
            Ok(removed)
        }
    }
}

fn walk(
    redactor: &Redactor,
    value: &mut Value,
    context: Context,
    depth: u32,
) -> Result<u32, RedactionFailed> {
    if depth > MAX_DEPTH {
        return Err(RedactionFailed);
    }
    match value {
        Value::Null | Value::Bool(_) => Ok(0),
        Value::Number(number) => {
            let text = number.to_string();
            let label = context.label_of_number().or_else(|| redactor.exact.label_of_whole(&text));
            let Some(label) = label else { return Ok(0) };
            *value = span::placeholder(label).into();
            Ok(1)
        }
        Value::String(text) => {
            let Some((next, removed)) = text_in(redactor, text, context, 0)? else {
                return Ok(0);
            };
            *text = next;
            Ok(removed)
        }
        Value::Array(items) => {
            let mut removed: u32 = 0;
            let inner = context.for_items();
            let second = match items.as_slice() {
                [Value::String(first), Value::String(second)] if inner == Context::Plain => {
                    second_of_pair(first, second)
                }
                _ => inner,
            };
            for (at, item) in items.iter_mut().enumerate() {
                let context = if at == 1 { second } else { inner };
                removed = removed.saturating_add(walk(redactor, item, context, depth + 1)?);
            }
            Ok(removed)
        }
        Value::Object(map) => {
            let is_schema = map.get("type").and_then(Value::as_str).is_some_and(is_schema_type);
            let inner = context.for_object(is_schema);
            let pair = map
                .iter()
                .filter(|(key, _)| names_pair(key))
                .find_map(|(_, name)| keys::classify(name.as_str()?))
                .map(Context::Named);
            let mut removed: u32 = 0;
            let mut renamed = Vec::new();
            for (key, item) in map.iter_mut() {
                let context = match pair {
                    Some(pair) if holds_pair(key) && inner == Context::Plain => pair,
                    _ => inner.under(key),
                };
                removed = removed.saturating_add(walk(redactor, item, context, depth + 1)?);
                if let Some((next, more)) = redactor.redact_str(key, 0)? {
                    renamed.push((key.clone(), next));
                    removed = removed.saturating_add(more);
                }
            }
            for (from, to) in renamed {
                if let Some(item) = map.remove(&from) {
                    map.insert(free_key(map, to), item);
                }
            }
            Ok(removed)
        }
    }
}

/// Two keys can become equal after redaction; neither's value is lost.
fn free_key(map: &serde_json::Map<String, Value>, wanted: String) -> String {
    let mut key = wanted.clone();
    let mut n = 2;
    while map.contains_key(&key) {
        key = format!("{wanted}#{n}");
        n += 1;
    }
    key
}

/// A string in its context: the new text and the number of secrets, `None` if it is unchanged.
pub(super) fn text_in(
    redactor: &Redactor,
    text: &str,
    context: Context,
    depth: u32,
) -> Result<Option<(String, u32)>, RedactionFailed> {
    let inside = redactor.redact_str(text, depth)?;
    // Checked after its content was redacted, so that a second pass checks the same text, and a configured
    // credential keeps its own name.
    let now = inside.as_ref().map_or(text, |(now, _)| now.as_str());
    let label = match context {
        Context::Named(class) if heuristics::is_secret(class, Style::Quoted, now) => Some(class.label),
        Context::Whole(label) if !heuristics::is_placeholder(now) => Some(label),
        _ => None,
    };
    Ok(label.map(|label| (span::placeholder(label), 1)).or(inside))
}
