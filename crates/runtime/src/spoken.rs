//! An answer's words while they are written, for people to read: without the JSON around them, and
//! redacted with a hold-back.

use papertape_assistant::delta::Words;
use papertape_redact::{Redactor, StreamRedactor};
use std::sync::{Mutex, PoisonError};

/// One answer's words.
pub(crate) struct Spoken(Mutex<Option<(Words, StreamRedactor)>>);

impl Spoken {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self(Mutex::new(Some((Words::default(), redactor.stream()))))
    }

    /// Takes the next piece and gives what can be told by now.
    pub(crate) fn push(&self, piece: &str) -> String {
        let mut speaking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((words, redactor)) = speaking.as_mut() else { return String::new() };
        let words = words.push(piece);
        if words.is_empty() { words } else { redactor.push(&words) }
    }

    /// The answer is over: gives the rest.
    pub(crate) fn finish(&self) -> String {
        let speaking = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        speaking.map(|(_, redactor)| redactor.finish()).unwrap_or_default()
    }
}
