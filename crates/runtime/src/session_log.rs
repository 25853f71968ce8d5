//! A session's log: its writes become durable in the order in which the session produces them, across scopes.
//!
//! One transaction is in progress at a time. What the session hands over meanwhile goes into the next one, so
//! what is stored is always a prefix of the log. The first failure ends the log: nothing behind it is stored.

use crate::sync::lock;
use crate::tape_reader::stop_of;
use futures::FutureExt as _;
use futures::future::Shared;
use papertape_core::ports::{BoxFuture, Clock, RecordError, RecordStore};
use papertape_core::record::{Commit, Lease, SessionId, Write};
use papertape_core::tape::SessionStop;
use papertape_core::time::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::runtime::Handle;

/// How long writes that nobody waits for stay in the log, so that the next ones join their transaction. Zero:
/// handing over waits until they are durable. `MAX`: until somebody waits.
pub const LINGER: Duration = Duration::from_millis(2);

/// The rows that a log writes: a session's, or its summaries'.
pub(crate) struct LoggedSession {
    pub(crate) lease: Lease,
    pub(crate) session: SessionId,
    pub(crate) detached: bool,
}

/// The log of a running session.
pub(crate) struct SessionLog(Arc<Inner>);

struct Inner {
    record: Arc<dyn RecordStore>,
    clock: Arc<dyn Clock>,
    linger: Duration,
    logged: LoggedSession,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The number of the newest entry, from 1.
    newest: u64,
    /// Entries up to this number are durable or were rejected.
    settled: u64,
    /// Entries that are not sent yet, in order.
    waiting: VecDeque<Entry>,
    sent: Option<Sent>,
    /// Entries that the record rejected, changing nothing.
    rejected: BTreeMap<u64, RecordError>,
    failed: Option<RecordError>,
    /// Whether a task sends what lingers.
    is_timed: bool,
}

/// Writes of one instant.
struct Entry {
    number: u64,
    at: Timestamp,
    writes: Vec<Write>,
    /// It may be rejected, so it shares its transaction with no other entry.
    is_alone: bool,
}

/// A transaction in progress.
#[derive(Clone)]
struct Sent {
    last: u64,
    is_alone: bool,
    ended: Shared<BoxFuture<'static, Result<(), RecordError>>>,
}

impl SessionLog {
    pub(crate) fn new(
        (record, clock, linger): (Arc<dyn RecordStore>, Arc<dyn Clock>, Duration),
        logged: LoggedSession,
    ) -> Self {
        Self(Arc::new(Inner { record, clock, linger, logged, state: Mutex::default() }))
    }

    /// Adds the writes. The returned future resolves when they are durable, or were rejected; dropping it does
    /// not undo them.
    pub(crate) fn commit(
        &self,
        writes: Vec<Write>,
    ) -> impl Future<Output = Result<(), SessionStop>> + Send + 'static {
        let number = self.0.add(writes);
        let inner = Arc::clone(&self.0);
        async move { inner.settled(number).await.map_err(stop_of) }
    }

    /// Adds the writes. They are sent with the next ones that somebody waits for, at the latest after the linger.
    pub(crate) fn hand_over(&self, writes: Vec<Write>) -> BoxFuture<'static, Result<(), SessionStop>> {
        if self.0.linger.is_zero() {
            return self.commit(writes).boxed();
        }
        self.0.add(writes);
        self.0.start_timer();
        async { Ok(()) }.boxed()
    }

    /// Waits until everything added so far is durable.
    pub(crate) async fn barrier(&self) -> Result<(), SessionStop> {
        let newest = lock(&self.0.state).newest;
        self.0.settled(newest).await.map_err(stop_of)
    }
}

impl Drop for SessionLog {
    /// What was handed over is stored, even if the session is dropped.
    fn drop(&mut self) {
        let newest = {
            let state = lock(&self.0.state);
            if state.waiting.is_empty() && state.sent.is_none() {
                return;
            }
            state.newest
        };
        if let Ok(runtime) = Handle::try_current() {
            let inner = Arc::clone(&self.0);
            runtime.spawn(async move { inner.settled(newest).await });
        }
    }
}

impl Inner {
    fn add(&self, writes: Vec<Write>) -> u64 {
        let at = self.clock.now();
        let mut state = lock(&self.state);
        state.newest += 1;
        let number = state.newest;
        if state.failed.is_none() {
            let is_alone = writes.iter().any(|write| matches!(write, Write::Plan(_)));
            state.waiting.push_back(Entry { number, at, writes, is_alone });
        }
        number
    }

    /// Waits until the entry is settled, sending transactions as needed.
    async fn settled(&self, number: u64) -> Result<(), RecordError> {
        loop {
            let sent = {
                let mut state = lock(&self.state);
                if let Some(rejected) = state.rejected.remove(&number) {
                    return Err(rejected);
                }
                if number <= state.settled {
                    return Ok(());
                }
                if let Some(failed) = &state.failed {
                    return Err(failed.clone());
                }
                self.sent(&mut state)
            };
            let ended = sent.ended.clone().await;
            lock(&self.state).settle(&sent, ended);
        }
    }

    /// The transaction in progress. If there is none, starts one with the waiting entries.
    fn sent(&self, state: &mut State) -> Sent {
        if let Some(sent) = &state.sent {
            return sent.clone();
        }
        let first_alone = state.waiting.iter().position(|entry| entry.is_alone);
        let count = match first_alone {
            Some(0) => 1,
            Some(alone) => alone,
            None => state.waiting.len(),
        };
        let mut sent = Sent {
            last: state.settled,
            is_alone: first_alone == Some(0),
            ended: async { Ok(()) }.boxed().shared(),
        };
        let mut commits = Vec::with_capacity(count);
        for Entry { number, at, writes, .. } in state.waiting.drain(..count) {
            let LoggedSession { lease, session, detached } = &self.logged;
            sent.last = number;
            commits.push(Commit { lease: lease.clone(), session: *session, at, detached: *detached, writes });
        }
        let record = Arc::clone(&self.record);
        sent.ended = async move { record.append(commits).await }.boxed().shared();
        state.sent = Some(sent.clone());
        sent
    }

    /// Starts a task that sends what lingers, unless there is one.
    fn start_timer(self: &Arc<Self>) {
        if self.linger == Duration::MAX || std::mem::replace(&mut lock(&self.state).is_timed, true) {
            return;
        }
        // While it sleeps, it does not keep the record open.
        let (inner, clock, linger) = (Arc::downgrade(self), Arc::clone(&self.clock), self.linger);
        tokio::spawn(async move { send_lingering(&inner, &*clock, linger).await });
    }
}

/// Sends entries that have lingered, until there are no more or the session is gone.
async fn send_lingering(inner: &Weak<Inner>, clock: &dyn Clock, linger: Duration) {
    while let Some(newest) = inner.upgrade().map(|inner| lock(&inner.state).newest) {
        clock.sleep(linger).await;
        let Some(inner) = inner.upgrade() else { return };
        {
            let mut state = lock(&inner.state);
            match state.waiting.front() {
                None => {
                    state.is_timed = false;
                    return;
                }
                // Younger than the linger.
                Some(first) if first.number > newest => continue,
                Some(_) => {}
            }
        }
        // The session reads the error at its next wait.
        let _ = inner.settled(newest).await;
    }
}

impl State {
    /// Notes how a transaction ended, once.
    fn settle(&mut self, sent: &Sent, ended: Result<(), RecordError>) {
        if self.sent.as_ref().is_none_or(|current| current.last != sent.last) {
            return;
        }
        self.sent = None;
        match ended {
            Ok(()) => self.settled = sent.last,
            Err(error @ RecordError::Refused(_)) if sent.is_alone => {
                self.settled = sent.last;
                self.rejected.insert(sent.last, error);
            }
            Err(error) => {
                self.failed = Some(error);
                self.waiting.clear();
            }
        }
    }
}
