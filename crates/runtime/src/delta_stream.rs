//! A reply's text while it is written, for display: without the JSON around it, and redacted with a hold-back.

use papertape_assistant::stream_text::MessageExtractor;
use papertape_redact::{Redactor, StreamRedactor};
use std::sync::{Mutex, PoisonError};

/// The text of one reply.
pub(crate) struct Spoken(Mutex<Option<(MessageExtractor, StreamRedactor)>>);

impl Spoken {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self(Mutex::new(Some((MessageExtractor::default(), redactor.stream()))))
    }

    /// Adds the next chunk and returns the text that can be shown by now.
    pub(crate) fn push(&self, piece: &str) -> String {
        let mut speaking = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((words, redactor)) = speaking.as_mut() else { return String::new() };
        let words = words.push(piece);
        if words.is_empty() { words } else { redactor.push(&words) }
    }

    /// Ends the reply: returns the rest.
    pub(crate) fn finish(&self) -> String {
        let speaking = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        speaking.map(|(_, redactor)| redactor.finish()).unwrap_or_default()
    }
}
