//! Redaction of a text that arrives in chunks, such as a model's tokens.
//!
//! Text is passed on only when no later text can turn it into a secret: the redactor holds back more than the
//! longest configured credential in its longest spelling, never cuts inside a word, a secret or an object in
//! braces, and retains passed-on text as context for names before values. An object that is not closed after
//! 16 KiB is cut nevertheless; what it holds under a secret's name is then redacted only in the message that
//! follows.

use super::{Redactor, span};

/// Minimum number of bytes held back: a mnemonic of 24 numbered words fits.
const MIN_HOLD: usize = 512;
/// Bytes already passed on that are retained as context, for the names before values.
const CONTEXT: usize = 256;
/// A run without whitespace is held together up to this many bytes, beyond the hold-back.
const MAX_RUN: usize = 16 * 1024;

/// Bytes held back before an object, which may contain its name: the name of a secret.
const NAME: usize = 128;

/// Redacts a text chunk by chunk. Created by [`Redactor::stream`].
pub struct StreamRedactor {
    redactor: Redactor,
    /// Context, followed by the text held back.
    buffer: String,
    /// The length of the context.
    given: usize,
    hold: usize,
    /// The buffer is checked again when it reaches this length.
    look_at: usize,
    removed: u32,
}

impl StreamRedactor {
    pub(super) fn new(redactor: Redactor) -> Self {
        let hold = redactor.exact.max_written_len().max(MIN_HOLD);
        Self { redactor, buffer: String::new(), given: 0, hold, look_at: hold + hold / 4, removed: 0 }
    }

    /// Takes the next chunk and returns the text that is safe now, often nothing.
    pub fn push(&mut self, piece: &str) -> String {
        self.buffer.push_str(piece);
        // Checking at every token would be wasteful; a quarter of the hold-back arrives quickly.
        if self.buffer.len() < self.look_at {
            return String::new();
        }
        let mut cut = self.last_space_before(self.buffer.len() - self.hold);
        if let Some(object) = self.open_object(cut) {
            cut = self.last_space_before(object.saturating_sub(NAME).max(self.given));
        }
        let found = self.redactor.scan(&self.buffer);
        let end = self.buffer.len();
        // A secret at the cut, or one that may still grow, is held back whole.
        for span in found.spans.iter().rev() {
            if span.range.end > cut || span.range.end == end {
                cut = cut.min(span.range.start);
            }
        }
        if self.buffer.len() - self.given > self.hold + 4 * MAX_RUN && cut <= self.given {
            // A secret without an end is passed on as its placeholder and not held back forever.
            cut = span::floor(&self.buffer, self.buffer.len() - self.hold);
        }
        let out = if cut <= self.given { String::new() } else { self.give(cut) };
        // Waiting for a fixed fraction of the retained text bounds the work when nothing can be passed on.
        let pending = self.buffer.len() - self.given;
        self.look_at = self.buffer.len().max(self.given + self.hold) + pending / 4;
        out
    }

    /// Ends the text and returns the rest.
    pub fn finish(mut self) -> String {
        let end = self.buffer.len();
        self.give(end)
    }

    /// How many secrets were replaced in the text passed on so far.
    #[must_use]
    pub fn removed(&self) -> u32 {
        self.removed
    }

    /// Whitespace at or before `at`, so that no word is cut; `at` itself inside a very long run.
    fn last_space_before(&self, at: usize) -> usize {
        let at = span::floor(&self.buffer, at);
        let from = span::floor(&self.buffer, at.saturating_sub(MAX_RUN).max(self.given));
        self.buffer
            .get(from..at)
            .and_then(|run| run.rfind(char::is_whitespace))
            .map_or(if at - from >= MAX_RUN { at } else { from }, |space| from + space)
    }

    /// The start of the outermost object that a cut at `cut` would split.
    fn open_object(&self, cut: usize) -> Option<usize> {
        let mut open = Vec::new();
        for (at, byte) in self.buffer.bytes().enumerate().take(cut).skip(self.given) {
            match byte {
                b'{' => open.push(at),
                b'}' => drop(open.pop()),
                _ => {}
            }
        }
        // A brace that stays open for this long is not an object.
        open.into_iter().find(|at| cut - at <= MAX_RUN)
    }

    /// Redacts from the context's end to `cut` and makes it context.
    fn give(&mut self, cut: usize) -> String {
        let found = self.redactor.scan(&self.buffer);
        let is_overrun = found.is_overrun;
        let spans: Vec<span::SecretSpan<'_>> = found
            .spans
            .into_iter()
            .filter(|span| span.range.start < cut && span.range.end > self.given)
            .map(|span| {
                let start = span.range.start.max(self.given) - self.given;
                let end = span.range.end.min(cut) - self.given;
                span::SecretSpan { range: start..end, label: span.label }
            })
            .collect();
        let count = u32::try_from(spans.len()).unwrap_or(u32::MAX);
        let out = self.buffer.get(self.given..cut).filter(|_| !is_overrun);
        let out = out.and_then(|text| span::apply(text, &spans));
        let out = out.map_or_else(
            || super::Redacted { value: span::placeholder(super::keys::FAILED), removed: 1 },
            |text| self.redactor.redact_text(&text),
        );
        self.removed = self.removed.saturating_add(count).saturating_add(out.removed);
        let context = span::floor(&self.buffer, cut.saturating_sub(CONTEXT));
        self.buffer.drain(..context);
        self.given = cut - context;
        out.value
    }
}
