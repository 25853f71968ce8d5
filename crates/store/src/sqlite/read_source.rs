//! What readers open: the data file itself or, if SQLite cannot create its shared memory next to it (a read-only
//! directory or disk), the file as immutable, or a copy.

use super::connection::{beside, open_immutable, open_read_only};
use crate::error::{Result, StoreError};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// A WAL file contains frames only if it is longer than its 32-byte header
/// (<https://sqlite.org/fileformat2.html#the_wal_file>).
const WAL_HEADER_BYTES: u64 = 32;

/// What readers open.
#[derive(Debug)]
pub(super) enum ReadSource {
    /// The file, which its owner may be writing to.
    Shared(PathBuf),
    /// The file, which nobody can write to.
    Immutable(PathBuf),
    /// A copy of the file and its WAL, removed on drop.
    Copy(TemporaryCopy),
}

impl ReadSource {
    pub(super) fn shared(path: &Path) -> Self {
        Self::Shared(path.to_owned())
    }

    /// Determines how the file can be read.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, is empty or is not a database, or if a copy cannot be made.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let meta = path.metadata().map_err(|error| StoreError::file(path, &error))?;
        if meta.len() == 0 {
            let why = "the file is empty: it is not a database; restore it from a backup, or move it away";
            return Err(StoreError::file(path, &why));
        }
        match probe(&open_read_only(path)?) {
            Ok(()) => Ok(Self::shared(path)),
            Err(error) if !is_unwritable(&error) => Err(error.into()),
            Err(_) if has_frames(path) => {
                let copy = TemporaryCopy::of(path)?;
                tracing::info!(record = %path.display(), "reading a temporary copy: the record's directory is read-only");
                Ok(Self::Copy(copy))
            }
            Err(_) => Ok(Self::Immutable(path.to_owned())),
        }
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        match self {
            Self::Shared(path) => open_read_only(path),
            Self::Immutable(path) => open_immutable(path),
            Self::Copy(copy) => open_read_only(&copy.file),
        }
    }
}

fn probe(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Whether SQLite failed to create or map the files that it keeps next to the data.
fn is_unwritable(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly, SystemIoFailure};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly | SystemIoFailure))
}

fn has_frames(path: &Path) -> bool {
    beside(path, "-wal").metadata().is_ok_and(|wal| wal.len() > WAL_HEADER_BYTES)
}

/// A copy of a data file and its WAL in the system's temporary directory, for its owner only.
#[derive(Debug)]
pub(crate) struct TemporaryCopy {
    dir: PathBuf,
    file: PathBuf,
}

impl TemporaryCopy {
    /// Copies a data file with the files that SQLite keeps next to it.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        Self::by(path, |file| {
            std::fs::copy(path, file).map_err(|error| StoreError::file(path, &error))?;
            for end in ["-wal", "-journal"] {
                let from = beside(path, end);
                match std::fs::copy(&from, beside(file, end)) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(StoreError::file(from, &error));
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// Makes a copy with `copy`, which writes to the given path.
    pub(crate) fn by(path: &Path, copy: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        let dir = private_dir()?;
        // From here on, drop removes the directory, even if copying fails.
        let made = Self { file: dir.join("record.db"), dir };
        copy(&made.file)?;
        tracing::debug!(file = %path.display(), "reading a temporary copy");
        Ok(made)
    }

    /// The copied file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for TemporaryCopy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Creates a directory that only its owner can enter.
fn private_dir() -> Result<PathBuf> {
    let above = std::env::temp_dir();
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    for attempt in 0..1_000_u32 {
        let dir = above.join(format!("papertape-read-{}-{attempt}", std::process::id()));
        match builder.create(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StoreError::file(dir, &error)),
        }
    }
    Err(StoreError::file(above, &"no directory for a temporary copy could be made"))
}
