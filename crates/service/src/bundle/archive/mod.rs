//! The file of a bundle: a zip archive of which every byte follows from the manifest and the stored bytes of the parts.
//!
//! Any zip program can open it. The reader here does not search for anything: it computes where every byte belongs and
//! compares, so that a changed byte is found wherever it is, and its part is named. `docs/bundle.md` specifies the
//! format.

mod layout;
mod read;
mod write;

pub use layout::{Compression, DIRECTORY, MANIFEST, PartEntry, TRAILER};
pub use read::{ArchiveError, ArchiveReader, Damage, OpenArchive, PartReader};
pub use write::{Archive, ArchiveWriter, PartWriter};
