//! Derives a masked dataset.

use super::companies::Companies;
use super::draw::Seed;
use super::text::{Entities, TextMask};
use super::{VERSION, name_of};
use crate::error::MarketError;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use papertape_core::id::Symbol;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::{
    BarAfterOpen, BarInput, DailyBar, Dataset, DatasetBuilder, Fundamental, Instrument, IntradayBar,
    MacroPoint, MaskKind, MaskedSymbol, Masking, Membership, News, TradingDay,
};
use papertape_core::money::{Price, Quantity};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::{Decimal, RoundingStrategy};
use std::collections::BTreeMap;

/// Dates are shifted by a multiple of this number of days: whole weeks, close to a year.
const YEAR_OF_WEEKS: i32 = 364;
/// Years into the past, at least and at most.
const YEARS: std::ops::RangeInclusive<i32> = 2..=8;
/// Decimals of a volume of fractions.
const VOLUME_DP: u32 = 8;

/// A masked dataset, and the way back.
#[derive(Debug)]
pub struct MaskedDataset {
    /// The dataset.
    pub dataset: Dataset,
    /// The translation. Agents must never see it.
    pub masking: Masking,
}

/// The masked form of a dataset.
///
/// # Errors
/// [`MarketError::Mask`] if there are too few symbols to choose from, or a day cannot be shifted;
/// [`MarketError::Row`] if the shifted rows do not fit, such as bars around a change to daylight saving time in a market
/// that never closes.
pub fn mask(source: &Dataset, kind: MaskKind) -> Result<MaskedDataset, MarketError> {
    let seed = Seed::new(source.hash());
    let companies = Companies::of(source, seed)?;
    let shift_days = if kind.shifts_dates() { shift(seed) } else { 0 };
    let zone = TimeZoneDatabase::bundled().get(source.zone());
    let zone = zone.map_err(|error| MarketError::Mask(error.to_string()))?;
    let symbols = match kind.replaces_entities() {
        true => masked_symbols(&companies),
        false => BTreeMap::new(),
    };
    let masking = Masking {
        kind,
        version: VERSION,
        source: source.name().to_owned(),
        source_hash: source.hash(),
        shift_days,
        symbols,
    };
    let texts = texts_of(source, &companies, kind)?;
    let derivation =
        Derivation { source, masking: &masking, companies: &companies, texts: &texts, seed, zone };
    let dataset = derivation.dataset()?;
    Ok(MaskedDataset { dataset, masking })
}

/// What masks texts about a dataset like its masked form.
///
/// # Errors
/// As [`mask`].
pub fn text_mask(source: &Dataset, kind: MaskKind) -> Result<TextMask, MarketError> {
    texts_of(source, &Companies::of(source, Seed::new(source.hash()))?, kind)
}

fn texts_of(source: &Dataset, companies: &Companies, kind: MaskKind) -> Result<TextMask, MarketError> {
    let shift_days = if kind.shifts_dates() { shift(Seed::new(source.hash())) } else { 0 };
    let last_day = source.days().last().map_or(Date::ZERO, |day| day.date);
    let entities = Entities::new(companies.entities.clone())?;
    Ok(TextMask::new(kind, shift_days, entities, last_day))
}

fn shift(seed: Seed) -> i32 {
    let choices = usize::try_from(YEARS.end() - YEARS.start() + 1).unwrap_or(1);
    let years = i32::try_from(seed.about("shift", "").below(choices)).unwrap_or_default() + YEARS.start();
    -years * YEAR_OF_WEEKS
}

fn masked_symbols(companies: &Companies) -> BTreeMap<Symbol, MaskedSymbol> {
    let of = |(real, masked): (&Symbol, &Symbol)| {
        let price_factor = companies.factors.get(real).copied().unwrap_or(Decimal::ONE);
        (masked.clone(), MaskedSymbol { symbol: real.clone(), price_factor })
    };
    companies.symbols.iter().map(of).collect()
}

struct Derivation<'a> {
    source: &'a Dataset,
    masking: &'a Masking,
    companies: &'a Companies,
    texts: &'a TextMask,
    seed: Seed,
    zone: TimeZone,
}

impl Derivation<'_> {
    fn dataset(&self) -> Result<Dataset, MarketError> {
        let contents = self.source.contents();
        let name = name_of(self.masking.source_hash, self.masking.kind);
        let mut builder = DatasetBuilder::new(name, self.source.zone());
        for day in contents.days() {
            builder.day(self.day(day)?)?;
        }
        for instrument in contents.instruments() {
            builder.instrument(self.instrument(instrument));
            self.bars(&mut builder, &instrument.symbol)?;
        }
        for action in contents.actions() {
            builder.action(self.action(action))?;
        }
        for news in contents.news() {
            builder.news(Some(self.instant(news.published_at)?), self.news(&news.item, news.published_at))?;
        }
        for figure in contents.fundamentals() {
            builder.fundamental(Some(self.instant(figure.published_at)?), self.fundamental(&figure.item))?;
        }
        for point in contents.macros() {
            let item =
                MacroPoint { period: self.masking.masked_date(point.item.period), ..point.item.clone() };
            builder.macro_point(Some(self.instant(point.published_at)?), item)?;
        }
        for period in contents.memberships() {
            builder.membership(self.membership(period)?);
        }
        Ok(builder.build()?)
    }

    fn entities(&self) -> bool {
        self.masking.kind.replaces_entities()
    }

    fn symbol(&self, real: &Symbol) -> Symbol {
        let masked = self.companies.symbols.get(real).filter(|_| self.entities());
        masked.unwrap_or(real).clone()
    }

    fn factor(&self, symbol: &Symbol) -> Decimal {
        let factor = self.companies.factors.get(symbol).copied().filter(|_| self.entities());
        factor.unwrap_or(Decimal::ONE)
    }

    /// The instant with the same local time, on the shifted day.
    fn instant(&self, at: Timestamp) -> Result<Timestamp, MarketError> {
        if self.masking.shift_days == 0 {
            return Ok(at);
        }
        let local = at.to_zoned(self.zone.clone()).datetime();
        let shifted = local.checked_add(jiff::Span::new().days(self.masking.shift_days));
        let shifted = shifted.and_then(|local| self.zone.to_ambiguous_timestamp(local).compatible());
        shifted.map_err(|error| MarketError::Mask(error.to_string()))
    }

    fn day(&self, day: &TradingDay) -> Result<TradingDay, MarketError> {
        Ok(TradingDay {
            date: self.masking.masked_date(day.date),
            open: self.instant(day.open)?,
            close: self.instant(day.close)?,
        })
    }

    fn instrument(&self, real: &Instrument) -> Instrument {
        let name = self.companies.names.get(&real.symbol).filter(|_| self.entities());
        Instrument {
            symbol: self.symbol(&real.symbol),
            name: name.unwrap_or(&real.name).clone(),
            ..real.clone()
        }
    }

    fn bars(&self, builder: &mut DatasetBuilder, real: &Symbol) -> Result<(), MarketError> {
        let contents = self.source.contents();
        let (symbol, factor) = (self.symbol(real), self.factor(real));
        for BarInput { date, open, rest } in contents.bars(real) {
            let date = self.masking.masked_date(date);
            let open = scaled(open, factor);
            match rest.map(|rest| scaled_rest(&rest, factor)) {
                None => builder.opening(&symbol, date, open)?,
                Some(BarAfterOpen { high, low, close, volume }) => {
                    builder.bar(&symbol, DailyBar { date, open, high, low, close, volume })?;
                }
            }
        }
        let days = contents.days();
        for (interval, bars) in contents.intraday_bars(real) {
            for bar in bars {
                let after = days.partition_point(|day| day.open <= bar.opens_at);
                let Some(day) = after.checked_sub(1).map(|at| &days[at]) else { continue };
                // As long after its day's open as in the source, also on a day on which clocks change.
                let opens_at = self.instant(day.open)? + bar.opens_at.duration_since(day.open);
                let rest = bar.rest.map(|rest| scaled_rest(&rest, factor));
                let bar = IntradayBar { opens_at, open: scaled(bar.open, factor), rest };
                builder.bar_within_day(&symbol, interval, &bar)?;
            }
        }
        Ok(())
    }

    fn action(&self, real: &CorporateAction) -> CorporateAction {
        let factor = self.factor(&real.symbol);
        CorporateAction {
            symbol: self.symbol(&real.symbol),
            ex_date: self.masking.masked_date(real.ex_date),
            kind: match real.kind {
                CorporateActionKind::Split { ratio } => CorporateActionKind::Split { ratio },
                CorporateActionKind::Dividend { amount } => {
                    CorporateActionKind::Dividend { amount: scaled(amount, factor) }
                }
                CorporateActionKind::Delisting { pays } => {
                    CorporateActionKind::Delisting { pays: pays.map(|pays| scaled(pays, factor)) }
                }
            },
        }
    }

    /// A news item. Its ID and its address are not texts, and may name a company or a day.
    fn news(&self, real: &News, published_at: Timestamp) -> News {
        let date = published_at.to_zoned(self.zone.clone()).date();
        let text = |text: &str| self.texts.apply_about(text, Some(date), &real.symbols);
        News {
            id: self.seed.digest("news", &real.id),
            symbols: real.symbols.iter().map(|symbol| self.symbol(symbol)).collect(),
            source: text(&real.source),
            headline: text(&real.headline),
            body: real.body.as_deref().map(text),
            url: None,
        }
    }

    fn fundamental(&self, real: &Fundamental) -> Fundamental {
        let factor = if self.entities() { self.scale_of(real) } else { Decimal::ONE };
        let value = real.value.checked_mul(factor).unwrap_or(real.value);
        Fundamental {
            symbol: self.symbol(&real.symbol),
            period_end: self.masking.masked_date(real.period_end),
            value,
            ..real.clone()
        }
    }

    /// What a figure is multiplied by: amounts per share like prices, other amounts of money by the factor of totals,
    /// numbers of shares so that both fit together. Ratios stay.
    fn scale_of(&self, figure: &Fundamental) -> Decimal {
        let (metric, unit) = (figure.metric.to_lowercase(), figure.unit.to_lowercase());
        let price = self.factor(&figure.symbol);
        let size = self.companies.sizes.get(&figure.symbol).copied().unwrap_or(Decimal::ONE);
        let is_currency =
            figure.unit.len() >= 3 && figure.unit.bytes().take(3).all(|byte| byte.is_ascii_uppercase());
        let says = |text: &str| metric.contains(text) || unit.contains(text);
        if unit.contains("/share")
            || says("per share")
            || says("per_share")
            || says("eps")
            || says("price_target")
        {
            if is_currency || unit.contains("share") { price } else { Decimal::ONE }
        } else if is_currency {
            size
        } else if unit.contains("share") {
            size.checked_div(price).map_or(Decimal::ONE, |factor| factor.round_dp(10))
        } else {
            Decimal::ONE
        }
    }

    fn membership(&self, real: Membership) -> Result<Membership, MarketError> {
        let index = Symbol::new(&real.index);
        let announced = |at: Option<Timestamp>| at.map(|at| self.instant(at)).transpose();
        Ok(Membership {
            index: self.symbol(&index).to_string(),
            symbol: self.symbol(&real.symbol),
            from: self.masking.masked_date(real.from),
            until: real.until.map(|until| self.masking.masked_date(until)),
            announced_at: announced(real.announced_at)?,
            until_announced_at: announced(real.until_announced_at)?,
        })
    }
}

/// A price with two more decimals, so that nothing is rounded.
fn scaled(price: Price, factor: Decimal) -> Price {
    Price(price.0.checked_mul(factor).unwrap_or(price.0).normalize())
}

fn scaled_rest(rest: &BarAfterOpen, factor: Decimal) -> BarAfterOpen {
    let volume = rest.volume.0;
    let decimals = if volume.fract().is_zero() { 0 } else { VOLUME_DP };
    let masked = volume.checked_div(factor).unwrap_or(volume);
    let masked = masked.round_dp_with_strategy(decimals, RoundingStrategy::MidpointAwayFromZero);
    BarAfterOpen {
        high: scaled(rest.high, factor),
        low: scaled(rest.low, factor),
        close: scaled(rest.close, factor),
        volume: Quantity(masked.normalize()),
    }
}
