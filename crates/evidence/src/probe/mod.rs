//! The design of a memorization quiz: items and their controls, deterministic from price histories and a seed.
//!
//! There is at most one item per symbol, month and kind. Each item has one control of the same form and with the same
//! number of choices, which a model cannot answer from memory:
//!
//! | kind | item | control |
//! |---|---|---|
//! | direction | a chart that ends before a month; did the month close higher or lower? | the chart of another month of the symbol, sign-flipped or time-reversed, under the item's name and month |
//! | level | the close of a month, among four of the same symbol within six months | the same question about the price history run backward |
//! | date | a chart with the symbol and without dates; in which of four months does it end? | the same chart, sign-flipped or time-reversed |
//! | company | a chart with its month and without a name; whose of four symbols is it? | the same chart, sign-flipped or time-reversed |
//!
//! In half of a symbol's direction items the month closed higher. The controls of direction are balanced against the
//! real direction of the month that they name, so a model that recalls that month is right on half of them. If the
//! histories continue for at least [`MIN_LATE_MONTHS`] months after the model's training cut-off, the controls are
//! unaltered questions about those months instead.
//!
//! Assumption: a model that recalls nothing finds a chart and its flipped or reversed copy equally hard to read.

mod chart;
mod direction;
mod level;
mod months;
mod prompt;
mod reply;
mod report;

pub use prompt::{PARAPHRASES, QuizPrompt};
pub use report::{ItemOutcome, KindReport, kind_reports};

use crate::quiz::QuizKind;
use crate::random::{Random, Seed};
use months::SymbolMonths;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};

/// Part of every design's seed; incremented whenever the same input could give other items or prompts.
pub const QUIZ_DESIGN_VERSION: u32 = 1;
/// With fewer months after the cut-off, the controls are altered charts.
pub const MIN_LATE_MONTHS: usize = 12;
/// The default number of items per kind: 310 items and 310 controls detect 60% against 50% with 81% power.
pub const DEFAULT_ITEMS: usize = 310;

/// A close of a trading day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DailyClose {
    /// The trading day.
    pub date: Date,
    /// As quoted on that day.
    pub quoted: f64,
    /// In the share units of the last day: divided by the splits that followed.
    pub adjusted: f64,
}

/// The closes of a symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceHistory {
    /// The symbol.
    pub symbol: String,
    /// The company's name.
    pub name: String,
    /// Its closes, oldest first.
    pub closes: Vec<DailyClose>,
}

/// What the controls are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuizControls {
    /// Sign-flipped and time-reversed charts.
    Altered,
    /// Unaltered questions about months after the model's training cut-off.
    AfterCutoff,
}

/// The parameters of a design.
#[derive(Clone, Copy, Debug)]
pub struct QuizDesign<'a> {
    /// The content hash of the dataset that the histories are from.
    pub dataset: &'a str,
    /// Which kinds.
    pub kinds: &'a [QuizKind],
    /// Max. items of a kind. There are as many controls.
    pub items_per_kind: usize,
    /// The last day that the model's training data covers, if its vendor states one.
    pub cutoff: Option<Date>,
    /// The seed.
    pub seed: u64,
}

/// A question, and its right choice.
#[derive(Clone, Debug, PartialEq)]
pub struct QuizItem {
    /// Unique in a design, such as `level-AAPL-2012-03`.
    pub key: String,
    /// Its kind.
    pub kind: QuizKind,
    /// Whether it is a control.
    pub is_control: bool,
    /// Months since year 0: the month that it names or ends in.
    pub month: i32,
    /// The position of the right choice in [`Self::choices`].
    pub truth: u8,
    /// The choices, in a fixed order. A prompt shuffles them.
    pub choices: Vec<String>,
    pub(crate) question: Question,
}

/// What a prompt is rendered from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    /// The symbol with its name; `None` if the chart hides it.
    pub company: Option<String>,
    /// The month in words; `None` if the chart hides it.
    pub month: Option<String>,
    /// Weekly closes, indexed to 100.
    pub chart: Vec<f64>,
}

/// The items and controls of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Quiz {
    /// What the controls are.
    pub controls: QuizControls,
    /// Items and controls, by key.
    pub items: Vec<QuizItem>,
}

/// Designs a quiz. The same histories and parameters give the same quiz.
#[must_use]
pub fn design_quiz(histories: &[PriceHistory], design: &QuizDesign<'_>) -> Quiz {
    let all: Vec<SymbolMonths<'_>> = histories.iter().map(SymbolMonths::of).collect();
    let cutoff = design.cutoff.map(months::index_of);
    let is_late = |month: i32| cutoff.is_some_and(|cutoff| month > cutoff);
    let late = all.iter().map(|symbol| symbol.count(is_late)).max().unwrap_or(0);
    let controls = if late >= MIN_LATE_MONTHS { QuizControls::AfterCutoff } else { QuizControls::Altered };
    let mut items = Vec::new();
    for kind in design.kinds {
        let draw = Draw { design, kind: *kind, symbols: &all };
        let early = draw.items(&|month| !is_late(month), false);
        match controls {
            QuizControls::Altered => items.extend(draw.altered(&early)),
            QuizControls::AfterCutoff => {
                items.extend(draw.items(&is_late, true).into_iter().map(|drawn| drawn.item));
            }
        }
        items.extend(early.into_iter().map(|drawn| drawn.item));
    }
    items.sort_by(|a, b| a.key.cmp(&b.key));
    Quiz { controls, items }
}

/// An item, and the symbol and month that it is about, by position.
struct DrawnItem {
    symbol: usize,
    month: usize,
    item: QuizItem,
}

/// The draw of one kind's items.
struct Draw<'a> {
    design: &'a QuizDesign<'a>,
    kind: QuizKind,
    symbols: &'a [SymbolMonths<'a>],
}

impl Draw<'_> {
    fn random(&self, of: &str) -> Random {
        let QuizDesign { dataset, seed, .. } = self.design;
        let statistic = format!("memory quiz {QUIZ_DESIGN_VERSION} {} {of} {seed}", self.kind.name());
        Random::new(Seed::derive(&[dataset], &[], &statistic))
    }

    /// Items of the months that `in_range` selects, spread over the symbols.
    fn items(&self, in_range: &dyn Fn(i32) -> bool, is_control: bool) -> Vec<DrawnItem> {
        let usable: Vec<Vec<usize>> = self
            .symbols
            .iter()
            .map(|symbol| {
                let of = format!("months of {} {is_control}", symbol.history.symbol);
                let mut random = self.random(&of);
                let months: Vec<usize> =
                    (0..symbol.months.len()).filter(|at| in_range(symbol.months[*at].index)).collect();
                let order = random.permutation(months.len());
                let shuffled: Vec<usize> = order.into_iter().map(|at| months[at]).collect();
                match self.kind {
                    QuizKind::Direction => direction::balanced(symbol, &shuffled),
                    QuizKind::Level => {
                        shuffled.into_iter().filter(|at| level::is_usable(symbol, *at)).collect()
                    }
                    QuizKind::Date => chart::usable_for_date(symbol, shuffled, in_range),
                    QuizKind::Company => shuffled
                        .into_iter()
                        .filter(|at| chart::is_usable(self.symbols, symbol, *at))
                        .collect(),
                }
            })
            .collect();
        let step = if self.kind == QuizKind::Direction { direction::BLOCK } else { 1 };
        let capacities: Vec<usize> = usable.iter().map(Vec::len).collect();
        let counts = allocate(&capacities, self.design.items_per_kind, step);
        let chosen = usable.iter().zip(counts).enumerate();
        chosen
            .flat_map(|(symbol, (months, count))| months[..count].iter().map(move |month| (symbol, *month)))
            .filter_map(|(symbol, month)| {
                let item = self.item(symbol, month, in_range, is_control)?;
                Some(DrawnItem { symbol, month, item })
            })
            .collect()
    }

    fn item(
        &self,
        symbol: usize,
        month: usize,
        in_range: &dyn Fn(i32) -> bool,
        is_control: bool,
    ) -> Option<QuizItem> {
        let of = &self.symbols[symbol];
        let mut random = self.random(&format!("item {} {}", of.history.symbol, of.months[month].index));
        let (question, choices, truth) = match self.kind {
            QuizKind::Direction => direction::item(of, month)?,
            QuizKind::Level => level::item(of, month, month, &mut random)?,
            QuizKind::Date => chart::date(of, month, in_range, &mut random)?,
            QuizKind::Company => chart::company(self.symbols, symbol, month, &mut random)?,
        };
        Some(self.finish(of, month, is_control, (question, choices, truth)))
    }

    fn finish(
        &self,
        of: &SymbolMonths<'_>,
        month: usize,
        is_control: bool,
        (question, choices, truth): (Question, Vec<String>, u8),
    ) -> QuizItem {
        let index = of.months[month].index;
        let control = if is_control { "-control" } else { "" };
        let kind = self.kind.name();
        let key = format!("{kind}-{}-{}{control}", of.history.symbol, months::label(index));
        QuizItem { key, kind: self.kind, is_control, month: index, truth, choices, question }
    }

    /// One control per item, from altered charts.
    fn altered(&self, items: &[DrawnItem]) -> Vec<QuizItem> {
        let mut controls = Vec::new();
        for (at, symbol) in self.symbols.iter().enumerate() {
            let own: Vec<&DrawnItem> = items.iter().filter(|drawn| drawn.symbol == at).collect();
            let months: Vec<usize> = own.iter().map(|drawn| drawn.month).collect();
            for (n, DrawnItem { month, item, .. }) in own.into_iter().enumerate() {
                let of = format!("control {} {}", symbol.history.symbol, item.month);
                let made = match self.kind {
                    QuizKind::Direction => direction::control(symbol, &months, n),
                    QuizKind::Level => level::mirrored(symbol, *month)
                        .and_then(|source| level::item(symbol, *month, source, &mut self.random(&of))),
                    QuizKind::Date | QuizKind::Company => chart::altered(symbol, *month, item, n % 2 == 1),
                };
                controls.extend(made.map(|parts| self.finish(symbol, *month, true, parts)));
            }
        }
        controls
    }
}

/// How many of `total` each capacity provides, as evenly as possible, in multiples of `step`.
fn allocate(capacities: &[usize], total: usize, step: usize) -> Vec<usize> {
    let mut counts = vec![0; capacities.len()];
    let mut order: Vec<usize> = (0..capacities.len()).collect();
    order.sort_by_key(|at| capacities[*at]);
    let mut left = total;
    for (done, at) in order.iter().enumerate() {
        let share = left.div_ceil(capacities.len() - done);
        let count =
            capacities[*at].min(share.next_multiple_of(step)).min(left.next_multiple_of(step)) / step * step;
        counts[*at] = count;
        left = left.saturating_sub(count);
    }
    counts
}
