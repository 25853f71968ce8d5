//! Direction: did a month close higher or lower than the one before?

use super::Question;
use super::months::{SymbolMonths, flipped, month_name};

/// A smaller change of a month, in either direction, is not asked about.
const MIN_CHANGE: f64 = 0.005;
/// Items come in blocks of two months that rose and two that fell, so that controls can be balanced.
pub(super) const BLOCK: usize = 4;

const HIGHER: u8 = 0;
const LOWER: u8 = 1;

/// The change of a month; `None` if it is too small.
fn change(symbol: &SymbolMonths<'_>, at: usize) -> Option<f64> {
    let month = symbol.months[at];
    let change = symbol.close(month.last).adjusted / symbol.close(month.before).adjusted - 1.0;
    (change.abs() >= MIN_CHANGE).then_some(change)
}

fn rose(symbol: &SymbolMonths<'_>, at: usize) -> Option<bool> {
    change(symbol, at).map(|change| change > 0.0)
}

/// The months in the given order, in blocks of up, down, up, down. Those that have no partner are left out.
pub(super) fn balanced(symbol: &SymbolMonths<'_>, months: &[usize]) -> Vec<usize> {
    let with = |up: bool| {
        let usable = |at: &&usize| {
            let month = symbol.months[**at];
            // A control needs the days after the month, an item those before it.
            rose(symbol, **at) == Some(up)
                && symbol.chart_until(month.before).is_some()
                && symbol.reversed_until(month.last).is_some()
        };
        months.iter().filter(usable).copied().collect::<Vec<_>>()
    };
    let (up, down) = (with(true), with(false));
    let pairs: Vec<usize> = up.into_iter().zip(down).flat_map(|(up, down)| [up, down]).collect();
    let whole = pairs.len() / BLOCK * BLOCK;
    pairs[..whole].to_vec()
}

type Parts = (Question, Vec<String>, u8);

fn parts(symbol: &SymbolMonths<'_>, at: usize, chart: Vec<f64>, is_up: bool) -> Parts {
    let question =
        Question { company: Some(symbol.company()), month: Some(month_name(symbol.months[at].index)), chart };
    (question, vec!["higher".to_owned(), "lower".to_owned()], if is_up { HIGHER } else { LOWER })
}

pub(super) fn item(symbol: &SymbolMonths<'_>, at: usize) -> Option<Parts> {
    let chart = symbol.chart_until(symbol.months[at].before)?;
    Some(parts(symbol, at, chart, rose(symbol, at)?))
}

/// The control of the nth item of a symbol's balanced months. In a block u1, d1, u2, d2, the names of these months are
/// given the altered charts of u2, d2, d1, u1. Altering inverts a direction. So of the two named months that rose, one has
/// the right choice `higher` and one `lower`, and so have those that fell.
pub(super) fn control(symbol: &SymbolMonths<'_>, months: &[usize], nth: usize) -> Option<Parts> {
    let block = months.chunks_exact(BLOCK).nth(nth / BLOCK)?;
    let source = block[[2, 3, 1, 0][nth % BLOCK]];
    let month = symbol.months[source];
    let is_up = !rose(symbol, source)?;
    // In time order a month's chart comes before it; run backward, the days after the month do.
    let chart = match (nth / BLOCK).is_multiple_of(2) {
        true => flipped(&symbol.chart_until(month.before)?),
        false => symbol.reversed_until(month.last)?,
    };
    Some(parts(symbol, months[nth], chart, is_up))
}
