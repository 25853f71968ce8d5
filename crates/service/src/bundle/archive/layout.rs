//! Where every byte of the archive is: local headers, stored bytes, the central directory, and the trailer.

use papertape_core::id::ContentHash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The name of the first part.
pub const MANIFEST: &str = "manifest.json";
/// The name of the bytes that belong to no part: headers and the central directory.
pub const DIRECTORY: &str = "the archive's directory";
/// The name of the last bytes, which contain the hashes of the rest.
pub const TRAILER: &str = "the archive's trailer";

/// The beginning of the trailer of every version; the number follows.
pub(super) const TRAILER_MAGIC: &str = "papertape.bundle.v";
/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// The maximum size of the manifest.
pub(super) const MAX_MANIFEST: u64 = 16 << 20;
/// The maximum number of parts, and the maximum size of a part's name.
const MAX_PARTS: usize = 10_000;
const MAX_NAME: usize = 255;
/// A zip archive without extensions holds less than 4 GiB.
const MAX_OFFSET: u64 = u32::MAX as u64;
/// Deflate never compresses better.
const MAX_RATIO: u64 = 1_032;

pub(super) const LOCAL_HEADER: usize = 30;
const END_OF_DIRECTORY: usize = 22;

/// A part of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// Its path in the archive.
    pub name: String,
    /// The type of its content.
    pub media_type: String,
    /// The size of its content.
    pub bytes: u64,
    /// The BLAKE3 hash of its content.
    pub blake3: ContentHash,
    /// How it is stored.
    pub compression: Compression,
    /// The number of bytes that are stored.
    pub stored_bytes: u64,
    /// The BLAKE3 hash of the stored bytes.
    pub stored_blake3: ContentHash,
    /// The CRC-32 of its content, for zip programs.
    pub crc32: u32,
}

/// How a part is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// As it is.
    None,
    /// Compressed with deflate.
    Deflate,
}

impl Compression {
    const fn method(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Deflate => 8,
        }
    }
}

/// A region of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// Bytes that follow from the manifest.
    Fixed(Vec<u8>),
    /// The stored bytes of the part at this position; the manifest is at none.
    Stored(Option<usize>, u64),
}

/// The manifest, as the archive's directory lists it.
pub(super) fn manifest_entry(manifest: &[u8]) -> PartEntry {
    let hash = ContentHash::of(manifest);
    let mut crc = flate2::Crc::new();
    crc.update(manifest);
    PartEntry {
        name: MANIFEST.to_owned(),
        media_type: "application/json".to_owned(),
        bytes: manifest.len() as u64,
        blake3: hash,
        compression: Compression::None,
        stored_bytes: manifest.len() as u64,
        stored_blake3: hash,
        crc32: crc.sum(),
    }
}

/// All regions of the file up to the trailer, in order.
///
/// # Errors
/// A list of parts that no archive can have.
pub(super) fn regions(manifest: &PartEntry, parts: &[PartEntry]) -> Result<Vec<Region>, String> {
    check_parts(parts)?;
    let mut regions = Vec::with_capacity(2 * parts.len() + 3);
    let mut directory = Vec::new();
    let mut at = 0_u64;
    let all =
        std::iter::once((None, manifest)).chain(parts.iter().enumerate().map(|(n, part)| (Some(n), part)));
    for (position, part) in all {
        let offset = to_u32(at)?;
        let local = local_header(part)?;
        at = at.saturating_add(local.len() as u64).saturating_add(part.stored_bytes);
        regions.push(Region::Fixed(local));
        regions.push(Region::Stored(position, part.stored_bytes));
        directory.extend(central_header(part, offset)?);
    }
    let (count, size) = (to_u16(parts.len() as u64 + 1)?, to_u32(directory.len() as u64)?);
    let start = to_u32(at)?;
    directory.extend(0x0605_4b50_u32.to_le_bytes());
    directory.extend([0; 4]);
    directory.extend(count.to_le_bytes());
    directory.extend(count.to_le_bytes());
    directory.extend(size.to_le_bytes());
    directory.extend(start.to_le_bytes());
    directory.extend(to_u16(trailer_len() as u64)?.to_le_bytes());
    to_u32(at.saturating_add(directory.len() as u64))?;
    debug_assert!(directory.len() >= END_OF_DIRECTORY, "it ends with the end of the directory");
    regions.push(Region::Fixed(directory));
    Ok(regions)
}

fn check_parts(parts: &[PartEntry]) -> Result<(), String> {
    if parts.len() >= MAX_PARTS {
        return Err(format!("it lists {} parts, at most {MAX_PARTS} are possible", parts.len()));
    }
    let mut names = BTreeSet::from([MANIFEST]);
    for part in parts {
        let name = part.name.as_str();
        if !is_plain(name) {
            return Err(format!("the name `{}` is not a plain relative path", name.escape_default()));
        }
        if !names.insert(name) {
            return Err(format!("the name `{name}` is listed twice"));
        }
        let is_possible = match part.compression {
            Compression::None => part.bytes == part.stored_bytes && part.blake3 == part.stored_blake3,
            Compression::Deflate => part.bytes <= part.stored_bytes.saturating_mul(MAX_RATIO),
        };
        if part.stored_bytes >= MAX_OFFSET || !is_possible {
            return Err(format!("the sizes of `{name}` are impossible"));
        }
    }
    Ok(())
}

/// Whether a name is safe to extract anywhere: segments of letters, digits, dots, hyphens and underscores.
pub(super) fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_segment =
        |segment: &str| !segment.is_empty() && !segment.starts_with('.') && segment.chars().all(is_plain);
    name.len() <= MAX_NAME && name.split('/').all(is_segment)
}

fn local_header(part: &PartEntry) -> Result<Vec<u8>, String> {
    let mut header = Vec::with_capacity(LOCAL_HEADER + part.name.len());
    header.extend(0x0403_4b50_u32.to_le_bytes());
    header.extend(common(part)?);
    header.extend(part.name.as_bytes());
    Ok(header)
}

fn central_header(part: &PartEntry, offset: u32) -> Result<Vec<u8>, String> {
    let mut header = Vec::new();
    header.extend(0x0201_4b50_u32.to_le_bytes());
    // Made on Unix, by version 2.0 of the format.
    header.extend([20, 3]);
    header.extend(common(part)?);
    // No comment, first disk, no internal attributes, a plain file that its owner may write.
    header.extend([0; 6]);
    header.extend((0o100_644_u32 << 16).to_le_bytes());
    header.extend(offset.to_le_bytes());
    header.extend(part.name.as_bytes());
    Ok(header)
}

/// What both headers of a part have in common: version, flags, method, time, CRC, sizes, lengths of name and extra
/// field.
fn common(part: &PartEntry) -> Result<Vec<u8>, String> {
    let mut fields = Vec::with_capacity(26);
    fields.extend(20_u16.to_le_bytes());
    fields.extend(0_u16.to_le_bytes());
    fields.extend(part.compression.method().to_le_bytes());
    // 1980-01-01 00:00: the oldest time that a zip archive can have.
    fields.extend(0_u16.to_le_bytes());
    fields.extend(0x0021_u16.to_le_bytes());
    fields.extend(part.crc32.to_le_bytes());
    fields.extend(to_u32(part.stored_bytes)?.to_le_bytes());
    fields.extend(to_u32(part.bytes)?.to_le_bytes());
    fields.extend(to_u16(part.name.len() as u64)?.to_le_bytes());
    fields.extend(0_u16.to_le_bytes());
    Ok(fields)
}

fn to_u32(value: u64) -> Result<u32, String> {
    u32::try_from(value)
        .ok()
        .filter(|value| *value < u32::MAX)
        .ok_or_else(|| "a bundle and its parts are smaller than 4 GiB".to_owned())
}

fn to_u16(value: u64) -> Result<u16, String> {
    u16::try_from(value).map_err(|_| "too many parts".to_owned())
}

/// The hashes at the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    /// Of the manifest's bytes.
    pub(super) manifest: ContentHash,
    /// Of all bytes before the trailer.
    pub(super) file: ContentHash,
}

/// A trailer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BadTrailer {
    /// There is none.
    Missing,
    /// It was modified.
    Damaged,
    /// It is intact and has another version.
    OtherVersion(String),
}

impl Trailer {
    /// The text before the last hash.
    fn head(&self) -> String {
        format!("{TRAILER_MAGIC}{VERSION} manifest={} file={} trailer=", self.manifest, self.file)
    }

    /// The hash of the bundle. It covers every byte of the file, its own excepted.
    pub(super) fn hash(&self) -> ContentHash {
        ContentHash::of(self.head().as_bytes())
    }

    pub(super) fn to_text(self) -> String {
        format!("{}{}", self.head(), self.hash())
    }

    /// Reads the trailer from the last bytes of a file.
    pub(super) fn read(tail: &[u8]) -> Result<Self, BadTrailer> {
        let own = tail.len().checked_sub(trailer_len()).and_then(|at| tail.get(at..));
        if let Some(text) = own.and_then(|own| std::str::from_utf8(own).ok())
            && let Some(read) = Self::parse(text)
            && read.to_text() == text
        {
            return Ok(read);
        }
        Err(bad(tail))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ').skip(1);
        let mut field = |name: &str| ContentHash::from_hex(fields.next()?.strip_prefix(name)?);
        Some(Self { manifest: field("manifest=")?, file: field("file=")? })
    }
}

/// Every version's trailer begins with the magic text and its version, and ends with the hash of its own text.
fn bad(tail: &[u8]) -> BadTrailer {
    let magic = TRAILER_MAGIC.as_bytes();
    let Some(at) = tail.windows(magic.len()).rposition(|window| window == magic) else {
        return BadTrailer::Missing;
    };
    let Ok(text) = std::str::from_utf8(&tail[at..]) else { return BadTrailer::Damaged };
    let is_intact = text.rfind("trailer=").is_some_and(|field| {
        let (head, hash) = text.split_at(field + "trailer=".len());
        ContentHash::of(head.as_bytes()).to_hex() == hash
    });
    let version: String = text[magic.len()..].chars().take_while(char::is_ascii_digit).take(10).collect();
    match is_intact && version != VERSION.to_string() {
        true => BadTrailer::OtherVersion(version),
        false => BadTrailer::Damaged,
    }
}

/// The size of the trailer of this version.
pub(super) fn trailer_len() -> usize {
    let empty = ContentHash::from_bytes([0; 32]);
    Trailer { manifest: empty, file: empty }.to_text().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a name that leaves the directory that it is extracted into, or that a file system reads otherwise, is not a
    /// plain name.
    #[test]
    fn names_are_plain() {
        for name in ["a.json", "jobs/01a2-b_c/ledger.jsonl"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "/etc/passwd", "../a", "a/../b", "a//b", "a/", "a\\b", "C:a", "a\0", ".ssh/a", "ä"]
        {
            assert!(!is_plain(name), "{name}");
        }
        assert!(!is_plain(&"a".repeat(256)));
    }

    /// Goal: a trailer is read only if every character is as it was written, so that upper-case digits are damage too.
    #[test]
    fn a_changed_trailer_is_damaged() {
        let trailer = Trailer { manifest: ContentHash::of(b"m"), file: ContentHash::of(b"f") };
        let text = trailer.to_text();
        assert_eq!(Trailer::read(format!("PK{text}").as_bytes()), Ok(trailer));
        for at in 0..text.len() {
            for bit in 0..7 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let found = Trailer::read(&bytes);
                assert!(
                    matches!(found, Err(BadTrailer::Damaged | BadTrailer::Missing)),
                    "{at} {bit}: {found:?}"
                );
            }
        }
        assert_eq!(Trailer::read(&text.as_bytes()[..50]), Err(BadTrailer::Damaged));
        assert_eq!(Trailer::read(b"nothing"), Err(BadTrailer::Missing));
        let newer = "papertape.bundle.v2 something=else trailer=";
        let newer = format!("{newer}{}", ContentHash::of(newer.as_bytes()));
        assert_eq!(Trailer::read(newer.as_bytes()), Err(BadTrailer::OtherVersion("2".to_owned())));
    }
}
