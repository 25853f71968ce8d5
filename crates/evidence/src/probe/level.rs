//! Level: the close of a month, among four of the same symbol within six months.

use super::Question;
use super::months::{SymbolMonths, month_name};
use crate::random::Random;

/// The choices are months of a window of this length around a month, so none is more than six months away.
const WINDOW: usize = 7;
const CHOICES: usize = 4;
/// Two choices differ by at least this factor.
const MIN_RATIO: f64 = 1.03;
/// A control's prices come from a month at least this many months away.
const MIN_SHIFT: usize = 13;

fn price(symbol: &SymbolMonths<'_>, at: usize) -> f64 {
    symbol.close(symbol.months[at].last).quoted
}

/// The months of a window, if they are consecutive and without a split.
fn window(symbol: &SymbolMonths<'_>, first: usize) -> Option<std::ops::Range<usize>> {
    let months = symbol.months.get(first..first + WINDOW)?;
    let scale = |at: usize| symbol.close(at).quoted / symbol.close(at).adjusted;
    let own = scale(months[0].last);
    let is_whole = months[WINDOW - 1].index - months[0].index == WINDOW as i32 - 1;
    let is_unsplit = months.iter().all(|month| (scale(month.last) / own - 1.0).abs() < 1e-6);
    (is_whole && is_unsplit).then_some(first..first + WINDOW)
}

/// The windows that hold a month and give it enough different choices.
fn windows(symbol: &SymbolMonths<'_>, at: usize) -> Vec<std::ops::Range<usize>> {
    let starts = (at + 1).saturating_sub(WINDOW)..=at;
    starts
        .filter_map(|first| window(symbol, first))
        .filter(|window| choose(symbol, at, window.clone()).is_some())
        .collect()
}

/// The month and three others whose prices all differ; `None` if there are fewer.
fn choose(symbol: &SymbolMonths<'_>, at: usize, order: impl Iterator<Item = usize>) -> Option<Vec<f64>> {
    let mut prices = vec![price(symbol, at)];
    for other in order.filter(|other| *other != at) {
        let next = price(symbol, other);
        let differs = |known: &f64| (next / known).max(known / next) >= MIN_RATIO;
        if prices.len() < CHOICES && prices.iter().all(differs) {
            prices.push(next);
        }
    }
    (prices.len() == CHOICES).then_some(prices)
}

pub(super) fn is_usable(symbol: &SymbolMonths<'_>, at: usize) -> bool {
    let has = |at| !windows(symbol, at).is_empty();
    has(at) && mirrored(symbol, at).is_some_and(has)
}

/// The month whose price the history has in this month's place when it runs backward. Near the middle of the history,
/// where that is almost the same month, it is the one half a history further.
pub(super) fn mirrored(symbol: &SymbolMonths<'_>, at: usize) -> Option<usize> {
    let count = symbol.months.len();
    let own = count - 1 - at;
    [own, (own + count / 2) % count.max(1)].into_iter().find(|source| source.abs_diff(at) >= MIN_SHIFT)
}

/// The question about the month `at`, with the prices around `source`.
pub(super) fn item(
    symbol: &SymbolMonths<'_>,
    at: usize,
    source: usize,
    random: &mut Random,
) -> Option<(Question, Vec<String>, u8)> {
    let windows = windows(symbol, source);
    let window = windows.get(random.below(windows.len()))?.clone();
    let order = random.permutation(WINDOW).into_iter().map(|offset| window.start + offset);
    let prices = choose(symbol, source, order)
        // Some orders leave out too much; the window itself has enough.
        .or_else(|| choose(symbol, source, window.clone()))?;
    let question = Question {
        company: Some(symbol.company()),
        month: Some(month_name(symbol.months[at].index)),
        chart: Vec::new(),
    };
    Some((question, prices.into_iter().map(|price| format!("{price:.2}")).collect(), 0))
}
