//! Opinions: a rating on a five-point scale, an action on a three-point scale.

use super::text::{half_width, is_decoration};
use papertape_core::language::Language;
use serde::{Deserialize, Serialize};

/// The position to aim for, on a five-point scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rating {
    /// The maximum that the cap allows.
    Buy,
    /// More than the usual position.
    Overweight,
    /// The present position.
    Hold,
    /// Less than the usual position.
    Underweight,
    /// No position.
    Sell,
}

papertape_core::words!(Rating {
    Buy = "Buy", Overweight = "Overweight", Hold = "Hold", Underweight = "Underweight",
    Sell = "Sell",
});

/// The action, on a three-point scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Action {
    /// Buy.
    Buy,
    /// Nothing.
    Hold,
    /// Sell.
    Sell,
}

papertape_core::words!(Action { Buy = "Buy", Hold = "Hold", Sell = "Sell" });

/// The words that name a rating. There are no others: `bullish`, `add` or `neutral` is not a rating, and the
/// model is asked again.
const WORDS: [(&str, Rating); 14] = [
    ("buy", Rating::Buy),
    ("strong buy", Rating::Buy),
    ("overweight", Rating::Overweight),
    ("hold", Rating::Hold),
    ("underweight", Rating::Underweight),
    ("sell", Rating::Sell),
    ("strong sell", Rating::Sell),
    ("买入", Rating::Buy),
    ("强烈买入", Rating::Buy),
    ("增持", Rating::Overweight),
    ("持有", Rating::Hold),
    ("减持", Rating::Underweight),
    ("卖出", Rating::Sell),
    ("强烈卖出", Rating::Sell),
];

impl Rating {
    /// The rating that a value names: `Overweight`, `**Strong Buy**`, `HOLD（持有）`, `Buy / 买入`. A value with
    /// any other word names none.
    #[must_use]
    pub fn read(value: &str) -> Option<Self> {
        if value.len() > 200 {
            return None;
        }
        let plain = half_width(value).to_lowercase();
        let plain = plain.trim_end_matches(['.', '。', '!', ',', ';', ' ', '\n']);
        let mut named = plain.split(['(', ')', '/']).map(|part| {
            let part = part.trim_matches(is_decoration).trim_end_matches(['.', '。', '!']);
            part.trim_matches(is_decoration).to_owned()
        });
        let first = named.next()?;
        let of = |word: &str| WORDS.iter().find(|(known, _)| *known == word).map(|(_, rating)| *rating);
        let rating = of(&first)?;
        named.all(|part| part.is_empty() || of(&part) == Some(rating)).then_some(rating)
    }

    /// The ratings whose words occur in a text, stated or not.
    pub(super) fn mentioned(text: &str) -> Vec<Self> {
        let plain = half_width(text).to_lowercase();
        let ascii =
            plain.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|word| !word.is_empty());
        let english = |word: &str| {
            let word = word.strip_suffix("ing").unwrap_or(word);
            WORDS.iter().find(|(known, _)| *known == word).map(|(_, rating)| *rating)
        };
        let mut found: Vec<Self> = ascii.filter_map(english).collect();
        let chinese = WORDS.iter().filter(|(word, _)| !word.is_ascii() && plain.contains(word));
        found.extend(chinese.map(|(_, rating)| *rating));
        found.sort_unstable();
        found.dedup();
        found
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
    /// The action of the same name; the two intermediate ratings have none.
    #[must_use]
    pub const fn named(rating: Rating) -> Option<Self> {
        match rating {
            Rating::Buy => Some(Self::Buy),
            Rating::Hold => Some(Self::Hold),
            Rating::Sell => Some(Self::Sell),
            Rating::Overweight | Rating::Underweight => None,
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
