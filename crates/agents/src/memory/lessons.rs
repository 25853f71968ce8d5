//! Lessons from closed trades: stored permanently, and retrieved by relevance.

use super::content_ref::ContentRef;
use super::origin::Origin;
use papertape_core::id::Symbol;
use papertape_core::ledger::Direction;
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::record::{Assessment, ErrorTag, ReflectionRow, SummarySource};
use papertape_core::time::Timestamp;
use papertape_embed::reciprocal_rank_fusion::reciprocal_ranks;
use papertape_embed::vector;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
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
}

impl Archive {
    /// Adds a lesson.
    pub fn push(&mut self, lesson: Lesson) {
        self.tail.push(lesson);
        if self.tail.len() == BLOCK {
            self.sealed.push(ContentRef(std::mem::take(&mut self.tail)));
        }
    }

    /// All lessons, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Lesson> {
        self.sealed.iter().flat_map(|block| &block.0).chain(&self.tail)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Lesson> {
        self.sealed.iter_mut().flat_map(|block| &mut block.0).chain(&mut self.tail)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Lesson) -> bool) {
        let all: Vec<Lesson> = self.iter().filter(|lesson| keep(lesson)).cloned().collect();
        *self = Self::default();
        for lesson in all {
            self.push(lesson);
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
    let asked = words(&query.words);
    let mut ranked: Vec<&Lesson> = archive.iter().filter(|lesson| lesson.known_at <= instant).collect();
    ranked.sort_by_cached_key(|lesson| {
        let judged = !lesson.is_template;
        std::cmp::Reverse((judged, score(lesson, query, &asked), lesson.known_at, lesson.trade_id))
    });
    ranked.truncate(most);
    ranked
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

fn score(lesson: &Lesson, query: &Query<'_>, asked: &BTreeSet<String>) -> usize {
    let about = if query.focus.contains(&lesson.symbol) {
        6
    } else if query.symbols.contains(&lesson.symbol) {
        2
    } else {
        0
    };
    let value = match lesson.value_assessment {
        Assessment::Low => 0,
        Assessment::Medium => 1,
        Assessment::High => 2,
    };
    let text = format!("{} {} {}", lesson.symbol, lesson.summary, lesson.next_rules.join(" "));
    about + value + words(&text).intersection(asked).count().min(WORDS)
}

/// Words of a text: runs of at least three letters and digits, and pairs of characters in scripts without
/// spaces.
fn words(text: &str) -> BTreeSet<String> {
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
