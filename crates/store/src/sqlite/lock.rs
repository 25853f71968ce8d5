//! One process owns a data file: an advisory lock on a file next to it, which the OS releases when the process
//! ends, however it ends.

use super::connection::beside;
use crate::error::{Result, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

/// Exclusive write access to a data file, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child process that is being spawned holds a copy of the descriptor until it
        // executes its program, and would keep the lock for as long.
        let _ = self.file.unlock();
    }
}

/// ID of the process that holds the lock of the data file at `path`; does not acquire it.
pub(crate) fn lock_owner_pid(path: &Path) -> Option<u32> {
    let mut file = File::open(beside(path, ".lock")).ok()?;
    // Shared, so that concurrent checks do not mistake each other for owners.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            file.read_to_string(&mut holder).ok()?;
            holder.trim().parse().ok()
        }
        _ => None,
    }
}

impl Lock {
    /// Acquires the lock of the data file at `path`.
    pub(super) fn take(path: &Path) -> Result<Self> {
        let lock_path = beside(path, ".lock");
        let failed = |error: std::io::Error| StoreError::file(&lock_path, &error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        super::connection::private(&mut options);
        let mut file = options.open(&lock_path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Report the owner if it is known.
                let _ = file.read_to_string(&mut holder);
                return Err(StoreError::InUse { path: path.to_owned(), pid: holder.trim().parse().ok() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        file.set_len(0).map_err(failed)?;
        file.rewind().map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { file })
    }
}
