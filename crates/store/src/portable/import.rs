//! Imports a job from another database, with its log.

use crate::action;
use crate::db::{Db, Statement};
use crate::enqueue;
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::labels;
use crate::plans;
use crate::store::Store;
use crate::value::columns;
use futures::FutureExt as _;
use papertape_core::action::{ActionEntry, ActionRow, PlanJob};
use papertape_core::id::JobId;
use papertape_core::json;
use papertape_core::record::JobStatus;
use papertape_redact::Redactor;
use serde_json::json;
use std::sync::Arc;

/// A job from another database.
pub(super) struct Imported {
    index: PlanJob,
    rows: Vec<(i64, ActionRow, ActionEntry)>,
    from: String,
}

impl Imported {
    /// Redacts everything here, before it is stored or shown.
    pub(super) fn new(redactor: &Redactor, index: PlanJob, rows: Vec<ActionRow>, from: String) -> Self {
        let plan = index.plan;
        let clean = |row: ActionRow| {
            let draft = papertape_core::action::ActionDraft { plan, ..row.row.clone() };
            (row.sequence, row, ActionEntry::redacted(redactor, draft))
        };
        Self { index, rows: rows.into_iter().map(clean).collect(), from }
    }

    pub(super) fn job(&self) -> &JobId {
        &self.index.job
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A job that was still running elsewhere cannot be continued here.
    fn status(&self) -> JobStatus {
        if self.index.status.is_stopped() { self.index.status } else { JobStatus::Cancelled }
    }
}

impl Store {
    /// Imports a job with its log; returns `false` if it already exists.
    pub(super) async fn import_job(&self, job: Imported) -> Result<bool> {
        let (id, job) = (job.job().clone(), Arc::new(job));
        self.write_for_with(&id, job, |db, job| import(db, job).boxed()).await
    }

    /// The database's own ID, by which its portable files recognize it.
    pub(super) async fn identity(&self) -> Result<String> {
        let id = self.first("SELECT id FROM record_identity", &[]).await?;
        id.ok_or_else(|| StoreError::inconsistent("the record has no name"))
    }
}

async fn import(db: &mut dyn Db, job: &Imported) -> Result<bool> {
    let index = &job.index;
    let config = json!({ "imported_from": job.from });
    let warnings = json!([format!("its action log was imported from {}", job.from)]);
    let row = columns! {
        job_id: &index.job, kind: &index.job_type, status: job.status(), fingerprint: json::hash(&config),
        warnings: &warnings, created_at: index.created_at, started_at: index.created_at,
        completed_at: index.updated_at, next_seq: 3_u32,
    };
    if Statement::insert("jobs", row).add(" ON CONFLICT (job_id) DO NOTHING", []).execute(db).await? == 0 {
        return Ok(false);
    }
    labels::list_job(db, (&index.job, &index.job_type), &config, index.created_at).await?;
    db.insert("job_configs", columns! { job_id: &index.job, config: &config }).await?;
    let next = job.rows.last().map_or(index.next_sequence, |(last, ..)| index.next_sequence.max(last + 1));
    let row = columns! {
        job_id: &index.job, plan_id: index.plan, job_type: &index.job_type, status: job.status(),
        next_sequence: next, rows_kept: job.rows.len(), created_at: index.created_at, updated_at: index.updated_at,
    };
    db.insert("plan_job_index", row).await?;
    if let Some(plan) = index.plan {
        plans::skip_plan_ids(db, plan).await?;
    }
    for (sequence, row, entry) in &job.rows {
        let times = (row.created_at, row.updated_at);
        action::insert(db, &index.job, index.plan, *sequence, entry, times, None).await?;
    }
    let mut fence = Fence::of(index.job.clone(), 3, 2);
    enqueue::status_event(db, &mut fence, job.status(), None, index.updated_at).await?;
    let end = json!({ "status": job.status(), "error": null });
    fence.event(db, "end", &end, index.updated_at).await?;
    Ok(true)
}
