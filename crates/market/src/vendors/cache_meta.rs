//! The metadata of a stored response.

use crate::input::Source;
use papertape_core::id::ContentHash;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The metadata of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheMeta {
    /// When it was requested.
    pub(crate) fetched_at: Timestamp,
    /// The request: path and query, without a key.
    #[serde(rename = "asked")]
    pub(crate) request: String,
    /// The response's hash.
    pub(crate) blake3: ContentHash,
}

impl CacheMeta {
    /// The metadata of the response in this file; `None` if there is none.
    pub(crate) fn of(response: &Path) -> io::Result<Option<Self>> {
        match fs::read(hidden(response, "about")) {
            // Unreadable metadata is ignored, and the response is requested again.
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// When a file was requested, if it is a stored response.
    pub(crate) fn fetched_at(source: &Source) -> io::Result<Option<Timestamp>> {
        let Some(path) = source.plain_path()? else { return Ok(None) };
        Ok(Self::of(path)?.map(|meta| meta.fetched_at))
    }
}

/// A hidden file next to a response, which does not count as one: `.NAME.EXTENSION`.
pub(crate) fn hidden(path: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(extension);
    path.with_file_name(name)
}
