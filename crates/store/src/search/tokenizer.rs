//! Tokenizer.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

/// Longer words are truncated, in texts and queries alike.
const WORD_CHARS: usize = 64;
/// Max bytes of distinct words indexed per text: PostgreSQL's limit is 1 MB.
const TEXT_BYTES: usize = 400_000;
/// Max words per query; the rest is ignored.
const QUESTION_WORDS: usize = 32;

/// The words under which a text is indexed, in order, each once.
#[derive(Debug, Default)]
pub(super) struct IndexedWords {
    /// The words as they appear in the text, in lower case.
    buffer: String,
    words: Vec<Range<usize>>,
}

impl IndexedWords {
    pub(super) fn of(text: &str) -> Self {
        let mut all = Self { buffer: String::with_capacity(text.len()), words: Vec::new() };
        each_word(text, true, |word, _| {
            let start = all.buffer.len();
            all.buffer.push_str(word);
            all.words.push(start..all.buffer.len());
        });
        let Self { buffer, words } = all;
        let mut words = sorted(&buffer, words);
        let mut bytes = 0;
        let within = words.partition_point(|word| {
            bytes += word.len();
            bytes <= TEXT_BYTES
        });
        words.truncate(within);
        Self { buffer, words }
    }

    /// Separated by spaces.
    pub(super) fn joined(&self) -> String {
        let mut joined = String::with_capacity(self.words.iter().map(|word| word.len() + 1).sum());
        for word in &self.words {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(&self.buffer[word.clone()]);
        }
        joined
    }

    /// Whether the text contains all words of the query.
    pub(super) fn has_all(&self, asked: &[Word]) -> bool {
        asked.iter().all(|word| {
            let from = self.words.partition_point(|had| self.buffer[had.clone()] < *word.text);
            let found = self.words.get(from).map(|had| &self.buffer[had.clone()]);
            found.is_some_and(|had| *had == word.text || (word.prefix && had.starts_with(&word.text)))
        })
    }
}

/// The words in order, each once.
fn sorted(buffer: &str, words: Vec<Range<usize>>) -> Vec<Range<usize>> {
    const FIRST: usize = 8;
    // Most words are no longer than their first bytes, which are compared as one number. No word has a NUL.
    let first = |word: &Range<usize>| {
        let mut first = [0; FIRST];
        let length = word.len().min(FIRST);
        first[..length].copy_from_slice(&buffer.as_bytes()[word.start..word.start + length]);
        u64::from_be_bytes(first)
    };
    let rest = |word: &Range<usize>| &buffer.as_bytes()[word.end.min(word.start + FIRST)..word.end];
    let mut words: Vec<(u64, Range<usize>)> = words.into_iter().map(|word| (first(&word), word)).collect();
    words.sort_unstable_by(|(one, word), (other, next)| {
        one.cmp(other).then_with(|| match word.len().max(next.len()) {
            0..=FIRST => Ordering::Equal,
            _ => rest(word).cmp(rest(next)),
        })
    });
    words.dedup_by(|(one, word), (other, next)| one == other && rest(word) == rest(next));
    words.into_iter().map(|(_, word)| word).collect()
}

/// The words of a query.
pub(super) fn query_tokens(question: &str) -> Vec<Word> {
    query_words(question).into_iter().take(QUESTION_WORDS).collect()
}

fn query_words(question: &str) -> BTreeSet<Word> {
    let mut words = BTreeSet::new();
    each_word(question, false, |text, prefix| {
        words.insert(Word { text: text.to_owned(), prefix });
    });
    words
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) text: String,
    /// Matches any word with this prefix: a single character that may be followed by another.
    pub(super) prefix: bool,
}

/// Calls `add` with each word of a text to be indexed (`indexed`), or of a query, and with whether it is a prefix.
fn each_word(text: &str, indexed: bool, mut add: impl FnMut(&str, bool)) {
    let mut plain = String::new();
    let mut run: Vec<char> = Vec::new();
    let mut rest = text;
    loop {
        // Most of most texts is ASCII, where nothing has to be looked up.
        let ascii = rest.bytes().take_while(u8::is_ascii).count();
        let mut line = &rest[..ascii];
        while let Some(start) = line.bytes().position(|byte| byte.is_ascii_alphanumeric()) {
            if start > 0 {
                add_plain(&mut plain, &mut add);
            }
            add_run(&mut run, indexed, &mut add);
            let word = &line[start..];
            let length = word.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(word.len());
            // A word in lower case that ends here is passed on where it is.
            let is_whole = plain.is_empty() && length < word.len() && length <= WORD_CHARS;
            if is_whole && !word[..length].bytes().any(|byte| byte.is_ascii_uppercase()) {
                add(&word[..length], false);
            } else {
                let from = plain.len();
                plain.push_str(&word[..length]);
                plain[from..].make_ascii_lowercase();
            }
            line = &word[length..];
        }
        if !line.is_empty() {
            add_plain(&mut plain, &mut add);
            add_run(&mut run, indexed, &mut add);
        }
        let mut chars = rest[ascii..].chars();
        let Some(c) = chars.next() else { break };
        rest = chars.as_str();
        let is_unspaced = is_unspaced(c);
        if is_unspaced || !c.is_alphanumeric() {
            add_plain(&mut plain, &mut add);
        }
        if !is_unspaced {
            add_run(&mut run, indexed, &mut add);
        }
        if is_unspaced {
            run.push(c);
        } else if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        }
    }
    add_plain(&mut plain, &mut add);
    add_run(&mut run, indexed, &mut add);
}

fn add_plain(plain: &mut String, add: &mut impl FnMut(&str, bool)) {
    if plain.is_empty() {
        return;
    }
    let end = match plain.len() {
        0..=WORD_CHARS => plain.len(),
        _ => plain.char_indices().nth(WORD_CHARS).map_or(plain.len(), |(at, _)| at),
    };
    add(&plain[..end], false);
    plain.clear();
}

fn add_run(run: &mut Vec<char>, indexed: bool, add: &mut impl FnMut(&str, bool)) {
    if run.is_empty() {
        return;
    }
    let mut word = String::new();
    for pair in run.windows(2) {
        word.clear();
        word.extend(pair);
        add(&word, false);
    }
    if let Some(last) = run.last().filter(|_| indexed || run.len() == 1) {
        word.clear();
        word.push(*last);
        add(&word, !indexed);
    }
    run.clear();
}

/// Scripts without spaces between words, or whose parts of words carry meaning.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff      // Thai, Lao
        | 0x1000..=0x109f    // Burmese
        | 0x1100..=0x11ff    // Hangul Jamo
        | 0x1780..=0x17ff    // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30ff    // Hiragana, Katakana
        | 0x3130..=0x318f
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf    // Han
        | 0x4e00..=0x9fff
        | 0xac00..=0xd7af    // Hangul
        | 0xf900..=0xfaff
        | 0xff66..=0xff9f
        | 0x20000..=0x3ffff)
        && c != '\u{30fb}'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, indexed: bool, expected: &[&str]) {
        let found: Vec<String> = match indexed {
            true => IndexedWords::of(text).joined().split_whitespace().map(str::to_owned).collect(),
            false => {
                let words = query_words(text).into_iter();
                words.map(|word| word.text + if word.prefix { "*" } else { "" }).collect()
            }
        };
        assert_eq!(found, expected, "of {text:?}");
    }

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        check("Buy 10 AAPL, because -- \"Momentum\"!", true, &["10", "aapl", "because", "buy", "momentum"]);
        check("NOT (a OR b*) ^col:x \"", false, &["a", "b", "col", "not", "or", "x"]);
        check("'; --", false, &[]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_any_part() {
        check("贵州茅台", true, &["台", "州茅", "茅台", "贵州"]);
        check("茅台", false, &["茅台"]);
        check("茅", false, &["茅*"]);
        check("买入AAPL股", true, &["aapl", "买入", "入", "股"]);
    }

    #[test]
    fn words_are_truncated_and_listed_once() {
        let long = "Ä".repeat(70);
        let truncated = "ä".repeat(64);
        check(&format!("b {long} a B {long}z"), true, &["a", "b", &truncated]);
        check(&"x".repeat(65), true, &[&"x".repeat(64)]);
        check(&"x".repeat(65), false, &[&"x".repeat(64)]);
        check("naïve café—Δx 股a股", true, &["a", "café", "naïve", "δx", "股"]);
    }

    /// The words of a text as the module's documentation defines them, without any shortcut.
    fn defined(text: &str) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        let kind = |c: char| match c {
            c if is_unspaced(c) => 2,
            c if c.is_alphanumeric() => 1,
            _ => 0,
        };
        let chars: Vec<char> = text.chars().collect();
        for run in chars.chunk_by(|left, right| kind(*left) == kind(*right)) {
            match kind(run[0]) {
                1 => {
                    let lower = run.iter().flat_map(|c| c.to_lowercase());
                    words.insert(lower.take(WORD_CHARS).collect());
                }
                2 => {
                    words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
                    words.extend(run.last().map(char::to_string));
                }
                _ => {}
            }
        }
        words
    }

    proptest! {
        /// Goal: what is faster for ASCII changes nothing.
        #[test]
        fn words_are_as_defined(text in "([a-cX-Z0-1 ,.—éİßΣ贵州茅台ภาษ・\\u{1F600}]|[a-z]{60,70}){0,40}") {
            let words = IndexedWords::of(&text).joined();
            let expected: Vec<String> = defined(&text).into_iter().collect();
            prop_assert_eq!(words, expected.join(" "));
        }

        /// Goal: the words of a text are those of its query, whatever the mix of scripts.
        #[test]
        fn a_text_is_found_by_its_own_words(text in "[a-zA-Z0-9 ,.—éİßΣ贵州茅台ภาษ\\u{1F600}]{0,60}") {
            let words = query_words(&text);
            prop_assert!(IndexedWords::of(&text).has_all(&words.into_iter().collect::<Vec<_>>()));
        }
    }

    #[test]
    fn a_text_has_what_is_asked_for() {
        let has = |text: &str, question: &str| IndexedWords::of(text).has_all(&query_tokens(question));
        assert!(has("Buy 10 AAPL", "aapl buy"));
        assert!(!has("Buy 10 AAPL", "aapl sell"));
        assert!(!has("Buy 10 AAPL", "aap"), "a part is another word");
        assert!(has("贵州茅台", "茅") && has("贵州茅台", "台") && has("贵州茅台", "茅台"));
        assert!(!has("贵州茅台", "贵台"));
    }
}
