//! Reads tapes and documents from the record.

use papertape_core::id::ContentHash;
use papertape_core::ports::{RecordError, RecordStore};
use papertape_core::record::{OpenedSession, SessionId, TapeRow};
use papertape_core::tape::{ContentDoc, SessionStop, Tape, expand_request, inline, references};
use serde_json::Value;
use std::collections::BTreeMap;

/// Converts an error of the record to a stop.
pub(crate) fn stop_of(error: RecordError) -> SessionStop {
    match error {
        RecordError::LostLease => SessionStop::LostLease,
        RecordError::Refused(why) => SessionStop::Refused(why.to_string()),
        other => SessionStop::Record(other.to_string()),
    }
}

/// The rows of a session's tape, with their outcomes inlined. An altered outcome is an error: nothing may
/// continue from it.
pub(crate) async fn rows(
    record: &dyn RecordStore,
    session: SessionId,
    detached: bool,
) -> Result<Vec<TapeRow>, RecordError> {
    let mut rows = record.load_tape(session, detached).await?;
    let extracted = rows.iter().filter_map(|row| row.outcome.as_ref()).flat_map(references);
    let texts = record.texts(extracted.collect()).await?;
    for row in &mut rows {
        if let Some(outcome) = &mut row.outcome {
            *outcome = expanded(outcome, &texts)?;
            if row.outcome_ref != Some(ContentDoc::of(outcome).hash) {
                let path = &row.path;
                return Err(RecordError::Inconsistent(format!(
                    "the outcome of {path} is not what was written"
                )));
            }
        }
    }
    Ok(rows)
}

/// The tape of a session that was just opened.
pub(crate) async fn opened(record: &dyn RecordStore, session: &OpenedSession) -> Result<Tape, SessionStop> {
    match session.is_new {
        true => Ok(Tape::new(Vec::new())),
        false => tape(record, session.id, false).await,
    }
}

/// A session's tape.
pub(crate) async fn tape(
    record: &dyn RecordStore,
    session: SessionId,
    detached: bool,
) -> Result<Tape, SessionStop> {
    Ok(Tape::new(rows(record, session, detached).await.map_err(stop_of)?))
}

/// A document by its hash; `None` if it is not in the record.
///
/// # Errors
/// Returns an error if the document is incomplete or the record fails.
pub async fn document(record: &dyn RecordStore, hash: ContentHash) -> Result<Option<Value>, RecordError> {
    Ok(documents(record, vec![hash]).await?.remove(&hash))
}

/// Documents by their hashes; those not in the record are left out.
pub(crate) async fn documents(
    record: &dyn RecordStore,
    hashes: Vec<ContentHash>,
) -> Result<BTreeMap<ContentHash, Value>, RecordError> {
    let mut stored = BTreeMap::new();
    for (hash, body) in record.texts(hashes).await? {
        let value: Value = serde_json::from_str(&body)
            .map_err(|error| RecordError::Inconsistent(format!("document {hash} is not JSON: {error}")))?;
        stored.insert(hash, value);
    }
    let texts = record.texts(stored.values().flat_map(references).collect()).await?;
    stored.into_iter().map(|(hash, value)| Ok((hash, expanded(&value, &texts)?))).collect()
}

/// A stored document, with its texts inlined.
pub(crate) async fn expand_stored(record: &dyn RecordStore, stored: &Value) -> Result<Value, RecordError> {
    let texts = record.texts(references(stored)).await?;
    expanded(stored, &texts)
}

/// A request, assembled link by link; `None` if a part of it is not in the record.
pub(crate) async fn request(record: &dyn RecordStore, at: ContentHash) -> Result<Option<Value>, RecordError> {
    let mut texts: BTreeMap<ContentHash, String> = BTreeMap::new();
    // Each round fetches what the last one found missing: links first, then what they reference.
    loop {
        let missing = match expand_request(at, &|hash| texts.get(&hash).cloned()) {
            Ok(whole) => return Ok(Some(whole)),
            Err(missing) => missing.0,
        };
        let found = record.texts(related(&texts, missing)).await?;
        if !found.contains_key(&missing) {
            return Ok(None);
        }
        texts.extend(found);
    }
}

/// The missing hash, and all other missing hashes that the loaded texts reference.
fn related(texts: &BTreeMap<ContentHash, String>, missing: ContentHash) -> Vec<ContentHash> {
    let mut hashes = vec![missing];
    for body in texts.values() {
        let Ok(value) = serde_json::from_str::<Value>(body) else { continue };
        hashes.extend(references(&value));
        hashes.extend(link_hashes(&value));
    }
    hashes.retain(|hash| !texts.contains_key(hash));
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Hashes that a chain link references.
fn link_hashes(link: &Value) -> Vec<ContentHash> {
    let added = link["added"].as_array().into_iter().flatten();
    added
        .chain([&link["previous"], &link["head"]])
        .filter_map(|value| value.as_str().and_then(ContentHash::from_hex))
        .collect()
}

fn expanded(stored: &Value, texts: &BTreeMap<ContentHash, String>) -> Result<Value, RecordError> {
    inline(stored, &|hash| texts.get(&hash).cloned())
        .map_err(|missing| RecordError::Inconsistent(missing.to_string()))
}
