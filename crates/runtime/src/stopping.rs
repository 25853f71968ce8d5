//! Asking running work to stop after its step.

use papertape_core::tape::Stop;
use tokio::sync::watch;

/// Why work is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody cancelled the job.
    Cancelled,
    /// The process is going down.
    Shutdown,
    /// Another worker has the job.
    LostLease,
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Shutdown => Self::Shutdown,
            StopReason::LostLease => Self::LostLease,
        }
    }
}

/// Says stop. The first reason stays.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<Option<StopReason>>);

/// Hears it.
#[derive(Clone, Debug)]
pub struct StopSignal(watch::Receiver<Option<StopReason>>);

impl Default for Stopper {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Stopper {
    /// Asks everything that listens to stop after its step.
    pub fn stop(&self, reason: StopReason) {
        self.0.send_if_modified(|stopped| {
            let first = stopped.is_none();
            if first {
                *stopped = Some(reason);
            }
            first
        });
    }

    /// A listener.
    #[must_use]
    pub fn signal(&self) -> StopSignal {
        StopSignal(self.0.subscribe())
    }
}

impl StopSignal {
    /// Has stop been said?
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        *self.0.borrow()
    }

    /// An error where stop has been said.
    ///
    /// # Errors
    /// The stop.
    pub fn check(&self) -> Result<(), Stop> {
        self.reason().map_or(Ok(()), |reason| Err(reason.into()))
    }

    /// Resolves when stop is said; never, if nobody can say it any more.
    pub async fn stopped(&mut self) -> StopReason {
        if let Ok(reason) = self.0.wait_for(Option::is_some).await
            && let Some(reason) = *reason
        {
            return reason;
        }
        std::future::pending().await
    }
}
