//! What each house model thinks of a symbol.

use rust_decimal::Decimal;

/// RSI above which a rising symbol is too hot to buy into.
const HOT: Decimal = Decimal::from_parts(80, 0, 0, false, 0);
/// RSI below which a falling symbol is too cold to sell short.
const COLD: Decimal = Decimal::from_parts(20, 0, 0, false, 0);
/// RSI below which a symbol is oversold.
const OVERSOLD: Decimal = Decimal::from_parts(30, 0, 0, false, 0);
/// RSI above which a symbol is overbought.
const OVERBOUGHT: Decimal = Decimal::from_parts(70, 0, 0, false, 0);

/// A house model's way to trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Holds what rises, in equal parts, and sells what falls below its average.
    Momentum,
    /// Buys what is oversold and sells what is overbought.
    Contrarian,
    /// Buys everything in equal parts once.
    BuyAndHold,
}

/// What is known of a symbol before trading.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) symbol: String,
    pub(super) price: Option<Decimal>,
    pub(super) sma_20: Option<Decimal>,
    pub(super) sma_50: Option<Decimal>,
    pub(super) rsi_14: Option<Decimal>,
    /// Below zero is short.
    pub(super) held: Decimal,
}

/// What to do about a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stance {
    /// Have it: buy up to the target.
    Want,
    /// Keep what there is, buy no more.
    Keep,
    /// Have it short: sell short up to the target.
    Short,
    /// Have none of it: sell what there is.
    Leave,
    /// Nothing can be said.
    Unknown,
}

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    NoPrice,
    TooLittleHistory,
    TrendUp,
    TrendUpButHot,
    TrendBroken,
    TrendDown,
    TrendDownButCold,
    NoTrend,
    Oversold,
    Overbought,
    Neutral,
    FirstDay,
    Holding,
}

impl Strategy {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "momentum" => Self::Momentum,
            "contrarian" => Self::Contrarian,
            "buy_and_hold" => Self::BuyAndHold,
            _ => return None,
        })
    }

    /// The indicators that it wants, as the tool names them.
    pub(super) const fn indicators(self) -> &'static [&'static str] {
        match self {
            Self::Momentum => &["sma_20", "sma_50", "rsi_14"],
            Self::Contrarian => &["rsi_14"],
            Self::BuyAndHold => &[],
        }
    }

    /// `owns_any`: something is held at the start of the day, or an order waits. `shorts`: positions may
    /// be short.
    pub(super) fn judge(self, facts: &Facts, owns_any: bool, shorts: bool) -> (Stance, Reason) {
        let Some(price) = facts.price else {
            return (Stance::Unknown, Reason::NoPrice);
        };
        match self {
            Self::Momentum if shorts => falling(facts, price).unwrap_or_else(|| momentum(facts, price)),
            Self::Momentum => momentum(facts, price),
            Self::Contrarian => contrarian(facts, shorts),
            Self::BuyAndHold if owns_any => (Stance::Keep, Reason::Holding),
            Self::BuyAndHold => (Stance::Want, Reason::FirstDay),
        }
    }

    /// Into how many equal parts the money is divided.
    pub(super) fn parts(self, stances: &[Stance]) -> usize {
        let of = |wanted: &[Stance]| stances.iter().filter(|stance| wanted.contains(stance)).count();
        match self {
            Self::Momentum => of(&[Stance::Want, Stance::Keep, Stance::Short]),
            Self::Contrarian => stances.len(),
            Self::BuyAndHold => of(&[Stance::Want]),
        }
    }
}

/// Rising: the price above its 20-day average, and that above the 50-day one. It is left when the
/// price falls below the 50-day average. While there are too few bars for the 50 days, the 20 days
/// decide alone.
fn momentum(facts: &Facts, price: Decimal) -> (Stance, Reason) {
    let Some(fast) = facts.sma_20 else {
        return (Stance::Unknown, Reason::TooLittleHistory);
    };
    let slow = facts.sma_50.unwrap_or(fast);
    if price < slow {
        let reason = if facts.held > Decimal::ZERO { Reason::TrendBroken } else { Reason::NoTrend };
        return (Stance::Leave, reason);
    }
    if price > fast && fast >= slow {
        return if facts.rsi_14.is_some_and(|rsi| rsi > HOT) {
            (if facts.held > Decimal::ZERO { Stance::Keep } else { Stance::Leave }, Reason::TrendUpButHot)
        } else {
            (Stance::Want, Reason::TrendUp)
        };
    }
    (if facts.held > Decimal::ZERO { Stance::Keep } else { Stance::Leave }, Reason::NoTrend)
}

/// Falling: the mirror of rising, with the price below its averages. A short position is kept until the
/// price is above the 50-day average; `None` where nothing speaks for one.
fn falling(facts: &Facts, price: Decimal) -> Option<(Stance, Reason)> {
    let fast = facts.sma_20?;
    let slow = facts.sma_50.unwrap_or(fast);
    let is_short = facts.held < Decimal::ZERO;
    if price > slow {
        return None;
    }
    if price < fast && fast <= slow {
        return Some(if facts.rsi_14.is_some_and(|rsi| rsi < COLD) {
            (if is_short { Stance::Keep } else { Stance::Leave }, Reason::TrendDownButCold)
        } else {
            (Stance::Short, Reason::TrendDown)
        });
    }
    is_short.then_some((Stance::Keep, Reason::NoTrend))
}

fn contrarian(facts: &Facts, shorts: bool) -> (Stance, Reason) {
    match facts.rsi_14 {
        None => (Stance::Unknown, Reason::TooLittleHistory),
        Some(rsi) if rsi < OVERSOLD => (Stance::Want, Reason::Oversold),
        Some(rsi) if rsi > OVERBOUGHT => {
            (if shorts { Stance::Short } else { Stance::Leave }, Reason::Overbought)
        }
        Some(_) => (Stance::Keep, Reason::Neutral),
    }
}
