//! Where rows come from: a file, or bytes that are at hand.

use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// How much of the beginning a format is recognised by.
const HEAD_BYTES: u64 = 8 * 1024;
const BOM: &[u8] = b"\xef\xbb\xbf";
const GZIP: &[u8] = b"\x1f\x8b";

/// A file, or bytes that are at hand, under the name by which refusals call it.
///
/// What is read is past a byte order mark, and unpacked where it was packed with gzip.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    content: Content,
    was_found: bool,
}

#[derive(Clone, Debug)]
enum Content {
    File(PathBuf),
    Bytes(Vec<u8>),
}

impl Source {
    /// A file.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.display().to_string(), content: Content::File(path), was_found: false }
    }

    /// A file that was found in a folder rather than named: where it is not data, it is skipped.
    #[must_use]
    pub fn found(path: impl Into<PathBuf>) -> Self {
        Self { was_found: true, ..Self::file(path) }
    }

    /// Was it found in a folder rather than named?
    #[must_use]
    pub fn was_found(&self) -> bool {
        self.was_found
    }

    /// Bytes that are at hand, such as a server's answer. The name may be a file's or an address: its
    /// last part serves as a file's name does.
    #[must_use]
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), content: Content::Bytes(bytes.into()), was_found: false }
    }

    /// What refusals call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The last part of its name, without `.gz`: `AAPL.csv`.
    #[must_use]
    pub fn file_name(&self) -> &str {
        let last = self.name.rsplit(['/', '\\']).next().unwrap_or_default();
        last.strip_suffix(".gz").unwrap_or(last)
    }

    /// The file's path, where it is one and is not packed: a format that reads here and there
    /// (Parquet) opens it itself.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn plain_path(&self) -> io::Result<Option<&Path>> {
        let Content::File(path) = &self.content else { return Ok(None) };
        let mut magic = [0; 2];
        let read = File::open(path)?.read(&mut magic)?;
        Ok((&magic[..read] != GZIP).then_some(path.as_path()))
    }

    /// Reads it from the beginning.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        let mut raw: Box<dyn BufRead + '_> = match &self.content {
            Content::File(path) => Box::new(BufReader::with_capacity(256 * 1024, File::open(path)?)),
            Content::Bytes(bytes) => Box::new(bytes.as_slice()),
        };
        if raw.fill_buf()?.starts_with(GZIP) {
            raw = Box::new(BufReader::with_capacity(256 * 1024, MultiGzDecoder::new(raw)));
        }
        if raw.fill_buf()?.starts_with(BOM) {
            raw.consume(BOM.len());
        }
        Ok(raw)
    }

    /// Its first 8 KiB.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn head(&self) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.open()?.take(HEAD_BYTES).read_to_end(&mut head)?;
        Ok(head)
    }

    /// All of it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn all(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.open()?.read_to_end(&mut all)?;
        Ok(all)
    }
}
