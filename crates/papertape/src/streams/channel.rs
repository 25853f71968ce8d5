//! One job's channel, held while somebody follows the job: one task is woken by its commits, reads the
//! record and puts what is new into the ring, for all who follow.
//!
//! The commit only wakes; what is told is read. So a reader is a place in the record and nothing else: it
//! takes from the ring what it has not had, and from the record what the ring does not hold any more.
//! Readers that are behind by the same read it once between them.

use super::Streams;
use super::ring::{Phase, Piece, Ring, Told};
use crate::app::App;
use crate::assistant::Hearing;
use crate::view::StreamedJob;
use papertape_core::id::JobId;
use papertape_core::ports::{BoxFuture, Clock};
use papertape_core::time::Timestamp;
use papertape_runtime::stopping::StopSignal;
use papertape_store::{Follower, JobTail, Store, StoreError};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::AbortHandle;

/// The most events that are read at a time.
const AT_A_TIME: u32 = 256;
/// How often the record is asked even where nothing has been heard of, and the clients are told that the
/// connection lives.
const ASK_EVERY: Duration = Duration::from_secs(15);
/// The most pages of older events that are held for those who read them side by side …
const MOST_PAGES: usize = 4;
/// … and the most bytes of one.
const MOST_PAGE_BYTES: usize = 256 * 1024;

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
    /// Whoever has it reads for all that wait for it.
    pages: AsyncMutex<VecDeque<Page>>,
    channels: Arc<Mutex<HashMap<JobId, Weak<Channel>>>>,
}

/// Older events, for those who are behind by the same.
#[derive(Debug)]
struct Page {
    piece: Piece,
    job: StreamedJob,
    at: Timestamp,
}

impl Channels {
    /// The channel of a job that has just been read.
    pub(super) fn join(&self, app: &App, streams: &Streams, job: &JobId, tail: &JobTail) -> Arc<Channel> {
        let mut channels = lock(&self.0);
        let found = channels.get(job).and_then(Weak::upgrade);
        if let Some(channel) = &found
            && channel.serves(tail)
        {
            return Arc::clone(channel);
        }
        let channel = Arc::new(Channel::start(app, streams, job, tail, Arc::clone(&self.0)));
        channels.insert(job.clone(), Arc::downgrade(&channel));
        // A channel that goes looks in here, and the one that was found may have been left meanwhile.
        drop(channels);
        drop(found);
        channel
    }

    /// How many jobs are followed.
    pub(super) fn count(&self) -> usize {
        lock(&self.0).len()
    }
}

impl Channel {
    fn start(
        app: &App,
        streams: &Streams,
        job: &JobId,
        tail: &JobTail,
        channels: Arc<Mutex<HashMap<JobId, Weak<Channel>>>>,
    ) -> Self {
        let (sender, ring) = watch::channel(Ring::new(StreamedJob::of(job, tail), tail.newest));
        let clock = ClockOf(Arc::clone(&app.services.clock));
        let feeder = Feeder {
            job: job.clone(),
            // Following comes first: what is committed while the record is read is heard of.
            follower: app.store.follow(job),
            store: app.store.clone(),
            quiet: clock.0.sleep(ASK_EVERY),
            clock: clock.clone(),
            words: Some(app.words.hear()),
            closing: streams.closing(),
            ring: sender,
        };
        let feeder = tokio::spawn(feeder.feed()).abort_handle();
        let (store, pages) = (app.store.clone(), AsyncMutex::default());
        Self { job: job.clone(), ring, feeder, store, clock, pages, channels }
    }

    /// Can one who has found the job like this follow it here? Not where the channel has come to the end of
    /// a run that the job has gone on from, nor where it has broken off.
    fn serves(&self, tail: &JobTail) -> bool {
        let ring = self.ring.borrow();
        match ring.phase() {
            Phase::Open => true,
            Phase::Ended => tail.status.is_stopped() && tail.newest == ring.newest(),
            Phase::Closed | Phase::Failed => false,
        }
    }

    /// The ring, for one who reads it.
    pub(super) fn ring(&self) -> watch::Receiver<Ring> {
        self.ring.clone()
    }

    /// Events behind `at` from the record, for one whom the ring cannot tell; `None` where there
    /// is nothing, and where the job is deleted.
    pub(super) async fn older(&self, at: i64) -> Result<Option<Told>, StoreError> {
        let mut pages = self.pages.lock().await;
        let now = self.clock.0.now();
        let is_good =
            |page: &Page, ring: &Ring| page.job == *ring.job() && page.at + ASK_EVERY > now && page.at <= now;
        {
            let ring = self.ring.borrow();
            pages.retain(|page| is_good(page, &ring));
        }
        if let Some(told) = pages.iter().find_map(|page| page.piece.behind(at)) {
            return Ok(Some(told));
        }
        let Some(tail) = self.store.tail(&self.job, at, AT_A_TIME).await? else { return Ok(None) };
        let job = StreamedJob::of(&self.job, &tail);
        let piece = Piece::of(&job, at, tail, AT_A_TIME);
        let told = piece.behind(at);
        if piece.len() <= MOST_PAGE_BYTES {
            if pages.len() == MOST_PAGES {
                pages.pop_front();
            }
            pages.push_back(Page { piece, job, at: now });
        }
        Ok(told)
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.feeder.abort();
        let mut channels = lock(&self.channels);
        // Another one may have come into its place.
        if channels.get(&self.job).is_some_and(|channel| channel.strong_count() == 0) {
            channels.remove(&self.job);
        }
    }
}

/// Reads for all who follow.
struct Feeder {
    job: JobId,
    follower: Follower,
    store: Store,
    clock: ClockOf,
    /// Words of answers in this process, while somebody may say some.
    words: Option<Hearing>,
    closing: StopSignal,
    /// Until it is time to ask again.
    quiet: BoxFuture<'static, ()>,
    ring: watch::Sender<Ring>,
}

/// What a feeder has heard.
enum Heard {
    Words(String),
    Commit,
    Nothing,
    Closing,
}

impl Feeder {
    async fn feed(mut self) {
        let phase = self.follow().await.unwrap_or_else(|error| {
            // Every stream of the job breaks off; its clients ask again from where they were.
            tracing::error!(job = %self.job, error = %error, "the streams of a job broke off");
            Phase::Failed
        });
        self.ring.send_modify(|ring| ring.close(phase));
    }

    /// Until there is nothing more to tell.
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
            let heard = self.heard().await;
            is_due = !matches!(heard, Heard::Words(_));
            match heard {
                Heard::Words(words) => self.tell(|ring| ring.say(&words)),
                Heard::Nothing => self.tell(Ring::say_alive),
                Heard::Commit => {}
                Heard::Closing => return Ok(Phase::Closed),
            }
        }
    }

    /// Reads what is new; says whether the job has come to its end, and `None` where it is deleted.
    async fn read(&mut self) -> Result<Option<bool>, StoreError> {
        loop {
            let at = self.ring.borrow().newest();
            let Some(tail) = self.store.tail(&self.job, at, AT_A_TIME).await? else { return Ok(None) };
            let (has_stopped, newest) = (tail.status.is_stopped(), tail.newest);
            let job = StreamedJob::of(&self.job, &tail);
            let piece = Piece::of(&job, at, tail, AT_A_TIME);
            let read_to = piece.last();
            // Only what is new wakes.
            let mut is_new = false;
            self.ring.send_if_modified(|ring| {
                is_new = ring.push(job, piece);
                is_new
            });
            if is_new {
                self.rest_again();
            }
            if read_to >= newest {
                return Ok(Some(has_stopped));
            }
        }
    }

    fn tell(&mut self, what: impl FnOnce(&mut Ring)) {
        self.ring.send_modify(what);
        self.rest_again();
    }

    fn rest_again(&mut self) {
        self.quiet = self.clock.0.sleep(ASK_EVERY);
    }

    async fn heard(&mut self) -> Heard {
        tokio::select! {
            biased;
            _ = self.closing.stopped() => Heard::Closing,
            // What is said before a commit is told before it.
            words = words_of(&mut self.words, &self.job) => Heard::Words(words),
            () = self.follower.woken() => Heard::Commit,
            () = self.quiet.as_mut() => Heard::Nothing,
        }
    }
}

/// The next words of a job's answer. Those that were said while nobody listened are lost.
async fn words_of(hearing: &mut Option<Hearing>, job: &JobId) -> String {
    while let Some(words) = hearing {
        match words.recv().await {
            Ok((of, words)) if of == *job => return words,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => *hearing = None,
        }
    }
    std::future::pending().await
}

/// A clock, which says nothing of itself.
#[derive(Clone)]
struct ClockOf(Arc<dyn Clock>);

impl std::fmt::Debug for ClockOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

/// Every change here is one call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
