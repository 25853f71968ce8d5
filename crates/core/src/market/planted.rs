//! Planted leaks, for tests of the audit: a dataset whose views know more than they may.

use super::dataset::Dataset;
use super::leak::Leak;
use super::view::{MarketView, VisibleSeries};

impl Dataset {
    /// The same data with a leak in all of its views, and in those of its audits.
    #[must_use]
    pub fn with_leak(mut self, leak: Leak) -> Self {
        self.leak = Some(leak);
        self
    }

    pub(super) fn leak(&self) -> Option<Leak> {
        self.leak
    }

    pub(super) fn leaking<'a>(&'a self, mut view: MarketView<'a>) -> MarketView<'a> {
        view.leak = self.leak;
        match self.leak {
            Some(Leak::TodaysBar) => {
                for (symbol, known) in &mut view.series {
                    if let Some(series) = self.parts().series.get(*symbol) {
                        let opened = known.bars.opens_at.len();
                        known.bars = series.bars.first(opened, opened.min(series.bars.closed()));
                    }
                }
            }
            Some(Leak::Listings) => {
                for (symbol, series) in &self.parts().series {
                    view.series.entry(symbol).or_insert_with(|| VisibleSeries {
                        instrument: &series.instrument,
                        bars: series.bars.first(1, 0),
                        within: Vec::new(),
                        actions: &[],
                    });
                }
            }
            Some(Leak::CacheWithoutShareUnits) | None => {}
        }
        view
    }
}
