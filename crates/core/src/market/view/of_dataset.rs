//! The views of a dataset.

use super::MarketView;
use crate::id::Symbol;
use crate::market::dataset::Dataset;
use crate::time::Timestamp;
use std::collections::BTreeSet;

impl Dataset {
    /// What was known at this instant.
    #[must_use]
    pub fn view(&self, instant: Timestamp) -> MarketView<'_> {
        let view = MarketView::new(self.parts(), self.hash(), self.caches(), instant);
        #[cfg(feature = "planted-leaks")]
        let view = self.leaking(view);
        view
    }

    /// A dataset with only what a view at this instant can see, calendar included. Its hash differs if
    /// anything is left out.
    #[must_use]
    pub fn truncate_at(&self, instant: Timestamp) -> Self {
        Self::new(self.name().to_owned(), self.view(instant).to_parts())
    }

    /// The view of a trader at the open of a day, limited by [`MarketView::in_universe`] if its universe is
    /// an index.
    #[must_use]
    pub fn view_of(&self, at: Timestamp, universe: Option<&str>, also: &BTreeSet<Symbol>) -> MarketView<'_> {
        let view = self.view(at);
        match universe {
            Some(index) => view.in_universe(index, also),
            None => view,
        }
    }
}
