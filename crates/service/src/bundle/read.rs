//! Reads a bundle, without a database and without a network. What is read is not verified: see [`super::verify`].

use super::archive::{ArchiveError, ArchiveReader, Damage, MANIFEST, OpenArchive, PartEntry};
use super::document::{FORMAT, Manifest};
use papertape_core::id::ContentHash;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{self, BufRead as _, BufReader, Read, Seek};

/// The maximum size of a document, and of a line of one that is read line by line.
const MAX_DOCUMENT: u64 = 64 << 20;
/// Numbers in a bundle are smaller than this, so that no sum or product of them overflows.
const MAX_NUMBER: f64 = 1e15;

/// An open bundle.
#[derive(Debug)]
pub struct Bundle<R> {
    archive: ArchiveReader<R>,
    manifest: Manifest,
}

impl<R: Read + Seek> Bundle<R> {
    /// Opens a bundle, and reads its manifest.
    ///
    /// # Errors
    /// A file that is not a bundle, has another version, or whose trailer or manifest is damaged.
    pub fn open(source: R) -> Result<Self, ArchiveError> {
        let archive = OpenArchive::open(source)?;
        let damaged = |why: String| ArchiveError::Damaged(Damage { part: MANIFEST.to_owned(), why });
        let manifest: Value =
            serde_json::from_slice(&archive.manifest).map_err(|error| damaged(error.to_string()))?;
        let format = manifest["format"].as_str().unwrap_or_default();
        if format != FORMAT {
            return Err(ArchiveError::OtherVersion(format!("`{}`", format.escape_default())));
        }
        let manifest: Manifest =
            serde_json::from_value(manifest).map_err(|error| damaged(error.to_string()))?;
        let archive = archive.with_parts(manifest.parts.clone())?;
        Ok(Self { archive, manifest })
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The hash of the bundle, which covers every byte of the file.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.archive.hash()
    }

    /// The size of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.archive.bytes()
    }

    /// Its parts, without the manifest.
    #[must_use]
    pub fn parts(&self) -> &[PartEntry] {
        self.archive.parts()
    }

    /// Whether it has a part.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.parts().iter().any(|part| part.name == name)
    }

    /// Compares every byte of the file with the hashes: all damaged parts.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn check_bytes(&mut self) -> io::Result<Vec<Damage>> {
        self.archive.check_bytes()
    }

    /// A part that is one JSON document.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn document<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        let bytes = self.whole(name)?;
        serde_json::from_slice(&bytes).map_err(|error| format!("it cannot be read: {error}"))
    }

    /// Reads a part line by line.
    ///
    /// # Errors
    /// What is wrong with it, or the error of `each`.
    pub fn lines<T: DeserializeOwned>(
        &mut self,
        name: &str,
        mut each: impl FnMut(T) -> Result<(), String>,
    ) -> Result<(), String> {
        self.values(name, |value| {
            serde_json::from_value(value).map_err(|error| error.to_string()).and_then(&mut each)
        })
    }

    /// As [`Self::lines`], for rows of the books: a number that could overflow them is an error.
    ///
    /// # Errors
    /// As for [`Self::lines`].
    pub fn rows<T: DeserializeOwned>(
        &mut self,
        name: &str,
        mut each: impl FnMut(T) -> Result<(), String>,
    ) -> Result<(), String> {
        self.values(name, |value| {
            if !is_bounded(&value) {
                return Err("a number is too large".to_owned());
            }
            serde_json::from_value(value).map_err(|error| error.to_string()).and_then(&mut each)
        })
    }

    fn values(
        &mut self,
        name: &str,
        mut each: impl FnMut(Value) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut content = BufReader::new(self.archive.read(name).map_err(|error| error.to_string())?);
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let at = |why: &dyn std::fmt::Display| format!("line {number}: {why}");
            (&mut content)
                .take(MAX_DOCUMENT)
                .read_until(b'\n', &mut line)
                .map_err(|error| error.to_string())?;
            if line.is_empty() {
                break;
            }
            if line.last() != Some(&b'\n') {
                return Err(at(&"it is incomplete or too long"));
            }
            let value: Value = serde_json::from_slice(&line).map_err(|error| at(&error))?;
            each(value).map_err(|why| at(&why))?;
        }
        Ok(())
    }

    fn whole(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let size = self.parts().iter().find(|part| part.name == name).map(|part| part.bytes);
        match size {
            None => return Err("it is missing".to_owned()),
            Some(size) if size > MAX_DOCUMENT => {
                return Err(format!("it is larger than {MAX_DOCUMENT} bytes"));
            }
            Some(_) => {}
        }
        let mut bytes = Vec::new();
        let mut content = self.archive.read(name).map_err(|error| error.to_string())?;
        content.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }
}

/// Whether all numbers in a document, also those written as texts, are small enough for the books.
fn is_bounded(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < MAX_NUMBER),
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') => {
            text.parse::<f64>().map_or(true, |number| number.abs() < MAX_NUMBER)
        }
        Value::Array(items) => items.iter().all(is_bounded),
        Value::Object(map) => map.values().all(is_bounded),
        _ => true,
    }
}
