//! Market data and who may know it when.
//!
//! A [`Dataset`] is an immutable, content-hashed snapshot, made by a [`DatasetBuilder`] that refuses
//! impossible rows. Nothing but a [`MarketView`] hands out its prices and news: a view is built
//! [for an instant](Dataset::view), borrows what was known then and nothing after it, and holds no
//! handle on the dataset. Every answer is a [`ViewRead`] and says what was read ([`Exposure`]).
//!
//! When a fact is known:
//!
//! | fact | known at |
//! |---|---|
//! | a daily bar's open | the open of its trading day |
//! | its high, low, close and volume | the close of its trading day |
//! | a bar within the day: its open | its opening |
//! | the rest of it | its opening and its length later, the day's close at the latest |
//! | the open of a day made of bars within it | the opening of the first of them |
//! | a split or a dividend | the open of its ex-date; a split is in effect from then on |
//! | news, a fundamental, a macro point | its `published_at`; without one it is refused |
//! | joining or leaving an index | its announcement; without one, the open of the day on which it takes effect |
//! | a symbol | its first bar's open |
//! | an index | never: no view has it |
//!
//! Series are given in the share units of the view's instant: bars before a split that is in effect
//! have their prices divided and their volumes multiplied by its ratio. Dividends never adjust.

mod benchmark;
mod builder;
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
mod known;
mod listed;
mod membership;
mod pack;
mod read;
mod rows;
mod view;

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
pub use listed::Listed;
pub use membership::GENERAL_NEWS;
pub use pack::UnpackError;
pub use read::{Bar, BarRange, Exposure, KnownPrice, PriceKind, ViewRead};
pub use rows::{BarAfterOpen, BarRows, IntradayBar, impossible_bar};
pub use view::MarketView;
