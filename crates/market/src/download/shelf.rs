//! The files of a download: each answer as it came, and beside it when it was asked for.
//!
//! An answer is written under another name and renamed when it is whole. What tells about it
//! (`.NAME.about`) is written last, with the answer's hash: an answer without it, or with another
//! hash, is as good as not there.

use super::DownloadError;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What is known of an answer besides itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// When it was asked for.
    pub(crate) fetched_at: Timestamp,
    /// Which question it answers: path and query, without a key.
    pub(crate) asked: String,
    /// The answer's hash.
    pub(crate) blake3: ContentHash,
}

/// An answer that is there.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    pub(super) body: Vec<u8>,
    pub(super) fetched_at: Timestamp,
}

/// Where one symbol's answers of one kind are.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    dir: PathBuf,
    prefix: String,
    extension: &'static str,
}

impl Shelf {
    /// The shelf `ROOT/SOURCE/KIND/SYMBOL`.
    pub(super) fn new(
        root: &Path,
        source: &str,
        kind: &str,
        symbol: &Symbol,
        extension: &'static str,
    ) -> Self {
        let prefix = file_name(symbol);
        Self { dir: root.join(source).join(kind).join(&prefix), prefix, extension }
    }

    fn path(&self, stem: &str) -> PathBuf {
        self.dir.join(format!("{}-{stem}.{}", self.prefix, self.extension))
    }

    /// The answer of this name; `None` where it is not there whole.
    pub(super) fn find(&self, stem: &str) -> Result<Option<Kept>, DownloadError> {
        let path = self.path(stem);
        let Some(about) = About::of(&path).map_err(|error| DownloadError::disk(&path, error))? else {
            return Ok(None);
        };
        match fs::read(&path) {
            Ok(body) if ContentHash::of(&body) == about.blake3 => {
                Ok(Some(Kept { path, body, fetched_at: about.fetched_at }))
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DownloadError::disk(&path, error)),
        }
    }

    /// Keeps an answer.
    pub(super) fn keep(
        &self,
        stem: &str,
        body: Vec<u8>,
        fetched_at: Timestamp,
        asked: String,
    ) -> Result<Kept, DownloadError> {
        let path = self.path(stem);
        let about = About { fetched_at, asked, blake3: ContentHash::of(&body) };
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            replace(&path, &body)?;
            replace(&hidden(&path, "about"), &serde_json::to_vec(&about)?)
        };
        write().map_err(|error| DownloadError::disk(&path, error))?;
        Ok(Kept { path, body, fetched_at })
    }
}

impl About {
    /// What is known of the answer in this file; `None` where nothing is.
    pub(crate) fn of(answer: &Path) -> io::Result<Option<Self>> {
        match fs::read(hidden(answer, "about")) {
            // One that cannot be read says nothing, and the answer is asked for again.
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Writes a file under another name and renames it when it is on the disk.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let part = hidden(path, "part");
    let mut file = File::create(&part)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&part, path)
}

/// A file beside another one, that is none of a folder's answers: `.NAME.EXTENSION`.
fn hidden(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(extension);
    path.with_file_name(name)
}

/// A symbol as the name of a file: what may not stand in one everywhere is written as `%3A`.
fn file_name(symbol: &Symbol) -> String {
    let mut name = String::new();
    for (at, byte) in symbol.as_str().bytes().enumerate() {
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'=' | b'^')
            || (byte == b'.' && at > 0)
        {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}
