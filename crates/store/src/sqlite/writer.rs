//! The only thread that writes. Tasks that queue up while a transaction is being made durable are committed
//! together in the next one: many commits, one fsync.

use super::connection::SqliteDb;
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::search::deferred_index;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Max tasks per transaction, so that the first one does not wait too long.
const MAX_TASKS: usize = 256;
/// How long the queue must be idle before the full text index catches up.
const IDLE_DELAY: Duration = Duration::from_millis(200);
/// Max lag of the full text index in rows of all tables: a few hundred messages. Every search has to read what is
/// not indexed yet.
const MAX_INDEX_LAG: u64 = 4096;
/// Texts indexed per transaction: a task that arrives meanwhile waits no longer than that.
const TEXTS_PER_BATCH: usize = 64;

/// Work to be done inside a transaction.
pub(super) trait WriterTask: Send {
    /// Does the work. Returns `false` if it failed and its changes must be rolled back. It may be called again
    /// after a rollback.
    fn run(&mut self, db: &mut dyn Db) -> bool;

    /// Marks the work as failed.
    fn fail(&mut self, error: StoreError);

    /// Sends the result to the waiter, given how the surrounding transaction ended. Work that panicked sends
    /// nothing: its receiver sees the sender dropped.
    fn answer(self: Box<Self>, ended: Result<()>);
}

/// The writer's handle. Dropping it waits until all tasks sent are durable.
#[derive(Debug)]
pub(super) struct Writer {
    tasks: Option<Sender<Box<dyn WriterTask>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (tasks, queue) = channel();
        let thread = std::thread::Builder::new()
            .name("papertape-writer".to_owned())
            .spawn(move || work(connection, &queue))
            .map_err(|error| StoreError::Database(format!("cannot start the writer: {error}")))?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Queues a task. If the thread is gone, the task is dropped together with its sender, which notifies the
    /// waiter.
    pub(super) fn send(&self, task: Box<dyn WriterTask>) {
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

fn work(mut connection: Connection, queue: &Receiver<Box<dyn WriterTask>>) {
    // Process the backlog left by an earlier process first.
    let mut is_behind = true;
    let mut up_to_date_at = connection.total_changes();
    let mut timeout = IDLE_DELAY;
    let mut lags = false;
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
                transact(&mut connection, group);
                is_behind = true;
                if connection.total_changes() - up_to_date_at >= MAX_INDEX_LAG {
                    while catch_up(&mut connection, &mut lags) {}
                    up_to_date_at = connection.total_changes();
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                is_behind = catch_up(&mut connection, &mut lags);
                timeout = Duration::ZERO;
                up_to_date_at = connection.total_changes();
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    while catch_up(&mut connection, &mut lags) {}
    // Leaves one file behind instead of three.
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Indexes one batch of texts. Returns `false` if nothing is left for now. A failure is logged once, until the
/// index makes progress again.
fn catch_up(connection: &mut Connection, lags: &mut bool) -> bool {
    let caught_up = run(connection, "BEGIN IMMEDIATE").and_then(|()| {
        let done =
            super::ready(Box::pin(deferred_index::catch_up(&mut SqliteDb::new(connection), TEXTS_PER_BATCH)));
        match done {
            Ok(count) => commit(connection).map(|()| count),
            Err(error) => {
                let _ = run(connection, "ROLLBACK");
                Err(error)
            }
        }
    });
    match caught_up {
        Ok(count) => {
            *lags = false;
            count == TEXTS_PER_BATCH
        }
        Err(error) => {
            // Until then, searches read the texts themselves.
            if !std::mem::replace(lags, true) {
                tracing::warn!(error = %error, "the search index lags behind the database; searches read the texts instead");
            }
            false
        }
    }
}

fn transact(connection: &mut Connection, mut group: Vec<Box<dyn WriterTask>>) {
    let ended = match run_together(connection, &mut group) {
        Some(ended) => ended,
        None => one_by_one(connection, &mut group),
    };
    for task in group {
        task.answer(ended.clone());
    }
}

/// Runs all tasks without savepoints, which is much cheaper: with savepoints, the full text index is written once
/// per task instead of once per transaction. Returns `None` if one of several tasks failed, which is rare:
/// everything was then rolled back.
fn run_together(connection: &mut Connection, group: &mut [Box<dyn WriterTask>]) -> Option<Result<()>> {
    if let Err(error) = run(connection, "BEGIN IMMEDIATE") {
        return Some(Err(error));
    }
    let is_only = group.len() == 1;
    for task in group {
        if !run_guarded(connection, &mut **task) {
            let _ = run(connection, "ROLLBACK");
            return is_only.then_some(Ok(()));
        }
    }
    Some(commit(connection))
}

/// Runs each task in its own savepoint; only a failed task is rolled back.
fn one_by_one(connection: &mut Connection, group: &mut [Box<dyn WriterTask>]) -> Result<()> {
    run(connection, "BEGIN IMMEDIATE")?;
    for task in group {
        if let Err(error) = in_savepoint(connection, &mut **task) {
            task.fail(error);
        }
    }
    commit(connection)
}

fn in_savepoint(connection: &mut Connection, task: &mut dyn WriterTask) -> Result<()> {
    run(connection, "SAVEPOINT task")?;
    if !run_guarded(connection, task) {
        run(connection, "ROLLBACK TO task")?;
    }
    run(connection, "RELEASE task")
}

/// A panic is a bug in that task and must not take down the writer.
fn run_guarded(connection: &mut Connection, task: &mut dyn WriterTask) -> bool {
    let ran = catch_unwind(AssertUnwindSafe(|| task.run(&mut SqliteDb::new(connection))));
    ran.unwrap_or_else(|_| {
        tracing::error!("a database write panicked and was rolled back");
        false
    })
}

fn commit(connection: &Connection) -> Result<()> {
    run(connection, "COMMIT").inspect_err(|_| {
        let _ = run(connection, "ROLLBACK");
    })
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    Ok(connection.prepare_cached(sql)?.execute([]).map(drop)?)
}
