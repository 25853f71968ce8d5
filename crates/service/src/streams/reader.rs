//! One subscriber of a job: a cursor, and what comes next from there.

use super::channel::Channel;
use super::job::streamed_job;
use super::ring::{Delivery, Phase, Poll, Ring, write_event};
use super::{Source, Streams};
use bytes::Bytes;
use papertape_core::id::JobId;
use papertape_core::part::EventPosition;
use papertape_protocol::stream::{Cursor, StreamData};
use papertape_store::JobTail;
use std::sync::Arc;
use tokio::sync::watch;

/// After how many milliseconds a browser reconnects: part of the first event.
const RETRY: &str = "retry: 2000\n";
/// The first event if no cursor was requested.
const SNAPSHOT: &str = "snapshot";

/// Reads a job's stream.
#[derive(Debug)]
pub struct StreamReader {
    channel: Arc<Channel>,
    ring: watch::Receiver<Ring>,
    /// The position after the newest events that were sent.
    at: EventPosition,
    /// The number of the newest ephemeral chunk that was sent.
    ephemeral: u64,
    first: Option<Bytes>,
    phase: Phase,
}

impl Streams {
    /// Starts reading a job's stream; see [`crate::view::read_stream`].
    #[must_use]
    pub fn read(
        &self,
        source: &Source<'_>,
        job: &JobId,
        tail: &JobTail,
        after: Option<&EventPosition>,
    ) -> Option<StreamReader> {
        let has_ended = tail.status.is_stopped();
        if has_ended && after == Some(&tail.newest) {
            return None;
        }
        // The channel subscribes before it reads, and continues from this cursor, so later commits are not missed.
        let channel = self.channels.join(source, self, job, tail);
        let mut first = RETRY.as_bytes().to_vec();
        // A position beyond the newest event comes from another database, such as one before a restore: the client
        // gets a snapshot instead.
        let at = after.filter(|after| tail.newest.reaches(after)).cloned().unwrap_or_else(|| {
            let mut at = tail.newest.clone();
            // The end is an event of its own, which follows the snapshot.
            at.set(0, at.of_part(0) - i64::from(has_ended));
            let cursor = Cursor(at.clone());
            let data = StreamData { job: streamed_job(job, tail), log_entry: None, cursor, event: None };
            write_event(&mut first, SNAPSHOT, Some(&at), &data);
            at
        });
        let ring = channel.ring();
        let ephemeral = ring.borrow().newest_ephemeral();
        Some(StreamReader { channel, ring, at, ephemeral, first: Some(first.into()), phase: Phase::Open })
    }
}

impl StreamReader {
    /// The next events as text, once there are any; `None` at the end of the job, if the job is deleted, when
    /// the server shuts down, and if the database fails.
    pub async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        while self.phase == Phase::Open {
            // Marked as seen before it is searched: any later change wakes us.
            let found = self.ring.borrow_and_update().find(&self.at, self.ephemeral);
            match found {
                Poll::Events(delivery) => {
                    if let Some(events) = self.take(delivery) {
                        return Some(events);
                    }
                }
                Poll::Ephemeral(bytes, number) => {
                    self.ephemeral = number;
                    return Some(bytes);
                }
                Poll::Behind => match self.channel.older(&self.at).await {
                    Ok(Some(delivery)) => {
                        if let Some(events) = self.take(delivery) {
                            return Some(events);
                        }
                    }
                    Ok(None) => self.phase = Phase::Closed,
                    Err(error) => {
                        // The client reconnects at its cursor.
                        tracing::error!(error = %error, "a stream failed");
                        self.phase = Phase::Failed;
                    }
                },
                Poll::Nothing => {
                    if self.ring.changed().await.is_err() {
                        self.phase = Phase::Failed;
                    }
                }
                Poll::Over(phase) => self.phase = phase,
            }
        }
        None
    }

    /// Whether the stream ended without a failure.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended | Phase::Closed)
    }

    fn take(&mut self, delivery: Delivery) -> Option<Bytes> {
        self.at = delivery.at;
        if delivery.is_end {
            self.phase = Phase::Ended;
        }
        (!delivery.bytes.is_empty()).then_some(delivery.bytes)
    }
}
