//! Layer 1: the configured credentials, verbatim and in the encodings in which they travel.
//!
//! One automaton contains every value and its base64 forms. URL and JSON escapes can be partial and mixed, so
//! they are not listed: the text is unescaped, with a map back to the origin of each byte, and searched
//! again.

use super::escape::hex;
use super::prefilter::Samples;
use super::span::{self, MAX_LABEL, SecretSpan};
use super::{MIN_SECRET_CHARS, RedactError, keys};
use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeSet;
use std::ops::Range;

/// Nested escapes are undone this many times (JSON in JSON in a URL).
const MAX_LAYERS: u32 = 3;

/// Maximum backslashes before one letter: one for each layer, doubled by the next.
const MAX_BACKSLASHES: usize = 8;

/// The search for configured credentials.
#[derive(Clone, Default)]
pub(super) struct KnownSecrets {
    automaton: Option<AhoCorasick>,
    /// `None`: every text may contain a credential.
    samples: Option<Samples>,
    forms: Vec<SecretForm>,
    labels: Vec<String>,
    longest: usize,
    has_escapable: bool,
    has_space: bool,
}

#[derive(Clone)]
struct SecretForm {
    label: usize,
    /// Whether a match takes in the base64 characters next to it, which encode bits of both the secret and
    /// its neighbor.
    widen_left: bool,
    widen_right: bool,
}

impl KnownSecrets {
    pub(super) fn new(secrets: Vec<(String, String)>) -> Result<Self, RedactError> {
        let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut needles: Vec<Vec<u8>> = Vec::new();
        let mut forms = Vec::new();
        let mut labels: Vec<String> = Vec::new();
        let values: Vec<String> = secrets.iter().map(|(_, value)| value.trim().to_owned()).collect();
        for ((name, _), value) in secrets.iter().zip(&values) {
            let label = label(name, &values);
            if value.chars().count() < MIN_SECRET_CHARS {
                return Err(RedactError::TooShort { name: label });
            }
            let mut add = |needle: Vec<u8>, widen_left, widen_right| {
                if seen.insert(needle.clone()) {
                    needles.push(needle);
                    forms.push(SecretForm { label: labels.len(), widen_left, widen_right });
                }
            };
            add(value.clone().into_bytes(), false, false);
            for shift in 0..3 {
                for url_safe in [false, true] {
                    let (needle, right) = base64_core(value.as_bytes(), shift, url_safe);
                    add(needle, shift != 0, right);
                }
            }
            labels.push(label);
        }
        let automaton = if needles.is_empty() {
            None
        } else {
            Some(AhoCorasick::new(&needles).map_err(|_| RedactError::TooLarge)?)
        };
        Ok(Self {
            automaton,
            samples: Samples::of(&needles),
            forms,
            labels,
            longest: needles.iter().map(Vec::len).max().unwrap_or(0),
            has_escapable: values.iter().any(|value| {
                value.chars().any(|c| c.is_control() || !c.is_ascii() || "\"\\/'<>&".contains(c))
            }),
            has_space: values.iter().any(|value| value.contains(' ')),
        })
    }

    /// The maximum bytes that one credential can take up in a text, with every character escaped (`\u0041`).
    pub(super) fn max_written_len(&self) -> usize {
        self.longest.saturating_mul(6)
    }

    pub(super) fn labels(&self) -> &[String] {
        &self.labels
    }

    pub(super) fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|known| known == label)
    }

    /// The credential's label if the whole text is one.
    pub(super) fn label_of_whole(&self, text: &str) -> Option<&str> {
        let mut spans = Vec::new();
        self.find(text, 0, &mut spans);
        spans.iter().find(|span| span.range == (0..text.len())).map(|span| span.label)
    }

    /// Adds the span of every credential in the text; positions are shifted by `offset`.
    pub(super) fn find<'a>(&'a self, text: &str, offset: usize, spans: &mut Vec<SecretSpan<'a>>) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        let bytes = text.as_bytes();
        if self.samples.as_ref().is_none_or(|samples| samples.may_be_in(bytes)) {
            self.matches(automaton, bytes, |range, form| {
                let range = widen(bytes, range, form);
                spans.push(self.span(text, range, form, offset));
            });
        }
        for zone in self.zones(bytes) {
            let start = span::floor(text, zone.start);
            let Some(part) = text.get(start..span::floor(text, zone.end)) else {
                continue;
            };
            let places: Vec<usize> = (0..=part.len()).collect();
            let mut found = Vec::new();
            self.find_escaped(automaton, part.as_bytes(), &places, 0, &mut found);
            for (range, form) in found {
                spans.push(self.span(part, range, &self.forms[form], offset + start));
            }
        }
    }

    /// The parts of the text near enough to an escape to contain an escaped credential.
    fn zones(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let reach = self.max_written_len() + 4;
        let mut zones: Vec<Range<usize>> = Vec::new();
        for at in signs(bytes).filter(|at| self.is_escape(&bytes[*at..])) {
            let zone = at.saturating_sub(reach)..bytes.len().min(at + reach);
            match zones.last_mut() {
                Some(last) if zone.start <= last.end => last.end = zone.end,
                _ => zones.push(zone),
            }
        }
        zones
    }

    /// Whether an escape begins here that could encode part of a credential.
    fn is_escape(&self, rest: &[u8]) -> bool {
        match rest {
            [b'%', a, b, ..] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
            [b'\\', ..] if self.has_escapable => true,
            [b'\\', behind @ ..] => {
                // A letter can be escaped more than once: `\\u0041`.
                let letter = behind.iter().take(MAX_BACKSLASHES).find(|byte| **byte != b'\\');
                matches!(letter, Some(b'u' | b'x' | b'/'))
            }
            [b'+', ..] => self.has_space,
            _ => false,
        }
    }

    /// Undoes escapes, one layer at a time, and adds the original span of each match.
    fn find_escaped(
        &self,
        automaton: &AhoCorasick,
        view: &[u8],
        places: &[usize],
        layer: u32,
        found: &mut Vec<(Range<usize>, usize)>,
    ) {
        if layer == MAX_LAYERS {
            return;
        }
        let unescapes: [(u8, Unescape); 2] = [(b'%', percent), (b'\\', backslash)];
        for (sign, unescape) in unescapes {
            let plus = sign == b'%' && self.has_space && view.contains(&b'+');
            if !view.contains(&sign) && !plus {
                continue;
            }
            let (next, from) = unescape(view, self.has_space);
            if next == view {
                continue;
            }
            let from: Vec<usize> = from.iter().map(|at| places[*at]).collect();
            for hit in automaton.find_overlapping_iter(&next) {
                found.push((from[hit.start()]..from[hit.end()], hit.pattern().as_usize()));
            }
            self.find_escaped(automaton, &next, &from, layer + 1, found);
        }
    }

    fn matches(&self, automaton: &AhoCorasick, bytes: &[u8], mut hit: impl FnMut(Range<usize>, &SecretForm)) {
        for found in automaton.find_overlapping_iter(bytes) {
            hit(found.range(), &self.forms[found.pattern().as_usize()]);
        }
    }

    fn span<'a>(&'a self, text: &str, raw: Range<usize>, form: &SecretForm, offset: usize) -> SecretSpan<'a> {
        let start = span::floor(text, raw.start);
        let mut end = raw.end.min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        SecretSpan { range: start + offset..end + offset, label: &self.labels[form.label] }
    }
}

/// The name as a label; a name that contains a credential's value is replaced.
fn label(name: &str, values: &[String]) -> String {
    let label: String = name
        .chars()
        .take(MAX_LABEL)
        .map(|c| match c {
            'a'..='z' | '0'..='9' | '_' | '.' | '-' => c,
            'A'..='Z' => c.to_ascii_lowercase(),
            _ => '_',
        })
        .collect();
    let shows = |value: &String| {
        !value.is_empty() && (name.contains(value.as_str()) || label.contains(&value.to_lowercase()))
    };
    if label.is_empty() || values.iter().any(shows) { keys::CREDENTIAL.to_owned() } else { label }
}

/// The base64 characters that depend only on the secret when `shift` bytes (modulo 3) precede it, and whether
/// one more character holds the secret's last bits.
fn base64_core(secret: &[u8], shift: usize, url_safe: bool) -> (Vec<u8>, bool) {
    let mut padded = vec![0; shift];
    padded.extend_from_slice(secret);
    let engine = if url_safe { &URL_SAFE_NO_PAD } else { &STANDARD_NO_PAD };
    let text = engine.encode(&padded).into_bytes();
    let from = (8 * shift).div_ceil(6);
    let to = 8 * padded.len() / 6;
    (text[from..to].to_vec(), !padded.len().is_multiple_of(3))
}

fn widen(bytes: &[u8], range: Range<usize>, form: &SecretForm) -> Range<usize> {
    let in_alphabet = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let mut start = range.start;
    let mut end = range.end;
    if form.widen_left && start > 0 && in_alphabet(&bytes[start - 1]) {
        start -= 1;
    }
    if form.widen_right && bytes.get(end).is_some_and(in_alphabet) {
        end += 1;
    }
    while (form.widen_left || form.widen_right) && bytes.get(end) == Some(&b'=') {
        end += 1;
    }
    start..end
}

/// The positions of the characters that begin escapes.
fn signs(bytes: &[u8]) -> impl Iterator<Item = usize> {
    const BLOCK: usize = 64;
    let is_sign = |byte: &u8| matches!(byte, b'%' | b'\\' | b'+');
    // A block is checked without a branch for each byte; most have none.
    let has_sign =
        move |(_, block): &(usize, &[u8])| block.iter().fold(false, |any, byte| any | is_sign(byte));
    let blocks = bytes.chunks(BLOCK).enumerate().filter(has_sign);
    blocks.flat_map(move |(n, block)| {
        let signs = block.iter().enumerate().filter(move |(_, byte)| is_sign(byte));
        signs.map(move |(at, _)| n * BLOCK + at)
    })
}

/// Undoes one kind of escape; `true` if a plus sign is a space.
type Unescape = fn(&[u8], bool) -> (Vec<u8>, Vec<usize>);

/// Undoes `%41`; returns the bytes, and the origin of each and of the end.
fn percent(view: &[u8], plus_is_space: bool) -> (Vec<u8>, Vec<usize>) {
    rewrite(view, |rest, out| match rest {
        [b'%', a, b, ..] => {
            out.push(u8::try_from(hex(&[*a, *b])?).ok()?);
            Some(3)
        }
        [b'+', ..] if plus_is_space => {
            out.push(b' ');
            Some(1)
        }
        _ => None,
    })
}

/// Undoes `\"`, `\n`, `\/`, `\x41` and `\u0041`, surrogate pairs too.
fn backslash(view: &[u8], _: bool) -> (Vec<u8>, Vec<usize>) {
    rewrite(view, |rest, out| {
        let [b'\\', kind, ..] = rest else {
            return None;
        };
        let (simple, length) = match kind {
            b'n' => (b'\n', 2),
            b'r' => (b'\r', 2),
            b't' => (b'\t', 2),
            b'b' => (8, 2),
            b'f' => (12, 2),
            b'"' | b'\\' | b'/' | b'\'' => (*kind, 2),
            b'x' => (u8::try_from(hex(rest.get(2..4)?)?).ok()?, 4),
            b'u' => {
                let (letter, length) = unicode(rest)?;
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(length);
            }
            _ => return None,
        };
        out.push(simple);
        Some(length)
    })
}

/// The letter of `\u0041` or of a surrogate pair, and the length of its spelling.
fn unicode(rest: &[u8]) -> Option<(char, usize)> {
    let unit = hex(rest.get(2..6)?)?;
    if (0xD800..0xDC00).contains(&unit) && rest.get(6..8) == Some(b"\\u") {
        let low = hex(rest.get(8..12)?)?.checked_sub(0xDC00)?;
        return Some((char::from_u32(0x10000 + ((unit - 0xD800) << 10) + low)?, 12));
    }
    Some((char::from_u32(unit)?, 6))
}

/// Copies a text while `unit` undoes escapes: `unit` appends the decoded bytes of an escape and returns its
/// length.
fn rewrite(view: &[u8], unit: impl Fn(&[u8], &mut Vec<u8>) -> Option<usize>) -> (Vec<u8>, Vec<usize>) {
    let mut out = Vec::with_capacity(view.len());
    let mut places = Vec::with_capacity(view.len() + 1);
    let mut at = 0;
    while let Some(byte) = view.get(at) {
        let is_sign = matches!(byte, b'%' | b'\\' | b'+');
        let length = is_sign.then(|| unit(&view[at..], &mut out)).flatten();
        let length = length.unwrap_or_else(|| {
            out.push(*byte);
            1
        });
        places.resize(out.len(), at);
        at += length;
    }
    places.push(view.len());
    (out, places)
}
