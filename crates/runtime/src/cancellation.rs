//! Signals running work to stop after its current step.

use papertape_core::tape::SessionStop;
use tokio::sync::watch;

/// Why work must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The job was canceled.
    Cancelled,
    /// The process is shutting down.
    Shutdown,
    /// Another worker has claimed the job.
    LostLease,
}

impl From<StopReason> for SessionStop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Shutdown => Self::Shutdown,
            StopReason::LostLease => Self::LostLease,
        }
    }
}

/// Sends the stop signal. The first reason wins.
#[derive(Clone, Debug)]
pub struct CancelSource(watch::Sender<Option<StopReason>>);

/// Receives the stop signal.
#[derive(Clone, Debug)]
pub struct CancelToken(watch::Receiver<Option<StopReason>>);

impl Default for CancelSource {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl CancelSource {
    /// Signals every receiver to stop after its current step.
    pub fn stop(&self, reason: StopReason) {
        self.0.send_if_modified(|stopped| {
            let first = stopped.is_none();
            if first {
                *stopped = Some(reason);
            }
            first
        });
    }

    /// A new receiver.
    #[must_use]
    pub fn signal(&self) -> CancelToken {
        CancelToken(self.0.subscribe())
    }
}

impl CancelToken {
    /// The reason, if a stop was signaled.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        *self.0.borrow()
    }

    /// Returns an error if a stop was signaled.
    ///
    /// # Errors
    /// Returns the stop.
    pub fn check(&self) -> Result<(), SessionStop> {
        self.reason().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Resolves when a stop is signaled; never, if no sender is left.
    pub async fn stopped(&mut self) -> StopReason {
        if let Ok(reason) = self.0.wait_for(Option::is_some).await
            && let Some(reason) = *reason
        {
            return reason;
        }
        std::future::pending().await
    }
}
