//! The only thread that writes. Tasks that queue up while a transaction is being made durable are committed
//! together in the next one: many commits, one fsync.

use super::checkpoints::Checkpoints;
use super::connection::{QueuedText, SqliteDb, run};
use crate::error::{Result, StoreError};
use crate::search::deferred_index::{self, QueuedWords};
use crate::write_task::{self, WriteTask};
use futures::FutureExt as _;
use rusqlite::Connection;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Max tasks per transaction, so that the first one does not wait too long.
const MAX_TASKS: usize = 256;
/// How long the queue must be idle before the full text index catches up.
const IDLE_DELAY: Duration = Duration::from_millis(200);
/// Texts that may wait for the full text index while tasks arrive. Every search has to read what is not indexed
/// yet.
const MAX_INDEX_LAG: usize = 256;
/// Texts indexed per transaction: a task that arrives meanwhile waits no longer than that.
const TEXTS_PER_BATCH: usize = 64;

/// The writer's handle. Dropping it waits until all tasks sent are durable.
#[derive(Debug)]
pub(super) struct Writer {
    tasks: Option<Sender<Box<dyn WriteTask>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(mut connection: Connection, path: &Path) -> Result<Self, StoreError> {
        let checkpoints = Checkpoints::start(&mut connection, path)?;
        let (tasks, queue) = channel();
        let thread = std::thread::Builder::new()
            .name("papertape-writer".to_owned())
            .spawn(move || work(connection, &queue, checkpoints))
            .map_err(|error| StoreError::Database(format!("cannot start the writer: {error}")))?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Queues a task. If the thread is gone, the task is dropped together with its sender, which notifies the
    /// waiter.
    pub(super) fn send(&self, task: Box<dyn WriteTask>) {
        if let Some(tasks) = &self.tasks {
            let _ = tasks.send(task);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(mut connection: Connection, queue: &Receiver<Box<dyn WriteTask>>, mut checkpoints: Checkpoints) {
    // Process the backlog left by an earlier process first.
    let mut is_behind = true;
    let mut index = IndexQueue::default();
    let mut timeout = IDLE_DELAY;
    loop {
        let next = match is_behind {
            true => queue.recv_timeout(timeout),
            false => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        timeout = IDLE_DELAY;
        match next {
            Ok(first) => {
                let mut group = vec![first];
                group.extend(queue.try_iter().take(MAX_TASKS - 1));
                let queued = transact(&mut connection, group);
                is_behind = true;
                let added = queued.len();
                index.add(queued);
                if index.waiting >= MAX_INDEX_LAG {
                    // One batch, so that the next task does not wait for the whole backlog; large enough that the
                    // backlog shrinks.
                    index.catch_up(&mut connection, TEXTS_PER_BATCH.max(2 * added));
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                is_behind = index.catch_up(&mut connection, TEXTS_PER_BATCH);
                timeout = Duration::ZERO;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        checkpoints.after_commit(&connection);
    }
    while index.catch_up(&mut connection, TEXTS_PER_BATCH) {}
    drop(checkpoints);
    // Leaves one file behind instead of three.
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// What the full text index does not contain yet.
#[derive(Default)]
struct IndexQueue {
    words: QueuedWords,
    /// Texts queued since the index was last up to date.
    waiting: usize,
    /// Whether the last batch failed.
    has_failed: bool,
}

impl IndexQueue {
    fn add(&mut self, queued: Vec<QueuedText>) {
        self.waiting += queued.len();
        for (text_id, words) in queued {
            self.words.insert(text_id, words);
        }
    }

    /// Indexes one batch of texts. Returns `false` if nothing is left for now. A failure is logged once, until the
    /// index makes progress again.
    fn catch_up(&mut self, connection: &mut Connection, most: usize) -> bool {
        let caught_up = run(connection, "BEGIN IMMEDIATE").and_then(|()| {
            let mut db = SqliteDb::new(connection);
            match super::ready(Box::pin(deferred_index::catch_up(&mut db, &mut self.words, most))) {
                Ok(count) => commit(connection).map(|()| count),
                Err(error) => {
                    let _ = run(connection, "ROLLBACK");
                    Err(error)
                }
            }
        });
        match caught_up {
            Ok(count) => {
                self.has_failed = false;
                let is_behind = count == most;
                self.waiting = if is_behind { self.waiting.saturating_sub(count) } else { 0 };
                is_behind
            }
            Err(error) => {
                // Until then, searches read the texts themselves.
                if !std::mem::replace(&mut self.has_failed, true) {
                    tracing::warn!(error = %error, "the search index lags behind the database; searches read the texts instead");
                }
                // Not again after the next task, but after as many as before this one.
                self.waiting = 0;
                false
            }
        }
    }
}

/// Runs the tasks in one transaction. Returns the texts that it queued for the full text index.
fn transact(connection: &mut Connection, mut group: Vec<Box<dyn WriteTask>>) -> Vec<QueuedText> {
    let ended = match run_together(connection, &mut group) {
        Some(ended) => ended,
        None => one_by_one(connection, &mut group),
    };
    let (ended, queued) = match ended {
        Ok(queued) => (Ok(()), queued),
        Err(error) => (Err(error), Vec::new()),
    };
    for task in group {
        task.answer(ended.clone());
    }
    queued
}

/// Runs all tasks without savepoints, which is much cheaper: with savepoints, the full text index is written once
/// per task instead of once per transaction. Returns `None` if one of several tasks failed, which is rare:
/// everything was then rolled back.
fn run_together(
    connection: &mut Connection,
    group: &mut [Box<dyn WriteTask>],
) -> Option<Result<Vec<QueuedText>, StoreError>> {
    if let Err(error) = run(connection, "BEGIN IMMEDIATE") {
        return Some(Err(error));
    }
    let mut db = SqliteDb::new(connection);
    let ran = write_task::run_together(&mut db, group).now_or_never();
    let queued = db.queued;
    match ran {
        Some(Ok(())) => Some(commit(connection).map(|()| queued)),
        failed => {
            let _ = run(connection, "ROLLBACK");
            let [only] = group else { return None };
            if failed.is_none() {
                only.fail(super::waits());
            }
            Some(Ok(Vec::new()))
        }
    }
}

/// Runs each task in its own savepoint; only a failed task is rolled back.
fn one_by_one(
    connection: &mut Connection,
    group: &mut [Box<dyn WriteTask>],
) -> Result<Vec<QueuedText>, StoreError> {
    run(connection, "BEGIN IMMEDIATE")?;
    let mut queued = Vec::new();
    for task in group {
        match in_savepoint(connection, &mut **task) {
            Ok(texts) => queued.extend(texts),
            Err(error) => task.fail(error),
        }
    }
    commit(connection).map(|()| queued)
}

fn in_savepoint(
    connection: &mut Connection,
    task: &mut dyn WriteTask,
) -> Result<Vec<QueuedText>, StoreError> {
    run(connection, "SAVEPOINT task")?;
    let queued = run_alone(connection, task);
    if queued.is_none() {
        run(connection, "ROLLBACK TO task")?;
    }
    run(connection, "RELEASE task")?;
    Ok(queued.unwrap_or_default())
}

/// Runs a task; `None` if it failed.
fn run_alone(connection: &mut Connection, task: &mut dyn WriteTask) -> Option<Vec<QueuedText>> {
    let mut db = SqliteDb::new(connection);
    match write_task::run_guarded(&mut db, task).now_or_never() {
        Some(true) => return Some(db.queued),
        Some(false) => {}
        None => task.fail(super::waits()),
    }
    None
}

fn commit(connection: &Connection) -> Result<()> {
    run(connection, "COMMIT").inspect_err(|_| {
        let _ = run(connection, "ROLLBACK");
    })
}
