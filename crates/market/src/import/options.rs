//! The options of an import.

use crate::input::Basis;
use papertape_core::id::Symbol;
use papertape_core::market::{Interval, TradingHours};

/// The options of an import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The dataset's name.
    pub name: String,
    /// The exchange's time zone, by its name in the IANA database.
    pub zone: String,
    /// The exchange's usual hours.
    pub hours: TradingHours,
    /// The currency of instruments for which no file gives one.
    pub currency: String,
    /// The format of every file; `None`: detect each.
    pub format: Option<String>,
    /// The symbol of rows that name none. `None`: the file's name.
    pub symbol: Option<Symbol>,
    /// The length of intraday bars, if nothing else defines it.
    pub interval: Option<Interval>,
    /// The share units of prices, overriding what the formats assume.
    pub basis: Option<Basis>,
}
