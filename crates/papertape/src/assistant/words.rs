//! Words of answers that are being written, told to whoever follows the job in this process. Whoever is
//! too slow loses some; the message that follows has them all.

use papertape_core::id::JobId;
use papertape_runtime::assist::Listener;
use tokio::sync::broadcast;

/// Pieces that a slow reader may be behind.
const BEHIND: usize = 256;

/// Tells words.
#[derive(Debug)]
pub struct Words(broadcast::Sender<(JobId, String)>);

/// Hears them.
pub type Hearing = broadcast::Receiver<(JobId, String)>;

impl Default for Words {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Words {
    /// Hears all that is said from now on.
    #[must_use]
    pub fn hear(&self) -> Hearing {
        self.0.subscribe()
    }
}

impl Listener for Words {
    fn hears(&self, job: &JobId, words: &str) {
        // Nobody may be listening.
        drop(self.0.send((job.clone(), words.to_owned())));
    }
}
