//! Limits on spending.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// The limits of one budget line; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limit {
    /// Input and output tokens together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<Decimal>,
}

/// Tokens and money that a job may spend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Input and output tokens together.
    pub tokens: u64,
    /// US dollars.
    pub usd: Decimal,
}

impl Grant {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd.saturating_add(other.usd) }
    }

    /// The larger of both, per field.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { tokens: self.tokens.max(other.tokens), usd: self.usd.max(other.usd) }
    }

    /// Whether it is within a limit.
    #[must_use]
    pub fn is_within(self, limit: Limit) -> bool {
        limit.tokens.is_none_or(|max| self.tokens <= max) && limit.usd.is_none_or(|max| self.usd <= max)
    }
}

/// What a running job, or a part of one, needs of the limits that it shares with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareRequest {
    /// The line.
    pub line: JobBudget,
    /// What it has used and reserved.
    pub held: Grant,
    /// What its next call may need.
    pub needed: Grant,
    /// The limit of its job's line, which the parts of a split job share.
    pub job_limit: Limit,
}

/// The answer to a [`ShareRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareOutcome {
    /// Its share: what it holds and needs, and a little more if there is plenty. Unlimited where no shared limit is.
    Granted(Limit),
    /// Less is left than it needs. Its share is now what it holds.
    Denied {
        /// The limit that is too small.
        by: SharedLimit,
        /// What it and the others hold.
        committed: Grant,
        /// The limit's amounts.
        limit: Limit,
    },
}

/// A limit that several share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedLimit {
    /// The jobs of an experiment.
    Experiment,
    /// The parts of a job.
    Job,
}

impl Limit {
    /// The stricter of both, per field.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        Self { tokens: min_of(self.tokens, other.tokens), usd: min_of(self.usd, other.usd) }
    }

    /// Checks that the limit allows any spending: at least one token, and no negative amount. A limit of 0 USD allows
    /// models that cost nothing.
    ///
    /// # Errors
    /// The field, and what is wrong with its value.
    pub fn check(self) -> Result<(), (&'static str, String)> {
        if self.tokens == Some(0) {
            return Err(("tokens", "must be greater than 0".to_owned()));
        }
        match self.usd {
            Some(usd) if usd < Decimal::ZERO => Err(("usd", format!("must not be negative, got {usd}"))),
            _ => Ok(()),
        }
    }

    /// Whether nothing is left to spend.
    #[must_use]
    pub fn is_used_up(self) -> bool {
        self.tokens == Some(0) || self.usd.is_some_and(|usd| usd <= Decimal::ZERO)
    }
}

/// A budget line of a whole job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobBudget {
    /// Everything but the summaries.
    Sessions,
    /// The summaries.
    Summaries,
}

fn min_of<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
