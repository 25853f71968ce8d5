//! Layer 2: JSON inside a text. It is parsed in place and only its secrets are rewritten, so that spacing,
//! key order and digits stay unchanged.

use super::keys;
use super::value::{self, Context};
use super::{RedactionFailed, Redactor, span};
use std::ops::Range;

/// A text may be tried as JSON at many positions; in total at most this many times its length is read.
const MAX_WORK: usize = 8;

enum Node {
    Text(Range<usize>),
    Number(Range<usize>),
    Other,
    Array(Vec<Node>),
    Object(Vec<(Range<usize>, Node)>),
}

struct Edit {
    range: Range<usize>,
    text: String,
    removed: u32,
}

/// Redacts every piece of JSON in the text; `None` if nothing in them changes.
pub(super) fn redact(
    redactor: &Redactor,
    text: &str,
    depth: u32,
) -> Result<Option<(String, u32)>, RedactionFailed> {
    let bytes = text.as_bytes();
    let mut edits = Vec::new();
    let mut at = 0;
    let mut work = bytes.len().saturating_mul(MAX_WORK);
    let quoted_whole = text.len() - text.trim_start().len();
    while at < bytes.len() && work > 0 {
        let begins = matches!(bytes[at], b'{' | b'[') || (bytes[at] == b'"' && at == quoted_whole);
        if begins {
            let mut parser = Parser { bytes, at, depth: 0 };
            let node = parser.value();
            work = work.saturating_sub(parser.at - at + 1);
            if let Some(node) = node {
                Walker { redactor, text, depth, edits: &mut edits }.walk(&node, Context::Plain)?;
                at = parser.at;
                continue;
            }
        }
        at += 1;
    }
    if edits.is_empty() {
        return Ok(None);
    }
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len());
    let mut removed: u32 = 0;
    let mut from = 0;
    for edit in edits {
        out.push_str(text.get(from..edit.range.start).ok_or(RedactionFailed)?);
        out.push_str(&edit.text);
        removed = removed.saturating_add(edit.removed);
        from = edit.range.end;
    }
    out.push_str(text.get(from..).ok_or(RedactionFailed)?);
    Ok(Some((out, removed)))
}

struct Walker<'a> {
    redactor: &'a Redactor,
    text: &'a str,
    depth: u32,
    edits: &'a mut Vec<Edit>,
}

impl Walker<'_> {
    fn walk(&mut self, node: &Node, context: Context) -> Result<(), RedactionFailed> {
        match node {
            Node::Other => Ok(()),
            Node::Number(range) => {
                if let Some(label) = context.label_of_number() {
                    self.replace(range.clone(), &span::placeholder(label), 1);
                }
                Ok(())
            }
            Node::Text(range) => self.string(range, context),
            Node::Array(items) => {
                let inner = context.for_items();
                let second = match items.as_slice() {
                    [Node::Text(first), Node::Text(second)] if inner == Context::Plain => {
                        match (self.decode(first), self.decode(second)) {
                            (Some(first), Some(second)) => value::second_of_pair(&first, &second),
                            _ => inner,
                        }
                    }
                    _ => inner,
                };
                items
                    .iter()
                    .enumerate()
                    .try_for_each(|(at, item)| self.walk(item, if at == 1 { second } else { inner }))
            }
            Node::Object(entries) => {
                let text_of = |node: &Node| match node {
                    Node::Text(range) => self.decode(range),
                    _ => None,
                };
                let keys: Vec<String> =
                    entries.iter().map(|(key, _)| self.decode(key).unwrap_or_default()).collect();
                let named = |wanted: fn(&str) -> bool| {
                    keys.iter().zip(entries).filter(move |(key, _)| wanted(key)).map(|(_, (_, node))| node)
                };
                let is_schema =
                    named(|key| key == "type").filter_map(text_of).any(|kind| value::is_schema_type(&kind));
                let pair = named(value::names_pair)
                    .filter_map(text_of)
                    .find_map(|name| keys::classify(&name))
                    .map(Context::Named);
                let inner = context.for_object(is_schema);
                for (key, (place, node)) in keys.iter().zip(entries) {
                    self.string(place, Context::Plain)?;
                    let under = match pair {
                        Some(pair) if value::holds_pair(key) && inner == Context::Plain => pair,
                        _ => inner.under(key),
                    };
                    self.walk(node, under)?;
                }
                Ok(())
            }
        }
    }

    fn string(&mut self, range: &Range<usize>, context: Context) -> Result<(), RedactionFailed> {
        let escaped = self.text.as_bytes()[range.clone()].contains(&b'\\');
        if context == Context::Plain && !escaped {
            return Ok(()); // The check of the whole text sees it as it is.
        }
        let Some(content) = self.decode(range) else {
            return Ok(());
        };
        if let Some((next, removed)) = value::text_in(self.redactor, &content, context, self.depth + 1)? {
            self.replace(range.clone(), &next, removed);
        }
        Ok(())
    }

    fn replace(&mut self, range: Range<usize>, content: &str, removed: u32) {
        let text = serde_json::Value::from(content).to_string();
        self.edits.push(Edit { range, text, removed });
    }

    fn decode(&self, range: &Range<usize>) -> Option<String> {
        serde_json::from_str(self.text.get(range.clone())?).ok()
    }
}

/// Parses one JSON value and stops after it. It is slightly more lenient than the standard, because the
/// result is only inspected, never passed on.
struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl Parser<'_> {
    fn value(&mut self) -> Option<Node> {
        self.space();
        match self.peek()? {
            b'"' => self.string().map(Node::Text),
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'-' | b'0'..=b'9' => Some(Node::Number(self.while_in(b"+-.0123456789eE"))),
            _ => ["true", "false", "null", "NaN", "None", "True", "False"]
                .iter()
                .find(|word| self.bytes[self.at..].starts_with(word.as_bytes()))
                .map(|word| {
                    self.at += word.len();
                    Node::Other
                }),
        }
    }

    fn nested(&mut self, inside: fn(&mut Self) -> Option<Node>) -> Option<Node> {
        if self.depth > value::MAX_DEPTH / 2 {
            return None;
        }
        self.at += 1;
        self.depth += 1;
        let node = inside(self);
        self.depth -= 1;
        node
    }

    fn object(&mut self) -> Option<Node> {
        let mut entries = Vec::new();
        loop {
            self.space();
            if self.take(b'}') {
                return Some(Node::Object(entries));
            }
            let key = self.string()?;
            self.space();
            if !self.take(b':') {
                return None;
            }
            entries.push((key, self.value()?));
            self.comma(b'}')?;
        }
    }

    fn array(&mut self) -> Option<Node> {
        let mut items = Vec::new();
        loop {
            self.space();
            if self.take(b']') {
                return Some(Node::Array(items));
            }
            items.push(self.value()?);
            self.comma(b']')?;
        }
    }

    /// A comma, or a closing bracket that follows.
    fn comma(&mut self, close: u8) -> Option<()> {
        self.space();
        (self.take(b',') || self.peek()? == close).then_some(())
    }

    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if !self.take(b'"') {
            return None;
        }
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(start..self.at);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
    }

    fn space(&mut self) {
        self.while_in(b" \t\r\n");
    }

    fn while_in(&mut self, set: &[u8]) -> Range<usize> {
        let start = self.at;
        while self.peek().is_some_and(|byte| set.contains(&byte)) {
            self.at += 1;
        }
        start..self.at
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}
