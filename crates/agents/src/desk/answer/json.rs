//! JSON as models write it: strict about content, lenient about format. It accepts comments, trailing commas,
//! single quotes, line ends and bare quotes inside strings, keys without quotes, and Python's constants.
//! Nothing is completed: truncated JSON is an error.

use std::iter::Peekable;
use std::str::CharIndices;

/// Maximum nesting depth.
const MAX_DEPTH: u32 = 64;
/// Maximum number of braces in a text that begin no object.
const MAX_FAILURES: usize = 32;

/// A value. Numbers keep the digits as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    /// A number, a boolean, or another word without quotes.
    Word(String),
    Text(String),
    List(Vec<Json>),
    Object(JsonFields),
}

/// An object's members in order, duplicates included.
pub(super) type JsonFields = Vec<(String, Json)>;

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Word(word) => f.write_str(word),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Object(members) => {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                write!(f, "{{{}}}", members.join(", "))
            }
        }
    }
}

/// The outermost objects of a text, and the texts before, between and after them (one more than objects).
#[derive(Debug)]
pub(super) struct JsonObjectSpan {
    pub(super) objects: Vec<JsonFields>,
    pub(super) texts: Vec<String>,
}

/// Finds the objects of a text. `None` when too many braces begin none: such a text is not an answer.
pub(super) fn find(text: &str) -> Option<JsonObjectSpan> {
    let mut found = JsonObjectSpan { objects: Vec::new(), texts: Vec::new() };
    let (mut begin, mut from, mut failures) = (0, 0, 0);
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        match object(&text[at..]) {
            Some((members, length)) => {
                found.texts.push(text[begin..at].to_owned());
                found.objects.push(members);
                from = at + length;
                begin = from;
            }
            None => {
                failures += 1;
                if failures > MAX_FAILURES {
                    return None;
                }
                from = at + 1;
            }
        }
    }
    found.texts.push(text[begin..].to_owned());
    Some(found)
}

/// The object at the start of a text, and its length in bytes.
pub(super) fn object(text: &str) -> Option<(JsonFields, usize)> {
    let mut reader = Reader { text, chars: text.char_indices().peekable() };
    match reader.value(0)? {
        Json::Object(members) => Some((members, reader.at())),
        _ => None,
    }
}

struct Reader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

impl Reader<'_> {
    fn at(&mut self) -> usize {
        self.chars.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn rest(&mut self) -> &str {
        let at = self.at();
        &self.text[at..]
    }

    /// Skips spaces and comments.
    fn skip(&mut self) {
        loop {
            while self.chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
            let rest = self.rest();
            let is_block = rest.starts_with("/*");
            if !is_block && !rest.starts_with("//") && !rest.starts_with('#') {
                return;
            }
            let length = if is_block {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                rest.find('\n').unwrap_or(rest.len())
            };
            let end = self.at() + length;
            while self.chars.next_if(|(at, _)| *at < end).is_some() {}
        }
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.peek()? {
            '{' => self.members(depth).map(Json::Object),
            '[' => self.items(depth).map(Json::List),
            quote @ ('"' | '\'' | '“') => self.text(quote).map(Json::Text),
            _ => match self.word()? {
                word if ["null", "None", "undefined"].contains(&word.as_str()) => Some(Json::Null),
                word => Some(Json::Word(word)),
            },
        }
    }

    fn members(&mut self, depth: u32) -> Option<JsonFields> {
        self.chars.next();
        let mut members = Vec::new();
        loop {
            self.skip();
            let name = match self.peek()? {
                '}' => {
                    self.chars.next();
                    return Some(members);
                }
                quote @ ('"' | '\'' | '“') => self.text(quote)?,
                _ => self.word()?,
            };
            self.skip();
            self.chars.next_if(|(_, c)| matches!(c, ':' | '：'))?;
            members.push((name, self.value(depth + 1)?));
            self.skip();
            if self.chars.next_if(|(_, c)| matches!(c, ',' | '，')).is_none() && self.peek()? != '}' {
                return None;
            }
        }
    }

    fn items(&mut self, depth: u32) -> Option<Vec<Json>> {
        self.chars.next();
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.chars.next_if(|(_, c)| *c == ']').is_some() {
                return Some(items);
            }
            items.push(self.value(depth + 1)?);
            self.skip();
            if self.chars.next_if(|(_, c)| matches!(c, ',' | '，')).is_none() && self.peek()? != ']' {
                return None;
            }
        }
    }

    /// A word without quotes: a number, a constant, a key.
    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '%' | '$');
        while let Some((_, c)) = self.chars.next_if(|(_, c)| part(*c)) {
            word.push(c);
        }
        (!word.is_empty()).then_some(word)
    }

    /// A string. A quote closes it only if what follows can follow a string; any other quote is part of it.
    fn text(&mut self, quote: char) -> Option<String> {
        let closing = if quote == '“' { '”' } else { quote };
        self.chars.next();
        let mut text = String::new();
        loop {
            let (_, c) = self.chars.next()?;
            if c == '\\' {
                self.escape(&mut text)?;
            } else if c == closing && self.closes() {
                return Some(text);
            } else {
                text.push(c);
            }
        }
    }

    fn closes(&mut self) -> bool {
        let rest = self.rest();
        let next = rest.trim_start();
        next.is_empty()
            || next.starts_with([',', '，', ':', '：', '}', ']', '#'])
            || ["//", "/*"].iter().any(|comment| next.starts_with(comment))
    }

    fn escape(&mut self, text: &mut String) -> Option<()> {
        let (_, c) = self.chars.next()?;
        text.push(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => {
                let first = self.unit()?;
                let pair = (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u");
                let code = if pair {
                    self.chars.next();
                    self.chars.next();
                    let second = self.unit()?;
                    0x1_0000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff)
                } else {
                    first
                };
                char::from_u32(code).unwrap_or('\u{fffd}')
            }
            other => other,
        });
        Some(())
    }

    fn unit(&mut self) -> Option<u32> {
        let mut code = 0;
        for _ in 0..4 {
            code = code * 16 + self.chars.next()?.1.to_digit(16)?;
        }
        Some(code)
    }
}

/// The content of a text that consists of a single code block; otherwise the text itself.
pub(super) fn without_block(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inner) = inner.filter(|inner| !inner.contains("```")) else { return text };
    let (first, rest) = inner.split_once('\n').unwrap_or(("", inner));
    // The first line of a block may name a language.
    if first.trim().chars().all(char::is_alphanumeric) { rest.trim() } else { inner.trim() }
}
