//! Date and company: what a masked chart shows.

use super::months::{SymbolMonths, backward, flipped, month_name};
use super::{Question, QuizItem};
use crate::random::Random;

const CHOICES: usize = 4;
/// Charts of months that are closer overlap.
const MIN_SHIFT: i32 = 4;

type Parts = (Question, Vec<String>, u8);

fn chart(symbol: &SymbolMonths<'_>, at: usize) -> Option<Vec<f64>> {
    symbol.chart_until(symbol.months[at].last)
}

fn has_chart(symbol: &SymbolMonths<'_>, at: usize) -> bool {
    SymbolMonths::has_chart(symbol.months[at].last)
}

/// The months that can be asked about: they have a chart, and three others of the range are far enough away.
pub(super) fn usable_for_date(
    symbol: &SymbolMonths<'_>,
    months: Vec<usize>,
    in_range: &dyn Fn(i32) -> bool,
) -> Vec<usize> {
    let in_order = || (0..symbol.months.len()).collect::<Vec<_>>();
    let usable =
        |at: &usize| has_chart(symbol, *at) && other_months(symbol, *at, in_range, in_order()).is_some();
    months.into_iter().filter(usable).collect()
}

/// Three other months, in the given order, whose charts overlap with none of the others.
fn other_months(
    symbol: &SymbolMonths<'_>,
    at: usize,
    in_range: &dyn Fn(i32) -> bool,
    order: Vec<usize>,
) -> Option<Vec<i32>> {
    let mut chosen = vec![symbol.months[at].index];
    for other in order {
        let index = symbol.months[other].index;
        let is_apart = chosen.iter().all(|known| (known - index).abs() >= MIN_SHIFT);
        if chosen.len() < CHOICES && in_range(index) && is_apart && has_chart(symbol, other) {
            chosen.push(index);
        }
    }
    (chosen.len() == CHOICES).then_some(chosen)
}

pub(super) fn date(
    symbol: &SymbolMonths<'_>,
    at: usize,
    in_range: &dyn Fn(i32) -> bool,
    random: &mut Random,
) -> Option<Parts> {
    let order = random.permutation(symbol.months.len());
    let in_order = || (0..symbol.months.len()).collect::<Vec<_>>();
    let months = other_months(symbol, at, in_range, order)
        .or_else(|| other_months(symbol, at, in_range, in_order()))?;
    let question = Question { company: Some(symbol.company()), month: None, chart: chart(symbol, at)? };
    Some((question, months.into_iter().map(month_name).collect(), 0))
}

/// The symbols that have a chart that ends in a month.
fn with_chart(symbols: &[SymbolMonths<'_>], index: i32) -> Vec<usize> {
    let has = |symbol: &SymbolMonths<'_>| symbol.position(index).is_some_and(|at| has_chart(symbol, at));
    (0..symbols.len()).filter(|at| has(&symbols[*at])).collect()
}

/// Whether at least four symbols have a chart of the month, this one among them.
pub(super) fn is_usable(symbols: &[SymbolMonths<'_>], symbol: &SymbolMonths<'_>, at: usize) -> bool {
    has_chart(symbol, at) && with_chart(symbols, symbol.months[at].index).len() >= CHOICES
}

pub(super) fn company(
    symbols: &[SymbolMonths<'_>],
    own: usize,
    at: usize,
    random: &mut Random,
) -> Option<Parts> {
    let symbol = &symbols[own];
    let index = symbol.months[at].index;
    let others = with_chart(symbols, index);
    let order = random.permutation(others.len());
    let others = order.into_iter().map(|at| others[at]).filter(|other| *other != own);
    let chosen: Vec<String> =
        std::iter::once(own).chain(others.take(CHOICES - 1)).map(|at| symbols[at].company()).collect();
    let question = Question { company: None, month: Some(month_name(index)), chart: chart(symbol, at)? };
    (chosen.len() == CHOICES).then_some((question, chosen, 0))
}

/// The item with its chart sign-flipped or run backward: the same choices, and nothing to recognize.
pub(super) fn altered(
    symbol: &SymbolMonths<'_>,
    at: usize,
    item: &QuizItem,
    is_reversed: bool,
) -> Option<Parts> {
    let chart = chart(symbol, at)?;
    let chart = if is_reversed { backward(&chart) } else { flipped(&chart) };
    let question = Question { chart, ..item.question.clone() };
    Some((question, item.choices.clone(), item.truth))
}
