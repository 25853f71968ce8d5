//! Names, tags and notes of jobs.

use super::by_key;
use crate::db::Db;
use crate::error::Result;
use papertape_core::id::JobId;
use papertape_core::label::JobLabels;
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;

/// A row of `job_labels`: name, note, when it changed and by whom.
type Row = (Option<String>, Option<String>, Timestamp, Option<String>);

/// The labels of these jobs. Jobs without any are left out.
pub(crate) async fn labels_of(db: &mut dyn Db, jobs: &[JobId]) -> Result<BTreeMap<JobId, JobLabels>> {
    let sql = "SELECT job_id, name, note, updated_at, updated_by FROM job_labels WHERE job_id IN (?)";
    let rows: BTreeMap<JobId, Vec<Row>> = by_key(db, sql, jobs).await?;
    let sql = "SELECT job_id, tag FROM job_tags WHERE job_id IN (?)";
    let mut tags: BTreeMap<JobId, Vec<String>> = by_key(db, sql, jobs).await?;
    let mut found = BTreeMap::new();
    for (job, rows) in rows {
        for (name, note, updated_at, updated_by) in rows {
            let tags = tags.remove(&job).unwrap_or_default().into_iter().collect();
            let labels = JobLabels { name, tags, note, updated_at: Some(updated_at), updated_by };
            found.insert(job.clone(), labels);
        }
    }
    Ok(found)
}
