//! What a pass over a text has found.

use super::span::SecretSpan;

/// The result of a pass over a text.
#[derive(Default)]
pub(super) struct ScanResult<'a> {
    pub(super) spans: Vec<SecretSpan<'a>>,
    /// JSON in the text must be parsed: a secret's name has an object as its value, or there are escapes.
    pub(super) has_json: bool,
    /// Letters are written as escapes.
    pub(super) has_escapes: bool,
    /// How many bytes were read after hints.
    pub(super) work: usize,
    /// The limit on work was exceeded, which only happens on adversarial text: the pass was aborted.
    pub(super) is_overrun: bool,
}

impl ScanResult<'_> {
    /// Whether the limit on work is exceeded. The matches so far are then incomplete.
    pub(super) fn exceeds_work_limit(&mut self, text: &str) -> bool {
        self.is_overrun |= self.work > text.len().saturating_mul(MAX_WORK) + MIN_WORK;
        self.is_overrun
    }
}

/// The limit on bytes read after hints, as a multiple of the text's length; short texts have a minimum.
const MAX_WORK: usize = 16;
const MIN_WORK: usize = 1 << 17;
