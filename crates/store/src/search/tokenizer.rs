//! Tokenizer.

use std::collections::BTreeSet;

/// Longer words are truncated, in texts and queries alike.
const WORD_CHARS: usize = 64;
/// Max bytes of distinct words indexed per text: PostgreSQL's limit is 1 MB.
const TEXT_BYTES: usize = 400_000;
/// Max words per query; the rest is ignored.
const QUESTION_WORDS: usize = 32;

/// The words under which a text is indexed, in order.
pub(super) fn indexed(text: &str) -> Vec<String> {
    let mut bytes = 0;
    words(text, true)
        .into_iter()
        .map(|word| word.text)
        .take_while(|word| {
            bytes += word.len();
            bytes <= TEXT_BYTES
        })
        .collect()
}

/// The words of a query.
pub(super) fn query_tokens(question: &str) -> Vec<Word> {
    words(question, false).into_iter().take(QUESTION_WORDS).collect()
}

/// Whether a text with these [`indexed`] words contains all words of the query.
pub(super) fn has_all(indexed: &[String], asked: &[Word]) -> bool {
    asked.iter().all(|word| {
        let from = indexed.partition_point(|had| *had < word.text);
        indexed.get(from).is_some_and(|had| *had == word.text || (word.prefix && had.starts_with(&word.text)))
    })
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) text: String,
    /// Matches any word with this prefix: a single character that may be followed by another.
    pub(super) prefix: bool,
}

/// The words of a text to be indexed (`indexed`), or of a query.
fn words(text: &str, indexed: bool) -> BTreeSet<Word> {
    let mut words = BTreeSet::new();
    let mut plain = String::new();
    let mut run: Vec<char> = Vec::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        let is_unspaced = is_unspaced(c);
        if is_unspaced || !c.is_alphanumeric() {
            add_plain(&mut plain, &mut words);
        }
        if !is_unspaced {
            add_run(&mut run, indexed, &mut words);
        }
        if is_unspaced {
            run.push(c);
        } else if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        }
    }
    words
}

fn add_plain(plain: &mut String, words: &mut BTreeSet<Word>) {
    if !plain.is_empty() {
        words.insert(Word { text: plain.chars().take(WORD_CHARS).collect(), prefix: false });
        plain.clear();
    }
}

fn add_run(run: &mut Vec<char>, indexed: bool, words: &mut BTreeSet<Word>) {
    words.extend(run.windows(2).map(|pair| Word { text: pair.iter().collect(), prefix: false }));
    if let Some(last) = run.last().filter(|_| indexed || run.len() == 1) {
        words.insert(Word { text: last.to_string(), prefix: !indexed });
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

    fn check(text: &str, indexed: bool, expected: &[&str]) {
        let found: Vec<String> = words(text, indexed)
            .into_iter()
            .map(|word| word.text + if word.prefix { "*" } else { "" })
            .collect();
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
    fn a_text_has_what_is_asked_for() {
        let has = |text: &str, question: &str| has_all(&indexed(text), &query_tokens(question));
        assert!(has("Buy 10 AAPL", "aapl buy"));
        assert!(!has("Buy 10 AAPL", "aapl sell"));
        assert!(!has("Buy 10 AAPL", "aap"), "a part is another word");
        assert!(has("贵州茅台", "茅") && has("贵州茅台", "台") && has("贵州茅台", "茅台"));
        assert!(!has("贵州茅台", "贵台"));
    }
}
