//! One process owns a data file: an advisory lock on a file beside it, which the system lets go when
//! the process ends, however it ends.

use super::connection::beside;
use crate::error::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

/// The right to write to a data file, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child process that is just being started has a copy of the file
        // until it runs its program, and would keep the lock as long.
        let _ = self.file.unlock();
    }
}

/// Who holds the lock of the data file at `path`, without taking it.
pub(crate) fn holder(path: &Path) -> Option<u32> {
    let mut file = File::open(beside(path, ".lock")).ok()?;
    // Shared, so that those who look do not look like owners to each other.
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
    /// Takes the lock of the data file at `path`.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
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
                // Who it is is told as far as it is known.
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
