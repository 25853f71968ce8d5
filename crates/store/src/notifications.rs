//! Notifies the followers of a job: a commit signals that there is something new, the record says what.
//!
//! A notification carries no data, and two are as good as one: a slow follower costs nothing and loses nothing.
//! On PostgreSQL, other processes are notified by `NOTIFY`, sent after the commit in a statement of its own, so
//! that transactions never wait for each other because of it.

use papertape_core::id::JobId;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// The followers of each job.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobNotifier(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    jobs: Mutex<HashMap<JobId, watch::Sender<()>>>,
    /// Jobs whose changes have not been published to other processes yet; `None` if there are no other processes
    /// to notify.
    untold: Mutex<Option<BTreeSet<JobId>>>,
    tell: Notify,
    /// Changes for the follower of all jobs; `None` if there is none.
    news: Mutex<Option<PendingChanges>>,
    new: Notify,
}

/// Jobs that may have changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingChanges {
    /// The jobs.
    pub(crate) jobs: BTreeSet<JobId>,
    /// Any job may have changed: a notification may have been missed.
    pub(crate) any: bool,
}

/// Signals when a job has something new. Dropping it unsubscribes.
#[derive(Debug)]
pub struct Follower {
    wakes: watch::Receiver<()>,
    job: JobId,
    notifier: JobNotifier,
}

impl Follower {
    /// Resolves when there may be something new since the last call, or since following began.
    pub async fn changed(&mut self) {
        if self.wakes.changed().await.is_err() {
            // Unreachable: the hub lives as long as `self`.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut jobs = lock(&self.notifier.0.jobs);
        // The receiver being dropped is still counted.
        if jobs.get(&self.job).is_some_and(|sender| sender.receiver_count() <= 1) {
            jobs.remove(&self.job);
        }
    }
}

impl JobNotifier {
    /// A hub that also collects changes for other processes; the caller publishes what [`Self::untold`] returns.
    pub(crate) fn shared_with_others() -> Self {
        let notifier = Self::default();
        *lock(&notifier.0.untold) = Some(BTreeSet::new());
        notifier
    }

    pub(crate) fn follow(&self, job: &JobId) -> Follower {
        let wakes = lock(&self.0.jobs).entry(job.clone()).or_default().subscribe();
        Follower { wakes, job: job.clone(), notifier: self.clone() }
    }

    /// Call after a commit of this process.
    pub(crate) fn committed(&self, job: &JobId) {
        self.wake(job);
        if let Some(untold) = lock(&self.0.untold).as_mut() {
            untold.insert(job.clone());
            self.0.tell.notify_one();
        }
    }

    /// Notifies the followers in this process.
    pub(crate) fn wake(&self, job: &JobId) {
        if let Some(sender) = lock(&self.0.jobs).get(job) {
            sender.send_replace(());
        }
        if let Some(news) = lock(&self.0.news).as_mut() {
            news.jobs.insert(job.clone());
            self.0.new.notify_one();
        }
    }

    /// From now on, changes of every job are collected for [`Self::news`].
    pub(crate) fn follow_all(&self) {
        lock(&self.0.news).get_or_insert_default();
    }

    /// Waits until some job has changed. Supports one waiter.
    pub(crate) async fn news(&self) {
        loop {
            if lock(&self.0.news).as_ref().is_some_and(|news| news.any || !news.jobs.is_empty()) {
                return;
            }
            self.0.new.notified().await;
        }
    }

    /// Takes the collected changes.
    pub(crate) fn take_news(&self) -> PendingChanges {
        lock(&self.0.news).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Notifies every follower: something may have been missed.
    pub(crate) fn wake_all(&self) {
        for sender in lock(&self.0.jobs).values() {
            sender.send_replace(());
        }
        if let Some(news) = lock(&self.0.news).as_mut() {
            news.any = true;
            self.0.new.notify_one();
        }
    }

    /// Waits for jobs with unpublished changes and takes them.
    pub(crate) async fn unpublished(&self) -> Vec<JobId> {
        loop {
            let jobs: Vec<JobId> =
                lock(&self.0.untold).as_mut().map(std::mem::take).into_iter().flatten().collect();
            if !jobs.is_empty() {
                return jobs;
            }
            self.0.tell.notified().await;
        }
    }

    /// Number of followed jobs.
    #[cfg(test)]
    fn followed(&self) -> usize {
        lock(&self.0.jobs).len()
    }
}

/// State locked by a thread that panicked is still consistent: every change here is one call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    /// A follower is notified of its own job only, once for many commits, and leaves nothing behind.
    #[test]
    fn followers_hear_of_their_job_and_leave_nothing_behind() {
        let notifier = JobNotifier::default();
        let (one, other) = (JobId::new("one"), JobId::new("other"));
        let mut first = notifier.follow(&one);
        let second = notifier.follow(&one);
        notifier.committed(&other);
        assert!(first.changed().now_or_never().is_none(), "another job's commit");
        notifier.committed(&one);
        notifier.committed(&one);
        assert!(first.changed().now_or_never().is_some(), "a commit before it was asked for");
        assert!(first.changed().now_or_never().is_none(), "two commits are one wake");
        drop(second);
        assert_eq!(notifier.followed(), 1, "one still follows");
        drop(first);
        assert_eq!(notifier.followed(), 0, "nobody follows");
    }

    /// A follower of all jobs is notified of each one, and of changes that may have been missed.
    #[test]
    fn one_can_follow_all_jobs() {
        let notifier = JobNotifier::default();
        let job = JobId::new("one");
        notifier.committed(&job);
        notifier.follow_all();
        assert!(notifier.news().now_or_never().is_none(), "nobody followed then");
        notifier.committed(&job);
        notifier.committed(&job);
        assert!(notifier.news().now_or_never().is_some());
        assert_eq!(notifier.take_news(), PendingChanges { jobs: BTreeSet::from([job]), any: false });
        notifier.wake_all();
        assert!(notifier.news().now_or_never().is_some());
        assert!(notifier.take_news().any);
        assert!(notifier.news().now_or_never().is_none());
    }

    /// Unpublished changes are published once, however many commits there were.
    #[test]
    fn others_are_told_once() {
        let notifier = JobNotifier::shared_with_others();
        let job = JobId::new("one");
        notifier.committed(&job);
        notifier.committed(&job);
        assert_eq!(notifier.unpublished().now_or_never(), Some(vec![job]));
        assert!(notifier.unpublished().now_or_never().is_none());
    }
}
