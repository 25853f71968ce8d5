//! The response cache of a download: each response as received, with a metadata file that says when it was requested.
//!
//! A response is written under a temporary name and renamed once it is complete. Its metadata (`.NAME.about`)
//! is written last, with the response's hash: a response without it, or with a different hash, counts as missing.

use super::DownloadError;
use crate::vendors::{CacheMeta, hidden};
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::time::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

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
        let Some(meta) = CacheMeta::of(&path).map_err(|error| DownloadError::disk(&path, error))? else {
            return Ok(None);
        };
        match fs::read(&path) {
            Ok(body) if ContentHash::of(&body) == meta.blake3 => {
                Ok(Some(CachedResponse { path, body, fetched_at: meta.fetched_at }))
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
        request: String,
    ) -> Result<CachedResponse, DownloadError> {
        let path = self.path(stem);
        let meta = CacheMeta { fetched_at, request, blake3: ContentHash::of(&body) };
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            replace(&path, &body)?;
            replace(&hidden(&path, "about"), &serde_json::to_vec(&meta)?)
        };
        write().map_err(|error| DownloadError::disk(&path, error))?;
        Ok(CachedResponse { path, body, fetched_at })
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

/// What not every file system allows in a name is escaped, like `%3A`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'=').remove(b'^').remove(b'.');

/// A symbol as a file name. A leading dot would hide the file.
fn file_name(symbol: &Symbol) -> String {
    let name = utf8_percent_encode(symbol.as_str(), ESCAPED).to_string();
    name.strip_prefix('.').map_or(name.clone(), |rest| format!("%2E{rest}"))
}
