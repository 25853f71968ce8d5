//! Recomputes the hash chains above the sessions: the job's anchor, its agents' chains of days, and its head.

use super::super::document::{HeadsDocument, JobDocument};
use papertape_core::id::ContentHash;
use papertape_core::record::{JobHead, JobRecord};

/// Checks the head against the rows that it is computed from. `heads.record` has the config of the bundle.
pub(super) fn check(heads: &HeadsDocument, job: &JobDocument, stated: ContentHash) -> Result<(), String> {
    let HeadsDocument { head, record } = heads;
    if record.job != job.job_id || record.kind != job.kind || record.rules_version != job.rules_version {
        return Err("it belongs to another job than job.json".to_owned());
    }
    if record.status != job.status {
        return Err("the job's status differs from job.json".to_owned());
    }
    let anchor = anchor(heads, job);
    if anchor != head.anchor {
        return Err("the anchor is not that of the config and the expected days".to_owned());
    }
    if record.rules_version >= 2 && record.anchor != Some(anchor) {
        return Err("the anchor is not the one that was stored when the job was queued".to_owned());
    }
    if let Some((_, why)) = record.chain_difference(anchor) {
        return Err(why);
    }
    if record.head_from(anchor) != *head {
        return Err("the head is not that of the sessions".to_owned());
    }
    if head.hash() != stated {
        return Err("the hash of the head is not the one in the manifest".to_owned());
    }
    Ok(())
}

/// The anchor: recomputed, or as stated if the config is not whole.
fn anchor(heads: &HeadsDocument, job: &JobDocument) -> ContentHash {
    match job.is_config_redacted {
        true => heads.head.anchor,
        false => heads.record.computed_anchor(),
    }
}

/// Why the record does not extend a published head; `None` if it does. Of a session that was open then, the tape decides.
pub(super) fn contradiction(heads: &HeadsDocument, job: &JobDocument, published: &JobHead) -> Option<String> {
    let record: &JobRecord = &heads.record;
    record.contradiction_from(anchor(heads, job), published).map(|why| why.to_string())
}
