//! Adds jobs to the queue.

use crate::action;
use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::exclusivity;
use crate::fence::Fence;
use crate::head;
use crate::labels;
use crate::lineage;
use crate::texts::{self, NewText};
use crate::value::{columns, params};
use papertape_core::RULES_VERSION;
use papertape_core::id::AgentName;
use papertape_core::json;
use papertape_core::part::{MAX_PARTS, agents_of_part};
use papertape_core::record::{DayStatus, JobStatus, NewJob};
use papertape_core::time::Timestamp;
use serde_json::json;
use std::collections::BTreeMap;

/// How a job is split into parts.
#[derive(Debug, Default)]
pub(crate) struct Split {
    /// 0 or 1: it is not split.
    parts: u32,
    /// The part of each agent.
    agents: BTreeMap<AgentName, u32>,
}

impl Split {
    /// The agents in the order of the config, in this many parts, or as many as there are agents.
    pub(crate) fn new(parts: u32, agents: &[AgentName]) -> Self {
        let parts = parts.min(MAX_PARTS).min(u32::try_from(agents.len()).unwrap_or(MAX_PARTS));
        let mut split = Self { parts, agents: BTreeMap::new() };
        if parts > 1 {
            for part in 1..=parts {
                let of_part = &agents[agents_of_part(agents.len(), parts, part)];
                split.agents.extend(of_part.iter().map(|agent| (agent.clone(), part)));
            }
        }
        split
    }
}

/// Adds a job with its model-days and parts, and anchors its hash chains.
pub(crate) async fn enqueue(db: &mut dyn Db, job: &NewJob, split: &Split) -> Result<()> {
    exclusivity::ensure_plan_free(db, (&job.id, &job.kind), job.plan).await?;
    let row = columns! {
        job_id: &job.id, kind: &job.kind, status: JobStatus::Queued, fingerprint: job.fingerprint,
        rules_version: RULES_VERSION, warnings: &json::to_value(&job.warnings), parent: job.parent.as_ref(),
        created_at: job.created_at, next_seq: 2_u32, parts: split.parts.max(1),
    };
    if Statement::insert("jobs", row).add(" ON CONFLICT (job_id) DO NOTHING", []).execute(db).await? == 0 {
        return Err(StoreError::inconsistent(format!("the job {} is there already", job.id)));
    }
    labels::list_job(db, (&job.id, &job.kind), &job.config, job.created_at).await?;
    action::index(db, job).await?;
    let new = job.texts.iter().map(|text| (text.hash, NewText::packed(text.clone()))).collect();
    texts::insert(db, &new).await?;
    for day in &job.days {
        let status = if day.skipped.is_some() { DayStatus::Skipped } else { DayStatus::Queued };
        db.execute(
            "INSERT INTO job_details (job_id, date, model, agent_hash, status, error, skipped_job, skipped_session,
             skipped_head, part)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8,
                 (SELECT s.chain_head FROM trading_sessions s WHERE s.id = $8), $9)",
            params![
                &job.id,
                day.date,
                &day.agent,
                day.agent_hash,
                status,
                day.skipped.as_ref().map(|done| format!("completed in job {}", done.job)),
                day.skipped.as_ref().map(|done| &done.job),
                day.skipped.as_ref().map(|done| done.session),
                split.agents.get(&day.agent).copied().unwrap_or_default()
            ],
        )
        .await?;
    }
    for part in (1..=split.parts).filter(|_| split.parts > 1) {
        db.insert("job_parts", columns! { job_id: &job.id, part, status: JobStatus::Queued }).await?;
    }
    lineage::record(db, job).await?;
    head::anchor_job(db, job).await?;
    let mut fence = Fence::of(job.id.clone(), 2, 1);
    status_event(db, &mut fence, JobStatus::Queued, None, job.created_at).await
}

/// Records a job's new status as an event, and in the plan's index.
pub(crate) async fn status_event(
    db: &mut dyn Db,
    fence: &mut Fence,
    status: JobStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<()> {
    fence.event(db, "job", &json!({ "status": status, "error": error }), at).await?;
    action::index_status(db, fence.job(), status, at).await
}
