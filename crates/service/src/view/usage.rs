//! Token usage and cost.

use papertape_protocol::number::number;
use papertape_protocol::usage::{CostState, UsageSummary};
use papertape_store::UsageCost;

/// Token usage and its cost.
pub(super) fn usage(used: UsageCost) -> UsageSummary {
    let priced = number(used.cost_usd);
    let is_known = used.unpriced_calls == 0;
    UsageSummary {
        input_tokens: used.usage.input_tokens,
        cached_tokens: used.usage.cached_tokens,
        output_tokens: used.usage.output_tokens,
        cost_usd: is_known.then_some(priced),
        cost: if is_known { CostState::Known } else { CostState::Unknown },
        priced_cost_usd: priced,
        estimated_calls: used.estimated_calls,
    }
}
