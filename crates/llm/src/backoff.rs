//! The delay before a retry.

use backon::{BackoffBuilder as _, ExponentialBuilder};
use std::time::Duration;

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// The delay before the attempt that follows attempt number `attempt` (the first is 1).
///
/// Exponential: 1 s, 2 s, 4 s and so on up to a minute. `jitter` in 0..=1 picks between half and all of it,
/// so that agents that failed together do not retry together. If the provider requests a delay
/// (`Retry-After`), that is the minimum, and the same jitter adds up to a second.
#[must_use]
pub fn backoff(attempt: u32, retry_after: Option<Duration>, jitter: f64) -> Duration {
    let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 0.0 };
    let nth = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX).min(64);
    let whole = ExponentialBuilder::new()
        .with_min_delay(SHORTEST)
        .with_max_delay(LONGEST)
        .without_max_times()
        .build()
        .nth(nth)
        .unwrap_or(LONGEST);
    let own = whole.mul_f64(0.5 + 0.5 * jitter);
    let asked = retry_after.map(|asked| asked.saturating_add(SHORTEST.mul_f64(jitter)));
    asked.map_or(own, |asked| asked.max(own))
}
