//! How long to wait before the next attempt at a call.

use papertape_core::id::ContentHash;
use papertape_core::tape::StepPath;
use std::time::Duration;

/// Before the second attempt, without jitter.
const FIRST: Duration = Duration::from_millis(500);
/// At the most, unless the provider asks for more.
const MOST: Duration = Duration::from_secs(30);
/// What a provider may ask for at the most; more is not waited.
const MOST_ASKED: Duration = Duration::from_secs(300);

/// The pause after attempt number `attempt` (from 1): doubling from half a second to half a minute,
/// times 0.5 to 1.5 by a hash of path and number, so that many agents do not come back together; or
/// what the provider asked for.
#[must_use]
pub fn pause(path: &StepPath, attempt: u32, asked: Option<Duration>) -> Duration {
    if let Some(asked) = asked {
        return asked.min(MOST_ASKED);
    }
    let doubled = FIRST.saturating_mul(1_u32 << attempt.saturating_sub(1).min(10)).min(MOST);
    let hash = ContentHash::of(format!("{path}\n{attempt}").as_bytes());
    let share = f64::from(hash.as_bytes()[0]) / 255.0;
    doubled.mul_f64(0.5 + share)
}
