//! An index of lessons for keyword search: a search reads the lessons that share a word with the query, and a few
//! numbers of the others, but no text.

use papertape_core::id::Symbol;
use papertape_core::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// A lesson as the index takes it.
pub(super) struct LessonEntry {
    pub(super) symbol: Symbol,
    /// The text to search.
    pub(super) text: String,
    /// The score for its value.
    pub(super) value: usize,
    /// Whether it was not written by the template.
    pub(super) is_judged: bool,
    pub(super) known_at: Timestamp,
    pub(super) trade_id: u64,
}

/// The numbers that rank a lesson, besides its words.
#[derive(Clone, Debug)]
pub(super) struct IndexedLesson {
    /// The number of its symbol.
    pub(super) symbol: usize,
    pub(super) value: usize,
    pub(super) is_judged: bool,
    pub(super) known_at: Timestamp,
    pub(super) trade_id: u64,
}

/// Lessons in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct LessonIndex {
    lessons: Vec<IndexedLesson>,
    symbols: BTreeMap<Symbol, usize>,
    /// The positions of the lessons with each word.
    by_word: BTreeMap<String, Vec<usize>>,
}

impl LessonIndex {
    fn add(&mut self, entry: LessonEntry) {
        let LessonEntry { symbol, text, value, is_judged, known_at, trade_id } = entry;
        let next = self.symbols.len();
        let symbol = *self.symbols.entry(symbol).or_insert(next);
        for word in words(&text) {
            self.by_word.entry(word).or_default().push(self.lessons.len());
        }
        self.lessons.push(IndexedLesson { symbol, value, is_judged, known_at, trade_id });
    }

    pub(super) fn lessons(&self) -> &[IndexedLesson] {
        &self.lessons
    }

    /// A score for each symbol, by its number.
    pub(super) fn per_symbol(&self, score: impl Fn(&Symbol) -> usize) -> Vec<usize> {
        let mut scores = vec![0; self.symbols.len()];
        self.symbols.iter().for_each(|(symbol, number)| scores[*number] = score(symbol));
        scores
    }

    /// How many of these words each lesson has.
    pub(super) fn words_in_common(&self, words: &BTreeSet<String>) -> Vec<usize> {
        let mut counts = vec![0; self.lessons.len()];
        for at in words.iter().filter_map(|word| self.by_word.get(word)).flatten() {
            counts[*at] += 1;
        }
        counts
    }
}

/// The index of an archive, built at the first search. It does not count as part of the archive's value.
#[derive(Clone, Debug, Default)]
pub(super) struct LazyIndex(OnceLock<LessonIndex>);

impl LazyIndex {
    /// The index; `all` are the lessons of the archive.
    pub(super) fn of(&self, all: impl Iterator<Item = LessonEntry>) -> &LessonIndex {
        self.0.get_or_init(|| {
            let mut index = LessonIndex::default();
            all.for_each(|entry| index.add(entry));
            index
        })
    }

    /// Adds the archive's next lesson.
    pub(super) fn add(&mut self, entry: impl FnOnce() -> LessonEntry) {
        if let Some(index) = self.0.get_mut() {
            index.add(entry());
        }
    }
}

impl PartialEq for LazyIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Words of a text: runs of at least three letters and digits, and pairs of characters in scripts without
/// spaces.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if run.is_ascii() {
            if run.len() >= 3 {
                words.insert(run.to_ascii_lowercase());
            }
            continue;
        }
        let run: Vec<char> = run.chars().collect();
        words.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
    }
    words
}
