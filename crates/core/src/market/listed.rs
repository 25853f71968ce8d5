//! The listed symbols of a universe at an instant.

use super::view::MarketView;
use crate::id::Symbol;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Deref;

/// The symbols of a universe that have begun to trade at a view's instant.
///
/// Only a view creates one, so code that takes a `Listed` never gets a symbol before its first bar: a future
/// listing is knowledge of the future.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Listed(BTreeSet<Symbol>);

impl Deref for Listed {
    type Target = BTreeSet<Symbol>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl MarketView<'_> {
    /// Every visible symbol: those that have begun to trade and, in a [universe](Self::in_universe), are
    /// members or have a position or a pending order.
    #[must_use]
    pub fn all_listed(&self) -> Listed {
        Listed(self.series.keys().map(|&symbol| symbol.clone()).collect())
    }

    /// The symbols of a universe that have begun to trade.
    #[must_use]
    pub fn listed<'s>(&self, universe: impl IntoIterator<Item = &'s Symbol>) -> Listed {
        Listed(universe.into_iter().filter(|symbol| self.is_listed(symbol)).cloned().collect())
    }
}
