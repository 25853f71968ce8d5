//! Removes secrets from text. Pure: it must never know what a text is for, nor read a file, a clock or the environment.
//!
//! Every value that enters the product (a model's response, a tool's result, a request's body) goes through a
//! [`Redactor`] before it is used, stored, hashed or truncated. Four layers check it:
//!
//! 1. the exact values of the configured credentials, also in base64, URL-encoded and JSON-escaped;
//! 2. JSON inside strings, anywhere in a text and to a bounded depth;
//! 3. the names of keys (`api_key`, `X-MBX-APIKEY`, `authorization`, `headers`, …);
//! 4. shapes: bearer tokens, vendors' keys, JWT, PEM, URL userinfo and queries, `key=value` in plain text,
//!    wallet keys and mnemonics.
//!
//! Each layer sees a text as written, with its JSON escapes decoded, and with lookalike letters folded to
//! plain ones.
//!
//! A secret is replaced by `[redacted:NAME]`. Redaction is pure and idempotent, and it fails closed: if it
//! cannot finish, a placeholder replaces the whole text. A session continues with the redacted text, so a
//! change to any rule increments [`VERSION`].

mod class;
mod clean;
mod escape;
mod exact;
mod fold;
mod heuristics;
mod key_value;
mod keys;
mod limit;
mod names;
mod nested;
mod patterns;
mod phrase;
mod prefilter;
mod scan;
mod scan_result;
mod span;
mod stream;
mod tokens;
mod value;
mod view;
mod yaml;

pub use clean::{Redact, RedactionPass, Sanitized};
pub use stream::StreamRedactor;

use scan_result::ScanResult;
use serde_json::Value;
use std::fmt;

/// The version of the rules; incremented whenever the same input could give a different output.
pub const VERSION: u32 = 2;

/// Minimum length of a configured credential, in characters. Shorter ones would match ordinary text by
/// chance.
pub const MIN_SECRET_CHARS: usize = 8;

/// Maximum depth of strings inside strings; deeper ones are checked as plain text.
const MAX_NESTING: u32 = 8;

/// A redaction can uncover another secret (a boundary appears), so a text is checked until nothing is found;
/// a text that still changes after this many passes is replaced as a whole.
const MAX_PASSES: u32 = 12;

/// Redaction could not be completed; a placeholder replaces the whole value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedactionFailed;

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
    /// A configured credential is too short to be searched for.
    #[error("the configured secret `{name}` is shorter than {MIN_SECRET_CHARS} characters")]
    TooShort {
        /// The credential's name, never its value.
        name: String,
    },
    /// The credentials are too many or too long for one search automaton.
    #[error("the configured secrets are too large to search for")]
    TooLarge,
}

/// Finds and replaces secrets. Cheap to clone; one instance serves a whole process. The default has only the
/// rules and no configured credentials.
#[derive(Clone, Default)]
pub struct Redactor {
    exact: exact::KnownSecrets,
}

impl Redactor {
    /// A redactor with these configured credentials, as (name, value), in addition to its rules. Whitespace
    /// around a value is ignored.
    ///
    /// # Errors
    /// A value shorter than [`MIN_SECRET_CHARS`] characters is rejected with its name.
    pub fn new(secrets: Vec<(String, String)>) -> Result<Self, RedactError> {
        Ok(Self { exact: exact::KnownSecrets::new(secrets)? })
    }

    /// Redacts a text: all four layers.
    #[must_use]
    pub fn redact_text(&self, text: &str) -> Redacted<String> {
        match self.redact_str(text, 0) {
            Ok(None) => Redacted { value: text.to_owned(), removed: 0 },
            Ok(Some((value, removed))) => Redacted { value, removed },
            Err(RedactionFailed) => Redacted { value: span::placeholder(keys::FAILED), removed: 1 },
        }
    }

    /// Redacts a JSON value: every string in it, everything under a secret's name, and the keys themselves.
    #[must_use]
    pub fn redact_value(&self, mut value: Value) -> Redacted<Value> {
        match value::redact(self, &mut value) {
            Ok(removed) => Redacted { value, removed },
            Err(RedactionFailed) => Redacted { value: span::placeholder(keys::FAILED).into(), removed: 1 },
        }
    }

    /// Removes the configured credentials from a value that must otherwise stay unchanged, such as signed
    /// thinking that a provider expects back. The rules that recognize secrets by their shape are not
    /// applied.
    #[must_use]
    pub fn redact_opaque(&self, mut value: Value) -> Redacted<Value> {
        match value::redact_exact(self, &mut value, 0) {
            Ok(removed) => Redacted { value, removed },
            Err(RedactionFailed) => Redacted { value: span::placeholder(keys::FAILED).into(), removed: 1 },
        }
    }

    /// Redacts a value for an action-log row or an error, and then truncates it: strings over 4,096
    /// characters end with a note, arrays over 50 items keep the first ones and give the original number.
    /// Truncations are not counted in `removed`.
    #[must_use]
    pub fn redact_log_payload(&self, value: Value) -> Redacted<Value> {
        let mut current = self.redact_value(value);
        // Truncating can uncover a boundary, so the truncated value is checked again.
        for _ in 0..MAX_PASSES {
            if !limit::truncate(&mut current.value) {
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

    /// The text with every secret replaced and their number, or `None` when it has none.
    fn redact_str(&self, text: &str, depth: u32) -> Result<Option<(String, u32)>, RedactionFailed> {
        let mut current: Option<(String, u32)> = None;
        for _ in 0..MAX_PASSES {
            let (now, removed) = current.as_ref().map_or((text, 0), |(now, n)| (now.as_str(), *n));
            let found = self.scan(now);
            if found.is_overrun {
                return Err(RedactionFailed);
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
            let next = span::apply(now, &found.spans).ok_or(RedactionFailed)?;
            let more = u32::try_from(found.spans.len()).unwrap_or(u32::MAX);
            current = Some((next, removed.saturating_add(more)));
        }
        Err(RedactionFailed)
    }

    /// One pass over a text; existing placeholders are left unchanged.
    fn scan(&self, text: &str) -> ScanResult<'_> {
        let mut found = ScanResult::default();
        for piece in span::pieces(text, |label| self.is_label(label)) {
            let Some(part) = text.get(piece.clone()) else {
                continue;
            };
            self.exact.find(part, piece.start, &mut found.spans);
            found.has_escapes = false;
            scan::find(part, piece.start, &mut found);
            phrase::find(part, piece.start, &mut found.spans);
            if found.has_escapes || !part.is_ascii() {
                self.scan_from(part, piece.start, &mut found);
            }
        }
        span::merge(&mut found.spans);
        found
    }

    /// Checks a text with its escapes decoded, and with its letters folded to plain ones.
    fn scan_from<'a>(&'a self, text: &str, offset: usize, found: &mut ScanResult<'a>) {
        let decoded = found.has_escapes.then(|| escape::decoded(text)).flatten();
        let folded = match &decoded {
            Some(view) => fold::folded(&view.text).map(|folded| folded.over(view)),
            None => fold::folded(text),
        };
        for view in [decoded, folded].into_iter().flatten() {
            let mut seen = ScanResult::default();
            self.exact.find(&view.text, 0, &mut seen.spans);
            scan::find(&view.text, 0, &mut seen);
            phrase::find(&view.text, 0, &mut seen.spans);
            found.has_json |= seen.has_json;
            found.is_overrun |= seen.is_overrun;
            found.spans.extend(seen.spans.into_iter().map(|span| {
                let range = view.source(&span.range);
                span::SecretSpan { range: range.start + offset..range.end + offset, label: span.label }
            }));
        }
    }

    /// The text without configured credentials, or `None` when it has none.
    fn without_credentials(&self, text: &str) -> Result<Option<(String, u32)>, RedactionFailed> {
        let mut spans = Vec::new();
        self.exact.find(text, 0, &mut spans);
        span::merge(&mut spans);
        if spans.is_empty() {
            return Ok(None);
        }
        let removed = u32::try_from(spans.len()).unwrap_or(u32::MAX);
        Ok(Some((span::apply(text, &spans).ok_or(RedactionFailed)?, removed)))
    }

    /// Whether the redactor itself writes this label. Anything else between `[redacted:` and `]` is ordinary
    /// text, so that nothing can hide there.
    fn is_label(&self, label: &str) -> bool {
        keys::LABELS.contains(&label) || self.exact.has_label(label)
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("version", &VERSION).field("secrets", &self.exact.labels()).finish()
    }
}
