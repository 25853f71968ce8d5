//! Reads an archive, and compares every byte with what the manifest says.

use super::layout::{
    BadTrailer, Compression, DIRECTORY, LOCAL_HEADER, MANIFEST, MAX_MANIFEST, PartEntry, Region, TRAILER,
    Trailer, VERSION, manifest_entry, regions, trailer_len,
};
use flate2::read::DeflateDecoder;
use papertape_core::id::ContentHash;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};

/// The bytes at the end of a file in which a trailer is searched for.
const TAIL: u64 = 4_096;
const BUFFER: usize = 64 << 10;

/// Why a file cannot be read as a bundle.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is another kind of file, or only a part of a bundle.
    #[error("not a bundle, or not all of it: {0}")]
    NotABundle(String),
    /// It was written by a newer or an older program.
    #[error(
        "the bundle has format version {0}, and this program reads version {VERSION}; use the version that wrote it"
    )]
    OtherVersion(String),
    /// A region without which nothing else can be found is damaged.
    #[error("{}: {}", .0.part, .0.why)]
    Damaged(Damage),
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Io(#[from] io::Error),
}

/// A damaged region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The part, or [`DIRECTORY`], or [`TRAILER`].
    pub part: String,
    /// What is wrong.
    pub why: String,
}

impl Damage {
    fn new(part: &str, why: impl Into<String>) -> Self {
        Self { part: part.to_owned(), why: why.into() }
    }
}

/// An open archive whose manifest is intact.
#[derive(Debug)]
pub struct ArchiveReader<R> {
    source: R,
    len: u64,
    trailer: Trailer,
    parts: Vec<PartEntry>,
    regions: Vec<Region>,
    /// Where the stored bytes of each part begin.
    offsets: Vec<u64>,
}

/// The manifest of an archive that is being opened.
#[derive(Debug)]
pub struct OpenArchive<R> {
    source: R,
    len: u64,
    trailer: Trailer,
    /// The bytes of the manifest.
    pub manifest: Vec<u8>,
}

impl<R: Read + Seek> OpenArchive<R> {
    /// Reads the trailer and the manifest.
    ///
    /// # Errors
    /// A file that is not a bundle, or whose trailer or manifest is damaged.
    pub fn open(mut source: R) -> Result<Self, ArchiveError> {
        let len = source.seek(SeekFrom::End(0))?;
        let first = read_at(&mut source, 0, len.min((LOCAL_HEADER + MANIFEST.len()) as u64))?;
        let begins = first.get(LOCAL_HEADER..) == Some(MANIFEST.as_bytes());
        let tail = read_at(&mut source, len.saturating_sub(TAIL), len.min(TAIL))?;
        let trailer = match Trailer::read(&tail) {
            Ok(trailer) => trailer,
            Err(BadTrailer::OtherVersion(version)) => return Err(ArchiveError::OtherVersion(version)),
            Err(BadTrailer::Damaged) => {
                return Err(ArchiveError::Damaged(Damage::new(
                    TRAILER,
                    "its bytes were modified, or more follow",
                )));
            }
            Err(BadTrailer::Missing) if begins => {
                return Err(ArchiveError::Damaged(Damage::new(
                    TRAILER,
                    "it is missing; the file may be truncated",
                )));
            }
            Err(BadTrailer::Missing) => {
                let why = match (len, first.starts_with(b"PK")) {
                    (0, _) => "the file is empty",
                    (_, true) => "it is another zip archive",
                    (_, false) => "it is another kind of file",
                };
                return Err(ArchiveError::NotABundle(why.to_owned()));
            }
        };
        let damaged = |part: &str, why: &str| ArchiveError::Damaged(Damage::new(part, why));
        let size = first.get(18..22).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        let start = (LOCAL_HEADER + MANIFEST.len()) as u64;
        let size = size.map(u64::from).filter(|size| *size <= MAX_MANIFEST && start + size <= len);
        let Some(size) = size else {
            return Err(damaged(DIRECTORY, "the first header does not lead to a manifest"));
        };
        let manifest = read_at(&mut source, start, size)?;
        if ContentHash::of(&manifest) != trailer.manifest {
            // The header has the size twice. If they are equal, it led to the manifest.
            return Err(match first.get(18..22) == first.get(22..26) {
                true => damaged(MANIFEST, "its bytes were modified"),
                false => damaged(DIRECTORY, "the header of the manifest was modified"),
            });
        }
        Ok(Self { source, len, trailer, manifest })
    }

    /// Completes opening, with the parts that the manifest lists.
    ///
    /// # Errors
    /// A list that no archive can have.
    pub fn with_parts(self, parts: Vec<PartEntry>) -> Result<ArchiveReader<R>, ArchiveError> {
        let regions = regions(&manifest_entry(&self.manifest), &parts)
            .map_err(|why| ArchiveError::Damaged(Damage { part: MANIFEST.to_owned(), why }))?;
        let mut offsets = Vec::with_capacity(parts.len());
        let mut at = 0_u64;
        for region in &regions {
            match region {
                Region::Fixed(bytes) => at += bytes.len() as u64,
                Region::Stored(position, bytes) => {
                    offsets.extend(position.map(|_| at));
                    at += bytes;
                }
            }
        }
        let Self { source, len, trailer, .. } = self;
        Ok(ArchiveReader { source, len, trailer, parts, regions, offsets })
    }
}

impl<R: Read + Seek> ArchiveReader<R> {
    /// The hash of the bundle.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.trailer.hash()
    }

    /// The size of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.len
    }

    /// The parts, without the manifest.
    #[must_use]
    pub fn parts(&self) -> &[PartEntry] {
        &self.parts
    }

    /// Compares every byte of the file with what the manifest and the trailer say: all damaged regions, in order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn check_bytes(&mut self) -> io::Result<Vec<Damage>> {
        self.source.rewind()?;
        let mut damages: Vec<Damage> = Vec::new();
        let mut add = |part: &str, why: &str| {
            if damages.iter().all(|known| known.part != part) {
                damages.push(Damage::new(part, why));
            }
        };
        let mut source = BufReader::with_capacity(BUFFER, &mut self.source);
        let mut file = blake3::Hasher::new();
        for region in &self.regions {
            match region {
                Region::Fixed(expected) => {
                    let mut found = Vec::new();
                    (&mut source).take(expected.len() as u64).read_to_end(&mut found)?;
                    file.update(&found);
                    if found != *expected {
                        add(DIRECTORY, "a header differs from what the manifest says");
                    }
                }
                Region::Stored(position, bytes) => {
                    let mut hasher = blake3::Hasher::new();
                    let read = hash_into(&mut (&mut source).take(*bytes), &mut [&mut hasher, &mut file])?;
                    let part = position.and_then(|at| self.parts.get(at));
                    let expected = part.map_or(self.trailer.manifest, |part| part.stored_blake3);
                    if read != *bytes || hasher.finalize().as_bytes() != expected.as_bytes() {
                        let name = part.map_or(MANIFEST, |part| part.name.as_str());
                        add(
                            name,
                            if read == *bytes { "its bytes were modified" } else { "the file ends early" },
                        );
                    }
                }
            }
        }
        let mut rest = Vec::new();
        (&mut source).take(trailer_len() as u64 + 1).read_to_end(&mut rest)?;
        if rest != self.trailer.to_text().as_bytes() {
            add(DIRECTORY, "the file is longer or shorter than the manifest says");
        }
        if file.finalize().as_bytes() != self.trailer.file.as_bytes() && damages.is_empty() {
            damages.push(Damage::new(TRAILER, "the hash of the file is not that of its bytes"));
        }
        Ok(damages)
    }

    /// Reads the content of a part. The reader fails at its end if size or hash are not those of the manifest, and before
    /// it delivers more than the manifest says.
    ///
    /// # Errors
    /// There is no such part, or the file cannot be read.
    pub fn read(&mut self, name: &str) -> io::Result<PartReader<'_>> {
        let at = self.parts.iter().position(|part| part.name == name);
        let found = at.and_then(|at| Some((self.parts.get(at)?, *self.offsets.get(at)?)));
        let (part, offset) = found
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no part {name}")))?;
        self.source.seek(SeekFrom::Start(offset))?;
        let stored = (&mut self.source as &mut dyn Read).take(part.stored_bytes);
        let stored = BufReader::with_capacity(BUFFER, stored);
        let content = match part.compression {
            Compression::None => Content::Plain(stored),
            Compression::Deflate => Content::Deflated(DeflateDecoder::new(stored)),
        };
        Ok(PartReader { content, left: part.bytes, hasher: blake3::Hasher::new(), expected: part.blake3 })
    }
}

enum Content<'a> {
    Plain(BufReader<Take<&'a mut dyn Read>>),
    Deflated(DeflateDecoder<BufReader<Take<&'a mut dyn Read>>>),
}

/// The content of a part.
pub struct PartReader<'a> {
    content: Content<'a>,
    left: u64,
    hasher: blake3::Hasher,
    expected: ContentHash,
}

impl Read for PartReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = match &mut self.content {
            Content::Plain(content) => content.read(buffer)?,
            Content::Deflated(content) => content.read(buffer)?,
        };
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| wrong("its content is larger than the manifest says"))?;
        self.hasher.update(&buffer[..read]);
        if read == 0 {
            if self.left > 0 {
                return Err(wrong("its content is smaller than the manifest says"));
            }
            if self.hasher.finalize().as_bytes() != self.expected.as_bytes() {
                return Err(wrong("the hash of its content is not that of the manifest"));
            }
        }
        Ok(read)
    }
}

fn read_at(source: &mut (impl Read + Seek), at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    source.seek(SeekFrom::Start(at))?;
    let mut found = Vec::new();
    source.take(bytes).read_to_end(&mut found)?;
    Ok(found)
}

fn hash_into(source: &mut impl Read, hashers: &mut [&mut blake3::Hasher; 2]) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut all = 0;
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            return Ok(all);
        }
        for hasher in hashers.iter_mut() {
            hasher.update(&buffer[..read]);
        }
        all += read as u64;
    }
}
