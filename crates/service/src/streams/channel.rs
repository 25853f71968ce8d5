//! One job's channel, which exists while the job has subscribers: one task wakes on its commits, reads the
//! database and adds what is new to the ring that all subscribers share.
//!
//! A commit only wakes the task; the data is read from the database. So a reader is nothing but a cursor: it
//! takes new events from the ring, and from the database what the ring no longer holds. Readers that are
//! equally far behind share one read.

use super::Source;
use super::Streams;
use super::job::streamed_job;
use super::ring::{Chunk, Delivery, Phase, Ring};
use crate::deltas::DeltaReceiver;
use papertape_core::id::JobId;
use papertape_core::part::EventPosition;
use papertape_core::ports::{BoxFuture, Clock};
use papertape_core::time::Timestamp;
use papertape_protocol::stream::StreamedJob;
use papertape_runtime::cancellation::CancelToken;
use papertape_store::{Follower, JobTail, Store, StoreError};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::AbortHandle;

/// The maximum number of events per read.
const PAGE_EVENTS: u32 = 256;
/// How often the database is polled even without a notification, and a keep-alive is sent to the clients.
const POLL_INTERVAL: Duration = Duration::from_secs(15);
/// The maximum number of pages of older events that are cached for readers at the same cursor …
const MAX_PAGES: usize = 4;
/// … and the maximum size of one page in bytes.
const MAX_PAGE_BYTES: usize = 256 * 1024;

/// The channels of one process, by job.
#[derive(Debug, Default)]
pub(super) struct Channels(Arc<Mutex<HashMap<JobId, Weak<Channel>>>>);

/// One job's channel.
#[derive(Debug)]
pub(super) struct Channel {
    job: JobId,
    ring: watch::Receiver<Ring>,
    feeder: AbortHandle,
    store: Store,
    clock: ClockOf,
    /// Whoever holds the lock reads for everyone who waits for it.
    pages: AsyncMutex<VecDeque<Page>>,
    channels: Arc<Mutex<HashMap<JobId, Weak<Channel>>>>,
}

/// Older events, shared by readers that are equally far behind.
#[derive(Debug)]
struct Page {
    chunk: Chunk,
    job: StreamedJob,
    at: Timestamp,
}

impl Channels {
    /// The channel of a job that has just been read.
    pub(super) fn join(
        &self,
        source: &Source<'_>,
        streams: &Streams,
        job: &JobId,
        tail: &JobTail,
    ) -> Arc<Channel> {
        let mut channels = lock(&self.0);
        let found = channels.get(job).and_then(Weak::upgrade);
        if let Some(channel) = &found
            && channel.serves(tail)
        {
            return Arc::clone(channel);
        }
        let channel = Arc::new(Channel::start(source, streams, job, tail, Arc::clone(&self.0)));
        channels.insert(job.clone(), Arc::downgrade(&channel));
        // Dropping a channel takes this lock, and the channel found may have no other owner left.
        drop(channels);
        drop(found);
        channel
    }

    /// How many jobs have subscribers.
    pub(super) fn count(&self) -> usize {
        lock(&self.0).len()
    }
}

impl Channel {
    fn start(
        source: &Source<'_>,
        streams: &Streams,
        job: &JobId,
        tail: &JobTail,
        channels: Arc<Mutex<HashMap<JobId, Weak<Channel>>>>,
    ) -> Self {
        let (sender, ring) = watch::channel(Ring::new(streamed_job(job, tail), tail.newest.clone()));
        let clock = ClockOf(Arc::clone(&source.clock));
        let feeder = Feeder {
            job: job.clone(),
            // Subscribe first, so that a commit during the read is noticed.
            follower: source.store.follow(job),
            store: source.store.clone(),
            poll_timer: clock.0.sleep(POLL_INTERVAL),
            clock: clock.clone(),
            deltas: Some(source.deltas.subscribe()),
            closing: streams.closing(),
            ring: sender,
        };
        let feeder = tokio::spawn(feeder.feed()).abort_handle();
        let (store, pages) = (source.store.clone(), AsyncMutex::default());
        Self { job: job.clone(), ring, feeder, store, clock, pages, channels }
    }

    /// Whether a subscriber who found the job in this state can use this channel. Not if the channel has
    /// reached the end of a run and the job was resumed since, nor if it has failed.
    fn serves(&self, tail: &JobTail) -> bool {
        let ring = self.ring.borrow();
        match ring.phase() {
            Phase::Open => true,
            Phase::Ended => tail.status.is_stopped() && tail.newest == *ring.newest(),
            Phase::Closed | Phase::Failed => false,
        }
    }

    /// The ring, for a subscriber to read.
    pub(super) fn ring(&self) -> watch::Receiver<Ring> {
        self.ring.clone()
    }

    /// Events after `at` from the database, for a subscriber that the ring cannot serve; `None` if there are
    /// none, or if the job is deleted.
    pub(super) async fn older(&self, at: &EventPosition) -> Result<Option<Delivery>, StoreError> {
        let mut pages = self.pages.lock().await;
        let now = self.clock.0.now();
        let is_fresh = |page: &Page, ring: &Ring| {
            page.job == *ring.job() && page.at + POLL_INTERVAL > now && page.at <= now
        };
        // Not beyond the ring, so that the reader continues there, however it came to its position.
        let until = {
            let ring = self.ring.borrow();
            pages.retain(|page| is_fresh(page, &ring));
            at.max(ring.newest())
        };
        if let Some(delivery) = pages.iter().find_map(|page| page.chunk.after(at)) {
            return Ok(Some(delivery));
        }
        let Some(tail) = self.store.tail(&self.job, at, Some(&until), PAGE_EVENTS).await? else {
            return Ok(None);
        };
        let job = streamed_job(&self.job, &tail);
        let chunk = Chunk::of(&job, at.clone(), tail);
        let delivery = chunk.after(at);
        if chunk.len() <= MAX_PAGE_BYTES {
            if pages.len() == MAX_PAGES {
                pages.pop_front();
            }
            pages.push_back(Page { chunk, job, at: now });
        }
        Ok(delivery)
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.feeder.abort();
        let mut channels = lock(&self.channels);
        // Another channel may have taken its place.
        if channels.get(&self.job).is_some_and(|channel| channel.strong_count() == 0) {
            channels.remove(&self.job);
        }
    }
}

/// Reads for all subscribers.
struct Feeder {
    job: JobId,
    follower: Follower,
    store: Store,
    clock: ClockOf,
    /// The deltas of answers in this process, as long as there can be any.
    deltas: Option<DeltaReceiver>,
    closing: CancelToken,
    /// Completes when it is time to poll again.
    poll_timer: BoxFuture<'static, ()>,
    ring: watch::Sender<Ring>,
}

/// What woke the feeder.
enum Wakeup {
    Delta(String),
    Commit,
    Timer,
    Closing,
}

impl Feeder {
    async fn feed(mut self) {
        let phase = self.follow().await.unwrap_or_else(|error| {
            // Every stream of the job ends; its clients reconnect at their cursors.
            tracing::error!(job = %self.job, error = %error, "the streams of a job failed");
            Phase::Failed
        });
        self.ring.send_modify(|ring| ring.close(phase));
    }

    /// Runs until there is nothing more to send.
    async fn follow(&mut self) -> Result<Phase, StoreError> {
        let mut is_due = true;
        loop {
            if is_due {
                match self.read().await? {
                    Some(false) => {}
                    Some(true) => return Ok(Phase::Ended),
                    None => return Ok(Phase::Closed),
                }
            }
            let wakeup = self.next_event().await;
            is_due = !matches!(wakeup, Wakeup::Delta(_));
            match wakeup {
                Wakeup::Delta(delta) => self.publish(|ring| ring.add_delta(&delta)),
                Wakeup::Timer => self.publish(Ring::keep_alive),
                Wakeup::Commit => {}
                Wakeup::Closing => return Ok(Phase::Closed),
            }
        }
    }

    /// Reads what is new; returns whether the job has ended, and `None` if it is deleted.
    async fn read(&mut self) -> Result<Option<bool>, StoreError> {
        loop {
            let at = self.ring.borrow().newest().clone();
            let Some(tail) = self.store.tail(&self.job, &at, None, PAGE_EVENTS).await? else {
                return Ok(None);
            };
            let (has_stopped, newest) = (tail.status.is_stopped(), tail.newest.clone());
            let job = streamed_job(&self.job, &tail);
            let chunk = Chunk::of(&job, at, tail);
            let is_all = chunk.last().reaches(&newest);
            // Only new data wakes the subscribers.
            let mut is_new = false;
            self.ring.send_if_modified(|ring| {
                is_new = ring.push(job, chunk);
                is_new
            });
            if is_new {
                self.restart_timer();
            }
            if is_all {
                return Ok(Some(has_stopped));
            }
        }
    }

    fn publish(&mut self, change: impl FnOnce(&mut Ring)) {
        self.ring.send_modify(change);
        self.restart_timer();
    }

    fn restart_timer(&mut self) {
        self.poll_timer = self.clock.0.sleep(POLL_INTERVAL);
    }

    async fn next_event(&mut self) -> Wakeup {
        tokio::select! {
            biased;
            _ = self.closing.stopped() => Wakeup::Closing,
            // Deltas that precede a commit are sent before it.
            delta = next_delta(&mut self.deltas, &self.job) => Wakeup::Delta(delta),
            () = self.follower.changed() => Wakeup::Commit,
            () = self.poll_timer.as_mut() => Wakeup::Timer,
        }
    }
}

/// The next deltas of a job's answer. Those sent while nobody listened are lost.
async fn next_delta(deltas: &mut Option<DeltaReceiver>, job: &JobId) -> String {
    while let Some(receiver) = deltas {
        match receiver.recv().await {
            Ok((of, delta)) if of == *job => return delta,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => *deltas = None,
        }
    }
    std::future::pending().await
}

/// A clock whose `Debug` output is empty.
#[derive(Clone)]
struct ClockOf(Arc<dyn Clock>);

impl std::fmt::Debug for ClockOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

/// A poisoned lock is safe to use: every change is a single call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
