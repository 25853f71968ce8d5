//! Copies the WAL into the data file on a thread of its own, so that no commit waits for it.
//!
//! A checkpoint alongside commits never copies the newest ones, so SQLite could not start the WAL over while tasks
//! keep arriving. From [`MAX_WAL_PAGES`] on, the writer copies the rest itself, which is little by then. If a reader
//! holds an old snapshot, the WAL grows until it ends.

use super::connection;
use crate::error::StoreError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Pages in the WAL from which on the thread copies them: 8 MiB.
const WAL_PAGES: u32 = 2_048;
/// Pages in the WAL from which on the writer copies what the thread has not.
const MAX_WAL_PAGES: u32 = 4 * WAL_PAGES;

/// The thread's handle. Dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// Pages in the WAL after the last commit.
    pages: Arc<AtomicU32>,
    /// Pages at which the thread is woken next, and those at which the writer does it.
    next: (u32, u32),
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Takes over the checkpoints of this connection, the only one that writes to the file.
    pub(super) fn start(writer: &mut Connection, path: &Path) -> Result<Self, StoreError> {
        let pages = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&pages);
        // This also ends SQLite's own checkpoints, which use the same hook.
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
            seen.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))?;
        let own = connection::open(path)?;
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("papertape-checkpoint".to_owned())
            .spawn(move || run(&own, &woken))
            .map_err(|error| StoreError::Database(format!("cannot start the checkpoints: {error}")))?;
        Ok(Self { pages, next: (WAL_PAGES, MAX_WAL_PAGES), wake: Some(wake), thread: Some(thread) })
    }

    /// Starts a checkpoint if the WAL is long.
    pub(super) fn after_commit(&mut self, writer: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        let (wake_at, write_at) = self.next;
        if pages < WAL_PAGES {
            self.next = (WAL_PAGES, MAX_WAL_PAGES);
        } else if pages >= write_at {
            checkpoint(writer);
            self.next = (pages.saturating_add(WAL_PAGES), pages.saturating_add(MAX_WAL_PAGES));
        } else if pages >= wake_at {
            self.next.0 = pages.saturating_add(WAL_PAGES);
            if let Some(wake) = &self.wake {
                // Full: one is about to start anyway.
                let _ = wake.try_send(());
            }
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(connection: &Connection, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        checkpoint(connection);
    }
}

/// Copies what no reader still needs in the WAL, without waiting for anybody.
fn checkpoint(connection: &Connection) {
    if let Err(error) = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
        // Nothing is lost: the WAL grows, and the next one tries again.
        tracing::warn!(error = %error, "cannot copy the WAL into the data file");
    }
}
