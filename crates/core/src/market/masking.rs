//! What a masked dataset replaces, and the way back to the real names and days.

use crate::broker::MarketProfile;
use crate::id::{ContentHash, Symbol};
use crate::time::{Date, parse_date};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a masked dataset replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaskKind {
    /// Days and instants, and dates in texts.
    Dates,
    /// Symbols and names, prices and volumes, and both in texts.
    Entities,
    /// Both.
    All,
}

crate::words!(MaskKind, "mask" { Dates = "dates", Entities = "entities", All = "all" });

impl MaskKind {
    /// Whether days are shifted.
    #[must_use]
    pub const fn shifts_dates(self) -> bool {
        matches!(self, Self::Dates | Self::All)
    }

    /// Whether symbols are replaced and prices are scaled.
    #[must_use]
    pub const fn replaces_entities(self) -> bool {
        matches!(self, Self::Entities | Self::All)
    }
}

/// The translation between a dataset and its masked form. Agents must never see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Masking {
    /// What is replaced.
    pub kind: MaskKind,
    /// The version of the rules that replaced it.
    pub version: u32,
    /// The name of the source.
    pub source: String,
    /// The content hash of the source.
    pub source_hash: ContentHash,
    /// Days from a real date to the masked one, a multiple of 364; 0 if dates are real.
    pub shift_days: i32,
    /// By masked symbol, in the order of the real ones; empty if symbols are real.
    pub symbols: BTreeMap<Symbol, MaskedSymbol>,
}

/// What a masked symbol stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskedSymbol {
    /// The real symbol.
    pub symbol: Symbol,
    /// Masked price per real price. A masked share is a real one divided by it.
    pub price_factor: Decimal,
}

impl Masking {
    /// The masked date of a real one, at most a date that exists.
    #[must_use]
    pub fn masked_date(&self, date: Date) -> Date {
        shifted(date, self.shift_days)
    }

    /// The real date of a masked one, at most a date that exists.
    #[must_use]
    pub fn real_date(&self, date: Date) -> Date {
        shifted(date, -self.shift_days)
    }

    /// The masked symbol of a real one; `None` if the dataset does not have it.
    #[must_use]
    pub fn masked_symbol(&self, real: &Symbol) -> Option<Symbol> {
        if !self.kind.replaces_entities() {
            return Some(real.clone());
        }
        self.symbols.iter().find(|(_, of)| of.symbol == *real).map(|(masked, _)| masked.clone())
    }

    /// The real symbol of a masked one; the same if it is not masked.
    #[must_use]
    pub fn real_symbol<'a>(&'a self, masked: &'a Symbol) -> &'a Symbol {
        self.symbols.get(masked).map_or(masked, |of| &of.symbol)
    }

    /// A text of the program with real symbols and dates, such as a warning. Only whole words are replaced.
    #[must_use]
    pub fn real_text(&self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | '^' | '_' | '#');
        let mut real = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            real.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let word = rest[..end].trim_end_matches(['.', '-', '/']);
            match (self.symbols.get(word), parse_date(word)) {
                (Some(of), _) => real.push_str(of.symbol.as_str()),
                (None, Ok(date)) => real.push_str(&self.real_date(date).to_string()),
                (None, Err(_)) => real.push_str(word),
            }
            real.push_str(&rest[word.len()..end]);
            rest = &rest[end..];
        }
        real.push_str(rest);
        real
    }

    /// The same for these masked symbols only.
    #[must_use]
    pub fn only(mut self, symbols: &BTreeSet<Symbol>) -> Self {
        self.symbols.retain(|masked, _| symbols.contains(masked));
        self
    }

    /// The rules of a market as they apply to the masked dataset: dated rules are shifted with the days, rules for
    /// symbols name the masked ones, and what counts in shares or cents counts in real ones.
    #[must_use]
    pub fn market(&self, real: &MarketProfile) -> MarketProfile {
        let mut market = real.clone();
        let bands = market.fee_schedule.iter_mut().flat_map(|schedule| &mut schedule.bands);
        for from in bands.filter_map(|band| band.effective_from.as_mut()) {
            *from = self.masked_date(*from);
        }
        for limit in &mut market.price_limits {
            limit.effective_from = self.masked_date(limit.effective_from);
        }
        if self.kind.replaces_entities() {
            market.slippage.retain_mut(|rule| {
                let is_general = rule.symbols.is_empty();
                let named = self.symbols.iter().filter(|(_, of)| !is_general && rule.names(&of.symbol));
                rule.symbols = named.map(|(masked, _)| masked.to_string()).collect();
                is_general || !rule.symbols.is_empty()
            });
            let units = self.symbols.iter().map(|(masked, of)| (masked.clone(), of.price_factor));
            market.price_units = units.collect();
        }
        market
    }
}

fn shifted(date: Date, days: i32) -> Date {
    date.saturating_add(jiff::Span::new().days(days))
}
