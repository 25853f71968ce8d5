//! A job as it goes on: its events, read from the record in their order.
//!
//! A commit only wakes the reader; what it tells stands in the record. So reconnecting is asking from a
//! number on, and a slow reader costs nothing and loses nothing.

use super::{LogEntry, ViewError, job_id, no_job};
use crate::app::App;
use crate::assistant::Hearing;
use futures::future::{Either, select};
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_runtime::stopping::StopSignal;
use papertape_store::{Follower, JobEvent, JobTail};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use utoipa::ToSchema;

/// How many events are read at a time.
const AT_A_TIME: u32 = 500;
/// How often the record is asked even where nothing has been heard of.
const ASK_EVERY: Duration = Duration::from_secs(15);
/// The event that closes a run of a job.
const END: &str = "end";
/// The event that brings words of an answer that is being written.
const DELTA: &str = "delta";

/// One event of a job's stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamEvent {
    /// `snapshot`, `log_entry`, `message`, `node`, `order`, `progress`, `job` or `end`; or `delta`: words of
    /// an answer that is being written, of which some may be lost.
    pub name: String,
    /// Its number in the job; `None`: it is a `delta`, which is kept nowhere.
    pub id: Option<i64>,
    /// What it says.
    pub data: StreamData,
}

/// What an event of a job's stream says.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct StreamData {
    /// The job, as it is now.
    pub job: StreamedJob,
    /// The row of the action log, in a `log_entry`; `null` there where retention has removed it.
    pub log_entry: Option<LogEntry>,
    /// The event's number; send it as `after`, or as `Last-Event-ID`, to go on behind it.
    pub cursor: i64,
    /// What happened, by reference to the rows of the record; `null` in a `snapshot`.
    pub event: Option<Value>,
}

/// A job in its stream.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct StreamedJob {
    /// The job.
    pub job_id: String,
    /// `simulate`.
    pub kind: String,
    /// `queued`, `running`, `completed`, `partial`, `failed` or `cancelled`.
    #[schema(schema_with = super::vocabulary::job_status)]
    pub status: JobStatus,
    /// Why it stopped before its end.
    pub error: Option<String>,
}

/// Reads a job's stream, event by event.
pub struct StreamReader {
    app: App,
    job: JobId,
    /// The number of the newest event that was read.
    at: i64,
    read: VecDeque<StreamEvent>,
    ended: bool,
    follower: Follower,
    closing: StopSignal,
    /// Words of answers in this process, while somebody may say some.
    words: Option<Hearing>,
    /// The job as it was when it was last read.
    job_now: StreamedJob,
}

/// Begins to read a job's stream behind event number `after` (0: from the beginning; absent: with a
/// snapshot of the job as it is now). `None`: `after` is the event at which the job has ended, so that
/// there is nothing to read.
///
/// # Errors
/// No such job; a number beyond the job's newest; the record's.
pub async fn stream(app: &App, job: &str, after: Option<i64>) -> Result<Option<StreamReader>, ViewError> {
    let id = job_id(job)?;
    // Following comes first: what is committed while the record is asked is heard of.
    let follower = app.store.follow(&id);
    let tail = app.store.tail(&id, i64::MAX, 1).await?.ok_or_else(|| no_job(job))?;
    let has_ended = tail.status.is_stopped();
    let mut reader = StreamReader {
        app: app.clone(),
        job: id.clone(),
        at: 0,
        read: VecDeque::new(),
        ended: false,
        follower,
        closing: app.streams.closing(),
        words: Some(app.words.hear()),
        job_now: streamed(&id, &tail),
    };
    match after {
        Some(after) if after < 0 || after > tail.newest => {
            let newest = tail.newest;
            return Err(ViewError::bad(
                "after",
                format!("{after} is not from 0 to {newest}, the newest event"),
            ));
        }
        Some(after) if has_ended && after == tail.newest => return Ok(None),
        Some(after) => reader.at = after,
        None => {
            // The end is an event of its own, which follows the snapshot.
            reader.at = tail.newest - i64::from(has_ended);
            let data =
                StreamData { job: reader.streamed(&tail), log_entry: None, cursor: reader.at, event: None };
            reader.read.push_back(StreamEvent { name: "snapshot".to_owned(), id: Some(reader.at), data });
        }
    }
    Ok(Some(reader))
}

impl StreamReader {
    /// The next event, when there is one; `None` at the end of the job, where the job is deleted, and
    /// when the server goes down.
    ///
    /// # Errors
    /// The record's.
    pub async fn next(&mut self) -> Result<Option<StreamEvent>, ViewError> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Ok(Some(event));
            }
            if self.ended || self.closing.reason().is_some() {
                return Ok(None);
            }
            let Some(tail) = self.app.store.tail(&self.job, self.at, AT_A_TIME).await? else {
                return Ok(None);
            };
            if tail.events.is_empty() {
                self.rest().await;
            } else {
                self.take(tail);
            }
        }
    }

    /// Has the job's end been told?
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended && self.read.is_empty()
    }

    fn take(&mut self, mut tail: JobTail) {
        let events = std::mem::take(&mut tail.events);
        let job = self.streamed(&tail);
        self.job_now = job.clone();
        for JobEvent { n, kind, data, log, .. } in events {
            // Of a job that was resumed, the end that it once came to is no end.
            let is_last = n == tail.newest && tail.status.is_stopped();
            let name = if kind == END && !is_last { "job".to_owned() } else { kind };
            self.ended = name == END;
            self.at = n;
            let (event, log_entry) = (Some(data), log.map(LogEntry::of));
            let data = StreamData { job: job.clone(), log_entry, cursor: n, event };
            self.read.push_back(StreamEvent { name, id: Some(n), data });
        }
    }

    fn streamed(&self, tail: &JobTail) -> StreamedJob {
        streamed(&self.job, tail)
    }

    /// Words of an answer of this job, as an event that is kept nowhere.
    fn heard(&mut self, words: &str) {
        let event = Some(json!({ "text": words }));
        let data = StreamData { job: self.job_now.clone(), log_entry: None, cursor: self.at, event };
        self.read.push_back(StreamEvent { name: DELTA.to_owned(), id: None, data });
    }

    /// Until there may be something new, or the server goes down.
    async fn rest(&mut self) {
        let asking = self.app.services.clock.sleep(ASK_EVERY);
        let heard = {
            let woken = pin!(self.follower.woken());
            let closing = pin!(self.closing.stopped());
            let words = pin!(words_of(&mut self.words, &self.job));
            match select(words, select(select(woken, asking), closing)).await {
                Either::Left((words, _)) => Some(words),
                // Whichever it is: what there is stands in the record.
                Either::Right(_) => None,
            }
        };
        if let Some(words) = heard {
            self.heard(&words);
        }
    }
}

fn streamed(job: &JobId, tail: &JobTail) -> StreamedJob {
    StreamedJob {
        job_id: job.to_string(),
        kind: tail.kind.clone(),
        status: tail.status,
        error: tail.error.clone(),
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
