//! The request rate of a source, and the pauses after failures.

use papertape_core::ports::Clock;
use papertape_core::time::{Backoff, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Spaces requests evenly, so that no source sees a burst.
pub(super) struct Pacer {
    clock: Arc<dyn Clock>,
    gap: Duration,
    free_at: Option<Timestamp>,
}

impl Pacer {
    pub(super) fn new(per_minute: u32, clock: Arc<dyn Clock>) -> Self {
        Self { clock, gap: Duration::from_secs(60) / per_minute.max(1), free_at: None }
    }

    /// How long the next request must wait.
    pub(super) fn wait(&self) -> Duration {
        let now = self.clock.now();
        let wait = self.free_at.and_then(|at| Duration::try_from(at.duration_since(now)).ok());
        wait.unwrap_or_default()
    }

    /// Records that a request is being sent.
    pub(super) fn sent(&mut self) {
        self.free_at = self.clock.now().checked_add(self.gap).ok();
    }

    /// Sends nothing for this long.
    pub(super) fn hold(&mut self, pause: Duration) {
        let until = self.clock.now().checked_add(pause).unwrap_or(Timestamp::MAX);
        self.free_at = Some(self.free_at.map_or(until, |at| at.max(until)));
    }
}

/// The pause after attempt number `attempt` (the first is 1): 1 s, 2 s, 4 s and so on, up to a minute.
pub(super) fn backoff(attempt: u32) -> Duration {
    let backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };
    backoff.delay(attempt.saturating_sub(1))
}
