//! How a file is read: in place or, if nothing may be written next to it, from a temporary copy.

use super::file::PortableFile;
use crate::error::{Result, StoreError};
use crate::sqlite::{TemporaryCopy, beside, copy};
use rusqlite::{Connection, OpenFlags};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for another process that writes to the file.
const BUSY: Duration = Duration::from_secs(5);
/// The first bytes of a SQLite file; the byte after the magic string is the journal mode
/// (<https://sqlite.org/fileformat2.html#the_database_header>).
const HEADER_BYTES: usize = 19;
/// The journal mode of a file with a WAL.
const WAL: u8 = 2;

/// The source that a file is read from.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    copy: Option<TemporaryCopy>,
}

impl Source {
    /// The file itself.
    pub(super) fn in_place(path: &Path) -> Self {
        Self { path: path.to_owned(), copy: None }
    }

    /// A copy of the file, so that opening it leaves no trace: SQLite creates files next to a WAL database that
    /// it reads, and a trial migration writes to the file before it is rolled back.
    pub(super) fn copy(path: &Path) -> Result<Self> {
        let copy = match is_at_rest(path)? {
            true => TemporaryCopy::by(path, |to| back_up(path, to))?,
            false => TemporaryCopy::of(path)?,
        };
        Ok(Self { path: path.to_owned(), copy: Some(copy) })
    }

    /// The file's own path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self) -> Result<PortableFile> {
        match &self.copy {
            Some(copy) => PortableFile::open_copy(copy.file(), &self.path),
            None => PortableFile::open(&self.path),
        }
    }
}

/// Whether the file can be read without a WAL or journal. SQLite then locks it while it is copied.
fn is_at_rest(path: &Path) -> Result<bool> {
    let failed = |error: std::io::Error| StoreError::file(path, &error);
    let mut header = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(HEADER_BYTES as u64).read_to_end(&mut header).map_err(failed)?;
    let has_log = header.last().is_some_and(|mode| header.len() == HEADER_BYTES && *mode == WAL);
    Ok(!has_log && !beside(path, "-journal").exists())
}

fn back_up(path: &Path, to: &Path) -> Result<()> {
    let failed = |error: rusqlite::Error| StoreError::file(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let from = Connection::open_with_flags(path, flags).map_err(failed)?;
    from.busy_timeout(BUSY).map_err(failed)?;
    copy(&from, to).map_err(|error| StoreError::file(path, &error))
}
