//! Datasets in a directory shared by several processes.
//!
//! ```text
//! datasets/
//!   .lock                    held by the writer
//!   content/HASH/data        the packed dataset, never changed
//!   content/HASH/about.json  what `list` shows, and the checksum of `data`
//!   content/HASH/mask.json   of a masked dataset: the translation to its source
//!   names/NAME.json          the content that a name refers to, and its market
//! ```
//!
//! Content is written into a directory whose name starts with a dot, made durable and renamed; a name is a
//! file that is replaced atomically. So whenever a writer dies, everything that can be found is complete, and
//! the next writer removes the rest.

use crate::entry::{Entry, MaskedEntry};
use crate::error::MarketError;
use papertape_core::id::ContentHash;
use papertape_core::market::{Dataset, Masking, UnpackError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const DATA: &str = "data";
const ABOUT: &str = "about.json";
const MASK: &str = "mask.json";

/// The dataset directory.
#[derive(Clone, Debug)]
pub(crate) struct DatasetDir {
    dir: PathBuf,
}

/// What a name refers to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) hash: ContentHash,
    /// The market profile of runs that name none.
    pub(crate) market: Option<String>,
}

/// The metadata stored with packed data.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredDatasetInfo {
    #[serde(flatten)]
    pub(crate) entry: Entry,
    /// The BLAKE3 hash of the file `data`.
    checksum: ContentHash,
}

impl DatasetDir {
    pub(crate) fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    fn content(&self, hash: ContentHash) -> PathBuf {
        self.dir.join("content").join(hash.to_hex())
    }

    fn name_file(&self, name: &str) -> PathBuf {
        self.dir.join("names").join(format!("{name}.json"))
    }

    /// All names, sorted. A missing directory has none.
    pub(crate) fn names(&self) -> Result<Vec<Name>, MarketError> {
        let mut names = Vec::new();
        for path in listed(&self.dir.join("names"))? {
            let is_name = path.extension().is_some_and(|extension| extension == "json");
            if is_name && !is_hidden(&path) {
                names.extend(read_json::<Name>(&path)?);
            }
        }
        names.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(names)
    }

    /// The name, if it is taken.
    pub(crate) fn name(&self, name: &str) -> Result<Option<Name>, MarketError> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        read_json(&self.name_file(name))
    }

    /// The hashes of all contents, named or not.
    pub(crate) fn hashes(&self) -> Result<Vec<ContentHash>, MarketError> {
        let hash = |path: PathBuf| ContentHash::from_hex(path.file_name()?.to_str()?);
        let mut hashes: Vec<_> = listed(&self.dir.join("content"))?.into_iter().filter_map(hash).collect();
        hashes.sort_unstable();
        Ok(hashes)
    }

    /// The metadata of a content, read without opening it.
    pub(crate) fn info(&self, hash: ContentHash) -> Result<Option<StoredDatasetInfo>, MarketError> {
        read_json(&self.content(hash).join(ABOUT))
    }

    /// The translation of a masked content to its source.
    pub(crate) fn masking(&self, hash: ContentHash) -> Result<Option<Masking>, MarketError> {
        read_json(&self.content(hash).join(MASK))
    }

    /// Opens a content under this name. The whole file is compared with its checksum.
    pub(crate) fn open(&self, name: &str, hash: ContentHash) -> Result<Dataset, MarketError> {
        let path = self.content(hash).join(DATA);
        let damaged = |reason: String| MarketError::Damaged { file: path.display().to_string(), reason };
        let info = self.info(hash)?.ok_or_else(|| damaged(format!("{ABOUT} next to it is missing")))?;
        let file = File::open(&path).map_err(|error| failed(&path, error))?;
        let mut reader =
            BufReader::with_capacity(1 << 20, Hashing { inner: file, hasher: blake3::Hasher::new() });
        let dataset = Dataset::unpack(name, &mut reader).map_err(|error| match error {
            UnpackError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => failed(&path, error),
            other => damaged(other.to_string()),
        })?;
        let rest = io::copy(&mut reader, &mut io::sink()).map_err(|error| failed(&path, error))?;
        let checksum = ContentHash::from_bytes(*reader.into_inner().hasher.finalize().as_bytes());
        if rest > 0 || checksum != info.checksum || dataset.hash() != hash {
            return Err(damaged("it was modified".to_owned()));
        }
        Ok(dataset)
    }

    /// Writes a dataset under its name, with the translation to its source if it is masked. Returns whether anything
    /// was written.
    pub(crate) fn put(
        &self,
        (dataset, masking): (&Dataset, Option<&Masking>),
        market: Option<&str>,
        replace: bool,
    ) -> Result<bool, MarketError> {
        let name = dataset.name();
        check_name(name)?;
        let _lock = self.lock()?;
        let taken = self.name(name)?;
        if let Some(taken) = taken.as_ref().filter(|taken| taken.hash != dataset.hash())
            && !replace
        {
            return Err(MarketError::NameTaken { name: taken.name.clone() });
        }
        let is_new = !self.content(dataset.hash()).join(ABOUT).is_file();
        if is_new {
            self.put_content(dataset, masking)?;
        }
        let market = market.map(str::to_owned);
        let same = taken.as_ref().is_some_and(|taken| {
            taken.hash == dataset.hash() && (market.is_none() || taken.market == market)
        });
        if same {
            return Ok(is_new);
        }
        let name = Name { name: name.to_owned(), hash: dataset.hash(), market };
        self.put_name(&name)?;
        Ok(true)
    }

    fn put_content(&self, dataset: &Dataset, masking: Option<&Masking>) -> Result<(), MarketError> {
        let content = self.dir.join("content");
        let hash = dataset.hash().to_hex();
        let temporary = content.join(format!(".{hash}"));
        make(&temporary)?;
        let path = temporary.join(DATA);
        let written = File::create(&path).and_then(|file| {
            let hashing = Hashing { inner: file, hasher: blake3::Hasher::new() };
            let mut writer = BufWriter::with_capacity(1 << 20, hashing);
            dataset.pack(&mut writer)?;
            let hashing = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            hashing.inner.sync_all()?;
            Ok((hashing.hasher.finalize(), hashing.inner.metadata()?.len()))
        });
        let (checksum, bytes) = written.map_err(|error| failed(&path, error))?;
        if let Some(masking) = masking {
            write_json(&temporary.join(MASK), masking)?;
        }
        let masked = masking.map(MaskedEntry::from);
        let entry = Entry { bytes, masked, ..Entry::of(dataset) };
        let info = StoredDatasetInfo { entry, checksum: ContentHash::from_bytes(*checksum.as_bytes()) };
        write_json(&temporary.join(ABOUT), &info)?;
        sync_dir(&temporary)?;
        let there = content.join(hash);
        fs::rename(&temporary, &there).map_err(|error| failed(&there, error))?;
        sync_dir(&content)
    }

    fn put_name(&self, name: &Name) -> Result<(), MarketError> {
        let names = self.dir.join("names");
        let temporary = names.join(format!(".{}.json", name.name));
        write_json(&temporary, name)?;
        let there = self.name_file(&name.name);
        fs::rename(&temporary, &there).map_err(|error| failed(&there, error))?;
        sync_dir(&names)
    }

    /// Removes a name, and its content unless another name refers to it.
    pub(crate) fn remove_name(&self, name: &str) -> Result<(), MarketError> {
        let _lock = self.lock()?;
        let Some(taken) = self.name(name)? else { return Ok(()) };
        let path = self.name_file(name);
        fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        sync_dir(&self.dir.join("names"))?;
        if self.names()?.iter().any(|other| other.hash == taken.hash) {
            return Ok(());
        }
        self.drop_content(taken.hash)
    }

    /// Removes content that no name refers to.
    pub(crate) fn remove_content(&self, hash: ContentHash) -> Result<(), MarketError> {
        let _lock = self.lock()?;
        if self.names()?.iter().any(|name| name.hash == hash) {
            return Ok(());
        }
        self.drop_content(hash)
    }

    /// Renames it first, so that readers find it complete or not at all.
    fn drop_content(&self, hash: ContentHash) -> Result<(), MarketError> {
        let there = self.content(hash);
        let trash = self.dir.join("content").join(format!(".{}", hash.to_hex()));
        fs::rename(&there, &trash).map_err(|error| failed(&there, error))?;
        fs::remove_dir_all(&trash).map_err(|error| failed(&trash, error))?;
        sync_dir(&self.dir.join("content"))
    }

    /// Waits until no other process writes, and removes what a dead writer left behind.
    fn lock(&self) -> Result<File, MarketError> {
        make(&self.dir.join("content"))?;
        make(&self.dir.join("names"))?;
        let path = self.dir.join(".lock");
        let file = File::create(&path).map_err(|error| failed(&path, error))?;
        file.lock().map_err(|error| failed(&path, error))?;
        for dir in ["content", "names"] {
            for left in listed(&self.dir.join(dir))?.into_iter().filter(|path| is_hidden(path)) {
                let removed = if left.is_dir() { fs::remove_dir_all(&left) } else { fs::remove_file(&left) };
                removed.map_err(|error| failed(&left, error))?;
            }
        }
        Ok(file)
    }
}

/// A name must be usable as a file name: letters, digits, `.`, `_` and `-`, starting with a letter or digit,
/// at most 64 characters.
///
/// # Errors
/// [`MarketError::Name`].
pub fn check_name(name: &str) -> Result<(), MarketError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let fits =
        name.len() <= 64 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain);
    if fits { Ok(()) } else { Err(MarketError::Name { name: name.to_owned() }) }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn listed(dir: &Path) -> Result<Vec<PathBuf>, MarketError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(dir, error)),
    };
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| failed(dir, error))).collect()
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, MarketError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| MarketError::Damaged {
            file: path.display().to_string(),
            reason: error.to_string(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), MarketError> {
    let written = serde_json::to_vec_pretty(value).map_err(io::Error::other).and_then(|bytes| {
        let mut file = File::create(path)?;
        file.write_all(&bytes)?;
        file.sync_all()
    });
    written.map_err(|error| failed(path, error))
}

fn make(dir: &Path) -> Result<(), MarketError> {
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))
}

/// Makes renames in a directory durable.
fn sync_dir(dir: &Path) -> Result<(), MarketError> {
    if cfg!(unix) {
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(|error| failed(dir, error))
    } else {
        Ok(())
    }
}

fn failed(path: &Path, error: io::Error) -> MarketError {
    MarketError::Io { file: path.display().to_string(), error }
}

/// Hashes what is read or written through it.
struct Hashing<T> {
    inner: T,
    hasher: blake3::Hasher,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
