//! Names the facts from after the instant that a step depends on.

use super::reads::{self, DerivedRows, instant_of};
use super::report::Item;
use papertape_core::json::Difference;
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::record::DerivedRow;
use papertape_core::tape::StepPath;
use papertape_core::time::Timestamp;
use serde_json::Value;

/// What the record and the recorded value name: late reads of the step, and symbols that were not listed.
pub(super) fn named(
    rows: &DerivedRows,
    dataset: &Dataset,
    (path, day): (&StepPath, &TradingDay),
    difference: Option<&Difference>,
) -> Vec<Item> {
    let mut items = reads::late_items(rows, path, day);
    if let Some(difference) = difference {
        let text = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
        let (recorded, now) = (text(difference.left.as_ref()), text(difference.right.as_ref()));
        items.extend(unlisted(dataset, instant_of(path, day), &recorded, &now));
    }
    items
}

/// Symbols in the recorded value that are not listed at the instant, and that the recomputed value does not have.
fn unlisted<'a>(
    dataset: &'a Dataset,
    instant: Timestamp,
    recorded: &'a str,
    now: &'a str,
) -> impl Iterator<Item = Item> + 'a {
    let is_new = move |symbol: &&str| has_word(recorded, symbol) && !has_word(now, symbol);
    let symbols = dataset.all_symbols().map(|symbol| symbol.as_str()).filter(is_new);
    symbols.filter_map(move |symbol| {
        let first = dataset.contents().daily_bars(&symbol.into()).first()?.date;
        let known_at = dataset.day(first)?.open;
        (known_at > instant).then(|| Item::Listing { symbol: symbol.to_owned(), known_at })
    })
}

/// Whether a text contains the word by itself, not only as part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

/// The item for a step that reaches the recorded result only with data up to this instant. If the step read a single
/// series, the item names it.
pub(super) fn located(rows: &DerivedRows, path: &StepPath, known_at: Timestamp, dataset: &Dataset) -> Item {
    let series = rows.get(path).into_iter().flatten().filter_map(|row| match row {
        DerivedRow::Exposure(exposure) => Some(exposure.series.clone()),
        _ => None,
    });
    let mut series: Vec<String> = series.collect();
    series.dedup();
    let only = if series.len() == 1 { series.pop() } else { None };
    let day = dataset.days().iter().find(|day| day.open == known_at || day.close == known_at);
    Item::Market { series: only, date: day.map(|day| day.date), known_at }
}
