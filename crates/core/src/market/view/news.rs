//! News in a view.

use super::{MarketView, ViewRead};
use crate::id::Symbol;
use crate::market::error::ReadError;
use crate::market::facts::{News, Published};

impl<'a> MarketView<'a> {
    /// The latest news, newest first: of one symbol, or of all.
    ///
    /// # Errors
    /// [`ReadError::UnknownSymbol`]; [`ReadError::NoData`] if no news at all was known, which is another
    /// thing than none about this symbol.
    pub fn news(
        &self,
        symbol: Option<&Symbol>,
        limit: usize,
    ) -> Result<ViewRead<Vec<&'a Published<News>>>, ReadError> {
        if let Some(symbol) = symbol {
            self.known(symbol)?;
        }
        let is_shown = |news: &&Published<News>| self.shows(&news.item);
        if !self.news.iter().rev().any(|news| is_shown(&news)) {
            return Err(self.no_data("news".to_owned()));
        }
        let Some(symbol) = symbol else {
            let newest = self.news.iter().rev().filter(is_shown).take(limit);
            return Ok(self.read_published(newest.collect(), "news"));
        };
        let newest = self.caches.news.of(symbol, self.news, |positions| {
            let about = positions.iter().rev().map(|at| &self.news[*at]);
            about.filter(is_shown).take(limit).collect()
        });
        Ok(self.read_published(newest, &format!("{symbol}/news")))
    }

    /// With a universe, news about none of its symbols is hidden: it could reveal a symbol that joins later.
    fn shows(&self, news: &News) -> bool {
        let Some(universe) = &self.universe else { return true };
        news.symbols.is_empty() || news.symbols.iter().any(|symbol| universe.shown.contains(symbol))
    }
}
