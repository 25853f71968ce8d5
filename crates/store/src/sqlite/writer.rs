//! The only thread that writes. What has queued up while a transaction was made durable goes into the
//! next one: many commits, one wait for the disk.

use super::connection::SqliteDb;
use crate::db::Db;
use crate::error::StoreError;
use crate::search::behind;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The most tasks of one transaction, so that the first does not wait for ever.
const GROUP: usize = 256;
/// How long nothing may come before the index of words is brought up to date.
const IDLE: Duration = Duration::from_millis(200);
/// The index falls behind by so many rows at most, of whatever tables: some hundred messages. What it has not
/// come to, each search has to read.
const BEHIND: u64 = 4096;
/// So many texts are indexed in one transaction: a task that comes meanwhile waits for no more.
const TEXTS: usize = 64;

/// Work to be done in a transaction.
pub(super) trait Task: Send {
    /// Does the work. `false`: it has failed, and its changes are to be taken back. It may be done
    /// again, after its changes were taken back.
    fn run(&mut self, db: &mut dyn Db) -> bool;

    /// Lets the work have failed.
    fn fail(&mut self, error: StoreError);

    /// Tells whoever waits for it how it ended, the transaction around it having ended like this. Work
    /// that panicked tells nothing: its receiver learns that nobody will.
    fn answer(self: Box<Self>, ended: Result<(), StoreError>);
}

/// The writer's handle. Dropping it waits until everything that was sent is durable.
#[derive(Debug)]
pub(super) struct Writer {
    tasks: Option<Sender<Box<dyn Task>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (tasks, queue) = channel();
        let thread = std::thread::Builder::new()
            .name("papertape-writer".to_owned())
            .spawn(move || work(connection, &queue))
            .map_err(|error| StoreError::Database(format!("cannot start the writer: {error}")))?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Queues a task. Should the thread be gone, the task is dropped, and with it its answer's sender:
    /// whoever waits is told.
    pub(super) fn send(&self, task: Box<dyn Task>) {
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

fn work(mut connection: Connection, queue: &Receiver<Box<dyn Task>>) {
    // What an earlier process has left for later is done first.
    let mut is_behind = true;
    let mut up_to_date_at = connection.total_changes();
    let mut patience = IDLE;
    let mut lags = false;
    loop {
        let next = match is_behind {
            true => queue.recv_timeout(patience),
            false => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        patience = IDLE;
        match next {
            Ok(first) => {
                let mut group = vec![first];
                group.extend(queue.try_iter().take(GROUP - 1));
                transact(&mut connection, group);
                is_behind = true;
                if connection.total_changes() - up_to_date_at >= BEHIND {
                    while catch_up(&mut connection, &mut lags) {}
                    up_to_date_at = connection.total_changes();
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                is_behind = catch_up(&mut connection, &mut lags);
                patience = Duration::ZERO;
                up_to_date_at = connection.total_changes();
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    while catch_up(&mut connection, &mut lags) {}
    // Leaves one file behind instead of three.
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Brings the index of words up to date by one batch. `false`: that is all for now. A failure is logged once, until
/// the index has moved on again.
fn catch_up(connection: &mut Connection, lags: &mut bool) -> bool {
    let caught_up = run(connection, "BEGIN IMMEDIATE").and_then(|()| {
        let done = super::ready(Box::pin(behind::catch_up(&mut SqliteDb::new(connection), TEXTS)));
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
            count == TEXTS
        }
        Err(error) => {
            // Searches read the texts themselves meanwhile.
            if !std::mem::replace(lags, true) {
                tracing::warn!(error = %error, "the text index lags behind the record; searches read the texts instead");
            }
            false
        }
    }
}

fn transact(connection: &mut Connection, mut group: Vec<Box<dyn Task>>) {
    let ended = match together(connection, &mut group) {
        Some(ended) => ended,
        None => one_by_one(connection, &mut group),
    };
    for task in group {
        task.answer(ended.clone());
    }
}

/// Runs all tasks as one, which is much cheaper than a savepoint for each: with those, the full-text
/// index is written once a task instead of once a transaction. `None` where one of several has failed,
/// which hardly ever happens: then nothing was done.
fn together(connection: &mut Connection, group: &mut [Box<dyn Task>]) -> Option<Result<(), StoreError>> {
    if let Err(error) = run(connection, "BEGIN IMMEDIATE") {
        return Some(Err(error));
    }
    let alone = group.len() == 1;
    for task in group {
        if !guarded(connection, &mut **task) {
            let _ = run(connection, "ROLLBACK");
            return alone.then_some(Ok(()));
        }
    }
    Some(commit(connection))
}

/// Runs each task in a savepoint of its own; one that fails is taken back alone.
fn one_by_one(connection: &mut Connection, group: &mut [Box<dyn Task>]) -> Result<(), StoreError> {
    run(connection, "BEGIN IMMEDIATE")?;
    for task in group {
        if let Err(error) = in_savepoint(connection, &mut **task) {
            task.fail(error);
        }
    }
    commit(connection)
}

fn in_savepoint(connection: &mut Connection, task: &mut dyn Task) -> Result<(), StoreError> {
    run(connection, "SAVEPOINT task")?;
    if !guarded(connection, task) {
        run(connection, "ROLLBACK TO task")?;
    }
    run(connection, "RELEASE task")
}

/// A task that panics is a bug of its own, and must not take the writer with it.
fn guarded(connection: &mut Connection, task: &mut dyn Task) -> bool {
    let ran = catch_unwind(AssertUnwindSafe(|| task.run(&mut SqliteDb::new(connection))));
    ran.unwrap_or_else(|_| {
        tracing::error!("a write to the record panicked and was taken back");
        false
    })
}

fn commit(connection: &Connection) -> Result<(), StoreError> {
    run(connection, "COMMIT").inspect_err(|_| {
        let _ = run(connection, "ROLLBACK");
    })
}

fn run(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    Ok(connection.prepare_cached(sql)?.execute([]).map(drop)?)
}
