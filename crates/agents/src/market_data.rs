//! The market data that the books need for a day: opens, bars, closes and market conditions.

use papertape_core::broker::{Books, Conditions, Ohlc};
use papertape_core::id::Symbol;
use papertape_core::market::MarketView;
use papertape_core::money::Price;
use std::collections::{BTreeMap, BTreeSet};

/// Today's market conditions of the instruments that are held or in pending orders.
pub fn conditions(books: &Books, at_open: &MarketView<'_>) -> BTreeMap<Symbol, Conditions> {
    let of = |symbol: Symbol| {
        let conditions = at_open.conditions(books.profile(), &symbol);
        (symbol, conditions)
    };
    books.concerned().into_iter().map(of).collect()
}

/// The same for orders at the close, which may use the day's own volume.
pub fn conditions_at_close(
    books: &Books,
    (at_open, at_close): (&MarketView<'_>, &MarketView<'_>),
) -> BTreeMap<Symbol, Conditions> {
    let own = |(symbol, conditions): (Symbol, Conditions)| {
        // If earlier bars have no volume, the day's own volume sets no cap either.
        let volume = conditions.volume.and_then(|_| at_close.volume_of_today(&symbol));
        (symbol, Conditions { volume, ..conditions })
    };
    conditions(books, at_open).into_iter().map(own).collect()
}

pub(crate) fn opens(view: &MarketView<'_>, symbols: &BTreeSet<Symbol>) -> BTreeMap<Symbol, Price> {
    let open = |symbol: &Symbol| Some((symbol.clone(), view.open_price(symbol).ok()?.value.price));
    symbols.iter().filter_map(open).collect()
}

pub(crate) fn bars(view: &MarketView<'_>, symbols: &BTreeSet<Symbol>) -> BTreeMap<Symbol, Ohlc> {
    let ohlc = |symbol: &Symbol| {
        let bar = view.today_bar(symbol).ok()?.value;
        if bar.volume.is_zero() && view.is_idle_today(symbol) {
            return None;
        }
        Some((symbol.clone(), Ohlc { open: bar.open, high: bar.high, low: bar.low, close: bar.close }))
    };
    symbols.iter().filter_map(ohlc).collect()
}

/// The closes of today's bars.
pub(crate) fn closes(bars: BTreeMap<Symbol, Ohlc>) -> BTreeMap<Symbol, Price> {
    bars.into_iter().map(|(symbol, bar)| (symbol, bar.close)).collect()
}
