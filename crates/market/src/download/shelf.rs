//! The response cache of a download: each response as received, with a metadata file that says when it was requested.
//!
//! A response is written under a temporary name and renamed once it is complete. Its metadata (`.NAME.about`)
//! is written last, with the response's hash: a response without it, or with a different hash, counts as missing.

use super::DownloadError;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The metadata of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheMeta {
    /// When it was requested.
    pub(crate) fetched_at: Timestamp,
    /// The request: path and query, without a key.
    pub(crate) asked: String,
    /// The response's hash.
    pub(crate) blake3: ContentHash,
}

/// A stored response.
#[derive(Clone, Debug)]
pub(super) struct CachedResponse {
    pub(super) path: PathBuf,
    pub(super) body: Vec<u8>,
    pub(super) fetched_at: Timestamp,
}

/// The directory of one symbol's responses of one kind.
#[derive(Clone, Debug)]
pub(super) struct ResponseCache {
    dir: PathBuf,
    prefix: String,
    extension: &'static str,
}

impl ResponseCache {
    /// The directory `ROOT/SOURCE/KIND/SYMBOL`.
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

    /// The response of this name; `None` if it is missing or incomplete.
    pub(super) fn find(&self, stem: &str) -> Result<Option<CachedResponse>, DownloadError> {
        let path = self.path(stem);
        let Some(about) = CacheMeta::of(&path).map_err(|error| DownloadError::disk(&path, error))? else {
            return Ok(None);
        };
        match fs::read(&path) {
            Ok(body) if ContentHash::of(&body) == about.blake3 => {
                Ok(Some(CachedResponse { path, body, fetched_at: about.fetched_at }))
            }
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DownloadError::disk(&path, error)),
        }
    }

    /// Stores a response.
    pub(super) fn store(
        &self,
        stem: &str,
        body: Vec<u8>,
        fetched_at: Timestamp,
        asked: String,
    ) -> Result<CachedResponse, DownloadError> {
        let path = self.path(stem);
        let about = CacheMeta { fetched_at, asked, blake3: ContentHash::of(&body) };
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            replace(&path, &body)?;
            replace(&hidden(&path, "about"), &serde_json::to_vec(&about)?)
        };
        write().map_err(|error| DownloadError::disk(&path, error))?;
        Ok(CachedResponse { path, body, fetched_at })
    }
}

impl CacheMeta {
    /// The metadata of the response in this file; `None` if there is none.
    pub(crate) fn of(answer: &Path) -> io::Result<Option<Self>> {
        match fs::read(hidden(answer, "about")) {
            // Unreadable metadata is ignored, and the response is requested again.
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Writes a file under a temporary name and renames it once it is on disk.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let part = hidden(path, "part");
    let mut file = File::create(&part)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&part, path)
}

/// A hidden file next to a response, which does not count as one: `.NAME.EXTENSION`.
fn hidden(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(extension);
    path.with_file_name(name)
}

/// A symbol as a file name: characters that not every file system allows are escaped, like `%3A`.
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
