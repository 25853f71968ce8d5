//! What models used, and what that cost as far as anybody knows.

use super::{Number, number};
use papertape_store::UsageCost;
use serde::Serialize;
use utoipa::ToSchema;

/// Tokens and USD.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct UsageSummary {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Of these, read from a provider's cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; `null` where the price of any call is unknown.
    pub cost_usd: Option<Number>,
    /// `known`, or `unknown` where the price of any call is.
    pub cost: &'static str,
    /// US dollars of the calls whose price is known.
    pub priced_cost_usd: Number,
    /// Calls whose provider reported no usage that can be. The other figures hold an estimate of it.
    pub estimated_calls: u64,
}

impl UsageSummary {
    pub(super) fn of(used: UsageCost) -> Self {
        let priced = number(used.cost_usd);
        let is_known = used.unpriced_calls == 0;
        Self {
            input_tokens: used.usage.input_tokens,
            cached_tokens: used.usage.cached_tokens,
            output_tokens: used.usage.output_tokens,
            cost_usd: is_known.then_some(priced),
            cost: if is_known { "known" } else { "unknown" },
            priced_cost_usd: priced,
            estimated_calls: used.estimated_calls,
        }
    }
}
