//! Copies the WAL into the data file on a thread of its own, so that no commit waits for it.
//!
//! A checkpoint alongside commits never copies the newest ones, so SQLite could not start the WAL over while tasks
//! keep arriving. From [`MAX_WAL_PAGES`] on, the writer copies the rest itself, which is little by then. If a reader
//! holds an old snapshot, the WAL grows until it ends.

use super::connection;
use crate::error::StoreError;
use rusqlite::Connection;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;

/// Pages in the WAL from which on the thread copies them: 8 MiB.
const WAL_PAGES: u32 = 2_048;
/// Pages in the WAL from which on the writer copies what the thread has not. At twice as many it waits for the thread.
const MAX_WAL_PAGES: u32 = 4 * WAL_PAGES;

/// The thread's handle. Dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// Pages in the WAL after the last commit.
    pages: Arc<AtomicU32>,
    /// Pages at which the thread is woken next, and those at which the writer does it.
    next: (u32, u32),
    /// Held while the WAL is copied.
    copying: Arc<Mutex<()>>,
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
        let copying = Arc::new(Mutex::new(()));
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("papertape-checkpoint".to_owned())
            .spawn({
                let copying = Arc::clone(&copying);
                move || run(&own, &woken, &copying)
            })
            .map_err(|error| StoreError::Database(format!("cannot start the checkpoints: {error}")))?;
        Ok(Self { pages, next: (WAL_PAGES, MAX_WAL_PAGES), copying, wake: Some(wake), thread: Some(thread) })
    }

    /// Starts a checkpoint if the WAL is long.
    pub(super) fn after_commit(&mut self, writer: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        let (wake_at, write_at) = self.next;
        if pages < WAL_PAGES {
            self.next = (WAL_PAGES, MAX_WAL_PAGES);
        } else if pages >= write_at {
            let copying = match self.copying.try_lock() {
                Err(TryLockError::WouldBlock) if pages < write_at.saturating_add(MAX_WAL_PAGES) => {
                    // The thread is copying. The next commit tries again.
                    return;
                }
                Err(TryLockError::WouldBlock) => lock(&self.copying),
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Ok(copying) => copying,
            };
            checkpoint(writer);
            drop(copying);
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

fn run(connection: &Connection, woken: &Receiver<()>, copying: &Mutex<()>) {
    while woken.recv().is_ok() {
        let _copying = lock(copying);
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

fn lock(copying: &Mutex<()>) -> MutexGuard<'_, ()> {
    copying.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file that is written to in commits of 64 pages, as fast as possible.
    struct Written {
        writer: Connection,
        checkpoints: Checkpoints,
        path: PathBuf,
        _dir: tempfile::TempDir,
    }

    impl Written {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("makes a directory");
            let path = dir.path().join("tape.db");
            connection::create(&path).expect("creates");
            let mut writer = connection::open(&path).expect("opens");
            // The test is about the WAL's length, not about power losses.
            writer.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE t (b BLOB)").expect("sets up");
            let checkpoints = Checkpoints::start(&mut writer, &path).expect("starts");
            Self { writer, checkpoints, path, _dir: dir }
        }

        /// Writes this many pages; returns the most pages that the WAL had.
        fn write(&mut self, pages: u32) -> u32 {
            let mut most = 0;
            for _ in 0..pages / 64 {
                self.writer.execute("INSERT INTO t VALUES (zeroblob(64 * 4096))", []).expect("writes");
                most = most.max(self.checkpoints.pages.load(Ordering::Relaxed));
                self.checkpoints.after_commit(&self.writer);
            }
            most
        }
    }

    /// Goal: the WAL does not grow without bound although the writer never pauses.
    #[test]
    fn the_wal_is_bounded_under_load() {
        let mut written = Written::new();
        let most = written.write(4 * MAX_WAL_PAGES);
        assert!(most <= 2 * MAX_WAL_PAGES + 2 * 64 + 16, "{most} pages");
        let Written { writer, checkpoints, path, _dir } = written;
        drop(checkpoints);
        drop(writer);
        assert!(!connection::beside(&path, "-wal").exists(), "the last connection removes it");
        let sql = "SELECT count(*) FROM t";
        let rows: u32 = connection::open(&path)
            .and_then(|connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
            .expect("reads");
        assert_eq!(rows, 4 * MAX_WAL_PAGES / 64);
    }

    /// Goal: a reader with an old snapshot delays checkpoints and nothing else; afterwards they continue.
    #[test]
    fn a_reader_with_an_old_snapshot_stops_nothing() {
        let mut written = Written::new();
        written.write(128);
        let reader = connection::open_read_only(&written.path).expect("opens");
        let count = || reader.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, u32>(0));
        reader.execute_batch("BEGIN").expect("begins");
        assert_eq!(count().expect("reads"), 2);
        let most = written.write(2 * MAX_WAL_PAGES);
        assert!(most > MAX_WAL_PAGES, "it cannot start over: {most} pages");
        assert_eq!(count().expect("reads"), 2, "its snapshot stays");
        reader.execute_batch("COMMIT").expect("ends");
        written.write(3 * MAX_WAL_PAGES);
        assert_eq!(count().expect("reads"), 2 + 5 * MAX_WAL_PAGES / 64);
        let most = written.write(MAX_WAL_PAGES);
        assert!(most <= 2 * MAX_WAL_PAGES + 2 * 64 + 16, "{most} pages");
    }
}
