//! A search for many literals that passes quickly over text without any.
//!
//! Each literal begins with one of a few hundred groups of three letters, and most with one of as many groups of four.
//! Tables say whether a group is one of them, so the automaton, which is slower per byte, runs only from such a group on.

use aho_corasick::{AhoCorasick, Input, Match};
use std::ops::Range;

/// Number of bits of a table's index.
const INDEX_BITS: u32 = 16;
/// Number of words that hold a table's bits.
const WORDS: usize = 1 << (INDEX_BITS - 6);

/// An automaton with tables of its literals' beginnings; ASCII letters are equal in both cases.
pub(super) struct Prefiltered {
    automaton: AhoCorasick,
    /// The first three bytes of all literals.
    begins: Grams,
    /// Those of the literals of at most three bytes.
    short: Grams,
    /// The first four bytes of the others.
    long: Grams,
    /// For each index of the first table: the length of the longest literal that begins so.
    reach: Vec<u8>,
}

impl Prefiltered {
    /// Takes an automaton with its literals, of at least two bytes each.
    pub(super) fn new(automaton: AhoCorasick, literals: &[String]) -> Self {
        let (mut begins, mut short, mut long) = <(Grams, Grams, Grams)>::default();
        let mut reach = vec![0; 1 << INDEX_BITS];
        for literal in literals {
            let length = u8::try_from(literal.len()).unwrap_or(u8::MAX);
            let mut add = |group: [u8; 4]| {
                let index = first_three(group);
                begins.add(index);
                reach[index] = length.max(reach[index]);
            };
            match *literal.as_bytes() {
                [a, b, c, d, ..] => {
                    add([a, b, c, d]);
                    long.add(first_four([a, b, c, d]));
                }
                [a, b, c] => {
                    add([a, b, c, 0]);
                    short.add(first_three([a, b, c, 0]));
                }
                [a, b] => (0..=u8::MAX).for_each(|c| {
                    add([a, b, c, 0]);
                    short.add(first_three([a, b, c, 0]));
                }),
                _ => debug_assert!(false, "a literal of a single byte"),
            }
        }
        Self { automaton, begins, short, long, reach }
    }

    /// The number of literals.
    pub(super) fn count(&self) -> usize {
        self.automaton.patterns_len()
    }

    /// All matches, in the order in which they end.
    pub(super) fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Match> + 'a {
        let mut from = 0;
        let windows = std::iter::from_fn(move || {
            let window = self.window(text.as_bytes(), from)?;
            from = window.end;
            Some(window)
        });
        windows.flat_map(move |window| self.automaton.find_overlapping_iter(Input::new(text).span(window)))
    }

    /// The next part of the text in which literals can begin and end, with nothing of it before `from`.
    fn window(&self, bytes: &[u8], from: usize) -> Option<Range<usize>> {
        let (start, reach) = self.begin(bytes, from, bytes.len())?;
        let mut end = start + reach;
        let mut next = start + 1;
        while let Some((at, reach)) = self.begin(bytes, next, end.min(bytes.len())) {
            end = end.max(at + reach);
            next = at + 1;
        }
        Some(start..end.min(bytes.len()))
    }

    /// The first place before `end` where a literal can begin, and its maximum length.
    fn begin(&self, bytes: &[u8], mut from: usize, end: usize) -> Option<(usize, usize)> {
        let whole = end.min(bytes.len().saturating_sub(3));
        while from < whole {
            let group = |group: &[u8]| [group[0], group[1], group[2], group[3]];
            let mut groups = bytes[from..whole + 3].windows(4).map(group);
            let Some(at) = groups.position(|group| self.begins.has(first_three(group))) else { break };
            let at = from + at;
            if let Some(reach) = self.reach_of(group(&bytes[at..at + 4])) {
                return Some((at, reach));
            }
            from = at + 1;
        }
        // At the end of the text, bytes are missing from a group; the literals of two bytes still match.
        (from.max(whole)..end.min(bytes.len().saturating_sub(1))).find_map(|at| {
            let third = bytes.get(at + 2).copied().unwrap_or_default();
            Some((at, self.reach_of([bytes[at], bytes[at + 1], third, 0])?))
        })
    }

    /// The maximum length of a literal that begins with this group; `None` if there is none.
    fn reach_of(&self, group: [u8; 4]) -> Option<usize> {
        let index = first_three(group);
        let begins = self.short.has(index) || self.long.has(first_four(group)) && self.begins.has(index);
        begins.then(|| usize::from(self.reach[index]))
    }
}

/// A set of groups of bytes. A group that is not in it can appear to be.
#[derive(Clone)]
pub(super) struct Grams(Box<[u64; WORDS]>);

impl Default for Grams {
    fn default() -> Self {
        Self(Box::new([0; WORDS]))
    }
}

impl Grams {
    fn add(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }
}

/// The shortest text that [`Samples`] can search for.
pub(super) const MIN_SAMPLED: usize = 8;
/// Every group that begins in this many bytes of a needle is in the set, so one group in as many bytes is read.
const STRIDE: usize = MIN_SAMPLED - 2;

/// Whether a text can contain one of some needles, each of at least [`MIN_SAMPLED`] bytes.
#[derive(Clone, Default)]
pub(super) struct Samples(Grams);

impl Samples {
    /// The samples of these needles; `None` when one is too short.
    pub(super) fn of(needles: &[Vec<u8>]) -> Option<Self> {
        let mut grams = Grams::default();
        for needle in needles {
            if needle.len() < MIN_SAMPLED {
                return None;
            }
            needle[..MIN_SAMPLED].windows(3).for_each(|gram| grams.add(exact_three(gram)));
        }
        Some(Self(grams))
    }

    /// Whether it can.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(3).step_by(STRIDE).any(|gram| self.0.has(exact_three(gram)))
    }
}

/// The index of three bytes.
fn exact_three(group: &[u8]) -> usize {
    index_of(u32::from_le_bytes([group[0], group[1], group[2], 0]))
}

/// The bit that differs between the cases of an ASCII letter. Other characters that differ in it share an index.
const CASE: u32 = 0x2020_2020;

/// The index of the first three bytes, the same for both cases of a letter.
fn first_three(group: [u8; 4]) -> usize {
    index_of((u32::from_le_bytes(group) | CASE) & 0x00FF_FFFF)
}

/// The index of all four bytes, the same for both cases of a letter.
fn first_four(group: [u8; 4]) -> usize {
    index_of(u32::from_le_bytes(group) | CASE)
}

fn index_of(group: u32) -> usize {
    // Multiplying by a large odd number spreads the groups over the table (Fibonacci hashing).
    (group.wrapping_mul(0x9E37_79B1) >> (32 - INDEX_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITERALS: [&str; 9] = ["key", "api key", "api", "-u", "6p", "p6p", "\\u", "keystone", "y-k"];

    fn prefiltered() -> Prefiltered {
        let literals = LITERALS.map(str::to_owned);
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&literals).expect("builds");
        Prefiltered::new(automaton, &literals)
    }

    /// Every text of these pieces, up to five of them.
    fn texts() -> Vec<String> {
        let pieces = ["api ", "KEY", "k", "ey", "-U", "6", "p", "\\u", "keyston", "e", " 1,2 ", "密"];
        let mut texts = vec![String::new()];
        let mut last = texts.clone();
        for _ in 0..4 {
            last = last.iter().flat_map(|text| pieces.map(|piece| format!("{text}{piece}"))).collect();
            texts.extend_from_slice(&last);
        }
        texts
    }

    // Goal: the table loses no match and changes no order.
    #[test]
    fn the_matches_are_those_of_the_automaton() {
        let literals = prefiltered();
        for text in texts() {
            let all: Vec<Match> = literals.automaton.find_overlapping_iter(&text).collect();
            assert_eq!(literals.matches(&text).collect::<Vec<_>>(), all, "{text}");
        }
    }

    // Goal: a needle is noticed at every position and with anything around it.
    #[test]
    fn samples_notice_every_needle() {
        let needles = [b"abcdefgh".to_vec(), b"0123456789".to_vec()];
        let samples = Samples::of(&needles).expect("long enough");
        for needle in &needles {
            for before in 0..20 {
                for after in 0..20 {
                    let text = [vec![b'x'; before], needle.clone(), vec![b'x'; after]].concat();
                    assert!(samples.may_be_in(&text));
                }
            }
        }
        assert!(!samples.may_be_in(&[b'x'; 100]));
        assert!(Samples::of(&[b"1234567".to_vec()]).is_none());
    }
}
