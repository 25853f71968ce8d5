//! Profiling: traces of one run's node timings, built from the record, and comparisons of cohorts of traces.
//!
//! Everything here is pure, from rows and texts to values, except [`documents`], which reads the record. Reading
//! files and drawing is up to the command line. `docs/profile-traces.md` describes each field with its unit.

pub mod ab;
pub mod cohort;
pub mod from_record;
pub mod invariant;
mod noise;
pub mod read;
pub mod stats;
pub mod trace;

use papertape_core::id::ContentHash;
use papertape_core::ports::{RecordError, RecordStore};
use serde_json::Value;
use std::collections::BTreeMap;

/// Requests and outcomes of steps, by the hashes of these documents; those not in the record are left out.
///
/// # Errors
/// Returns an error if the record fails.
pub async fn documents(
    record: &dyn RecordStore,
    hashes: Vec<ContentHash>,
) -> Result<BTreeMap<ContentHash, Value>, RecordError> {
    crate::tape_reader::documents(record, hashes).await
}
