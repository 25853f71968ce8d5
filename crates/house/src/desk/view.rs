//! A strategy's rating of a symbol, from its figures.

use super::figures::Figures;
use crate::plan::SymbolView;
use crate::strategy::{Reason, Signal, Strategy};
use rust_decimal::Decimal;

/// A rating on a five-point scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rating {
    Buy,
    Overweight,
    Hold,
    Underweight,
    Sell,
}

impl Rating {
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Buy => ("Buy", "买入"),
            Self::Overweight => ("Overweight", "增持"),
            Self::Hold => ("Hold", "持有"),
            Self::Underweight => ("Underweight", "减持"),
            Self::Sell => ("Sell", "卖出"),
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        self.names().0
    }

    pub(super) const fn chinese(self) -> &'static str {
        self.names().1
    }

    /// 1 for more, -1 for less.
    pub(super) const fn direction(self) -> i8 {
        match self {
            Self::Buy | Self::Overweight => 1,
            Self::Hold => 0,
            Self::Underweight | Self::Sell => -1,
        }
    }

    /// Parses either name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let all = [Self::Buy, Self::Overweight, Self::Hold, Self::Underweight, Self::Sell];
        all.into_iter().find(|rating| rating.as_str() == name || rating.chinese() == name)
    }
}

/// The strategy's view of the figures: a rating, and the solo trader's reason for it.
pub(super) fn view(strategy: Strategy, figures: Figures, symbol: &str) -> (Rating, SymbolView) {
    // Judged twice: as a trader without a position, and as one with a position.
    let judge = |held: Decimal, owns_any: bool| strategy.judge(&figures.facts(symbol, held), owns_any, false);
    let (new, reason) = judge(Decimal::ZERO, false);
    let (kept, _) = judge(Decimal::ONE, true);
    let rating = match (new, kept) {
        (Signal::Buy, _) if is_mild(strategy, figures) => Rating::Overweight,
        (Signal::Buy, _) => Rating::Buy,
        (Signal::Exit, Signal::Exit) if is_mild(strategy, figures) => Rating::Underweight,
        (Signal::Exit, Signal::Exit) => Rating::Sell,
        _ => Rating::Hold,
    };
    let opinion = SymbolView { facts: figures.facts(symbol, Decimal::ZERO), stance: new, reason };
    (rating, opinion)
}

/// Whether it is a weaker case: a rise close to overbought, a fall just below the average, an RSI just
/// outside its range.
fn is_mild(strategy: Strategy, figures: Figures) -> bool {
    let rsi = figures.rsi_14;
    let beyond = |low: i64, high: i64| rsi.is_some_and(|rsi| rsi >= low.into() && rsi <= high.into());
    match strategy {
        Strategy::Momentum => {
            let near = figures.price.zip(figures.sma_50.or(figures.sma_20));
            let near = near.is_some_and(|(price, slow)| price < slow && price >= slow * Decimal::new(98, 2));
            near || rsi.is_some_and(|rsi| rsi > Decimal::from(70))
        }
        Strategy::Contrarian => beyond(25, 75),
        Strategy::BuyAndHold => false,
    }
}

/// Whether the reason is missing data.
pub(super) fn has_no_data(opinion: &SymbolView) -> bool {
    matches!(opinion.reason, Reason::NoPrice | Reason::TooLittleHistory)
}
