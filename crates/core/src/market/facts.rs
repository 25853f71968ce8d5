//! The content of a dataset besides bars and corporate actions.

use crate::id::Symbol;
use crate::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Something with bars: tradable, unless it is an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Instrument {
    /// Its ticker symbol.
    pub symbol: Symbol,
    /// Its name. An agent can see it at any instant, so it must be the name at the time.
    pub name: String,
    /// The currency of its prices, ISO 4217.
    pub currency: String,
    /// Its type. Omitted for a stock, so datasets without indexes keep their hash.
    #[serde(rename = "type", default, skip_serializing_if = "InstrumentType::is_tradable")]
    pub instrument_type: InstrumentType,
}

/// The type of an instrument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstrumentType {
    /// A share, a fund, a coin: anything that can be traded.
    #[default]
    Stock,
    /// An index level, such as the S&P 500's. It cannot be traded, agents do not see it, and results are
    /// compared with it.
    Index,
}

crate::words!(InstrumentType { Stock = "stock", Index = "index" });

impl InstrumentType {
    /// Whether it can be traded.
    #[must_use]
    pub fn is_tradable(&self) -> bool {
        *self == Self::Stock
    }
}

/// An item with the instant at which it became public.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Published<T> {
    /// The instant from which it is known.
    pub published_at: Timestamp,
    /// What was published.
    #[serde(flatten)]
    pub item: T,
}

/// A news item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct News {
    /// Unique within the dataset.
    pub id: String,
    /// The instruments that it is about; empty for general news.
    pub symbols: Vec<Symbol>,
    /// The publisher.
    pub source: String,
    /// Its headline.
    pub headline: String,
    /// Its text, if there is more than the headline.
    pub body: Option<String>,
    /// Its URL.
    pub url: Option<String>,
}

/// One figure of a company's reports. A later publication for the same metric and period is a restatement; a
/// view shows the latest known one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fundamental {
    /// The company.
    pub symbol: Symbol,
    /// What it measures, such as `revenue`.
    pub metric: String,
    /// The last day of the period that it is about.
    pub period_end: Date,
    /// The figure.
    pub value: Decimal,
    /// Its unit, such as `USD`.
    pub unit: String,
}

/// One value of a macroeconomic series. A later publication for the same period is a revision; a view shows
/// the latest known one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MacroPoint {
    /// The series, such as `CPIAUCSL`.
    pub series: String,
    /// The first day of the period that it is about.
    pub period: Date,
    /// The value.
    pub value: Decimal,
    /// Its unit, such as `percent`.
    pub unit: String,
}

/// A symbol joins or leaves an index. Known at the announcement; without one, at the open of the day on which
/// it takes effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MembershipChange {
    /// The index, such as `SP500`.
    pub index: String,
    /// The symbol that joins or leaves.
    pub symbol: Symbol,
    /// The day on which it takes effect.
    pub date: Date,
    /// Whether it joins; otherwise it leaves. On one date, leaving comes before joining.
    pub joins: bool,
}

/// A period of membership in an index, from its first day to the first day after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Membership {
    /// The index, such as `SP500`.
    pub index: String,
    /// The member.
    pub symbol: Symbol,
    /// The first day as a member.
    pub from: Date,
    /// The first day after the membership; `None` if it has not ended.
    pub until: Option<Date>,
    /// When joining became known; `None`: at the open of the day on which it takes effect.
    pub announced_at: Option<Timestamp>,
    /// When leaving became known; `None`: at the open of the day on which it takes effect.
    pub until_announced_at: Option<Timestamp>,
}
