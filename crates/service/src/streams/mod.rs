//! Streams of jobs: how many are open, who holds them, what they send, and closing all of them when the
//! server shuts down.
//!
//! `ring` renders events as text, once for all subscribers of a job; `channel` reads the database for them;
//! `reader` is one subscriber.

mod channel;
mod job;
mod reader;
mod ring;

pub use reader::StreamReader;

use crate::deltas::DeltaBus;
use channel::Channels;
use papertape_core::ports::Clock;
use papertape_runtime::cancellation::{CancelSource, CancelToken, StopReason};
use papertape_store::Store;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What streams read from.
pub struct Source<'a> {
    /// Committed events.
    pub store: &'a Store,
    /// The time between polls.
    pub clock: Arc<dyn Clock>,
    /// Deltas of messages that are being written.
    pub deltas: &'a DeltaBus,
}

/// The streams of one process.
#[derive(Debug, Default)]
pub struct Streams {
    clients: Mutex<HashMap<IpAddr, usize>>,
    broken: AtomicU64,
    channels: Channels,
    shutdown: CancelSource,
}

/// One open stream. Dropping it closes it.
#[derive(Debug)]
pub struct OpenStream {
    streams: Arc<Streams>,
    client: IpAddr,
    /// Something has been sent, but not the end.
    is_in_progress: bool,
}

impl Streams {
    /// Opens a stream for a client, who may have `max` at a time; `None` if the client is at this limit.
    #[must_use]
    pub fn open(self: &Arc<Self>, client: IpAddr, max: usize) -> Option<OpenStream> {
        let mut clients = self.clients();
        let open = clients.entry(client).or_default();
        if *open >= max {
            return None;
        }
        *open += 1;
        Some(OpenStream { streams: Arc::clone(self), client, is_in_progress: false })
    }

    /// How many streams are open.
    #[must_use]
    pub fn count(&self) -> usize {
        self.clients().values().sum()
    }

    /// How many jobs they follow.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.channels.count()
    }

    /// How many streams their client left before the end, since the process started.
    #[must_use]
    pub fn broken(&self) -> u64 {
        self.broken.load(Ordering::Relaxed)
    }

    /// Closes all streams, and every one opened from now on.
    pub fn close(&self) {
        self.shutdown.stop(StopReason::Shutdown);
    }

    /// Signals when the streams are to close.
    #[must_use]
    pub fn closing(&self) -> CancelToken {
        self.shutdown.signal()
    }

    /// A poisoned lock is safe to use: there are only counts in it.
    fn clients(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenStream {
    /// Marks the stream as being read.
    pub fn begun(&mut self) {
        self.is_in_progress = true;
    }

    /// Marks the stream as having reached its end.
    pub fn ended(&mut self) {
        self.is_in_progress = false;
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if self.is_in_progress {
            self.streams.broken.fetch_add(1, Ordering::Relaxed);
        }
        let mut clients = self.streams.clients();
        if let Some(open) = clients.get_mut(&self.client) {
            *open -= 1;
            if *open == 0 {
                clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each client has its own limit, and closing a stream frees its place.
    #[test]
    fn streams_are_counted_by_client() {
        let streams = Arc::new(Streams::default());
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut first = streams.open(one, 1).expect("free");
        first.begun();
        assert!(streams.open(one, 1).is_none(), "it is at its limit");
        let mut second = streams.open(other, 1).expect("another client");
        assert_eq!((streams.count(), streams.broken()), (2, 0));
        second.begun();
        second.ended();
        let unread = streams.open(IpAddr::from([10, 0, 0, 3]), 1).expect("a HEAD request");
        drop((first, second, unread));
        assert_eq!((streams.count(), streams.broken()), (0, 1), "the first was left before its end");
        assert!(streams.open(one, 1).is_some(), "free again");
    }
}
