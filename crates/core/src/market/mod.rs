//! Point-in-time market data.
//!
//! A [`Dataset`] is an immutable, content-hashed snapshot, made by a [`DatasetBuilder`] that rejects
//! impossible rows. Its prices and news are read only through a [`MarketView`]: a view is built [for an
//! instant](Dataset::view), borrows only what was known then, and has no reference to the dataset. Every read
//! returns a [`ViewRead`] with what was read ([`Exposure`]).
//!
//! When a fact is known:
//!
//! | fact | known at |
//! |---|---|
//! | a daily bar's open | the open of its trading day |
//! | its high, low, close and volume | the close of its trading day |
//! | an intraday bar's open | its opening |
//! | the rest of it | the end of its interval, at most the day's close |
//! | the open of a day built from intraday bars | the opening of the first of them |
//! | a split or a dividend | the open of its ex-date; a split is in effect from then on |
//! | news, a fundamental, a macro point | its `published_at`; without one it is rejected |
//! | joining or leaving an index | its announcement; without one, the open of the day on which it takes effect |
//! | a symbol | its first bar's open |
//! | an index | never: no view has it |
//!
//! Series are in the share units of the view's instant: bars before a split in effect have their prices
//! divided and their volumes multiplied by its ratio. Dividends never adjust.

mod audit;
mod benchmark;
mod builder;
mod caches;
mod calendar;
mod canonical;
mod column;
mod conditions;
mod contents;
mod dataset;
mod error;
mod facts;
pub mod indicator;
mod interval;
mod keys;
#[cfg(feature = "planted-leaks")]
mod leak;
mod listed;
mod masking;
mod membership;
mod pack;
mod parts;
#[cfg(feature = "planted-leaks")]
mod planted;
mod rows;
mod view;

pub use audit::{AuditDataset, Future};
pub use benchmark::{BenchmarkSeries, BenchmarkStart, NoBenchmark};
pub use builder::{DailyBar, DatasetBuilder};
pub use calendar::{TradingDay, TradingHours};
pub use conditions::ST_METRIC;
pub use contents::{BarInput, DatasetStats};
pub use dataset::Dataset;
pub use error::{BuildError, ReadError};
pub use facts::{
    Fundamental, Instrument, InstrumentType, MacroPoint, Membership, MembershipChange, News, Published,
};
pub use indicator::{Indicator, IndicatorColumn, IndicatorTable};
pub use interval::Interval;
#[cfg(feature = "planted-leaks")]
pub use leak::Leak;
pub use listed::Listed;
pub use masking::{MaskKind, MaskedSymbol, Masking};
pub use pack::UnpackError;
pub use rows::{BarAfterOpen, BarRows, IntradayBar, impossible_bar};
pub use view::{Bar, BarRange, Exposure, GENERAL_NEWS, KnownPrice, MarketView, PriceKind, ViewRead};
