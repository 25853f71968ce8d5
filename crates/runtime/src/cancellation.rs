//! Signals running work to stop after its current step, and why.

use futures::future::{Either, select};
use papertape_core::tape::SessionStop;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

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
#[derive(Clone, Debug, Default)]
pub struct CancelSource(CancelToken);

/// Receives the stop signal.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    token: CancellationToken,
    /// Set before `token` is canceled.
    reason: Arc<OnceLock<StopReason>>,
}

impl CancelSource {
    /// Signals every receiver to stop after its current step.
    pub fn stop(&self, reason: StopReason) {
        if self.0.reason.set(reason).is_ok() {
            self.0.token.cancel();
        }
    }

    /// A receiver.
    #[must_use]
    pub fn signal(&self) -> CancelToken {
        self.0.clone()
    }
}

impl CancelToken {
    /// The reason, if a stop was signaled.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        self.reason.get().copied()
    }

    /// Returns an error if a stop was signaled.
    ///
    /// # Errors
    /// Returns the stop.
    pub fn check(&self) -> Result<(), SessionStop> {
        self.reason().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Resolves when a stop is signaled.
    pub async fn stopped(&self) -> StopReason {
        self.token.cancelled().await;
        match self.reason() {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }

    /// Runs `work` until it ends. A stop drops it.
    ///
    /// # Errors
    /// Returns the reason of the stop.
    pub async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, StopReason> {
        match select(pin!(self.stopped()), pin!(work)).await {
            Either::Left((reason, _)) => Err(reason),
            Either::Right((done, _)) => Ok(done),
        }
    }
}
