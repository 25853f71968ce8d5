//! Layer 4: mnemonics and WIF keys, which begin with no literal.
//!
//! The word list is the English one of BIP-39 (Bitcoin Improvement Proposal 39). It promises that
//! four letters tell every word from the others, so `mnemonic_words.txt` keeps just these and the
//! word's length.

use super::span::Span;
use std::sync::LazyLock;

/// BIP-39 has mnemonics of 12, 15, 18, 21 and 24 words. A run of more words is one that has other
/// words of the list beside it, so only the least counts.
const MIN_WORDS: usize = 12;
/// Twelve words of three letters with spaces between them take 47 bytes, so every run is met by a
/// step as short as this, far enough from its end for a number and a word to fit.
const STRIDE: usize = 20;
/// The most bytes between two words: `",\n  12. "`
const MAX_GAP: usize = 12;

static WORDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut words: Vec<u32> = include_str!("mnemonic_words.txt")
        .split_ascii_whitespace()
        .filter_map(|entry| {
            let (letters, length) = entry.split_at_checked(entry.len() - 1)?;
            fingerprint(letters.as_bytes(), length.parse().ok()?)
        })
        .collect();
    words.sort_unstable();
    words
});

/// The first four letters and the length in one number.
fn fingerprint(word: &[u8], length: usize) -> Option<u32> {
    let length = u32::try_from(length).ok().filter(|length| (3..=8).contains(length))?;
    word.iter()
        .take(4)
        .try_fold(length, |code, byte| byte.is_ascii_alphabetic().then(|| code << 5 | u32::from(byte & 31)))
}

fn in_list(word: &[u8]) -> bool {
    fingerprint(word, word.len()).is_some_and(|code| WORDS.binary_search(&code).is_ok())
}

/// Adds mnemonics and WIF keys; places are shifted by `offset`.
pub(super) fn find(text: &str, offset: usize, spans: &mut Vec<Span<'_>>) {
    let bytes = text.as_bytes();
    let mut at = STRIDE;
    let mut done = 0;
    while at < bytes.len() {
        let mut next = at + STRIDE;
        if bytes[at].is_ascii_alphanumeric() || bytes[at - 1].is_ascii_alphanumeric() {
            let start = back(bytes, at, done, u8::is_ascii_alphanumeric);
            let end = forth(bytes, at, u8::is_ascii_alphanumeric);
            if is_wif(&bytes[start..end]) {
                spans.push(Span { range: start + offset..end + offset, label: "wallet_key" });
            }
            if end - start > STRIDE {
                done = end;
                next = next.max(end);
            }
        }
        if let Some((start, end, count)) = run_around(bytes, at, done) {
            if count >= MIN_WORDS {
                spans.push(Span { range: start + offset..end + offset, label: "mnemonic" });
            }
            done = end;
            next = next.max(end);
        }
        at = next;
    }
}

/// Wallet import format: base58, 51 characters from `5` or 52 from `K` or `L`.
fn is_wif(run: &[u8]) -> bool {
    let first = matches!((run.len(), run.first()), (51, Some(b'5')) | (52, Some(b'K' | b'L')));
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    first
        && !run.iter().any(|byte| b"0OIl".contains(byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
}

/// The run of list words around a place: its bounds and the number of words.
fn run_around(bytes: &[u8], at: usize, floor: usize) -> Option<(usize, usize, usize)> {
    let first = after_escape(bytes, back(bytes, at, floor, u8::is_ascii_alphabetic));
    let (mut start, mut end) = word_from(bytes, first)?;
    let mut count = 1;
    while let Some((from, to)) = word_from(bytes, end) {
        end = to;
        count += 1;
        debug_assert!(from < to);
    }
    while let Some(from) = word_before(bytes, start, floor) {
        start = from;
        count += 1;
    }
    Some((start, end, count))
}

/// The list word that begins here or behind a gap.
fn word_from(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = skip_gap(bytes, at)?;
    let end = forth(bytes, start, u8::is_ascii_alphabetic);
    in_list(&bytes[start..end]).then_some((start, end))
}

/// Spaces, commas, numbering, quotes and escaped line ends: not the end of a sentence.
fn skip_gap(bytes: &[u8], mut at: usize) -> Option<usize> {
    let from = at;
    loop {
        match bytes.get(at)? {
            byte if byte.is_ascii_alphabetic() => return Some(at),
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't')) => at += 2,
            byte if is_gap(bytes, at, *byte) && at - from < MAX_GAP => at += 1,
            _ => return None,
        }
    }
}

fn is_gap(bytes: &[u8], at: usize, byte: u8) -> bool {
    let numbering = byte == b'.' && at > 0 && bytes[at - 1].is_ascii_digit();
    numbering || byte.is_ascii_whitespace() || byte.is_ascii_digit() || b",)\"'\\-_|#".contains(&byte)
}

/// Past the letter of an escape: `\n` before a word is no part of it.
fn after_escape(bytes: &[u8], at: usize) -> usize {
    let escape = at > 0 && bytes[at - 1] == b'\\';
    at + usize::from(escape && bytes.get(at).is_some_and(|byte| b"nrt".contains(byte)))
}

fn word_before(bytes: &[u8], start: usize, floor: usize) -> Option<usize> {
    let mut end = start;
    loop {
        let byte = *bytes.get(end.checked_sub(1)?)?;
        let escape = b"nrt".contains(&byte) && end >= 2 && bytes[end - 2] == b'\\';
        if escape {
            end -= 2;
        } else if is_gap(bytes, end - 1, byte) && start - end < MAX_GAP {
            end -= 1;
        } else {
            break;
        }
        if end < floor {
            return None;
        }
    }
    let from = after_escape(bytes, back(bytes, end, floor, u8::is_ascii_alphabetic));
    (end < start && in_list(bytes.get(from..end)?)).then_some(from)
}

fn back(bytes: &[u8], mut at: usize, floor: usize, is: fn(&u8) -> bool) -> usize {
    while at > floor && is(&bytes[at - 1]) {
        at -= 1;
    }
    at
}

fn forth(bytes: &[u8], mut at: usize, is: fn(&u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(is) {
        at += 1;
    }
    at
}
