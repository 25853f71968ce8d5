//! Space of a data file: SQLite uses the pages of deleted rows for new ones, and gives them back on request only.

use super::lock::Lock;
use super::{Engine, connection, migrate};
use crate::error::Result;
use crate::migrate::MIGRATIONS;
use serde::Serialize;
use std::path::Path;

/// Bytes of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FileSpace {
    /// Of the file and its write-ahead log.
    pub bytes: u64,
    /// In pages that hold nothing. New rows use them.
    pub free_bytes: u64,
}

/// Upgrades a data file to this program's schema, as opening it does. If `compact`, it is then rewritten without free
/// pages, for which the disk needs as much free space again as the file has bytes. Returns its space then.
///
/// # Errors
/// Returns an error if a process uses the file, if it cannot be upgraded, or if the disk is full: the file then stays as
/// it was.
pub fn upgrade(path: &Path, compact: bool) -> Result<FileSpace> {
    drop(Engine::open(path, MIGRATIONS)?);
    if compact {
        let _lock = Lock::take(path)?;
        connection::open(path)?.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?;
    }
    let connection = connection::open_read_only(path)?;
    Ok(FileSpace { bytes: super::bytes_of(path), free_bytes: migrate::free_bytes(&connection)? })
}
