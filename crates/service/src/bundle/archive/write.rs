//! Writes the archive. The stored bytes of the parts wait in a file, because the manifest, which precedes them, contains
//! their hashes.

use super::layout::{Compression, PartEntry, Region, Trailer, manifest_entry, regions, trailer_len};
use anyhow::{Context as _, Result, anyhow};
use flate2::write::DeflateEncoder;
use papertape_core::id::ContentHash;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write};
use std::path::Path;

/// Collects the parts.
#[derive(Debug)]
pub struct ArchiveWriter {
    spool: BufWriter<File>,
    parts: Vec<PartEntry>,
}

/// A complete archive, ready to be written.
#[derive(Debug)]
pub struct Archive {
    manifest: Vec<u8>,
    regions: Vec<Region>,
    spool: File,
}

impl ArchiveWriter {
    /// An archive without parts. A file without a name in `dir` holds the stored bytes.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn new(dir: &Path) -> Result<Self> {
        let spool =
            tempfile::tempfile_in(dir).with_context(|| format!("cannot write to {}", dir.display()))?;
        Ok(Self { spool: BufWriter::new(spool), parts: Vec::new() })
    }

    /// Adds a part. `write` writes its content.
    ///
    /// # Errors
    /// That of `write`, or of the file.
    pub fn part<T>(
        &mut self,
        name: impl Into<String>,
        media_type: &str,
        write: impl FnOnce(&mut dyn Write) -> Result<T>,
    ) -> Result<T> {
        let mut part = self.open(name, media_type);
        let value = write(&mut part)?;
        part.finish()?;
        Ok(value)
    }

    /// Begins a part, which must be finished before the next one begins.
    pub fn open(&mut self, name: impl Into<String>, media_type: &str) -> PartWriter<'_> {
        let stored = Counted::new(&mut self.spool);
        PartWriter {
            name: name.into(),
            media_type: media_type.to_owned(),
            content: Counted::new(DeflateEncoder::new(stored, flate2::Compression::default())),
            crc: flate2::Crc::new(),
            parts: &mut self.parts,
        }
    }

    /// Completes the archive. `manifest` makes the manifest from the list of parts.
    ///
    /// # Errors
    /// A list of parts that no archive can have; the file.
    pub fn finish(self, manifest: impl FnOnce(&[PartEntry]) -> Result<Vec<u8>>) -> Result<Archive> {
        let spool = self.spool.into_inner().map_err(|error| anyhow!("cannot write a bundle: {error}"))?;
        let manifest = manifest(&self.parts)?;
        let regions = regions(&manifest_entry(&manifest), &self.parts)
            .map_err(|why| anyhow!("this bundle cannot be written: {why}"))?;
        Ok(Archive { manifest, regions, spool })
    }
}

/// Writes the content of a part.
#[derive(Debug)]
pub struct PartWriter<'a> {
    name: String,
    media_type: String,
    content: Counted<DeflateEncoder<Counted<&'a mut BufWriter<File>>>>,
    crc: flate2::Crc,
    parts: &'a mut Vec<PartEntry>,
}

impl Write for PartWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.content.write(bytes)?;
        self.crc.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.content.flush()
    }
}

impl PartWriter<'_> {
    /// Completes the part.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<()> {
        let (encoder, content) = self.content.finish();
        let (_, stored) = encoder.finish()?.finish();
        self.parts.push(PartEntry {
            name: self.name,
            media_type: self.media_type,
            bytes: content.0,
            blake3: content.1,
            compression: Compression::Deflate,
            stored_bytes: stored.0,
            stored_blake3: stored.1,
            crc32: self.crc.sum(),
        });
        Ok(())
    }
}

impl Archive {
    /// The number of bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let of = |region: &Region| match region {
            Region::Fixed(bytes) => bytes.len() as u64,
            Region::Stored(_, bytes) => *bytes,
        };
        self.regions.iter().map(of).sum::<u64>() + trailer_len() as u64
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &[u8] {
        &self.manifest
    }

    /// Writes the file, and returns the hash of the bundle.
    ///
    /// # Errors
    /// A file or a writer that fails.
    pub fn write_to(&mut self, out: &mut dyn Write) -> Result<ContentHash> {
        self.spool.rewind()?;
        let mut stored = BufReader::new(&self.spool);
        let mut out = Counted::new(out);
        for region in &self.regions {
            match region {
                Region::Fixed(bytes) => out.write_all(bytes)?,
                Region::Stored(None, _) => out.write_all(&self.manifest)?,
                Region::Stored(Some(_), bytes) => {
                    let copied = io::copy(&mut (&mut stored).take(*bytes), &mut out)?;
                    if copied != *bytes {
                        return Err(anyhow!("a temporary file ended early"));
                    }
                }
            }
        }
        let (out, (_, file)) = out.finish();
        let trailer = Trailer { manifest: ContentHash::of(&self.manifest), file };
        out.write_all(trailer.to_text().as_bytes())?;
        out.flush()?;
        Ok(trailer.hash())
    }
}

/// Counts and hashes what passes through.
#[derive(Debug)]
struct Counted<W> {
    inner: W,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl<W> Counted<W> {
    fn new(inner: W) -> Self {
        Self { inner, bytes: 0, hasher: blake3::Hasher::new() }
    }

    fn finish(self) -> (W, (u64, ContentHash)) {
        (self.inner, (self.bytes, ContentHash::from_bytes(*self.hasher.finalize().as_bytes())))
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
