//! The delay before the next attempt at a call.

use papertape_core::id::ContentHash;
use papertape_core::tape::StepPath;
use std::time::Duration;

/// Delay before the second attempt, without jitter.
const FIRST: Duration = Duration::from_millis(500);
/// Max delay, unless the provider requests a longer one.
const MOST: Duration = Duration::from_secs(30);
/// The delay after attempt number `attempt` (from 1): doubles from half a second to half a minute, times 0.5 to
/// 1.5 by a hash of path and number, so that many agents do not retry in sync; or what the provider requested.
/// [`within`] limits both.
#[must_use]
pub fn pause(path: &StepPath, attempt: u32, asked: Option<Duration>) -> Duration {
    if let Some(asked) = asked {
        return asked;
    }
    let doubled = FIRST.saturating_mul(1_u32 << attempt.saturating_sub(1).min(10)).min(MOST);
    let hash = ContentHash::of(format!("{path}\n{attempt}").as_bytes());
    let share = f64::from(hash.as_bytes()[0]) / 255.0;
    doubled.mul_f64(0.5 + share)
}

/// The delay before another attempt, limited by the call's timeout and by what is left of the session's time.
/// `None`: it would be longer, and there is no further attempt. A delay requested by a provider is never
/// shortened.
#[must_use]
pub fn within(pause: Duration, is_asked: bool, call: Duration, left: Duration) -> Option<Duration> {
    let pause = if is_asked { pause } else { pause.min(call) };
    (pause <= call && pause < left).then_some(pause)
}
