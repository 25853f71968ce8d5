//! One pass over a text, which finds hints that a secret may follow. A text without hints needs nothing more; this
//! keeps redaction cheap on market data.

use super::prefilter::Prefiltered;
use super::scan_result::ScanResult;
use super::{escape, key_value, names, patterns, tokens};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// Parts of secrets' names, as they appear in plain text.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "key", "secret", "token", "pass", "pwd", "auth", "cookie", "cred", "mnemonic", "phrase", "words", "wif",
    "bearer", "jwt", "otp", "header", "sig", "pin", "xprv", "code",
];

/// Escapes that can spell a name or a value letter by letter.
const ESCAPES: &[&str] = &["\\u", "\\x", "\\/"];

/// The kind of each hint, by its number.
struct Hints {
    literals: Prefiltered,
    names: usize,
    escapes: usize,
    shapes: usize,
}

static HINTS: LazyLock<Hints> = LazyLock::new(|| {
    let mut all: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    all.extend(names::latin_hints());
    let names = all.len();
    all.extend(ESCAPES.iter().map(|escape| (*escape).to_owned()));
    let escapes = all.len();
    all.extend(patterns::literals().map(str::to_owned));
    let shapes = all.len();
    all.extend(tokens::literals().map(str::to_owned));
    Hints { literals: Prefiltered::new(automaton(&all), &all), names, escapes, shapes }
});

/// Names in other scripts: an ASCII text is not searched for them.
static WORLD: LazyLock<AhoCorasick> = LazyLock::new(|| automaton(&names::other_script_hints()));

fn automaton(hints: &[String]) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(hints)
        .expect("a fixed list of literals builds")
}

/// Finds names with values, and shapes; positions are shifted by `offset`.
pub(super) fn find<'a>(text: &str, offset: usize, found: &mut ScanResult<'a>) {
    let from = found.spans.len();
    found.work = 0;
    let hints = &*HINTS;
    let mut named_to = 0;
    // The end of the last secret of each hint. Otherwise a text that repeats a hint would be read again from
    // each occurrence.
    let mut ends: Vec<usize> = Vec::new();
    for hint in hints.literals.matches(text) {
        let which = hint.pattern().as_usize();
        if ends.get(which).is_some_and(|end| hint.start() < *end) {
            continue;
        }
        if found.exceeds_work_limit(text) {
            break;
        }
        let known = found.spans.len();
        if which < hints.names {
            if hint.end() > named_to {
                named_to = key_value::find(text, hint.range(), found).max(hint.end());
            }
        } else if which < hints.escapes {
            if !(found.has_escapes && found.has_json) && escape::begins(&text[hint.start()..]) {
                found.has_escapes = true;
                found.has_json |= !text[hint.start()..].starts_with("\\/")
                    && (text.contains(['{', '[']) || text.trim_start().starts_with('"'));
            }
        } else if which < hints.shapes {
            found.work += patterns::NEAR / 8;
            patterns::find(which - hints.escapes, text, hint.start(), &mut found.spans);
        } else {
            tokens::find(which - hints.shapes, text, hint.start(), &mut found.spans);
        }
        if let Some(span) = found.spans.get(known) {
            ends.resize(hints.literals.count(), 0);
            ends[which] = span.range.end;
            found.work += span.range.len();
        }
    }
    if !text.is_ascii() {
        let mut named_to = 0;
        for hint in WORLD.find_overlapping_iter(text) {
            if found.exceeds_work_limit(text) {
                break;
            }
            if hint.end() > named_to {
                named_to = key_value::find(text, hint.range(), found).max(hint.end());
            }
        }
    }
    for span in &mut found.spans[from..] {
        span.range = span.range.start + offset..span.range.end + offset;
    }
}
