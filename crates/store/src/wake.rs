//! Who is told of the transactions of a job's writes.

use crate::notifications::JobNotifier;
use papertape_core::id::JobId;
use std::sync::Arc;

/// Is called around the commits of jobs' writes, so that tests can end the process there.
pub trait CommitObserver: std::fmt::Debug + Send + Sync {
    /// The writes are in an open transaction, which other writes of the job may still join. Its commit comes next.
    fn before_commit(&self, job: &JobId);

    /// The transaction has ended; the job's followers are not notified yet.
    fn before_notify(&self, job: &JobId);
}

/// Whom to notify of a job's transactions.
#[derive(Clone)]
pub(crate) struct Wake {
    pub(crate) notifier: JobNotifier,
    pub(crate) job: JobId,
    pub(crate) observer: Option<Arc<dyn CommitObserver>>,
}

impl Wake {
    /// Tells the observer that the work is in an open transaction.
    pub(crate) fn before_commit(&self) {
        if let Some(observer) = &self.observer {
            observer.before_commit(&self.job);
        }
    }
}

/// Notifies a job's followers when it is dropped. It travels with a transaction's result, which exists only after
/// the transaction has ended.
pub(crate) struct WakeOnDrop(pub(crate) Wake);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        let Wake { notifier, job, observer } = &self.0;
        if let Some(observer) = observer {
            observer.before_notify(job);
        }
        notifier.committed(job);
    }
}
