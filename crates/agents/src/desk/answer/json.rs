//! JSON objects in an answer.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// An object's members in order, those of the same name too.
#[derive(Debug)]
pub(super) struct Members(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// Reads a text that is one object and nothing else.
pub(super) fn whole(text: &str) -> Result<Members, serde_json::Error> {
    serde_json::from_str(text)
}

/// The objects inside of a text, outermost only. With `at_line_start`, those alone with which a line
/// begins.
pub(super) fn inside(text: &str, at_line_start: bool) -> Vec<Members> {
    let mut found = Vec::new();
    let mut from = 0;
    // A text of opening braces alone must not take the square of its length.
    let mut failures = 0;
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        from = at + 1;
        if (at_line_start && !text[line..at].trim().is_empty()) || failures >= 50 {
            continue;
        }
        let mut objects = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Members>();
        match objects.next() {
            Some(Ok(members)) => {
                from = at + objects.byte_offset();
                found.push(members);
            }
            _ => failures += 1,
        }
    }
    found
}

/// What stands in a text that is one code fence and nothing else; otherwise the text.
pub(super) fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inner) = inner.filter(|inner| !inner.contains("```")) else { return text };
    let (first, rest) = inner.split_once('\n').unwrap_or(("", inner));
    // The first line of a fence may name a language.
    if first.trim().chars().all(char::is_alphanumeric) { rest.trim() } else { inner.trim() }
}
