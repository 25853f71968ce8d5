//! Indicators over a view's bars.

use super::{MarketView, ViewRead};
use crate::id::Symbol;
use crate::market::error::ReadError;
use crate::market::indicator::{Indicator, IndicatorTable};
use crate::time::Date;

impl MarketView<'_> {
    /// Indicators over the whole known series; returns the latest `limit` days, oldest first. Only complete
    /// bars count. A value is `None` if there are too few bars.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::NoData`] if there is no complete bar.
    pub fn indicators(
        &self,
        symbol: &Symbol,
        indicators: &[Indicator],
        limit: usize,
    ) -> Result<ViewRead<IndicatorTable>, ReadError> {
        let known = self.known(symbol)?;
        let rows = known.bars.closed();
        let series = format!("{symbol}/bars");
        if rows == 0 {
            return Err(self.no_data(series));
        }
        let day = |row| self.day_at(known.bars.opens_at.get(row));
        let dates: Vec<Date> = (rows.saturating_sub(limit)..rows).map(|row| day(row).date).collect();
        let split = known.latest_split();
        #[cfg(feature = "planted-leaks")]
        let split = split.filter(|_| self.leak != Some(crate::market::Leak::CacheWithoutShareUnits));
        let checkpoints = self.caches.checkpoints.series(symbol, split);
        let table =
            IndicatorTable::of(indicators, (rows, dates), checkpoints, |from| known.input(from, self.days));
        let (first, last) = (day(0), day(rows - 1));
        let known_at = self.bars_known_at(known, first.date, last.close);
        Ok(self.read(table, &series, &[first.date, last.date], rows, known_at))
    }
}
