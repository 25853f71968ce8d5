//! What a dataset consists of.

use super::calendar::TradingDay;
use super::column::Bars;
use super::facts::{Fundamental, Instrument, MacroPoint, MembershipChange, News, Published};
use super::interval::Interval;
use crate::id::Symbol;
use crate::ledger::CorporateAction;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// What a dataset consists of, every list in its canonical order.
pub(super) struct DatasetParts {
    pub(super) zone_name: String,
    pub(super) zone: TimeZone,
    pub(super) days: Vec<TradingDay>,
    pub(super) series: BTreeMap<Symbol, Series>,
    pub(super) news: Vec<Published<News>>,
    pub(super) fundamentals: BTreeMap<Symbol, Vec<Published<Fundamental>>>,
    pub(super) macros: BTreeMap<String, Vec<Published<MacroPoint>>>,
    pub(super) memberships: Vec<Published<MembershipChange>>,
}

/// One symbol's bars and corporate actions.
pub(super) struct Series {
    pub(super) instrument: Instrument,
    /// One per trading day. A bar built from its day's intraday bars opens with the first of them.
    pub(super) bars: Bars,
    /// Intraday bars by interval; none is empty.
    pub(super) within: BTreeMap<Interval, Bars>,
    pub(super) actions: Vec<CorporateAction>,
}
