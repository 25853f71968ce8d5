//! Deltas of answers that are being written, sent to all subscribers of the job in this process. A slow
//! subscriber loses some; the message that follows contains the whole text.

use papertape_core::id::JobId;
use papertape_runtime::assistant_job::DeltaListener;
use tokio::sync::broadcast;

/// How many deltas a slow subscriber may lag behind.
const MAX_LAG: usize = 256;

/// Sends deltas.
#[derive(Debug)]
pub struct DeltaBus(broadcast::Sender<(JobId, String)>);

/// Receives deltas.
pub(crate) type DeltaReceiver = broadcast::Receiver<(JobId, String)>;

impl Default for DeltaBus {
    fn default() -> Self {
        Self(broadcast::Sender::new(MAX_LAG))
    }
}

impl DeltaBus {
    /// Subscribes to everything sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> DeltaReceiver {
        self.0.subscribe()
    }
}

impl DeltaListener for DeltaBus {
    fn on_delta(&self, job: &JobId, text: &str) {
        // There may be no subscribers.
        drop(self.0.send((job.clone(), text.to_owned())));
    }
}
