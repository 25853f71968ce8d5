//! Delays: before the next attempt at a call, and between polls.

use papertape_core::id::ContentHash;
use papertape_core::tape::StepPath;
use papertape_core::time::Backoff;
use std::time::Duration;

/// Delays between attempts at a call, without jitter, unless the provider requests another one.
const CALLS: Backoff = Backoff { first: Duration::from_millis(500), max: Duration::from_secs(30) };
/// Intervals between polls of other jobs.
const POLLS: Backoff = Backoff { first: Duration::from_millis(50), max: Duration::from_secs(1) };

/// The delay after attempt number `attempt` (from 1): doubles from half a second to half a minute, times 0.5 to
/// 1.5 by a hash of path and number, so that many agents do not retry in sync; or what the provider requested.
/// [`fitting_pause`] limits both.
#[must_use]
pub fn pause(path: &StepPath, attempt: u32, requested: Option<Duration>) -> Duration {
    if let Some(requested) = requested {
        return requested;
    }
    let hash = ContentHash::of(format!("{path}\n{attempt}").as_bytes());
    let jitter = f64::from(hash.as_bytes()[0]) / 255.0;
    CALLS.delay(attempt.saturating_sub(1)).mul_f64(0.5 + jitter)
}

/// The delay before another attempt, limited by the call's timeout and by what is left of the session's time.
/// `None`: it would be longer, and there is no further attempt. A delay requested by a provider is never
/// shortened.
#[must_use]
pub fn fitting_pause(
    pause: Duration,
    is_requested: bool,
    call: Duration,
    left: Duration,
) -> Option<Duration> {
    let pause = if is_requested { pause } else { pause.min(call) };
    (pause <= call && pause < left).then_some(pause)
}

/// The interval after this many polls.
pub(crate) fn poll_interval(polls: u32) -> Duration {
    POLLS.delay(polls)
}
