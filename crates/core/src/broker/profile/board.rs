//! The boards of the mainland Chinese exchanges: price limits and lots.

use super::{MarketProfile, Participation};
use crate::id::Symbol;
use crate::money::Quantity;
use crate::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// A board of the mainland Chinese exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Board {
    /// The main boards of Shanghai (600, 601, 603, 605) and Shenzhen (000, 001, 002, 003).
    Main,
    /// STAR, Shanghai (688, 689).
    Star,
    /// ChiNext, Shenzhen (300, 301, 302).
    ChiNext,
    /// Beijing (4, 8, 92).
    Bse,
}

impl Board {
    /// The board of an A share, from the digits of its symbol and an optional exchange (`600519`,
    /// `600519.SH`, `sz000001`); `None` for anything else, such as a fund or an index.
    #[must_use]
    pub fn of(symbol: &Symbol) -> Option<Self> {
        let text = symbol.as_str().to_ascii_uppercase();
        let code: String = text.chars().filter(char::is_ascii_digit).collect();
        if code.len() != 6 {
            return None;
        }
        let exchange: String = text.chars().filter(char::is_ascii_alphabetic).collect();
        let is_at = |names: &[&str]| exchange.is_empty() || names.contains(&exchange.as_str());
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
        let (shanghai, shenzhen, beijing) =
            (["SH", "SS", "XSHG", "SSE"], ["SZ", "XSHE", "SZSE"], ["BJ", "BSE"]);
        if begins(&["600", "601", "603", "605"]) && is_at(&shanghai) {
            Some(Self::Main)
        } else if begins(&["688", "689"]) && is_at(&shanghai) {
            Some(Self::Star)
        } else if begins(&["000", "001", "002", "003"]) && is_at(&shenzhen) {
            Some(Self::Main)
        } else if begins(&["300", "301", "302"]) && is_at(&shenzhen) {
            Some(Self::ChiNext)
        } else if begins(&["4", "8", "92"]) && is_at(&beijing) {
            Some(Self::Bse)
        } else {
            None
        }
    }
}

/// The price limits of a board from one day on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceLimit {
    /// The board.
    pub board: Board,
    /// The day on which it takes effect.
    pub effective_from: Date,
    /// Percent of the previous close, either way.
    pub percent: Decimal,
    /// The same for shares under special treatment (ST).
    pub st_percent: Decimal,
    /// Number of first trading days on which a new listing has no limit; default: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_days: Option<u16>,
    /// Its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the figure or its date has not been checked against a source.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// The lots of a board that differ from the profile's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardLot {
    /// The board.
    pub board: Board,
    /// The smallest order.
    pub minimum: Quantity,
    /// The step above the minimum.
    pub step: Quantity,
    /// Its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// How an instrument's quantities are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LotRule {
    /// The smallest order.
    pub minimum: Quantity,
    /// The step above the minimum.
    pub step: Quantity,
}

impl LotRule {
    /// The largest whole quantity at or below this one; zero below the minimum.
    #[must_use]
    pub fn round_down(self, quantity: Quantity) -> Quantity {
        let steps = quantity.0.checked_div(self.step.0).unwrap_or_default().floor();
        let whole = Quantity(steps.checked_mul(self.step.0).unwrap_or_default().normalize());
        if whole < self.minimum { Quantity::ZERO } else { whole }
    }

    /// Whether this quantity can be ordered.
    #[must_use]
    pub fn allows(self, quantity: Quantity) -> bool {
        quantity.is_positive() && self.round_down(quantity) == quantity
    }
}

impl MarketProfile {
    /// How quantities of this instrument are counted.
    #[must_use]
    pub fn lot_rule(&self, symbol: &Symbol) -> LotRule {
        if self.fractional {
            let unit = Quantity(Decimal::new(1, crate::ledger::checked::QUANTITY_DP));
            return LotRule { minimum: unit, step: unit };
        }
        let own = Board::of(symbol).and_then(|board| self.board_lots.iter().find(|lot| lot.board == board));
        let (minimum, step) = own.map_or((self.lot, self.lot), |lot| (lot.minimum, lot.step));
        LotRule { minimum, step }
    }

    /// The largest quantity at or below this one that can be ordered; zero if there is none.
    #[must_use]
    pub fn round_to_lot(&self, symbol: &Symbol, quantity: Quantity) -> Quantity {
        self.lot_rule(symbol).round_down(quantity)
    }

    /// The price limit of an instrument on a day, in percent; `None` if there is none. `listed_days` is the
    /// number of trading days since its listing, today included, if the listing is known.
    #[must_use]
    pub fn price_limit(
        &self,
        symbol: &Symbol,
        day: Date,
        is_st: bool,
        listed_days: Option<usize>,
    ) -> Option<Decimal> {
        let board = Board::of(symbol)?;
        let own = || {
            let known =
                self.price_limits.iter().filter(|limit| limit.board == board && limit.effective_from <= day);
            known.rev()
        };
        let limit = own().next()?;
        let free = own().find_map(|limit| limit.free_days).unwrap_or_default();
        if listed_days.is_some_and(|days| days <= usize::from(free)) {
            return None;
        }
        Some(if is_st { limit.st_percent } else { limit.percent })
    }

    /// The same market without price limits.
    #[must_use]
    pub fn without_price_limits(mut self) -> Self {
        self.price_limits.clear();
        self
    }

    pub(super) fn check_conditions(&self) -> Result<(), String> {
        if let Some(Participation { share_pct, bars }) = self.participation
            && (share_pct <= Decimal::ZERO || share_pct > Decimal::ONE_HUNDRED || bars == 0)
        {
            return Err("participation: share_pct must be above 0 and at most 100, bars above 0".to_owned());
        }
        let is_percent = |percent: Decimal| percent > Decimal::ZERO && percent < Decimal::ONE_HUNDRED;
        if self.price_limits.iter().any(|limit| !is_percent(limit.percent) || !is_percent(limit.st_percent)) {
            return Err("price_limits: percents must be above 0 and below 100".to_owned());
        }
        for pair in self.price_limits.windows(2) {
            if pair[0].board == pair[1].board && pair[0].effective_from >= pair[1].effective_from {
                return Err(
                    "price_limits: a board's limits must be in the order of effective_from".to_owned()
                );
            }
        }
        let is_lot = |lot: &BoardLot| {
            let is_whole = |quantity: Quantity| quantity.is_positive() && quantity.0.fract().is_zero();
            is_whole(lot.minimum) && is_whole(lot.step)
        };
        if !self.board_lots.iter().all(is_lot) {
            return Err("board_lots: minimum and step must be whole and above 0".to_owned());
        }
        Ok(())
    }
}
