//! Lessons from closed trades: stored permanently, and retrieved by relevance.

use super::content_ref::ContentRef;
use super::lesson_index::{IndexedLesson, LazyIndex, LessonEntry, words};
use super::origin::Origin;
use papertape_core::id::Symbol;
use papertape_core::ledger::Direction;
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::prepared::PreparedText;
use papertape_core::record::{Assessment, ErrorTag, ReflectionRow, SummarySource};
use papertape_core::time::Timestamp;
use papertape_embed::reciprocal_rank_fusion::reciprocal_ranks;
use papertape_embed::vector;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Lessons per sealed block; each block is one text of the record.
const BLOCK: usize = 32;
/// Maximum score for words in common.
const WORDS: usize = 6;

/// The part of a reflection that a trader reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// The reflection's ID.
    pub trade_id: u64,
    /// Who wrote it.
    #[serde(flatten)]
    pub origin: Origin,
    /// The instrument.
    pub symbol: Symbol,
    /// Long or short.
    pub side: Direction,
    /// When the position was opened.
    pub entry_time: Timestamp,
    /// When it was closed, fully or in part.
    pub exit_time: Timestamp,
    /// What closed it.
    pub cause: String,
    /// The realized result from the ledger.
    pub pnl: Money,
    /// `pnl / margin x 100`.
    pub return_pct: Option<Decimal>,
    /// The lesson.
    pub summary: String,
    /// What went wrong.
    pub error_tags: Vec<ErrorTag>,
    /// How much the trade teaches.
    pub value_assessment: Assessment,
    /// Rules for future trades.
    pub next_rules: Vec<String>,
    /// Whether the template wrote it from the books, without a judgment of the trade. Unknown for reflections
    /// written under rules version 1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_template: bool,
    /// When it may first be read.
    pub known_at: Timestamp,
    /// Its embedding, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Embedding>,
}

/// A lesson's embedding by one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Embedding {
    /// The model.
    pub model: ModelName,
    /// A unit vector, in base64 of little-endian 32-bit floats.
    pub vector: String,
}

impl Lesson {
    /// The text to embed: the lesson itself. Instrument, side, figures and tags are used for filters and
    /// keywords; including them makes embeddings less distinctive.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = std::iter::once(&self.summary).chain(&self.next_rules).map(|part| part.trim());
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Its vector, if it was computed by this model.
    #[must_use]
    pub fn vector(&self, model: &ModelName) -> Option<Vec<f32>> {
        let meaning = self.meaning.as_ref().filter(|meaning| meaning.model == *model)?;
        vector::from_base64(&meaning.vector)
    }

    fn entry(&self) -> LessonEntry {
        LessonEntry {
            symbol: self.symbol.clone(),
            text: format!("{} {} {}", self.symbol, self.summary, self.next_rules.join(" ")),
            value: match self.value_assessment {
                Assessment::Low => 0,
                Assessment::Medium => 1,
                Assessment::High => 2,
            },
            is_judged: !self.is_template,
            known_at: self.known_at,
            trade_id: self.trade_id,
        }
    }
}

impl From<&ReflectionRow> for Lesson {
    fn from(row: &ReflectionRow) -> Self {
        Self {
            trade_id: row.trade_id,
            origin: Origin::default(),
            symbol: row.symbol.clone(),
            side: row.side,
            entry_time: row.entry_time,
            exit_time: row.exit_time,
            cause: row.cause.clone(),
            pnl: row.pnl,
            return_pct: row.return_pct,
            summary: row.summary.clone(),
            error_tags: row.error_tags.clone(),
            value_assessment: row.value_assessment,
            next_rules: row.next_rules.clone(),
            is_template: row.source == SummarySource::Template,
            known_at: row.known_at,
            meaning: None,
        }
    }
}

/// All lessons of a trader, oldest first. A state references the sealed blocks by their hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Archive {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sealed: Vec<ContentRef<Vec<Lesson>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tail: Vec<Lesson>,
    #[serde(skip)]
    index: LazyIndex,
}

impl Archive {
    /// Adds a lesson.
    pub fn push(&mut self, lesson: Lesson) {
        self.index.add(|| lesson.entry());
        self.tail.push(lesson);
        if self.tail.len() == BLOCK {
            self.sealed.push(ContentRef::new(std::mem::take(&mut self.tail)));
        }
    }

    /// All lessons, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Lesson> {
        self.sealed.iter().flat_map(|block| block.iter()).chain(&self.tail)
    }

    /// The lessons for which `is_meant` holds, to change their origin or their embedding: the words of a lesson
    /// never change.
    pub(super) fn change(
        &mut self,
        is_meant: impl Fn(&Lesson) -> bool + Copy,
    ) -> impl Iterator<Item = &mut Lesson> {
        let sealed = self.sealed.iter_mut().filter(move |block| block.iter().any(is_meant));
        let sealed = sealed.flat_map(|block| block.get_mut());
        sealed.chain(&mut self.tail).filter(move |lesson| is_meant(lesson))
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Lesson) -> bool) {
        let all: Vec<Lesson> = self.iter().filter(|lesson| keep(lesson)).cloned().collect();
        *self = Self::default();
        for lesson in all {
            self.push(lesson);
        }
    }

    /// The texts of the sealed blocks.
    pub(super) fn sealed_texts(&self) -> impl Iterator<Item = &PreparedText> {
        self.sealed.iter().map(ContentRef::text)
    }

    /// A lesson by its position.
    fn get(&self, at: usize) -> Option<&Lesson> {
        match self.sealed.get(at / BLOCK) {
            Some(block) => block.get(at % BLOCK),
            None => self.tail.get(at - self.sealed.len() * BLOCK),
        }
    }
}

/// A query for lessons.
#[derive(Clone, Debug, Default)]
pub struct Query<'a> {
    /// The instruments in focus: those held, or a desk's own.
    pub focus: BTreeSet<&'a Symbol>,
    /// All tradable instruments.
    pub symbols: BTreeSet<&'a Symbol>,
    /// The trader's current concerns, in words.
    pub words: String,
}

/// The `most` lessons most relevant to the query, best first, among those known at the instant.
///
/// A lesson scores 6 for an instrument in focus, 2 for a tradable one, 0 to 2 for its value, and 1 for each
/// word in common, at most 6; ties go to the newer one. Lessons written by the template rank last. This is
/// keyword search.
#[must_use]
pub fn rank_by_keyword<'a>(
    archive: &'a Archive,
    query: &Query<'_>,
    instant: Timestamp,
    most: usize,
) -> Vec<&'a Lesson> {
    let index = archive.index.of(archive.iter().map(Lesson::entry));
    let about = index.per_symbol(|symbol| {
        if query.focus.contains(symbol) {
            6
        } else if query.symbols.contains(symbol) {
            2
        } else {
            0
        }
    });
    let shared = index.words_in_common(&words(&query.words));
    let rank = |(at, entry): (usize, &IndexedLesson)| {
        let score = about[entry.symbol] + entry.value + shared[at].min(WORDS);
        // Of equals, the one that was added first.
        (Reverse((entry.is_judged, score, entry.known_at, entry.trade_id)), at)
    };
    let known = |(_, entry): &(usize, &IndexedLesson)| entry.known_at <= instant;
    let mut ranked: Vec<_> = index.lessons().iter().enumerate().filter(known).map(rank).collect();
    if most < ranked.len() {
        ranked.select_nth_unstable(most);
        ranked.truncate(most);
    }
    ranked.sort_unstable();
    ranked.into_iter().filter_map(|(_, at)| archive.get(at)).collect()
}

/// Hybrid ranking: the ranking of [`rank_by_keyword`] and that of the lessons with a vector of `model` by their cosine
/// with `asked`, fused by reciprocal ranks ([`reciprocal_ranks`]). Ties go to the better keyword rank;
/// lessons written by the template rank last.
#[must_use]
pub fn rank_hybrid<'a>(
    archive: &'a Archive,
    query: &Query<'_>,
    (model, asked): (&ModelName, &[f32]),
    instant: Timestamp,
    most: usize,
) -> Vec<&'a Lesson> {
    let by_words = rank_by_keyword(archive, query, instant, usize::MAX);
    let vector = |(at, lesson): (usize, &&Lesson)| Some((at, lesson.vector(model)?));
    let vectors = by_words.iter().enumerate().filter_map(vector);
    let cosine = |(at, vector): (usize, Vec<f32>)| {
        (vector.len() == asked.len()).then(|| (at, vector::dot(&vector, asked)))
    };
    let mut near: Vec<(usize, f32)> = vectors.filter_map(cosine).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let by_words_order: Vec<usize> = (0..by_words.len()).collect();
    let by_meaning: Vec<usize> = near.into_iter().map(|(at, _)| at).collect();
    let fused = reciprocal_ranks(&[&by_words_order, &by_meaning]);
    let (templates, judged): (Vec<&Lesson>, Vec<&Lesson>) =
        fused.into_iter().map(|at| by_words[at]).partition(|lesson| lesson.is_template);
    judged.into_iter().chain(templates).take(most).collect()
}
