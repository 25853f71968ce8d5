//! An index as a run's universe: the symbols of an agent's day, and how the prompt states them.

use papertape_core::broker::Books;
use papertape_core::id::Symbol;
use papertape_core::language::Language;
use papertape_core::market::{Dataset, Listed, MarketView, TradingDay};
use papertape_core::prompt::lines::CLOSING_ONLY;
use std::collections::BTreeSet;

/// The symbols of an agent's day. With an index as the universe, these are the members that are known and listed at the
/// open, plus symbols that the agent holds or has pending orders for. Otherwise they are the run's listed symbols.
#[must_use]
pub fn symbols_of(
    (dataset, day): (&Dataset, TradingDay),
    universe: Option<&str>,
    symbols: &BTreeSet<Symbol>,
    books: &Books,
) -> Listed {
    match universe {
        Some(_) => dataset.view_of(day.open, universe, &books.concerned()).all_listed(),
        None => dataset.view(day.open).listed(symbols),
    }
}

/// The rule of the universe, appended to the market's rules; empty without one.
pub(crate) fn rule(universe: Option<&str>, language: Language) -> String {
    let Some(index) = universe else { return String::new() };
    match language {
        Language::En => format!(
            " The universe is {index}: only today's members of {index} can be bought or sold short; a position in a \
             former member can only be reduced or closed."
        ),
        Language::Zh => format!(
            "交易范围为 {index} 的成分股：只有今日的 {index} 成分股可以开仓或加仓；已调出 {index} 的持仓只能减仓或平仓。"
        ),
    }
}

/// A line that names the day's symbols that are not members today; empty if all are. House models recognize it by
/// its prefix.
pub(crate) fn closing_only(
    view: &MarketView<'_>,
    symbols: &Listed,
    universe: Option<&str>,
    language: Language,
) -> String {
    let Some(index) = universe else { return String::new() };
    let outside = symbols.iter().filter(|symbol| !view.is_in_universe(symbol));
    let outside: Vec<&str> = outside.map(Symbol::as_str).collect();
    if outside.is_empty() {
        return String::new();
    }
    let outside = outside.join(", ");
    match language {
        Language::En => format!("{} {outside} (not in {index} today)", CLOSING_ONLY.en),
        Language::Zh => format!("{}{outside}（今日不在 {index} 中）", CLOSING_ONLY.zh),
    }
}
