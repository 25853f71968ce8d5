//! The newest events of a job, rendered as bytes once for all subscribers.
//!
//! Each read of the database adds one chunk of text. A reader gets the chunks after its cursor as they are,
//! without a copy; one that is further behind than the ring reads the database.

use bytes::Bytes;
use papertape_core::part::EventPosition;
use papertape_protocol::actions::LogEntry;
use papertape_protocol::stream::{Cursor, StreamData, StreamedJob};
use papertape_store::{JobEvent, JobTail};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The maximum number of bytes of events that are buffered per job.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of ephemeral chunks that are buffered per job.
const MAX_EPHEMERAL: usize = 64;
/// The event that ends a run of a job.
const END: &str = "end";
/// The event that reports a stored message.
const MESSAGE: &str = "message";
/// The event that carries a delta of an answer that is being written.
const DELTA: &str = "delta";
/// A comment that keeps the connection alive.
const ALIVE: &[u8] = b":\n\n";

/// Consecutive events of a job, as text.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    /// Every event after this position …
    start: EventPosition,
    /// … up to this one is in it.
    last: EventPosition,
    bytes: Bytes,
    /// The events' numbers, and where the text of each one ends.
    ends: Vec<(i64, usize)>,
    has_end: bool,
    has_message: bool,
}

impl Chunk {
    /// The text of the events read after position `after`.
    pub(super) fn of(job: &StreamedJob, after: EventPosition, tail: JobTail) -> Self {
        let JobTail { status, newest, events, read, .. } = tail;
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(events.len());
        let (mut has_end, mut has_message) = (false, false);
        let mut at = after.clone();
        for JobEvent { n, kind, data, log, .. } in events {
            // If the job was resumed, the end that it reached earlier is not its end.
            let is_last = n == newest.of_part(0) && status.is_stopped();
            let name = if kind == END && !is_last { "job" } else { kind.as_str() };
            has_end |= name == END;
            has_message |= name == MESSAGE;
            at.pass(n);
            let (log_entry, event, cursor) = (log.map(LogEntry::from), Some(data), Cursor(at.clone()));
            write_event(
                &mut text,
                name,
                Some(&at),
                &StreamData { job: job.clone(), log_entry, cursor, event },
            );
            ends.push((n, text.len()));
        }
        Self { start: after, last: read, bytes: text.into(), ends, has_end, has_message }
    }

    /// What follows for a reader at cursor `at`; `None` if other events come first, or nothing follows. A reader
    /// that has read the parts of the job in another order may have to read the database.
    pub(super) fn after(&self, at: &EventPosition) -> Option<Delivery> {
        if *at == self.last || !at.reaches(&self.start) || !self.last.reaches(at) {
            return None;
        }
        let had = self.ends.iter().take_while(|(n, _)| at.includes(*n)).count();
        if self.ends[had..].iter().any(|(n, _)| at.includes(*n)) {
            return None;
        }
        let start = had.checked_sub(1).map_or(0, |at| self.ends[at].1);
        Some(Delivery { bytes: self.bytes.slice(start..), at: self.last.clone(), is_end: self.has_end })
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The position after the last event.
    pub(super) fn last(&self) -> &EventPosition {
        &self.last
    }
}

/// What a reader receives.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Delivery {
    /// Events; empty if retention has removed them.
    pub(super) bytes: Bytes,
    /// The reader's cursor after these events.
    pub(super) at: EventPosition,
    /// Whether the last of them is the job's end.
    pub(super) is_end: bool,
}

/// The state of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// More may follow.
    Open,
    /// The job has stopped, and all its events have been read.
    Ended,
    /// Nothing more is sent: the server shuts down, or the job is deleted.
    Closed,
    /// The database could not be read.
    Failed,
}

/// What a subscriber finds in the ring.
#[derive(Debug, PartialEq)]
pub(super) enum Poll {
    /// Events.
    Events(Delivery),
    /// Something ephemeral (a delta or a comment) and its number.
    Ephemeral(Bytes, u64),
    /// Events that are only in the database.
    Behind,
    /// Nothing yet.
    Nothing,
    /// Nothing ever again.
    Over(Phase),
}

/// The newest events of a job.
#[derive(Debug)]
pub(super) struct Ring {
    /// In order, without gaps between them.
    chunks: VecDeque<Chunk>,
    bytes: usize,
    /// The position after the newest events that were read.
    newest: EventPosition,
    /// The job at that time.
    job: StreamedJob,
    /// Ephemeral chunks, which are stored nowhere else and may be lost: numbers, from 1, and bytes.
    ephemeral: VecDeque<(u64, Bytes)>,
    newest_ephemeral: u64,
    phase: Phase,
}

impl Ring {
    pub(super) fn new(job: StreamedJob, newest: EventPosition) -> Self {
        Self {
            chunks: VecDeque::new(),
            bytes: 0,
            newest,
            job,
            ephemeral: VecDeque::new(),
            newest_ephemeral: 0,
            phase: Phase::Open,
        }
    }

    /// Adds what was read after the newest event. Returns whether anything changed.
    pub(super) fn push(&mut self, job: StreamedJob, chunk: Chunk) -> bool {
        debug_assert_eq!(chunk.start, self.newest, "nothing is left out");
        self.job = job;
        if chunk.last == self.newest {
            return false;
        }
        self.newest = chunk.last.clone();
        if chunk.has_message {
            // The message contains the whole text.
            self.ephemeral.clear();
        }
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
        while self.bytes > MAX_BYTES {
            let Some(oldest) = self.chunks.pop_front() else { break };
            self.bytes -= oldest.len();
        }
        true
    }

    /// Adds a delta of an answer that is being written.
    pub(super) fn add_delta(&mut self, delta: &str) {
        let event: Option<Value> = Some(json!({ "text": delta }));
        let mut text = Vec::new();
        let data =
            StreamData { job: self.job.clone(), log_entry: None, cursor: Cursor(self.newest.clone()), event };
        write_event(&mut text, DELTA, None, &data);
        self.add_ephemeral(text.into());
    }

    /// Adds a keep-alive comment.
    pub(super) fn keep_alive(&mut self) {
        self.add_ephemeral(Bytes::from_static(ALIVE));
    }

    fn add_ephemeral(&mut self, bytes: Bytes) {
        self.newest_ephemeral += 1;
        if self.ephemeral.len() == MAX_EPHEMERAL {
            self.ephemeral.pop_front();
        }
        self.ephemeral.push_back((self.newest_ephemeral, bytes));
    }

    pub(super) fn close(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// What there is for a reader with cursor `at` and ephemeral number `ephemeral`.
    pub(super) fn find(&self, at: &EventPosition, ephemeral: u64) -> Poll {
        match self.phase {
            Phase::Closed | Phase::Failed => return Poll::Over(self.phase),
            Phase::Open | Phase::Ended => {}
        }
        if !at.reaches(&self.newest) {
            let next = self.chunks.partition_point(|chunk| at.reaches(&chunk.last));
            let delivery = self.chunks.get(next).and_then(|chunk| chunk.after(at));
            return delivery.map_or(Poll::Behind, Poll::Events);
        }
        let next = self.ephemeral.iter().find(|(number, _)| *number > ephemeral);
        match next {
            Some((number, bytes)) => Poll::Ephemeral(bytes.clone(), *number),
            None if self.phase == Phase::Ended => Poll::Over(Phase::Ended),
            None => Poll::Nothing,
        }
    }

    pub(super) fn newest(&self) -> &EventPosition {
        &self.newest
    }

    pub(super) fn newest_ephemeral(&self) -> u64 {
        self.newest_ephemeral
    }

    pub(super) fn job(&self) -> &StreamedJob {
        &self.job
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }
}

/// Writes an event. Names come from our own vocabulary, and JSON has no line breaks.
pub(super) fn write_event(text: &mut Vec<u8>, name: &str, id: Option<&EventPosition>, data: &StreamData) {
    text.extend_from_slice(b"event: ");
    text.extend_from_slice(name.as_bytes());
    if let Some(id) = id {
        text.extend_from_slice(format!("\nid: {id}").as_bytes());
    }
    text.extend_from_slice(b"\ndata: ");
    if let Err(error) = serde_json::to_writer(&mut *text, data) {
        // Cannot happen: the data consists of strings, numbers and JSON only.
        tracing::error!(error = %error, "cannot write an event");
    }
    text.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use papertape_core::part::event_number;
    use papertape_core::record::JobStatus;
    use papertape_core::time::Timestamp;
    use proptest::prelude::*;

    fn job(status: JobStatus) -> StreamedJob {
        StreamedJob { job_id: "job".to_owned(), kind: "simulate".to_owned(), status, error: None }
    }

    fn event(n: i64, kind: &str, filling: usize) -> JobEvent {
        let data = json!({ "n": n, "filling": "x".repeat(filling) });
        JobEvent { n, kind: kind.to_owned(), data, at: Timestamp::UNIX_EPOCH, log: None }
    }

    fn at(number: i64) -> EventPosition {
        EventPosition::from(number)
    }

    fn tail(status: JobStatus, newest: EventPosition, events: Vec<JobEvent>, read: EventPosition) -> JobTail {
        JobTail { kind: "simulate".to_owned(), status, error: None, newest, events, read }
    }

    /// IDs of the events in a text, in order.
    fn ids(bytes: &[u8]) -> Vec<i64> {
        let text = String::from_utf8(bytes.to_vec()).expect("a text");
        text.lines().filter_map(|line| line.strip_prefix("id: ")).map(|id| id.parse().expect("n")).collect()
    }

    /// What a reader at `at` receives until there is nothing more; `None` if it must read the database.
    fn missed_ids(ring: &Ring, at: i64) -> Option<Vec<i64>> {
        let (mut all, mut at) = (Vec::new(), self::at(at));
        loop {
            match ring.find(&at, ring.newest_ephemeral()) {
                Poll::Events(delivery) => {
                    assert!(delivery.at.reaches(&at) && delivery.at != at, "it advances");
                    at = delivery.at;
                    all.extend(ids(&delivery.bytes));
                }
                Poll::Nothing => return Some(all),
                Poll::Behind => return None,
                other => panic!("{other:?}"),
            }
        }
    }

    proptest! {
        /// Whatever the chunks, their gaps and the reader's cursor: the reader gets each event after its
        /// cursor once and in order, or is sent to the database.
        #[test]
        fn every_cursor_gets_the_rest(sizes in proptest::collection::vec((0..5_usize, 0..3_usize), 1..12),
                                    filling in prop_oneof![Just(0_usize), Just(80_000)]) {
            let running = || job(JobStatus::Running);
            let mut ring = Ring::new(running(), at(0));
            let (mut newest, mut all, mut total) = (0, Vec::new(), 0);
            for (count, gap) in sizes {
                let (after, mut events) = (newest, Vec::new());
                for _ in 0..count {
                    newest += 1;
                    all.push(newest);
                    total += filling;
                    events.push(event(newest, "order", filling));
                }
                newest += i64::try_from(gap).expect("small");
                let tail = tail(JobStatus::Running, at(newest), events, at(newest));
                let chunk = Chunk::of(&running(), at(after), tail);
                ring.push(running(), chunk);
            }
            for place in 0..=newest {
                let rest: Vec<i64> = all.iter().copied().filter(|n| *n > place).collect();
                match missed_ids(&ring, place) {
                    Some(received) => prop_assert_eq!(received, rest),
                    None => prop_assert!(total > MAX_BYTES / 2, "only what exceeds the buffer is missing"),
                }
            }
            prop_assert!(ring.chunks.iter().map(Chunk::len).sum::<usize>() <= MAX_BYTES);
        }
    }

    /// A full read may not be everything: its last event is as far as it covers. The end of a run that was
    /// resumed is not an end.
    #[test]
    fn chunks_know_their_last_event() {
        let events = vec![event(4, "end", 0), event(5, "job", 0)];
        let running = job(JobStatus::Running);
        let full = Chunk::of(&running, at(3), tail(JobStatus::Running, at(9), events, at(5)));
        assert_eq!((full.last(), full.has_end), (&at(5), false));
        assert!(full.after(&at(2)).is_none() && full.after(&at(5)).is_none());
        let text = full.after(&at(3)).expect("both").bytes;
        assert!(text.starts_with(b"event: job\nid: 4\ndata: {"), "{text:?}");
        let done = tail(JobStatus::Completed, at(6), vec![event(6, "end", 0)], at(6));
        let rest = Chunk::of(&job(JobStatus::Completed), at(5), done);
        assert!(rest.after(&at(5)).is_some_and(|delivery| delivery.is_end));
    }

    /// Goal: with several parts, a reader gets a chunk only if what it has read is a beginning of it, and the IDs
    /// then continue its position.
    #[test]
    fn chunks_of_parts_follow_on_positions() {
        let running = job(JobStatus::Running);
        let position = |text: &str| text.parse::<EventPosition>().expect("a position");
        let of = |part, n| event(event_number(part, n), "order", 0);
        let events = vec![of(1, 5), of(1, 6), of(2, 8)];
        let read = tail(JobStatus::Running, position("3-6-8"), events, position("3-6-8"));
        let chunk = Chunk::of(&running, position("3-4-7"), read);
        let ids = |at: &str| {
            let text = String::from_utf8(chunk.after(&position(at))?.bytes.to_vec()).expect("a text");
            let ids = text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned);
            Some(ids.collect::<Vec<_>>())
        };
        let some = |ids: &[&str]| Some(ids.iter().map(|&id| id.to_owned()).collect());
        assert_eq!(ids("3-4-7"), some(&["3-5-7", "3-6-7", "3-6-8"]));
        assert_eq!(ids("3-5-7"), some(&["3-6-7", "3-6-8"]));
        assert_eq!(ids("3-4-8"), None, "it has read the second part first");
        assert_eq!(ids("3-3-7"), None, "other events come first");
        assert_eq!(ids("3-6-8"), None);
    }

    /// Deltas are ephemeral: current subscribers get them, the message with the whole text replaces them, and
    /// when there are too many the oldest are dropped.
    #[test]
    fn deltas_are_ephemeral() {
        let running = job(JobStatus::Running);
        let mut ring = Ring::new(running.clone(), at(7));
        ring.add_delta("some words");
        let Poll::Ephemeral(bytes, 1) = ring.find(&at(7), 0) else { panic!("no delta") };
        assert!(!bytes.windows(3).any(|part| part == b"id:") && bytes.starts_with(b"event: delta\n"));
        assert_eq!(ring.find(&at(7), 1), Poll::Nothing);
        let message = tail(JobStatus::Running, at(8), vec![event(8, MESSAGE, 0)], at(8));
        assert!(ring.push(running.clone(), Chunk::of(&running, at(7), message)));
        assert_eq!(ring.find(&at(8), 0), Poll::Nothing);
        for _ in 0..1_000 {
            ring.keep_alive();
        }
        assert_eq!(ring.ephemeral.len(), MAX_EPHEMERAL);
        ring.close(Phase::Ended);
        assert_eq!(ring.find(&at(8), ring.newest_ephemeral()), Poll::Over(Phase::Ended));
        assert!(matches!(ring.find(&at(7), 0), Poll::Events(_)), "the rest is delivered first");
    }
}
