//! Each house model's signal for a symbol.

use rust_decimal::Decimal;

/// RSI above which a rising symbol is too overbought to buy.
const RSI_OVERBOUGHT: Decimal = Decimal::from_parts(80, 0, 0, false, 0);
/// RSI below which a falling symbol is too oversold to sell short.
const RSI_OVERSOLD: Decimal = Decimal::from_parts(20, 0, 0, false, 0);
/// RSI below which a symbol is oversold.
const OVERSOLD: Decimal = Decimal::from_parts(30, 0, 0, false, 0);
/// RSI above which a symbol is overbought.
const OVERBOUGHT: Decimal = Decimal::from_parts(70, 0, 0, false, 0);

/// A house model's strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Holds rising symbols, equally weighted, and sells those that fall below their average.
    Momentum,
    /// Buys oversold symbols and sells overbought ones.
    Contrarian,
    /// Buys everything once, equally weighted.
    BuyAndHold,
}

/// The data on a symbol before trading.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct IndicatorValues {
    pub(super) symbol: String,
    pub(super) price: Option<Decimal>,
    pub(super) sma_20: Option<Decimal>,
    pub(super) sma_50: Option<Decimal>,
    pub(super) rsi_14: Option<Decimal>,
    /// Negative is short.
    pub(super) held: Decimal,
}

/// The signal for a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Buy up to the target.
    Buy,
    /// Hold: keep the position, do not add.
    Hold,
    /// Sell short up to the target.
    Short,
    /// Exit: sell the position.
    Exit,
    /// No signal.
    Unknown,
}

/// The reason for a signal.
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

    /// The indicators it needs, by the tool's names.
    pub(super) const fn indicators(self) -> &'static [&'static str] {
        match self {
            Self::Momentum => &["sma_20", "sma_50", "rsi_14"],
            Self::Contrarian => &["rsi_14"],
            Self::BuyAndHold => &[],
        }
    }

    /// `owns_any`: there is a position or a pending order at the start of the day. `shorts`: positions may be
    /// short.
    pub(super) fn judge(self, facts: &IndicatorValues, owns_any: bool, shorts: bool) -> (Signal, Reason) {
        let Some(price) = facts.price else {
            return (Signal::Unknown, Reason::NoPrice);
        };
        match self {
            Self::Momentum if shorts => falling(facts, price).unwrap_or_else(|| momentum(facts, price)),
            Self::Momentum => momentum(facts, price),
            Self::Contrarian => contrarian(facts, shorts),
            Self::BuyAndHold if owns_any => (Signal::Hold, Reason::Holding),
            Self::BuyAndHold => (Signal::Buy, Reason::FirstDay),
        }
    }

    /// The number of equal parts into which the capital is divided.
    pub(super) fn parts(self, stances: &[Signal]) -> usize {
        let of = |wanted: &[Signal]| stances.iter().filter(|stance| wanted.contains(stance)).count();
        match self {
            Self::Momentum => of(&[Signal::Buy, Signal::Hold, Signal::Short]),
            Self::Contrarian => stances.len(),
            Self::BuyAndHold => of(&[Signal::Buy]),
        }
    }
}

/// Rising: the price is above its 20-day average, and that is above the 50-day one. The position is exited
/// when the price falls below the 50-day average. While there are fewer than 50 bars, the 20-day average
/// decides.
fn momentum(facts: &IndicatorValues, price: Decimal) -> (Signal, Reason) {
    let Some(fast) = facts.sma_20 else {
        return (Signal::Unknown, Reason::TooLittleHistory);
    };
    let slow = facts.sma_50.unwrap_or(fast);
    if price < slow {
        let reason = if facts.held > Decimal::ZERO { Reason::TrendBroken } else { Reason::NoTrend };
        return (Signal::Exit, reason);
    }
    if price > fast && fast >= slow {
        return if facts.rsi_14.is_some_and(|rsi| rsi > RSI_OVERBOUGHT) {
            (if facts.held > Decimal::ZERO { Signal::Hold } else { Signal::Exit }, Reason::TrendUpButHot)
        } else {
            (Signal::Buy, Reason::TrendUp)
        };
    }
    (if facts.held > Decimal::ZERO { Signal::Hold } else { Signal::Exit }, Reason::NoTrend)
}

/// Falling: the mirror image of rising, with the price below its averages. A short position is held until the
/// price is above the 50-day average; `None` when there is no case for a short.
fn falling(facts: &IndicatorValues, price: Decimal) -> Option<(Signal, Reason)> {
    let fast = facts.sma_20?;
    let slow = facts.sma_50.unwrap_or(fast);
    let is_short = facts.held < Decimal::ZERO;
    if price > slow {
        return None;
    }
    if price < fast && fast <= slow {
        return Some(if facts.rsi_14.is_some_and(|rsi| rsi < RSI_OVERSOLD) {
            (if is_short { Signal::Hold } else { Signal::Exit }, Reason::TrendDownButCold)
        } else {
            (Signal::Short, Reason::TrendDown)
        });
    }
    is_short.then_some((Signal::Hold, Reason::NoTrend))
}

fn contrarian(facts: &IndicatorValues, shorts: bool) -> (Signal, Reason) {
    match facts.rsi_14 {
        None => (Signal::Unknown, Reason::TooLittleHistory),
        Some(rsi) if rsi < OVERSOLD => (Signal::Buy, Reason::Oversold),
        Some(rsi) if rsi > OVERBOUGHT => {
            (if shorts { Signal::Short } else { Signal::Exit }, Reason::Overbought)
        }
        Some(_) => (Signal::Hold, Reason::Neutral),
    }
}
