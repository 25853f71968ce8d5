//! Another future: every kind of fact after an instant, with other values than in the source.
//!
//! What is known at the instant stays as it is, and so does whether an instrument trades at all on the running day: a
//! day without trades has no open, and that shows at the open.

use super::known::Clock;
use crate::id::Symbol;
use crate::ledger::{CorporateAction, CorporateActionKind};
use crate::market::calendar::TradingDay;
use crate::market::column::{Bars, Column};
use crate::market::facts::{
    Fundamental, Instrument, InstrumentType, MacroPoint, MembershipChange, News, Published,
};
use crate::market::keys::Keys;
use crate::market::parts::{DatasetParts, Series};
use crate::money::Price;
use crate::time::Timestamp;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of poisoned bars of all series together, and the minimum of each.
const MAX_BARS: usize = 50_000;
const MIN_BARS: usize = 16;
/// Maximum number of poisoned trading days.
const MAX_DAYS: usize = 2_500;
/// Maximum number of poisoned items of a list, besides the invented ones.
const MAX_ITEMS: usize = 100;
/// Rows by which the listing of a symbol that is not listed yet moves.
const LISTING_DELAY: usize = 3;
/// Symbols that the source does not have; one of them sorts first and one last.
const INVENTED: [&str; 3] = ["AAUDITA", "MAUDITM", "ZZAUDIT"];
/// Bars of an invented symbol.
const INVENTED_BARS: usize = 64;

/// Adds the other future to the parts, which end at the clock's instant. `is_close`: the date of the next trading day
/// is announced and stays.
pub(super) fn add(
    source: &DatasetParts,
    parts: &mut DatasetParts,
    clock: &Clock<'_>,
    (seed, is_close): (u64, bool),
) {
    let poison = Poison::new(source, clock, seed, is_close);
    parts.days.extend(poison.days.iter().filter_map(|(_, day)| *day));
    let count = source.series.values().map(|series| 1 + series.within.len()).sum::<usize>().max(1);
    let limit = (MAX_BARS / count).max(MIN_BARS);
    for (n, (symbol, series)) in (0_u64..).zip(&source.series) {
        if !parts.series.contains_key(symbol) {
            let mut unlisted = super::empty_like(series);
            unlisted.instrument.name.push_str(" (not listed)");
            parts.series.insert(symbol.clone(), unlisted);
        }
        let Some(known) = parts.series.get_mut(symbol) else { continue };
        let delay = if known.bars.opened() == 0 { LISTING_DELAY } else { 0 };
        poison.bars(&mut known.bars, &series.bars, (mix(seed, n), delay), limit);
        for (interval, bars) in &series.within {
            let known = known.within.entry(*interval).or_insert_with(|| bars.empty_like());
            poison.bars(known, bars, (mix(seed, n ^ u64::from(interval.minutes()) << 32), delay), limit);
        }
        known.within.retain(|_, bars| bars.opened() > 0);
        poison.actions(symbol, known, series);
    }
    parts.series.retain(|_, series| series.bars.opened() > 0);
    for symbol in INVENTED.map(Symbol::new) {
        if !source.series.contains_key(&symbol)
            && let Some(series) = poison.invented(&symbol)
        {
            parts.series.insert(symbol, series);
        }
    }
    poison.news(&mut parts.news);
    poison.fundamentals(&mut parts.fundamentals);
    poison.macros(&mut parts.macros);
    poison.memberships(&mut parts.memberships);
}

struct Poison<'a> {
    source: &'a DatasetParts,
    clock: &'a Clock<'a>,
    seed: u64,
    /// The source's days after the instant, each with its replacement, then an invented one; `None`: left out.
    days: Vec<(TradingDay, Option<TradingDay>)>,
    /// Just after the instant.
    soon: Timestamp,
}

impl<'a> Poison<'a> {
    fn new(source: &'a DatasetParts, clock: &'a Clock<'a>, seed: u64, is_close: bool) -> Self {
        let later = source.days[clock.days.len()..].iter().take(MAX_DAYS);
        let altered = |(n, day): (u64, &TradingDay)| {
            let stays = if n == 0 { is_close } else { !mix(seed, n).is_multiple_of(4) };
            let half = day.close.as_microsecond().midpoint(day.open.as_microsecond());
            let close = Timestamp::from_microsecond(half).unwrap_or(day.close);
            (*day, stays.then_some(TradingDay { close, ..*day }))
        };
        let mut days: Vec<(TradingDay, Option<TradingDay>)> = (0_u64..).zip(later).map(altered).collect();
        let last = days.last().map(|(day, _)| *day).or_else(|| clock.days.last().copied());
        let invented = std::iter::successors(last, |day| day_after(*day)).skip(1);
        let invented = invented.take(MAX_DAYS).find(|day| day.open > clock.instant);
        days.extend(invented.map(|day| (day, Some(day))));
        let soon = clock.instant.checked_add(jiff::SignedDuration::from_micros(1)).unwrap_or(clock.instant);
        Self { source, clock, seed, days, soon }
    }

    /// Adds at most `limit` bars with other values.
    fn bars(&self, known: &mut Bars, source: &Bars, (seed, delay): (u64, usize), limit: usize) {
        let form = source.first(source.opened(), source.closed());
        let rest = |row: usize| -> [u64; 4] {
            match row < source.closed() {
                true => [form.high, form.low, form.close, form.volume].map(|column| column.cell(row)),
                false => [source.open.cell(row); 4],
            }
        };
        let opened = known.opened();
        for row in known.closed()..opened {
            let open = known.open.cell(row);
            self.push_rest(known, (open, rest(row)), mix(seed, row as u64));
        }
        let begun = self.clock.days.len();
        let all = &self.source.days;
        let mut at = begun.saturating_sub(1);
        for row in (opened + delay..source.opened()).take(limit) {
            let key = form.opens_at.get(row);
            while all.get(at + 1).is_some_and(|next| next.open.as_microsecond() <= key) {
                at += 1;
            }
            // Bars of the running day stay on it; those of a day that is left out are left out.
            let is_open = at < begun || self.days.get(at - begun).is_some_and(|(_, day)| day.is_some());
            if !is_open || !known.opens_at.push(key) {
                continue;
            }
            let random = mix(seed, row as u64);
            let open = alter(source.open.cell(row), random, source.open.max_cell());
            known.open.push_cell(open);
            self.push_rest(known, (open, rest(row)), random);
        }
        self.push_after_end(known, source, seed);
    }

    /// A bar on the invented day, which the source cannot have.
    fn push_after_end(&self, known: &mut Bars, source: &Bars, seed: u64) {
        let Some((day, _)) = self.days.last() else { return };
        let key = day.open.as_microsecond();
        let is_newer = known.opens_at.all().last().is_none_or(|last| last < key);
        if source.opened() == 0 || !is_newer || !known.opens_at.push(key) {
            return;
        }
        let open = alter(source.open.cell(source.opened() - 1), seed, source.open.max_cell());
        known.open.push_cell(open);
        self.push_rest(known, (open, [open; 4]), seed);
    }

    fn push_rest(&self, known: &mut Bars, (open, [high, low, close, volume]): (u64, [u64; 4]), random: u64) {
        let random = mix(random, 1);
        let [high, low, close] = [
            alter(high, random, known.high.max_cell()),
            alter(low, random, known.low.max_cell()),
            alter(close, random, known.close.max_cell()),
        ];
        let scales = [known.high.first(0), known.low.first(0), known.close.first(0)].map(|one| one.scale());
        // A bar whose columns differ in scale is only different, not consistent.
        let is_comparable = scales.iter().all(|scale| *scale == known.open.first(0).scale());
        let (top, bottom) = if is_comparable { (high.max(open), low.min(open)) } else { (high, low) };
        known.high.push_cell(top);
        known.low.push_cell(bottom);
        known.close.push_cell(close);
        known.volume.push_cell(match volume {
            0 => 0,
            volume => alter(volume, random, known.volume.max_cell()),
        });
    }

    fn actions(&self, symbol: &Symbol, known: &mut Series, source: &Series) {
        let from = known.actions.len();
        let split = |ratio: i64| CorporateActionKind::Split { ratio: Decimal::from(ratio) };
        let dates = self.days.iter().filter_map(|(_, day)| Some(day.as_ref()?.date));
        let mut later: Vec<CorporateAction> = dates
            .take(1)
            .map(|ex_date| CorporateAction { symbol: symbol.clone(), ex_date, kind: split(7) })
            .collect();
        for action in source.actions.iter().skip(from).take(MAX_ITEMS) {
            let kind = match action.kind {
                CorporateActionKind::Split { ratio } if ratio > Decimal::ONE => {
                    CorporateActionKind::Split { ratio: Decimal::new(5, 1) }
                }
                CorporateActionKind::Split { .. } => split(3),
                CorporateActionKind::Dividend { amount } => {
                    CorporateActionKind::Dividend { amount: Price(amount.0 + Decimal::ONE) }
                }
                CorporateActionKind::Delisting { pays } => CorporateActionKind::Delisting {
                    pays: Some(Price(pays.map_or(Decimal::ONE, |pays| pays.0 + Decimal::ONE))),
                },
            };
            later.push(CorporateAction { kind, ..action.clone() });
        }
        later.sort_by_key(|action| action.ex_date);
        known.actions.extend(later);
    }

    /// A symbol that is listed on the next day; `None` if there is none.
    fn invented(&self, symbol: &Symbol) -> Option<Series> {
        let days: Vec<i64> = (self.days.iter())
            .filter_map(|(_, day)| Some(day.as_ref()?.open.as_microsecond()))
            .take(INVENTED_BARS)
            .collect();
        if days.is_empty() {
            return None;
        }
        let column = |salt: u64, base: u64| {
            let cells = (0..days.len() as u64).map(|row| base + mix(self.seed ^ salt, row) % 500);
            Column::from_cells(2, cells.collect())
        };
        let [open, close] = [1, 2].map(|salt| column(salt, 5_000));
        let bars = Bars {
            open,
            high: column(3, 6_000),
            low: column(4, 4_000),
            close,
            volume: column(5, 100_000),
            opens_at: Keys::pack(days),
        };
        let instrument = Instrument {
            symbol: symbol.clone(),
            name: format!("{symbol} (not listed)"),
            currency: "USD".to_owned(),
            instrument_type: InstrumentType::Stock,
        };
        Some(Series { instrument, bars, within: BTreeMap::new(), actions: Vec::new() })
    }

    fn news(&self, known: &mut Vec<Published<News>>) {
        let from = known.len();
        let invented = |symbols: Vec<Symbol>| {
            let about = symbols.first().map_or_else(|| "the market".to_owned(), ToString::to_string);
            let item = News {
                id: format!("audit-{about}"),
                headline: format!("An invented event about {about}, {}", mix(self.seed, 11)),
                symbols,
                source: "audit".to_owned(),
                body: None,
                url: None,
            };
            Published { published_at: self.soon, item }
        };
        let symbols = self.source.series.keys().take(MAX_ITEMS).map(|symbol| vec![symbol.clone()]);
        known.extend(symbols.chain([Vec::new()]).map(invented));
        known.extend(self.source.news.iter().skip(from).take(MAX_ITEMS).map(|news| {
            let mut news = news.clone();
            news.item.id.push_str("-audit");
            news.item.headline = format!("Another event, {}", mix(self.seed, 13));
            news.item.body = None;
            news
        }));
    }

    fn fundamentals(&self, known: &mut BTreeMap<Symbol, Vec<Published<Fundamental>>>) {
        for (symbol, source) in &self.source.fundamentals {
            self.restate(known.entry(symbol.clone()).or_default(), source, |item| &mut item.value);
        }
    }

    /// Adds a restatement of the newest known value, then other values than in the source.
    fn restate<T: Clone>(
        &self,
        known: &mut Vec<Published<T>>,
        source: &[Published<T>],
        value: impl Fn(&mut T) -> &mut Decimal,
    ) {
        let from = known.len();
        let altered = |one: &Published<T>| {
            let mut one = one.clone();
            let value = value(&mut one.item);
            *value = self.value(*value);
            one
        };
        known.extend(
            from.checked_sub(1).map(|last| Published { published_at: self.soon, ..altered(&source[last]) }),
        );
        known.extend(source.iter().skip(from).take(MAX_ITEMS).map(altered));
    }

    fn macros(&self, known: &mut BTreeMap<String, Vec<Published<MacroPoint>>>) {
        for (name, source) in &self.source.macros {
            self.restate(known.entry(name.clone()).or_default(), source, |item| &mut item.value);
        }
        let name = "AUDIT".to_owned();
        if let (false, Some(today)) = (self.source.macros.contains_key(&name), self.clock.days.last()) {
            let value = self.value(Decimal::ONE);
            let item =
                MacroPoint { series: name.clone(), period: today.date, value, unit: "index".to_owned() };
            known.insert(name, vec![Published { published_at: self.soon, item }]);
        }
    }

    /// Members leave and an invented symbol joins each index; later changes are reversed.
    fn memberships(&self, known: &mut Vec<Published<MembershipChange>>) {
        let from = known.len();
        let Some(today) = self.clock.days.last() else { return };
        let indexes: BTreeSet<&String> =
            self.source.memberships.iter().map(|change| &change.item.index).collect();
        let change = |index: &String, symbol: Symbol, joins: bool| Published {
            published_at: self.soon,
            item: MembershipChange { index: index.clone(), symbol, date: today.date, joins },
        };
        let mut soon: Vec<Published<MembershipChange>> = Vec::new();
        for index in indexes {
            let first = known.iter().find(|change| change.item.index == *index && change.item.joins);
            soon.extend(first.map(|first| change(index, first.item.symbol.clone(), false)));
            soon.push(change(index, Symbol::new(INVENTED[0]), true));
        }
        known.extend(soon);
        known.extend(self.source.memberships.iter().skip(from).take(MAX_ITEMS).map(|change| {
            let mut change = change.clone();
            change.item.joins = !change.item.joins;
            change
        }));
    }

    fn value(&self, value: Decimal) -> Decimal {
        let more = Decimal::from(1 + mix(self.seed, 17) % 1_000);
        value.checked_add(more).unwrap_or(more)
    }
}

/// The trading day that an exchange without closings would have next.
fn day_after(day: TradingDay) -> Option<TradingDay> {
    let later = |at: Timestamp| at.checked_add(jiff::SignedDuration::from_hours(24)).ok();
    Some(TradingDay { date: day.date.tomorrow().ok()?, open: later(day.open)?, close: later(day.close)? })
}

/// Another cell that fits, larger than zero, and in the same order as others with the same random number.
fn alter(cell: u64, random: u64, max: u64) -> u64 {
    let (divisor, more) = (2 + random % 4, 1 + (random >> 8) % 97);
    let part = cell / divisor + more;
    if cell <= max / 4 { cell + part } else { part }
}

/// A number that depends on both (the finalizer of SplitMix64).
fn mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
