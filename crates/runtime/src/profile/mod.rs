//! Profiling: the timings of one run's nodes as a trace, made from the record, and cohorts of traces
//! compared with each other.
//!
//! Everything here is pure, rows and texts in, values out, but for [`documents`], which asks the record.
//! Who reads files and who draws is the command line's business. `docs/profile-traces.md` has each field
//! with its unit.

pub mod ab;
pub mod cohort;
pub mod from_record;
pub mod invariant;
pub mod read;
pub mod stats;
pub mod trace;

use papertape_core::id::ContentHash;
use papertape_core::ports::{Record, RecordError};
use serde_json::Value;
use std::collections::BTreeMap;

/// What steps asked and came to, by the hashes of these documents; those that are not in the record are
/// absent.
///
/// # Errors
/// The record's.
pub async fn documents(
    record: &dyn Record,
    hashes: Vec<ContentHash>,
) -> Result<BTreeMap<ContentHash, Value>, RecordError> {
    crate::load::documents(record, hashes).await
}
