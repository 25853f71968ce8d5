//! Takes rows from files, refuses those that are impossible by themselves, and keeps the others with their
//! places until they can be checked beside one another.

use super::problem::Problems;
use super::refusal::RowRejection;
use crate::input::{BarRow, BarTime, Basis, DayRow, ImportedRow, InstrumentRow, Location, ReadAbort, Sink};
use jiff::tz::TimeZone;
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BarRows, Fundamental, Interval, MacroPoint, Membership, News, Published, impossible_bar,
};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::Write;

/// How many refusals are told one by one.
pub(super) const MAX_LISTED: usize = 20;

/// Which row of which file: the file in the upper 24 bits, the row, counted from 1 as they come, below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowLocation(u64);

impl RowLocation {
    const ROW_BITS: u32 = 40;

    fn new(file: usize, row: u64) -> Self {
        Self(((file as u64) << Self::ROW_BITS) | row)
    }

    pub(super) fn file(self) -> usize {
        usize::try_from(self.0 >> Self::ROW_BITS).unwrap_or(usize::MAX)
    }

    pub(super) fn row(self) -> u64 {
        self.0 & ((1 << Self::ROW_BITS) - 1)
    }
}

/// Bars of one symbol, length and basis.
#[derive(Debug, Default)]
pub(super) struct Bars {
    /// Keyed by the day (since the Unix epoch) or by the opening in microseconds.
    pub(super) rows: BarRows,
    pub(super) places: Vec<RowLocation>,
}

/// Which bars belong together. `None`: daily.
pub(super) type SeriesKey = (Symbol, Option<Interval>, Basis);

/// Rows that may stand once under their key.
pub(super) type Keyed<K, V> = BTreeMap<K, Vec<(V, RowLocation)>>;

/// The key of an action: on one day a split, or a dividend of an amount.
pub(super) type ActionKey = (Symbol, Date, (u8, Option<Decimal>));

/// The key of a membership: the index, the symbol and its first day.
pub(super) type MembershipKey = (String, Symbol, Date);

/// Closes with the adjusted closes beside them, where a file has both.
pub(super) type AdjustedCloses = BTreeMap<Symbol, BTreeMap<Date, (Decimal, Decimal)>>;

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) bars: BTreeMap<SeriesKey, Bars>,
    pub(super) adjusted_closes: AdjustedCloses,
    pub(super) actions: Keyed<ActionKey, CorporateAction>,
    pub(super) instruments: Keyed<Symbol, InstrumentRow>,
    pub(super) news: Keyed<String, Published<News>>,
    pub(super) fundamentals: Keyed<(Symbol, String, Date, Timestamp), Published<Fundamental>>,
    pub(super) macros: Keyed<(String, Date, Timestamp), Published<MacroPoint>>,
    pub(super) memberships: Keyed<MembershipKey, Membership>,
    pub(super) days: Keyed<Date, DayRow>,
    pub(super) splits_complete: BTreeSet<Symbol>,
}

/// Refusals: the first of them, how many there are, and where all of them are written.
pub(super) struct Refused<'q> {
    pub(super) listed: Vec<RowRejection>,
    pub(super) count: u64,
    pub(super) problems: Problems,
    pub(super) quarantine: Option<&'q mut dyn Write>,
}

impl Refused<'_> {
    pub(super) fn add(&mut self, refusal: RowRejection) -> Result<(), ReadAbort> {
        self.count += 1;
        self.problems.add(refusal.at(), &refusal.reason);
        if let Some(file) = &mut self.quarantine {
            let mut line = serde_json::to_vec(&refusal).map_err(std::io::Error::other)?;
            line.push(b'\n');
            file.write_all(&line)?;
        }
        if self.listed.len() < MAX_LISTED {
            self.listed.push(refusal);
        }
        Ok(())
    }
}

/// Takes the rows of one file after another.
pub(super) struct Collector<'a, 'q> {
    pub(super) collected: &'a mut Collected,
    pub(super) refused: &'a mut Refused<'q>,
    pub(super) file: usize,
    pub(super) name: &'a str,
    pub(super) rows: u64,
    /// The days whose bars are wanted, and the zone whose days they are. `None`: all.
    pub(super) days: Option<((Date, Date), &'a TimeZone)>,
    pub(super) progress: &'a mut dyn FnMut(u64),
}

impl Collector<'_, '_> {
    fn is_requested(&self, row: &ImportedRow) -> bool {
        let (Some(((first, last), zone)), ImportedRow::Bar(bar)) = (self.days, row) else { return true };
        let date = match bar.at {
            BarTime::Day(date) => date,
            BarTime::Within { opens_at, .. } => opens_at.to_zoned(zone.clone()).date(),
        };
        (first..=last).contains(&date)
    }
}

/// How often a long file says how far it is.
const ROWS_PER_PROGRESS: u64 = 50_000;

impl Sink for Collector<'_, '_> {
    fn row(
        &mut self,
        at: Location<'_>,
        row: Result<ImportedRow, String>,
        raw: &dyn Display,
    ) -> Result<(), ReadAbort> {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_PER_PROGRESS) {
            (self.progress)(self.rows);
        }
        if row.as_ref().is_ok_and(|row| !self.is_requested(row)) {
            return Ok(());
        }
        let place = RowLocation::new(self.file, self.rows);
        let Err(reason) = row.and_then(|row| self.collected.take(row, place)) else { return Ok(()) };
        self.refused.add(RowRejection {
            file: self.name.to_owned(),
            line: at.line,
            path: at.path.map(str::to_owned),
            reason,
            raw: raw.to_string(),
        })
    }
}

impl Collected {
    fn take(&mut self, row: ImportedRow, place: RowLocation) -> Result<(), String> {
        match row {
            ImportedRow::Bar(bar) => return self.bar(bar, place),
            ImportedRow::Action(action) => {
                let key = match action.kind {
                    CorporateActionKind::Split { ratio }
                        if ratio <= Decimal::ZERO || ratio == Decimal::ONE =>
                    {
                        return Err(format!("a split of {ratio} new shares for one"));
                    }
                    CorporateActionKind::Dividend { amount } if !amount.is_positive() => {
                        return Err(format!("a dividend of {amount}"));
                    }
                    CorporateActionKind::Delisting { pays: Some(pays) } if pays.0 < Decimal::ZERO => {
                        return Err(format!("a delisting that pays {pays}"));
                    }
                    CorporateActionKind::Split { .. } => (0, None),
                    CorporateActionKind::Dividend { amount } => (1, Some(amount.0.normalize())),
                    CorporateActionKind::Delisting { .. } => (2, None),
                };
                let key = (action.symbol.clone(), action.ex_date, key);
                self.actions.entry(key).or_default().push((action, place));
            }
            ImportedRow::Instrument(row) => {
                self.instruments.entry(row.symbol.clone()).or_default().push((row, place));
            }
            ImportedRow::News { published_at, item } => {
                let published_at = dated(published_at)?;
                self.news.entry(item.id.clone()).or_default().push((Published { published_at, item }, place));
            }
            ImportedRow::Fundamental { published_at, item } => {
                let published_at = dated(published_at)?;
                let key = (item.symbol.clone(), item.metric.clone(), item.period_end, published_at);
                self.fundamentals.entry(key).or_default().push((Published { published_at, item }, place));
            }
            ImportedRow::Macro { published_at, item } => {
                let published_at = dated(published_at)?;
                let key = (item.series.clone(), item.period, published_at);
                self.macros.entry(key).or_default().push((Published { published_at, item }, place));
            }
            ImportedRow::Membership(row) => {
                if let Some(until) = row.until.filter(|until| *until <= row.from) {
                    return Err(format!("until {until} is not after from {}", row.from));
                }
                let key = (row.index.clone(), row.symbol.clone(), row.from);
                self.memberships.entry(key).or_default().push((row, place));
            }
            ImportedRow::Day(row) => self.days.entry(row.date).or_default().push((row, place)),
            ImportedRow::SplitsComplete { symbol } => {
                self.splits_complete.insert(symbol);
            }
        }
        Ok(())
    }

    fn bar(&mut self, bar: BarRow, place: RowLocation) -> Result<(), String> {
        if let Some(reason) = impossible_bar(bar.open, bar.rest.as_ref()) {
            return Err(reason);
        }
        let (key, interval) = match bar.at {
            BarTime::Day(date) => (day_key(date), None),
            BarTime::Within { opens_at, interval } => (opens_at.as_microsecond(), Some(interval)),
        };
        if let (Some(adjusted), Some(rest), BarTime::Day(date)) = (bar.adjusted_close, &bar.rest, bar.at) {
            let closes = self.adjusted_closes.entry(bar.symbol.clone()).or_default();
            closes.insert(date, (rest.close.0, adjusted.0));
        }
        let bars = self.bars.entry((bar.symbol, interval, bar.basis)).or_default();
        bars.rows.push(key, bar.open, bar.rest.as_ref());
        bars.places.push(place);
        Ok(())
    }
}

fn dated(at: Option<Timestamp>) -> Result<Timestamp, String> {
    at.ok_or_else(|| "it is undated, so it is unknown when an agent may see it".to_owned())
}

const EPOCH: Date = Date::constant(1970, 1, 1);

/// A day as a number: days since the Unix epoch.
pub(super) fn day_key(date: Date) -> i64 {
    date.duration_since(EPOCH).as_hours() / 24
}

/// The day of such a number.
pub(super) fn day_of(key: i64) -> Date {
    EPOCH.saturating_add(jiff::SignedDuration::from_hours(key * 24))
}
