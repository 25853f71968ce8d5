//! Values that only redaction can create.

use super::Redactor;
use serde_json::Value;

/// A value whose texts have all been redacted; there is no other way to make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sanitized<T> {
    value: T,
    removed: u32,
}

impl<T: Redact> Sanitized<T> {
    /// Redacts every text of the value.
    #[must_use]
    pub fn of(redactor: &Redactor, value: T) -> Self {
        let mut wash = RedactionPass { redactor, removed: 0 };
        let value = value.redact(&mut wash);
        Self { value, removed: wash.removed }
    }
}

impl<T> Sanitized<T> {
    /// The value.
    #[must_use]
    pub const fn get(&self) -> &T {
        &self.value
    }

    /// Unwraps the value.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value
    }

    /// How many secrets were redacted.
    #[must_use]
    pub const fn removed(&self) -> u32 {
        self.removed
    }
}

/// A type that knows which of its fields contain untrusted text.
pub trait Redact: Sized {
    /// The value with every such text redacted.
    #[must_use]
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self;
}

impl<T: Redact> Redact for Vec<T> {
    fn redact(self, wash: &mut RedactionPass<'_>) -> Self {
        self.into_iter().map(|value| value.redact(wash)).collect()
    }
}

/// Redacts texts one by one and counts the redactions. It never truncates.
#[derive(Debug)]
pub struct RedactionPass<'a> {
    redactor: &'a Redactor,
    removed: u32,
}

impl RedactionPass<'_> {
    /// A text.
    pub fn text(&mut self, text: String) -> String {
        let clean = self.redactor.redact_text(&text);
        self.removed = self.removed.saturating_add(clean.removed);
        clean.value
    }

    /// A JSON value.
    pub fn value(&mut self, value: Value) -> Value {
        let clean = self.redactor.redact_value(value);
        self.removed = self.removed.saturating_add(clean.removed);
        clean.value
    }
}
