//! Rows that several parts of the store read: their columns and their readers.

pub(crate) mod derived;
pub(crate) mod memory;
mod storable;

pub(crate) use storable::{make_storable, unsign};

use crate::db::Db;
use crate::error::StoreError;
use crate::texts;
use crate::value::{Row, params};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{AgentState, JobRow};
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_core::time::Date;

/// The columns that [`read_job`] reads.
pub(crate) const JOB: &str = "job_id, kind,
    (SELECT c.config FROM job_configs c WHERE c.job_id = jobs.job_id), fingerprint, rules_version, status,
    error, warnings, parent, superseded_by, created_at, started_at, completed_at, crashes";

pub(crate) fn read_job(row: &mut Row) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: row.get()?,
        kind: row.get()?,
        config: row.get()?,
        fingerprint: row.get()?,
        rules_version: row.get()?,
        status: row.get()?,
        error: row.get()?,
        warnings: {
            let warnings: serde_json::Value = row.get()?;
            serde_json::from_value(warnings).map_err(|error| {
                StoreError::inconsistent(format!("a job's warnings cannot be read: {error}"))
            })?
        },
        parent: row.get()?,
        superseded_by: row.get()?,
        created_at: row.get()?,
        started_at: row.get()?,
        completed_at: row.get()?,
        crashes: row.get()?,
    })
}

/// Reads a step's state from its two columns.
pub(crate) fn read_state(state: &str, kind: Option<OutcomeKind>) -> Result<StepState, StoreError> {
    match (state, kind) {
        ("intent", None) => Ok(StepState::Intent),
        ("done", Some(kind)) => Ok(StepState::Done(kind)),
        ("abandoned", None) => Ok(StepState::Abandoned),
        _ => Err(StoreError::inconsistent(format!("a step is `{state}` with the outcome {kind:?}"))),
    }
}

/// An agent's newest state, or its newest one up to a day.
pub(crate) async fn agent_state(
    db: &mut dyn Db,
    job: &JobId,
    agent: &AgentName,
    until: Option<Date>,
) -> Result<Option<AgentState>, StoreError> {
    let newest = "ORDER BY coalesce(after_date, '') DESC LIMIT 1";
    let sql = format!(
        "SELECT after_date, hash FROM agent_states WHERE job_id = $1 AND agent = $2
         AND (CAST($3 AS TEXT) IS NULL OR after_date IS NULL OR after_date <= $3) {newest}"
    );
    let Some(mut row) = db.row(&sql, params![job, agent, until]).await? else {
        return Ok(None);
    };
    let (after, hash) = (row.get()?, row.get()?);
    let state = texts::stored(db, hash)
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("the state {hash} of {agent} is not there")))?;
    Ok(Some(AgentState { after, hash, state }))
}
