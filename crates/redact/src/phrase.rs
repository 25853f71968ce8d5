//! Layer 4: mnemonics and WIF keys, which have no fixed prefix.
//!
//! A mnemonic consists of ordinary words, so a run of list words counts only if its checksum is right; a run
//! that is introduced as a mnemonic and has the right number of words counts without it. Prose is recognized
//! by its small words.
//!
//! The word list is the English one of BIP-39 (Bitcoin Improvement Proposal 39). Its words differ in their
//! first four letters, so `mnemonic_words.txt` contains only these and the word's length.

use super::span::{self, SecretSpan};
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use std::sync::LazyLock;

/// The lengths of mnemonics, longest first. A longer run has further list words next to the mnemonic.
const LENGTHS: [usize; 5] = [24, 21, 18, 15, 12];
const MIN_WORDS: usize = 12;
/// Twelve three-letter words with spaces take 47 bytes, so steps this short hit every run, far enough from
/// its end for a number and a word to fit.
const STRIDE: usize = 20;
/// Maximum bytes between two words: `",\n  12. "`
const MAX_GAP: usize = 12;

/// Fingerprints with the word's number in the list, sorted.
static WORDS: LazyLock<Vec<(u32, u16)>> = LazyLock::new(|| {
    let entries = include_str!("mnemonic_words.txt").split_ascii_whitespace();
    let mut words: Vec<(u32, u16)> = (0..)
        .zip(entries)
        .filter_map(|(number, entry)| {
            let (letters, length) = entry.split_at_checked(entry.len() - 1)?;
            Some((fingerprint(letters.as_bytes(), length.parse().ok()?)?, number))
        })
        .collect();
    words.sort_unstable();
    words
});

/// List words that are common in sentences. Of the words of a mnemonic, one in twenty-five is one of them.
#[rustfmt::skip]
const SMALL: &[&str] = &[
    "about", "above", "across", "again", "all", "almost", "alone", "along", "already", "also", "always", "among", "another", "any",
    "around", "away", "because", "become", "before", "begin", "behind", "below", "best", "better", "between", "both", "bring",
    "can", "change", "come", "day", "early", "either", "else", "end", "enough", "ever", "every", "few", "find", "first", "gain", "give",
    "good", "great", "half", "have", "high", "hold", "inside", "into", "just", "keep", "know", "large", "learn", "leave", "like",
    "little", "live", "long", "main", "make", "many", "mean", "more", "much", "must", "near", "need", "never", "next", "now", "off",
    "often", "old", "once", "one", "only", "open", "other", "outside", "over", "own", "people", "please", "price", "quick", "ready",
    "real", "right", "same", "say", "second", "sell", "side", "since", "small", "soon", "still", "such", "sure", "talk", "tell", "than",
    "thank", "that", "then", "there", "they", "thing", "think", "this", "thought", "three", "time", "today", "together", "toward",
    "true", "try", "turn", "two", "under", "until", "upon", "use", "used", "usual", "very", "want", "way", "what", "when", "where",
    "will", "wish", "work", "world", "wrong", "year", "you", "young",
];
static SMALL_NUMBERS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut numbers: Vec<u16> = SMALL.iter().filter_map(|word| number(word.as_bytes())).collect();
    numbers.sort_unstable();
    numbers
});

/// Names that introduce a mnemonic.
const CALLED: &[&str] = &[
    "mnemonic",
    "seed",
    "phrase",
    "recovery",
    "助记词",
    "助記詞",
    "semilla",
    "semente",
    "фраз",
    "recuper",
    "シード",
    "ニーモニック",
    "시드",
    "니모닉",
];
/// How far before a mnemonic its name is searched for, in bytes.
const NAME_REACH: usize = 96;

/// The first four letters and the length in one number.
fn fingerprint(word: &[u8], length: usize) -> Option<u32> {
    let length = u32::try_from(length).ok().filter(|length| (3..=8).contains(length))?;
    word.iter()
        .take(4)
        .try_fold(length, |code, byte| byte.is_ascii_alphabetic().then(|| code << 5 | u32::from(byte & 31)))
}

/// A bit for the hash of each fingerprint: most words of a text are found to be none of the list by it.
static IN_LIST: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0; 1 << 10];
    WORDS.iter().for_each(|(code, _)| {
        let (place, bit) = bit_of(*code);
        bits[place] |= bit;
    });
    bits
});

fn bit_of(code: u32) -> (usize, u64) {
    let index = code.wrapping_mul(0x9E37_79B1) >> 16;
    ((index / 64) as usize, 1 << (index % 64))
}

/// The word's index in the list.
fn number(word: &[u8]) -> Option<u16> {
    let code = fingerprint(word, word.len())?;
    let (place, bit) = bit_of(code);
    if IN_LIST[place] & bit == 0 {
        return None;
    }
    let at = WORDS.binary_search_by_key(&code, |(code, _)| *code).ok()?;
    WORDS.get(at).map(|(_, number)| *number)
}

fn in_list(word: &[u8]) -> bool {
    number(word).is_some()
}

/// Whether the words' checksum is right. Each word encodes eleven bits: a random number, then the first bits
/// of its SHA-256, one for every 32.
fn has_checksum(numbers: &[u16]) -> bool {
    let mut bytes = [0_u8; 33];
    for (at, number) in numbers.iter().enumerate() {
        for bit in 0..11 {
            let place = at * 11 + bit;
            bytes[place / 8] |= u8::from(number >> (10 - bit) & 1 == 1) << (7 - place % 8);
        }
    }
    let entropy = numbers.len() * 4 / 3;
    let sum_bits = entropy / 4;
    let sum = Sha256::digest(&bytes[..entropy]);
    (bytes[entropy] ^ sum[0]) >> (8 - sum_bits) == 0
}

/// The words of a run that form a mnemonic, as a range of the run.
fn mnemonic(text: &str, words: &[Range<usize>]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let numbers: Vec<u16> = words.iter().filter_map(|word| number(&bytes[word.clone()])).collect();
    let (first, last) = (words.first()?, words.last()?);
    let head = &text[span::floor(text, first.start.saturating_sub(NAME_REACH))..first.start].to_lowercase();
    let is_called = CALLED.iter().any(|name| head.contains(name));
    // A sentence continues before or after the words; a mnemonic is separate.
    let open = |rest: Option<char>| rest.is_none_or(|c| !c.is_alphanumeric());
    let before = text[..first.start].trim_end_matches([' ', '*', '`']).chars().next_back();
    let behind = text[last.end..].trim_start_matches([' ', '*', '`']).chars().next();
    let is_delimited = open(before) && open(behind);
    let small: Vec<bool> = numbers.iter().map(|number| SMALL_NUMBERS.binary_search(number).is_ok()).collect();
    let mut small_before = vec![0];
    small_before.extend(small.iter().scan(0, |sum, is_small| {
        *sum += usize::from(*is_small);
        Some(*sum)
    }));
    for length in LENGTHS {
        for start in 0..(numbers.len() + 1).saturating_sub(length) {
            let (end, part) = (start + length, &numbers[start..start + length]);
            let is_whole = length == numbers.len();
            let inside = small_before[end] - small_before[start];
            // Unless it is introduced as one, only small words of the sentence may be next to it.
            let outside = numbers.len() - length;
            let is_apart = is_called || outside == small_before[numbers.len()] - inside;
            let max_small = match (is_called || is_whole && is_delimited, is_whole) {
                (true, _) => length / 3,
                (false, true) => length / 4,
                (false, false) => length / 6,
            };
            if inside > max_small || !is_apart || part.is_sorted() && !is_repeated(part) {
                continue;
            }
            if is_called && is_whole && is_delimited || has_checksum(part) {
                return Some(start..end);
            }
        }
    }
    None
}

/// Wallets' examples repeat one word.
fn is_repeated(numbers: &[u16]) -> bool {
    numbers.windows(2).filter(|pair| pair[0] == pair[1]).count() >= numbers.len() - 2
}

/// Minimum bytes of what is searched for: twelve words of three letters with a byte between them. A WIF key is longer.
const MIN_BYTES: usize = 47;

/// Whether a mnemonic or a WIF key can contain the byte.
const fn can_be_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || matches!(byte, b'.' | b',' | b')' | b'"' | b'\'')
        || matches!(byte, b'\\' | b'-' | b'_' | b'|' | b'#')
}

const PARTS: [bool; 256] = {
    let mut parts = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        parts[byte] = can_be_part(byte as u8);
        byte += 1;
    }
    parts
};

/// Whether the text has a run of such bytes that is long enough. JSON of numbers has none.
fn has_room(bytes: &[u8]) -> bool {
    let mut start = 0;
    while let Some(run) = bytes.get(start..start + MIN_BYTES) {
        match run.iter().rposition(|byte| !PARTS[usize::from(*byte)]) {
            Some(at) => start += at + 1,
            None => return true,
        }
    }
    false
}

/// Adds mnemonics and WIF keys; positions are shifted by `offset`.
pub(super) fn find(text: &str, offset: usize, spans: &mut Vec<SecretSpan<'_>>) {
    let bytes = text.as_bytes();
    if !has_room(bytes) {
        return;
    }
    let mut at = STRIDE;
    let mut done = 0;
    while at < bytes.len() {
        let mut next = at + STRIDE;
        if bytes[at].is_ascii_alphanumeric() || bytes[at - 1].is_ascii_alphanumeric() {
            let start = skip_back_while(bytes, at, done, u8::is_ascii_alphanumeric);
            let end = skip_while(bytes, at, u8::is_ascii_alphanumeric);
            if is_wif(&bytes[start..end]) {
                spans.push(SecretSpan { range: start + offset..end + offset, label: "wallet_key" });
            }
            if end - start > STRIDE {
                done = end;
                next = next.max(end);
            }
        }
        if let Some((start, end, count)) = run_around(bytes, at, done) {
            if count >= MIN_WORDS {
                let words = words_of(bytes, start, end);
                if let Some(part) = mnemonic(text, &words) {
                    let (from, to) = (words[part.start].start, words[part.end - 1].end);
                    spans.push(SecretSpan { range: from + offset..to + offset, label: "mnemonic" });
                }
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

/// The run of list words around a position: its bounds and the number of words.
fn run_around(bytes: &[u8], at: usize, floor: usize) -> Option<(usize, usize, usize)> {
    let first = after_escape(bytes, skip_back_while(bytes, at, floor, u8::is_ascii_alphabetic));
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

/// The words of a run, one by one.
fn words_of(bytes: &[u8], start: usize, end: usize) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = start;
    while let Some((from, to)) = word_from(bytes, at).filter(|(_, to)| *to <= end) {
        words.push(from..to);
        at = to;
    }
    words
}

/// The list word that begins here or after a gap.
fn word_from(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = skip_gap(bytes, at)?;
    let end = skip_while(bytes, start, u8::is_ascii_alphabetic);
    in_list(&bytes[start..end]).then_some((start, end))
}

/// Skips spaces, commas, numbering, quotes and escaped line ends, but not the end of a sentence.
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

/// The position after an escape's letter: the `n` of `\n` before a word is not part of it.
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
    let from = after_escape(bytes, skip_back_while(bytes, end, floor, u8::is_ascii_alphabetic));
    (end < start && in_list(bytes.get(from..end)?)).then_some(from)
}

fn skip_back_while(bytes: &[u8], mut at: usize, floor: usize, is: impl Fn(&u8) -> bool) -> usize {
    while at > floor && is(&bytes[at - 1]) {
        at -= 1;
    }
    at
}

fn skip_while(bytes: &[u8], mut at: usize, is: impl Fn(&u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(&is) {
        at += 1;
    }
    at
}
