//! The provenance of a day's research.

use papertape_core::provenance::extract;
use papertape_protocol::results::provenance::Provenance;
use serde_json::Value;

pub(super) fn provenance(metadata: Option<&Value>) -> Provenance {
    let known = metadata.map(extract);
    let point_in_time = text(metadata, "point_in_time");
    let Some(known) = known else { return Provenance { point_in_time, ..Provenance::default() } };
    Provenance {
        point_in_time,
        point_in_time_reason: None,
        sample_quality: Some(known.sample_quality()),
        data_quality: Some(known.data_quality),
        research: known.research,
        by_symbol: known.by_symbol,
        degradations: known.degradations,
    }
}

/// A text of a session's metadata.
pub(super) fn text(metadata: Option<&Value>, key: &str) -> Option<String> {
    metadata?.get(key)?.as_str().map(str::to_owned)
}
