//! One pass over a text with one automaton: hints that a secret may stand here. A text without
//! hints costs nothing more, which is what keeps redaction cheap on market data.

use super::{assign, shapes, span::Span};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// What a look at a text found.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) spans: Vec<Span<'a>>,
    /// JSON in the text has to be read as JSON: a secret's name over an object, or escapes.
    pub(super) has_json: bool,
}

/// Parts of secrets' names, as they stand in plain text.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "key", "secret", "token", "pass", "pwd", "auth", "cookie", "cred", "mnemonic", "phrase", "words", "wif",
    "bearer", "jwt", "otp", "header", "sig", "pin", "xprv", "code", "密码", "口令", "私钥", "密钥", "令牌", "助记词", "凭证",
];

/// Escapes that can spell a name or a value letter by letter.
const ESCAPES: &[&str] = &["\\u00", "\\x"];

static HINTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let all = NAMES.iter().copied().chain(ESCAPES.iter().copied()).chain(shapes::literals());
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(all)
        .expect("a fixed list of literals builds")
});

/// Finds names with values beside them, and shapes; places are shifted by `offset`.
pub(super) fn find<'a>(text: &str, offset: usize, found: &mut Found<'a>) {
    let from = found.spans.len();
    let mut named_to = 0;
    for hint in HINTS.find_overlapping_iter(text) {
        let which = hint.pattern().as_usize();
        if which < NAMES.len() {
            if hint.end() > named_to {
                named_to = assign::find(text, hint.range(), found).max(hint.end());
            }
        } else if let Some(shape) = which.checked_sub(NAMES.len() + ESCAPES.len()) {
            shapes::find(shape, text, hint.start(), &mut found.spans);
        } else {
            found.has_json |= text.contains(['{', '[']) || text.trim_start().starts_with('"');
        }
    }
    for span in &mut found.spans[from..] {
        span.range = span.range.start + offset..span.range.end + offset;
    }
}
