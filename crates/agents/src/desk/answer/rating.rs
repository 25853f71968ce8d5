//! Opinions: a rating of five, an action of three.

use crate::config::Language;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much of a symbol to have, of five.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rating {
    /// As much as the cap allows.
    Buy,
    /// More than usual.
    Overweight,
    /// What there is.
    Hold,
    /// Less than usual.
    Underweight,
    /// None.
    Sell,
}

/// What to do, of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Buy.
    Buy,
    /// Nothing.
    Hold,
    /// Sell.
    Sell,
}

impl Rating {
    /// All of them, the most wanted first.
    pub const ALL: [Self; 5] = [Self::Buy, Self::Overweight, Self::Hold, Self::Underweight, Self::Sell];

    /// Its English name, as schemas and the record spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "Buy",
            Self::Overweight => "Overweight",
            Self::Hold => "Hold",
            Self::Underweight => "Underweight",
            Self::Sell => "Sell",
        }
    }

    /// Its name in a language.
    #[must_use]
    pub const fn name(self, language: Language) -> &'static str {
        match (language, self) {
            (Language::En, _) => self.as_str(),
            (Language::Zh, Self::Buy) => "买入",
            (Language::Zh, Self::Overweight) => "增持",
            (Language::Zh, Self::Hold) => "持有",
            (Language::Zh, Self::Underweight) => "减持",
            (Language::Zh, Self::Sell) => "卖出",
        }
    }

    /// 1 for more, -1 for less, 0 for no change.
    #[must_use]
    pub const fn direction(self) -> i8 {
        match self {
            Self::Buy | Self::Overweight => 1,
            Self::Hold => 0,
            Self::Underweight | Self::Sell => -1,
        }
    }
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Buy, Self::Hold, Self::Sell];

    /// Its English name, as schemas and the record spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "Buy",
            Self::Hold => "Hold",
            Self::Sell => "Sell",
        }
    }

    /// Its name in a language.
    #[must_use]
    pub const fn name(self, language: Language) -> &'static str {
        match (language, self) {
            (Language::En, _) => self.as_str(),
            (Language::Zh, Self::Buy) => "买入",
            (Language::Zh, Self::Hold) => "持有",
            (Language::Zh, Self::Sell) => "卖出",
        }
    }

    /// 1 for more, -1 for less, 0 for no change.
    #[must_use]
    pub const fn direction(self) -> i8 {
        match self {
            Self::Buy => 1,
            Self::Hold => 0,
            Self::Sell => -1,
        }
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
