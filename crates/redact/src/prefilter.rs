//! A search for many literals that passes quickly over text without any.
//!
//! Each literal begins with one of a few hundred groups of three letters. A table says whether a group is one of them,
//! so the automaton, which is slower per byte, runs only from such a group on.

use aho_corasick::{AhoCorasick, Input, Match};
use std::ops::Range;

/// Number of bits of the table's index.
const INDEX_BITS: u32 = 16;

/// An automaton with the table of its literals' beginnings; ASCII letters are equal in both cases.
pub(super) struct Prefiltered {
    automaton: AhoCorasick,
    begins: Grams,
    /// For each index of the table: the length of the longest literal that begins so.
    reach: Vec<u8>,
}

impl Prefiltered {
    /// Takes an automaton with its literals, of at least two bytes each.
    pub(super) fn new(automaton: AhoCorasick, literals: &[String]) -> Self {
        let mut begins = Grams::default();
        let mut reach = vec![0; 1 << INDEX_BITS];
        for literal in literals {
            let length = u8::try_from(literal.len()).unwrap_or(u8::MAX);
            let mut add = |index: usize| {
                begins.add(index);
                reach[index] = length.max(reach[index]);
            };
            match *literal.as_bytes() {
                [a, b, c, ..] => add(folded(a, b, c)),
                [a, b] => (0..=u8::MAX).for_each(|c| add(folded(a, b, c))),
                _ => debug_assert!(false, "a literal of a single byte"),
            }
        }
        Self { automaton, begins, reach }
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
        let (start, index) = self.begin(bytes, from, bytes.len())?;
        let mut end = start + usize::from(self.reach[index]);
        let mut next = start + 1;
        while let Some((at, index)) = self.begin(bytes, next, end.min(bytes.len())) {
            end = end.max(at + usize::from(self.reach[index]));
            next = at + 1;
        }
        Some(start..end.min(bytes.len()))
    }

    /// The first place before `end` where a literal can begin, with its index.
    fn begin(&self, bytes: &[u8], from: usize, end: usize) -> Option<(usize, usize)> {
        let last = bytes.len().checked_sub(2)?;
        let whole = end.min(last);
        if from < whole {
            let mut groups =
                bytes[from..whole + 2].windows(3).map(|group| folded(group[0], group[1], group[2]));
            if let Some(at) = groups.position(|index| self.begins.has(index)) {
                let group = &bytes[from + at..];
                return Some((from + at, folded(group[0], group[1], group[2])));
            }
        }
        // The literals of two bytes also match at the end of the text, where no third byte follows.
        let index = folded(bytes[last], bytes[last + 1], 0);
        ((from..end).contains(&last) && self.begins.has(index)).then_some((last, index))
    }
}

/// A set of groups of three bytes. A group that is not in it can appear to be.
#[derive(Clone)]
pub(super) struct Grams(Vec<u64>);

impl Default for Grams {
    fn default() -> Self {
        Self(vec![0; 1 << (INDEX_BITS - 6)])
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
            needle[..MIN_SAMPLED].windows(3).for_each(|gram| grams.add(index_of(gram[0], gram[1], gram[2])));
        }
        Some(Self(grams))
    }

    /// Whether it can.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        bytes.windows(3).step_by(STRIDE).any(|gram| self.0.has(index_of(gram[0], gram[1], gram[2])))
    }
}

/// The index of a group, the same for both cases of a letter.
fn folded(a: u8, b: u8, c: u8) -> usize {
    // The bit that differs between the cases. Other characters that differ in it share an index.
    index_of(a | 0x20, b | 0x20, c | 0x20)
}

fn index_of(a: u8, b: u8, c: u8) -> usize {
    let group = u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c);
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
