//! Removes secrets from text. Pure: it must never know what a text is for, nor read a file, a clock or the environment.
//!
//! Every value that enters the product (a model's answer, a tool's result, a request's body) goes
//! through a [`Redactor`] before it is used, stored, hashed or cut. Four layers look at it:
//!
//! 1. the exact values of the configured credentials, also in base64, URL-encoded and JSON-escaped;
//! 2. JSON inside strings, at any place in a text and to a bounded depth;
//! 3. the names of keys (`api_key`, `X-MBX-APIKEY`, `authorization`, `headers`, …);
//! 4. shapes: bearer tokens, vendors' keys, JWT, PEM, URL userinfo and queries, `key=value` in plain
//!    text, wallet keys and mnemonics.
//!
//! Each layer sees a text as it is written, with its JSON escapes decoded, and in plain letters where it has letters
//! that look like others.
//!
//! What is taken out is replaced by `[redacted:NAME]`. Redaction is pure and idempotent, and it
//! fails closed: where it cannot finish, a placeholder stands for the whole text. The rules are
//! part of what a session went on with, so a change to any of them raises [`VERSION`].

mod assign;
mod clean;
mod escape;
mod exact;
mod fold;
mod judge;
mod keys;
mod limit;
mod names;
mod nested;
mod phrase;
mod scan;
mod shapes;
mod span;
mod stream;
mod tokens;
mod value;
mod view;
mod yaml;

pub use clean::{Clean, Redact, Wash};
pub use stream::StreamRedactor;

use serde_json::Value;
use std::fmt;

/// The version of the rules; raised whenever the same input could give another output.
pub const VERSION: u32 = 2;

/// The fewest characters that a configured credential may have. A shorter one would turn up in
/// ordinary text by chance.
pub const MIN_SECRET_CHARS: usize = 8;

/// Strings inside strings are followed this deep; deeper ones are looked at as plain text.
const MAX_NESTING: u32 = 8;

/// A removal can uncover another (a boundary appears), so a text is looked at until nothing is
/// found; one that is still moving after so many looks is replaced as a whole.
const MAX_PASSES: u32 = 12;

/// Redaction could not be finished; a placeholder stands for the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault;

/// A value after redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<T> {
    /// The value with every secret replaced.
    pub value: T,
    /// How many secrets were replaced; zero when the value is unchanged.
    pub removed: u32,
}

/// Why a redactor cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactError {
    /// A configured credential is too short to be looked for.
    #[error("the configured secret `{name}` is shorter than {MIN_SECRET_CHARS} characters")]
    TooShort {
        /// The credential's name, never its value.
        name: String,
    },
    /// The credentials are too many or too long for one search automaton.
    #[error("the configured secrets are too large to be looked for")]
    TooLarge,
}

/// Finds and replaces secrets. Cheap to clone; one serves a whole process. The default knows no
/// configured credential, only the rules.
#[derive(Clone, Default)]
pub struct Redactor {
    exact: exact::Exact,
}

impl Redactor {
    /// A redactor that knows these configured credentials, as (name, value), beside its rules.
    /// White space around a value is not part of it.
    ///
    /// # Errors
    /// A value under [`MIN_SECRET_CHARS`] characters is refused with its name.
    pub fn new(secrets: Vec<(String, String)>) -> Result<Self, RedactError> {
        Ok(Self { exact: exact::Exact::new(secrets)? })
    }

    /// Redacts a text: all four layers.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> Redacted<String> {
        match self.redact_str(text, 0) {
            Ok(None) => Redacted { value: text.to_owned(), removed: 0 },
            Ok(Some((value, removed))) => Redacted { value, removed },
            Err(Fault) => Redacted { value: span::placeholder(keys::FAILED), removed: 1 },
        }
    }

    /// Redacts a JSON value: every string in it, what stands under a secret's name, and the keys
    /// themselves.
    #[must_use]
    pub fn redact_value(&self, mut value: Value) -> Redacted<Value> {
        match value::redact(self, &mut value) {
            Ok(removed) => Redacted { value, removed },
            Err(Fault) => Redacted { value: span::placeholder(keys::FAILED).into(), removed: 1 },
        }
    }

    /// Takes the configured credentials out of a value that is otherwise to stay as it is, such as
    /// signed thinking that a provider wants back: the rules that know secrets by their look leave it
    /// alone.
    #[must_use]
    pub fn redact_opaque(&self, mut value: Value) -> Redacted<Value> {
        match value::redact_exact(self, &mut value, 0) {
            Ok(removed) => Redacted { value, removed },
            Err(Fault) => Redacted { value: span::placeholder(keys::FAILED).into(), removed: 1 },
        }
    }

    /// Redacts a value for an action-log row or an error, and only then cuts it: strings over 4,096
    /// characters end with a note, arrays over 50 items keep the first ones and say how many there
    /// were. Cuts are not counted in `removed`.
    #[must_use]
    pub fn redact_log_payload(&self, value: Value) -> Redacted<Value> {
        let mut current = self.redact_value(value);
        // A cut can uncover a boundary, so what was cut is looked at again.
        for _ in 0..MAX_PASSES {
            if !limit::cut(&mut current.value) {
                return current;
            }
            let again = self.redact_value(current.value);
            current = Redacted { value: again.value, removed: current.removed.saturating_add(again.removed) };
        }
        Redacted { value: span::placeholder(keys::FAILED).into(), removed: 1 }
    }

    /// A redactor for a text that arrives in pieces.
    #[must_use]
    pub fn stream(&self) -> StreamRedactor {
        StreamRedactor::new(self.clone())
    }

    /// The text with every secret replaced and their number, or `None` where there was none.
    fn redact_str(&self, text: &str, depth: u32) -> Result<Option<(String, u32)>, Fault> {
        let mut current: Option<(String, u32)> = None;
        for _ in 0..MAX_PASSES {
            let (now, removed) = current.as_ref().map_or((text, 0), |(now, n)| (now.as_str(), *n));
            let found = self.look(now);
            if found.is_overrun {
                return Err(Fault);
            }
            if found.has_json
                && depth < MAX_NESTING
                && let Some((next, more)) = nested::redact(self, now, depth)?
            {
                current = Some((next, removed.saturating_add(more)));
                continue;
            }
            if found.spans.is_empty() {
                return Ok(current);
            }
            let next = span::apply(now, &found.spans).ok_or(Fault)?;
            let more = u32::try_from(found.spans.len()).unwrap_or(u32::MAX);
            current = Some((next, removed.saturating_add(more)));
        }
        Err(Fault)
    }

    /// One look at a text; what stands in placeholders already is left alone.
    fn look(&self, text: &str) -> scan::Found<'_> {
        let mut found = scan::Found::default();
        for piece in span::pieces(text, |label| self.is_label(label)) {
            let Some(part) = text.get(piece.clone()) else {
                continue;
            };
            self.exact.find(part, piece.start, &mut found.spans);
            found.has_escapes = false;
            scan::find(part, piece.start, &mut found);
            phrase::find(part, piece.start, &mut found.spans);
            if found.has_escapes || !part.is_ascii() {
                self.look_through(part, piece.start, &mut found);
            }
        }
        span::merge(&mut found.spans);
        found
    }

    /// Looks at what a text says once its escapes are decoded, and once it is in plain letters.
    fn look_through<'a>(&'a self, text: &str, offset: usize, found: &mut scan::Found<'a>) {
        let decoded = found.has_escapes.then(|| escape::decoded(text)).flatten();
        let folded = match &decoded {
            Some(view) => fold::folded(&view.text).map(|folded| folded.over(view)),
            None => fold::folded(text),
        };
        for view in [decoded, folded].into_iter().flatten() {
            let mut seen = scan::Found::default();
            self.exact.find(&view.text, 0, &mut seen.spans);
            scan::find(&view.text, 0, &mut seen);
            phrase::find(&view.text, 0, &mut seen.spans);
            found.has_json |= seen.has_json;
            found.is_overrun |= seen.is_overrun;
            found.spans.extend(seen.spans.into_iter().map(|span| {
                let range = view.source(&span.range);
                span::Span { range: range.start + offset..range.end + offset, label: span.label }
            }));
        }
    }

    /// The text without configured credentials, or `None` where there was none.
    fn without_credentials(&self, text: &str) -> Result<Option<(String, u32)>, Fault> {
        let mut spans = Vec::new();
        self.exact.find(text, 0, &mut spans);
        span::merge(&mut spans);
        if spans.is_empty() {
            return Ok(None);
        }
        let removed = u32::try_from(spans.len()).unwrap_or(u32::MAX);
        Ok(Some((span::apply(text, &spans).ok_or(Fault)?, removed)))
    }

    /// Is this a label that the redactor itself writes? Anything else between `[redacted:` and `]`
    /// is ordinary text, so that nothing can hide there.
    fn is_label(&self, label: &str) -> bool {
        keys::LABELS.contains(&label) || self.exact.has_label(label)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("version", &VERSION).field("secrets", &self.exact.labels()).finish()
    }
}
