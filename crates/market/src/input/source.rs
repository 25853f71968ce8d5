//! Where rows come from: a file, or bytes in memory.

use flate2::bufread::MultiGzDecoder;
use papertape_core::id::Symbol;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// How many bytes from the start are used to detect a format.
const HEAD_BYTES: u64 = 8 * 1024;
const BOM: &[u8] = b"\xef\xbb\xbf";
const GZIP: &[u8] = b"\x1f\x8b";

/// A file, or bytes in memory, with the name that rejections use.
///
/// Reading skips a byte order mark, and decompresses gzip.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    content: Content,
    was_found: bool,
    symbol: Option<Symbol>,
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
        Self {
            name: path.display().to_string(),
            content: Content::File(path),
            was_found: false,
            symbol: None,
        }
    }

    /// A file found in a folder rather than named: it is skipped if it is not data.
    #[must_use]
    pub fn found(path: impl Into<PathBuf>) -> Self {
        Self { was_found: true, ..Self::file(path) }
    }

    /// The same with the symbol of rows that name none, for files whose folder names it.
    #[must_use]
    pub fn about(self, symbol: Symbol) -> Self {
        Self { symbol: Some(symbol), ..self }
    }

    /// The symbol of rows that name none, if it was set.
    #[must_use]
    pub fn symbol(&self) -> Option<&Symbol> {
        self.symbol.as_ref()
    }

    /// Whether it was found in a folder rather than named.
    #[must_use]
    pub fn was_found(&self) -> bool {
        self.was_found
    }

    /// Bytes in memory, such as a server's response. The name may be a file's or a URL: its last part serves
    /// as the file name.
    #[must_use]
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), content: Content::Bytes(bytes.into()), was_found: false, symbol: None }
    }

    /// The name that rejections use.
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

    /// The file's path, if it is an uncompressed file: a format with random access (Parquet) opens it itself.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn plain_path(&self) -> io::Result<Option<&Path>> {
        let Content::File(path) = &self.content else { return Ok(None) };
        let mut magic = [0; 2];
        let read = File::open(path)?.read(&mut magic)?;
        Ok((&magic[..read] != GZIP).then_some(path.as_path()))
    }

    /// Opens it at the start.
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

    /// The whole content.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn all(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.open()?.read_to_end(&mut all)?;
        Ok(all)
    }
}
