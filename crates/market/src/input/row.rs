//! The rows of a file.

use papertape_core::id::Symbol;
use papertape_core::ledger::CorporateAction;
use papertape_core::market::{
    BarAfterOpen, Fundamental, InstrumentType, Interval, MacroPoint, Membership, News,
};
use papertape_core::money::Price;
use papertape_core::time::{Date, Timestamp};
use serde::Serialize;

/// One row of a file, in any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportedRow {
    /// A daily or intraday bar.
    Bar(BarRow),
    /// A split or a dividend, in the share units of its ex-date.
    Action(CorporateAction),
    /// Data of an instrument besides its symbol.
    Instrument(InstrumentRow),
    /// A news item.
    News {
        /// When it was published; a row without it is rejected.
        published_at: Option<Timestamp>,
        /// The item.
        item: News,
    },
    /// A fundamental from a company's reports.
    Fundamental {
        /// When it was published; a row without it is rejected.
        published_at: Option<Timestamp>,
        /// The fundamental.
        item: Fundamental,
    },
    /// A value of a macroeconomic series.
    Macro {
        /// When it was published; a row without it is rejected.
        published_at: Option<Timestamp>,
        /// The value.
        item: MacroPoint,
    },
    /// A period of membership in an index.
    Membership(Membership),
    /// A trading day, from a calendar file.
    Day(DayRow),
    /// The splits of this symbol in this input are complete up to the time of the prices, so that
    /// split-adjusted prices can be converted back to traded ones.
    SplitsComplete {
        /// The symbol.
        symbol: Symbol,
    },
}

/// A bar as in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarRow {
    /// The symbol.
    pub symbol: Symbol,
    /// The bar's time.
    pub at: BarTime,
    /// The open price.
    pub open: Price,
    /// The rest; `None` if only the open is known, as for the newest bar.
    pub rest: Option<BarAfterOpen>,
    /// The share units of its prices and its volume.
    pub basis: Basis,
    /// The close adjusted for splits and dividends, if the file has one. It adjusts nothing; it only serves
    /// to check the dividends.
    pub adjusted_close: Option<Price>,
}

/// The time of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BarTime {
    /// A trading day.
    Day(Date),
    /// A part of a trading day.
    Within {
        /// When it opens.
        opens_at: Timestamp,
        /// The bar's length.
        interval: Interval,
    },
}

/// The share units of a bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The shares of its own day: prices as traded.
    #[default]
    AsTraded,
    /// The shares of the day when the file was created: prices divided and volumes multiplied by every split since.
    SplitAdjusted,
}

/// An instrument as in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstrumentRow {
    /// Its symbol.
    pub symbol: Symbol,
    /// Its name at the time, because an agent may see it.
    pub name: Option<String>,
    /// The currency of its prices, ISO 4217.
    pub currency: Option<String>,
    /// What it is; a stock where it does not say.
    pub instrument_type: Option<InstrumentType>,
}

/// A trading day as in a calendar file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayRow {
    /// The day.
    pub date: Date,
    /// When trading starts; `None`: at the exchange's usual hour.
    pub open: Option<Timestamp>,
    /// When trading ends; `None`: at the exchange's usual hour.
    pub close: Option<Timestamp>,
}
