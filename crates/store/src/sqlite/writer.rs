//! The only thread that writes. What has queued up while a transaction was made durable goes into the
//! next one: many commits, one wait for the disk.

use super::connection::SqliteDb;
use crate::db::Db;
use crate::error::StoreError;
use rusqlite::Connection;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The most tasks of one transaction, so that the first does not wait for ever.
const GROUP: usize = 256;

/// Work to be done in a transaction, or to be told why there is none.
pub(super) type Task = Box<dyn FnOnce(Result<&mut dyn Db, StoreError>) -> Done + Send>;

/// Work that has been done, and is not durable yet.
pub(super) struct Done {
    /// Are its changes to be kept?
    pub(super) keep: bool,
    /// Tells whoever waits for it how the transaction ended.
    pub(super) answer: Box<dyn FnOnce(Result<(), StoreError>) + Send>,
}

/// The writer's handle. Dropping it waits until everything that was sent is durable.
#[derive(Debug)]
pub(super) struct Writer {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (tasks, queue) = channel();
        let thread = std::thread::Builder::new()
            .name("papertape-writer".to_owned())
            .spawn(move || run(connection, &queue))
            .map_err(|error| StoreError::Database(format!("cannot start the writer: {error}")))?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Queues a task. Should the thread be gone, the task is dropped, and with it its answer's sender:
    /// whoever waits is told.
    pub(super) fn send(&self, task: Task) {
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

fn run(mut connection: Connection, queue: &Receiver<Task>) {
    while let Ok(first) = queue.recv() {
        let mut group = vec![first];
        group.extend(queue.try_iter().take(GROUP - 1));
        transact(&mut connection, group);
    }
    // Leaves one file behind instead of three.
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
}

fn transact(connection: &mut Connection, group: Vec<Task>) {
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE") {
        let error = StoreError::from(error);
        for task in group {
            (task(Err(error.clone())).answer)(Err(error.clone()));
        }
        return;
    }
    let done: Vec<Done> = group.into_iter().map(|task| in_savepoint(connection, task)).collect();
    let committed = connection.execute_batch("COMMIT").map_err(|error| {
        let _ = connection.execute_batch("ROLLBACK");
        StoreError::from(error)
    });
    for one in done {
        (one.answer)(committed.clone());
    }
}

/// Runs one task; if it fails, it alone is taken back.
fn in_savepoint(connection: &mut Connection, task: Task) -> Done {
    let run = |connection: &Connection, sql: &str| connection.prepare_cached(sql)?.execute([]);
    if let Err(error) = run(connection, "SAVEPOINT task") {
        return task(Err(error.into()));
    }
    // A task that panics is a bug of its own, and must not take the writer with it. Its answer goes
    // with it, so that its receiver learns that nobody will send one.
    let guarded = AssertUnwindSafe(|| task(Ok(&mut SqliteDb::new(connection))));
    let done = catch_unwind(guarded).unwrap_or_else(|_| {
        tracing::error!("a write to the record panicked and was taken back");
        Done { keep: false, answer: Box::new(|_| {}) }
    });
    let ended = if done.keep {
        run(connection, "RELEASE task")
    } else {
        run(connection, "ROLLBACK TO task").and_then(|_| run(connection, "RELEASE task"))
    };
    match ended {
        Ok(_) => done,
        Err(error) => {
            let error = StoreError::from(error);
            Done { keep: false, answer: Box::new(move |_| (done.answer)(Err(error))) }
        }
    }
}
