//! Writes documents and lines into the parts of a bundle.

use super::archive::ArchiveWriter;
use crate::error::ServiceError;
use serde::Serialize;

pub(super) const JSON: &str = "application/json";
pub(super) const LINES: &str = "application/jsonl";

pub(super) fn document(
    archive: &mut ArchiveWriter,
    name: impl Into<String>,
    document: &impl Serialize,
) -> Result<(), ServiceError> {
    archive.part(name, JSON, |out| {
        serde_json::to_writer_pretty(&mut *out, document)?;
        Ok(writeln!(out)?)
    })?;
    Ok(())
}

pub(super) fn line(out: &mut impl std::io::Write, line: &impl Serialize) -> Result<(), ServiceError> {
    let mut write = || -> anyhow::Result<()> {
        serde_json::to_writer(&mut *out, line)?;
        Ok(writeln!(out)?)
    };
    Ok(write()?)
}
