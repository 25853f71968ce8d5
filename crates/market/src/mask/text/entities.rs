//! Symbols and names in texts.

use super::span::{Span, is_bounded};
use crate::error::MarketError;
use crate::mask::names;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use papertape_core::id::Symbol;
use rust_decimal::Decimal;

/// Words that are tickers too. They are replaced where a text marks them as a ticker: `$IT`, `(NYSE: A)`.
const TICKER_WORDS: &[&str] = &[
    "A", "AI", "ALL", "AN", "ARE", "AT", "BE", "BIG", "BY", "CEO", "CAN", "DO", "EPS", "ETF", "EU", "EV",
    "FOR", "GDP", "GO", "GOOD", "HAS", "HE", "IF", "IN", "IPO", "IS", "IT", "LOW", "ME", "MY", "NEW", "NEXT",
    "NO", "NOW", "OF", "ON", "ONE", "OPEN", "OR", "OUT", "PM", "REAL", "SEE", "SO", "THE", "TO", "TV", "TWO",
    "UK", "UP", "US", "USA", "WE", "WELL", "YOU",
];
/// The same in lower case, where more symbols are words.
const LOWER_CASE_TICKERS: &[&str] = &[
    "ally", "any", "ball", "bank", "best", "bill", "bro", "cake", "car", "care", "cars", "cash", "cat",
    "chat", "coin", "cost", "cube", "dash", "day", "deck", "dog", "dow", "east", "eat", "edit", "else",
    "ever", "expo", "fast", "fine", "fit", "five", "flow", "fold", "form", "fun", "gap", "gas", "gold",
    "grow", "hear", "hope", "hot", "hub", "ice", "job", "joy", "key", "land", "laws", "life", "live", "loan",
    "loop", "love", "main", "man", "mar", "mat", "max", "may", "nice", "oil", "old", "par", "pay", "peak",
    "pen", "pets", "play", "plus", "pool", "post", "pump", "ring", "rest", "run", "safe", "sail", "sand",
    "save", "self", "ship", "shop", "site", "six", "snap", "snow", "spot", "star", "stay", "stem", "tap",
    "team", "tech", "tell", "then", "this", "trip", "true", "turn", "use", "vote", "wait", "wing", "wish",
    "work", "zip",
];

/// How a form of an entity may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mask) enum FormKind {
    /// Letters: in upper case, in lower case, and after `$`.
    Ticker,
    /// Digits, with an exchange or without.
    Code,
    /// A name in Latin script.
    Name,
    /// A name in Chinese characters, which nothing delimits.
    Chinese,
}

/// One way to write an entity.
#[derive(Clone, Debug)]
pub(in crate::mask) struct Form {
    pub(in crate::mask) text: String,
    pub(in crate::mask) masked: String,
    pub(in crate::mask) kind: FormKind,
}

/// A company or an instrument.
#[derive(Clone, Debug)]
pub(in crate::mask) struct Entity {
    /// Its symbols in the dataset; none if it only occurs in texts.
    pub(in crate::mask) symbols: Vec<Symbol>,
    pub(in crate::mask) forms: Vec<Form>,
    /// Masked price per real price.
    pub(in crate::mask) price_factor: Decimal,
    /// Masked total per real total, such as revenue.
    pub(in crate::mask) size_factor: Decimal,
}

/// Entities, found in texts by any of their forms.
#[derive(Debug)]
pub(in crate::mask) struct Entities {
    entities: Vec<Entity>,
    /// The entity and the form of each pattern.
    patterns: Vec<(usize, usize)>,
    automaton: AhoCorasick,
}

impl Entities {
    pub(in crate::mask) fn new(entities: Vec<Entity>) -> Result<Self, MarketError> {
        let patterns: Vec<(usize, usize)> = (0..entities.len())
            .flat_map(|at| (0..entities[at].forms.len()).map(move |form| (at, form)))
            .collect();
        let texts = patterns.iter().map(|(at, form)| &entities[*at].forms[*form].text);
        let automaton = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(texts);
        let automaton = automaton.map_err(|error| MarketError::Mask(error.to_string()))?;
        Ok(Self { entities, patterns, automaton })
    }

    /// The entity of a symbol of the dataset.
    pub(super) fn of_symbol(&self, symbol: &Symbol) -> Option<&Entity> {
        self.entities.iter().find(|entity| entity.symbols.contains(symbol))
    }

    /// The names and symbols in a text.
    pub(super) fn find(&self, text: &str) -> Vec<Span> {
        self.matches(text)
            .map(|(start, end, _, form)| Span {
                start,
                end,
                replacement: form.replacement(&text[start..end]),
            })
            .collect()
    }

    /// Where a text names which entity of the dataset.
    pub(super) fn mentions<'a>(&'a self, text: &'a str) -> Vec<(usize, &'a Entity)> {
        let known = self.matches(text).filter(|(.., entity, _)| !entity.symbols.is_empty());
        known.map(|(start, _, entity, _)| (start, entity)).collect()
    }

    fn matches<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, usize, &'a Entity, &'a Form)> {
        self.automaton.find_overlapping_iter(text).filter_map(move |found| {
            let (at, form) = *self.patterns.get(found.pattern().as_usize())?;
            let entity = &self.entities[at];
            let form = &entity.forms[form];
            let (start, end) = (found.start(), found.end());
            form.is_meant(text, start, end).then_some((start, end, entity, form))
        })
    }
}

impl Form {
    /// Whether the match is this form, not a part of a word or a word itself.
    fn is_meant(&self, text: &str, start: usize, end: usize) -> bool {
        let found = &text[start..end];
        match self.kind {
            FormKind::Chinese => true,
            FormKind::Code => is_bounded(text, start, end),
            FormKind::Name => {
                let is_lower = !found.chars().any(char::is_uppercase);
                let is_upper = !found.chars().any(char::is_lowercase);
                // `AppleInsider` names Apple, and `APPLEBEE` does not.
                let begins_word =
                    !text[..start].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
                let is_camel_case = !is_upper && text[end..].starts_with(|c: char| c.is_ascii_uppercase());
                let is_whole = is_bounded(text, start, end) || (begins_word && is_camel_case);
                is_whole && !(is_lower && names::is_word(found))
            }
            FormKind::Ticker => {
                if !is_bounded(text, start, end) {
                    return false;
                }
                if text[..start].ends_with('$') || (found == self.text && is_marked(text, start)) {
                    return true;
                }
                if found == self.text {
                    return !TICKER_WORDS.contains(&found);
                }
                let lower = found.to_ascii_lowercase();
                let is_word = TICKER_WORDS.contains(&lower.to_ascii_uppercase().as_str())
                    || LOWER_CASE_TICKERS.contains(&lower.as_str());
                let is_long = found.len() >= if found == lower { 2 } else { 4 };
                is_long && !is_word
            }
        }
    }

    /// The masked form in the case of what was found.
    fn replacement(&self, found: &str) -> String {
        let has_letters = found.chars().any(char::is_alphabetic);
        if found == self.text || !has_letters {
            self.masked.clone()
        } else if !found.chars().any(char::is_uppercase) {
            self.masked.to_lowercase()
        } else if !found.chars().any(char::is_lowercase) {
            self.masked.to_uppercase()
        } else {
            self.masked.clone()
        }
    }
}

/// Whether the text marks what begins here as a ticker: `(A`, `NYSE:A`, `NYSE: A`, `#A`.
fn is_marked(text: &str, start: usize) -> bool {
    let before = text[..start].strip_suffix(' ').unwrap_or(&text[..start]);
    text[..start].ends_with(['(', '#', '（']) || before.ends_with([':', '：'])
}
