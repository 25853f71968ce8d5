//! A few read connections, each with its own thread.

use super::read_source::ReadSource;
use crate::error::{Result, StoreError};
use rusqlite::Connection;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Number of readers.
const READERS: usize = 4;

/// Work for a reader.
pub(super) type Task = Box<dyn FnOnce(&mut Connection) + Send>;

/// The readers' handle.
#[derive(Debug)]
pub(super) struct Readers {
    tasks: Option<Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(source: &ReadSource) -> Result<Self> {
        let (tasks, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let threads = (0..READERS)
            .map(|at| {
                let queue = Arc::clone(&queue);
                let connection = source.connect()?;
                std::thread::Builder::new()
                    .name(format!("papertape-reader-{at}"))
                    .spawn(move || run(connection, &queue))
                    .map_err(|error| StoreError::Database(format!("cannot start a reader: {error}")))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { tasks: Some(tasks), threads })
    }

    pub(super) fn send(&self, task: Task) {
        if let Some(tasks) = &self.tasks {
            let _ = tasks.send(task);
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.tasks.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn run(mut connection: Connection, queue: &Mutex<Receiver<Task>>) {
    loop {
        let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(task) = task else {
            return;
        };
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task(&mut connection)));
        if ran.is_err() {
            tracing::error!("a database read panicked");
        }
        if !connection.is_autocommit() {
            // A snapshot left open would keep the WAL from being truncated.
            let _ = connection.execute_batch("ROLLBACK");
        }
    }
}
