//! Tokenizer of uncased BERT models: cleans the text, lower-cases it, strips accents, splits it at spaces and
//! punctuation, then splits each word into the longest pieces in the vocabulary.

use super::ModelError;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// A longer word is unknown as a whole.
const WORD_CHARS: usize = 100;

/// A vocabulary and its tokenizer.
#[derive(Clone, Debug)]
pub struct WordPiece {
    pieces: HashMap<String, u32>,
    len: usize,
    unknown: u32,
    first: u32,
    last: u32,
}

impl WordPiece {
    /// Parses a `vocab.txt`: one piece per line, numbered from 0.
    ///
    /// # Errors
    /// Returns an error if `[UNK]`, `[CLS]` or `[SEP]` is missing.
    pub fn new(vocabulary: &str) -> Result<Self, ModelError> {
        let lines = vocabulary.strip_suffix('\n').unwrap_or(vocabulary).split('\n');
        let pieces: HashMap<String, u32> =
            (0_u32..).zip(lines).map(|(id, piece)| (piece.trim_end_matches('\r').to_owned(), id)).collect();
        let special = |name: &str| {
            let id = pieces.get(name).copied();
            id.ok_or_else(|| ModelError::Vocabulary(format!("has no `{name}`")))
        };
        let (unknown, first, last) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        let len = vocabulary.strip_suffix('\n').unwrap_or(vocabulary).split('\n').count();
        Ok(Self { pieces, len, unknown, first, last })
    }

    /// Number of pieces in the vocabulary.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the vocabulary is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The text's tokens between `[CLS]` and `[SEP]`, at most `most` in total.
    #[must_use]
    pub fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let room = most.saturating_sub(2);
        let mut tokens = vec![self.first];
        for word in words(text) {
            // Skip text beyond the limit.
            if tokens.len() > room {
                break;
            }
            self.tokenize_word(&word, &mut tokens);
        }
        tokens.truncate(room + 1);
        tokens.push(self.last);
        tokens
    }

    /// Greedy longest match from the left; if no piece matches, the whole word is unknown.
    fn tokenize_word(&self, word: &str, tokens: &mut Vec<u32>) {
        if word.chars().count() > WORD_CHARS {
            tokens.push(self.unknown);
            return;
        }
        let begun = tokens.len();
        let mut start = 0;
        let mut piece = String::new();
        while start < word.len() {
            let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
            let ends: Vec<usize> = ends.collect();
            let found = ends.into_iter().rev().find_map(|end| {
                piece.clear();
                if start > 0 {
                    piece.push_str("##");
                }
                piece.push_str(&word[start..end]);
                Some((end, *self.pieces.get(&piece)?))
            });
            let Some((end, id)) = found else {
                tokens.truncate(begun);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(id);
            start = end;
        }
    }
}

/// The words of a text: runs without spaces; each punctuation mark and each Chinese character is a word.
fn words(text: &str) -> impl Iterator<Item = String> {
    let cleaned = text.chars().filter(|c| !is_dropped(*c));
    let mut spaced = String::with_capacity(text.len() + text.len() / 8);
    for c in cleaned {
        if is_space(c) {
            spaced.push(' ');
        } else if is_chinese(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    let plain = spaced.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark);
    let lower: String = plain.flat_map(char::to_lowercase).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for c in lower.chars() {
        let mark = is_mark(c);
        if (mark || c.is_whitespace()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if mark {
            words.push(c.to_string());
        } else if !c.is_whitespace() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.into_iter()
}

/// Characters that carry no meaning, such as control characters, except spaces.
fn is_dropped(c: char) -> bool {
    c == '\0'
        || c == '\u{fffd}'
        || (!matches!(c, '\t' | '\n' | '\r')
            && matches!(
                c.general_category(),
                GeneralCategory::Control
                    | GeneralCategory::Format
                    | GeneralCategory::PrivateUse
                    | GeneralCategory::Unassigned
            ))
}

fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Punctuation, and every ASCII character that is not a letter, digit or space.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of Han characters used in the models' training.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4e00..=0x9fff
        | 0x3400..=0x4dbf
        | 0x20000..=0x2a6df
        | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f
        | 0x2b920..=0x2ceaf
        | 0xf900..=0xfaff
        | 0x2f800..=0x2fa1f)
}
