//! Imports a job from another database, with its log.

use crate::action;
use crate::db::Db;
use crate::enqueue;
use crate::error::StoreError;
use crate::fence::Fence;
use crate::plans;
use crate::store::Store;
use crate::value::params;
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
    pub(super) async fn import_job(&self, job: Imported) -> Result<bool, StoreError> {
        let (id, job) = (job.job().clone(), Arc::new(job));
        self.write_for_with(&id, job, |db, job| import(db, job).boxed()).await
    }

    /// The database's own ID, by which its portable files recognize it.
    pub(super) async fn identity(&self) -> Result<String, StoreError> {
        self.read(|db| {
            async move {
                let row = db.row("SELECT id FROM record_identity", &[]).await?;
                row.ok_or_else(|| StoreError::inconsistent("the record has no name"))?.get()
            }
            .boxed()
        })
        .await
    }
}

async fn import(db: &mut dyn Db, job: &Imported) -> Result<bool, StoreError> {
    let index = &job.index;
    let config = json!({ "imported_from": job.from });
    let warnings = json!([format!("its action log was imported from {}", job.from)]);
    let sql = "INSERT INTO jobs (job_id, kind, status, fingerprint, warnings, created_at, started_at,
            completed_at, next_seq)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $7, 3) ON CONFLICT (job_id) DO NOTHING";
    let values = params![
        &index.job,
        &index.job_type,
        job.status(),
        json::hash(&config),
        &warnings,
        index.created_at,
        index.updated_at
    ];
    if db.execute(sql, values).await? == 0 {
        return Ok(false);
    }
    db.execute("INSERT INTO job_configs (job_id, config) VALUES ($1, $2)", params![&index.job, &config])
        .await?;
    let next = job.rows.last().map_or(index.next_sequence, |(last, ..)| index.next_sequence.max(last + 1));
    db.execute(
        "INSERT INTO plan_job_index (job_id, plan_id, job_type, status, next_sequence, rows_kept, created_at,
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        params![
            &index.job,
            index.plan,
            &index.job_type,
            job.status(),
            next,
            job.rows.len(),
            index.created_at,
            index.updated_at
        ],
    )
    .await?;
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
