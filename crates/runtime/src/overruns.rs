//! What calls have used beyond what was reserved for them.

use crate::sync::lock;
use papertape_core::budget::Grant;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

/// The most that a call has used beyond its reservation. Shared by the jobs, or the parts of one, that spend the same
/// limit in this process.
pub type Overrun = Arc<Mutex<Grant>>;

/// The overruns of this process, by the ID of the experiment or job whose limit is shared. A job or part that starts late
/// adds the same amount to its reservations as those that already run. An overrun is forgotten when none of them runs.
#[derive(Debug, Default)]
pub struct Overruns(Mutex<BTreeMap<String, Weak<Mutex<Grant>>>>);

impl Overruns {
    /// The overrun of those that share the limit of this experiment or job.
    #[must_use]
    pub fn of(&self, owner: &str) -> Overrun {
        let mut known = lock(&self.0);
        known.retain(|_, overrun| overrun.strong_count() > 0);
        if let Some(overrun) = known.get(owner).and_then(Weak::upgrade) {
            return overrun;
        }
        let overrun = Overrun::default();
        known.insert(owner.to_owned(), Arc::downgrade(&overrun));
        overrun
    }
}
