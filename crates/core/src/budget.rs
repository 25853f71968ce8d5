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

fn min_of<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
