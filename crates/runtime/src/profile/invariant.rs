//! What must be equal in both cohorts of a comparison.

use super::trace::Trace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// Something that a comparison keeps constant, unless it is the subject of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// The instrument.
    Ticker,
    /// The trading day.
    Date,
    /// The models' provider.
    Provider,
    /// The models.
    Model,
    /// The timeout of the whole run.
    OverallTimeout,
    /// Rounds of the research debate.
    MaxDebateRounds,
    /// Rounds of the risk debate.
    MaxRiskDiscussRounds,
}

impl Invariant {
    /// All invariants, in the order in which differences are reported.
    pub const ALL: [Self; 7] = [
        Self::Ticker,
        Self::Date,
        Self::Provider,
        Self::Model,
        Self::OverallTimeout,
        Self::MaxDebateRounds,
        Self::MaxRiskDiscussRounds,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ticker => "ticker",
            Self::Date => "date",
            Self::Provider => "provider",
            Self::Model => "model",
            Self::OverallTimeout => "overall-timeout",
            Self::MaxDebateRounds => "max-debate-rounds",
            Self::MaxRiskDiscussRounds => "max-risk-discuss-rounds",
        }
    }

    /// Its value in a run; `None` if it was not recorded.
    #[must_use]
    pub fn of(self, trace: &Trace) -> Option<String> {
        let invariants = &trace.invariants;
        match self {
            Self::Ticker => Some(trace.ticker.clone()),
            Self::Date => Some(trace.date.clone()),
            Self::Provider => invariants.provider.clone(),
            Self::Model => invariants.model.clone(),
            Self::OverallTimeout => invariants.overall_timeout_secs.map(|secs| format!("{secs} s")),
            Self::MaxDebateRounds => invariants.max_debate_rounds.map(|rounds| rounds.to_string()),
            Self::MaxRiskDiscussRounds => invariants.max_risk_discuss_rounds.map(|rounds| rounds.to_string()),
        }
    }

    /// Whether it may differ if `vary` is the experiment. A different model may come from a different provider.
    #[must_use]
    pub fn is_free(self, vary: &BTreeSet<Self>) -> bool {
        vary.contains(&self) || (self == Self::Provider && vary.contains(&Self::Model))
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Invariant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.replace('_', "-");
        Self::ALL.into_iter().find(|invariant| invariant.as_str() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is none of: {known}")
        })
    }
}

/// How frequent each value is in a cohort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shares<K: Ord> {
    counts: BTreeMap<K, usize>,
    total: usize,
}

impl<K: Ord> FromIterator<K> for Shares<K> {
    fn from_iter<I: IntoIterator<Item = K>>(values: I) -> Self {
        let mut shares = Self { counts: BTreeMap::new(), total: 0 };
        for value in values {
            *shares.counts.entry(value).or_default() += 1;
            shares.total += 1;
        }
        shares
    }
}

impl<K: Ord> Shares<K> {
    /// Whether both have the same values in the same proportions. The number of runs may differ.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let keys: BTreeSet<&K> = self.counts.keys().chain(other.counts.keys()).collect();
        let count = |shares: &Self, key: &K| shares.counts.get(key).copied().unwrap_or(0) as u128;
        keys.into_iter()
            .all(|key| count(self, key) * other.total as u128 == count(other, key) * self.total as u128)
    }

    /// Whether there are no values.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl Shares<String> {
    /// For people: `AAPL`, or `AAPL (2 of 3 runs), MSFT (1 of 3 runs)`. At most five values.
    pub(super) fn describe(&self) -> String {
        const MOST: usize = 5;
        if let (1, Some(value)) = (self.counts.len(), self.counts.keys().next()) {
            return value.clone();
        }
        let values: Vec<String> = self
            .counts
            .iter()
            .take(MOST)
            .map(|(value, count)| format!("{value} ({count} of {} runs)", self.total))
            .collect();
        let more = match self.counts.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", values.join(", "))
    }
}
