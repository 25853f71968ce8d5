//! Rows that several parts of the store read: their columns and their readers.

pub(crate) mod derived;
pub(crate) mod memory;
mod storable;

pub(crate) use storable::{make_storable, unsign};

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::texts;
use crate::value::{FromRow, Row, from_row, params};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{AgentState, JobRow};
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_core::time::Date;

/// The columns that [`read_job`] reads.
pub(crate) const JOB: &str = "job_id, kind,
    (SELECT c.config FROM job_configs c WHERE c.job_id = jobs.job_id), fingerprint, rules_version, status,
    error, warnings, parent, superseded_by, created_at, started_at, completed_at, crashes, parts";

from_row! { impl row => JobRow {
    id, kind, config, fingerprint, rules_version, status, error, warnings: row.document()?, parent, superseded_by,
    created_at, started_at, completed_at, crashes, parts,
} }

impl FromRow for StepState {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (state, kind): (String, Option<OutcomeKind>) = row.get()?;
        match (state.as_str(), kind) {
            ("intent", None) => Ok(Self::Intent),
            ("done", Some(kind)) => Ok(Self::Done(kind)),
            ("abandoned", None) => Ok(Self::Abandoned),
            _ => Err(StoreError::inconsistent(format!("a step is `{state}` with the outcome {kind:?}"))),
        }
    }
}

/// An agent's newest state, or its newest one up to a day.
pub(crate) async fn agent_state(
    db: &mut dyn Db,
    job: &JobId,
    agent: &AgentName,
    until: Option<Date>,
) -> Result<Option<AgentState>> {
    let newest = "ORDER BY coalesce(after_date, '') DESC LIMIT 1";
    let sql = format!(
        "SELECT after_date, hash FROM agent_states WHERE job_id = $1 AND agent = $2
         AND (CAST($3 AS TEXT) IS NULL OR after_date IS NULL OR after_date <= $3) {newest}"
    );
    let found = db.first(&sql, params![job, agent, until]).await?;
    let Some((after, hash)) = found else { return Ok(None) };
    let state = texts::stored(db, hash)
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("the state {hash} of {agent} is not there")))?;
    Ok(Some(AgentState { after, hash, state }))
}
