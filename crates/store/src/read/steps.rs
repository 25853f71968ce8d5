//! Read access to the tape and the exposure record.

use crate::db::{Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::rows::derived::EXPOSURE;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::record::{ExposureRow, ReusedFrom, SessionId};
use papertape_core::tape::{StepClass, StepPath, StepState};
use papertape_core::time::Timestamp;
use rust_decimal::Decimal;

const STEPS: List = List::ascending("steps", (100, 1000), "s.id");
const EXPOSURES: List = List::ascending("exposures", (100, 1000), "e.id");

/// A step, as returned to readers.
#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    /// Its ID, in the order in which steps were started.
    pub id: i64,
    /// Its path on the tape.
    pub path: StepPath,
    /// Whether it is on the separate tape of the summaries.
    pub detached: bool,
    /// Its link number in the session's chain; `None` while it is open.
    pub seq: Option<i64>,
    /// Its class.
    pub class: StepClass,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the request's document.
    pub request_ref: Option<ContentHash>,
    /// Its state.
    pub state: StepState,
    /// Hash of the outcome's document.
    pub outcome_ref: Option<ContentHash>,
    /// The step from which it was copied: `job/agent/date/path`; in rules version 1, `job/session/path`.
    pub reused_from: Option<String>,
    /// Usage of all its attempts.
    pub usage: Usage,
    /// Their cost in USD; `None` if no price is known.
    pub cost_usd: Option<Decimal>,
    /// Attempts with unknown usage, included in the sums as an estimate.
    pub estimated_calls: u64,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Number of attempts sent.
    pub attempts: u32,
    /// Attempts interrupted by a crash or a stop.
    pub interrupted: u32,
    /// Its link's hash.
    pub hash: Option<ContentHash>,
}

/// A row of the exposure record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposureView {
    /// Row ID, in commit order.
    pub id: i64,
    /// The step that read.
    pub path: StepPath,
    /// The data read.
    pub shown: ExposureRow,
}

impl Store {
    /// Whether the session exists.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn has_session(&self, session: SessionId) -> Result<bool> {
        let sql = "SELECT 1 FROM trading_sessions WHERE id = $1";
        Ok(self.first::<i64>(sql, params![session]).await?.is_some())
    }

    /// A session's steps in the order in which they were started, including those of summaries.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn steps(&self, session: SessionId, page: &PageRequest) -> Result<Page<StepView>> {
        self.read_with(page.clone(), move |db, page| steps(db, session, page).boxed()).await
    }

    /// The market data that a session read, in commit order.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn exposures(&self, session: SessionId, page: &PageRequest) -> Result<Page<ExposureView>> {
        self.read_with(page.clone(), move |db, page| exposures(db, session, page).boxed()).await
    }

    /// The number of a job's attempts that were interrupted and had to be repeated.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn interrupted_attempts(&self, job: &JobId) -> Result<u64> {
        let sql = "SELECT count(*) FROM step_attempts a JOIN steps s ON s.id = a.step_id
            JOIN trading_sessions t ON t.id = s.session_id
            WHERE t.job_id = $1 AND a.error = 'interrupted'";
        Ok(self.first(sql, params![job]).await?.unwrap_or_default())
    }
}

async fn steps(db: &mut dyn Db, session: SessionId, page: &PageRequest) -> Result<Page<StepView>> {
    let mut statement = Statement::default();
    statement.add(
        "SELECT s.id, s.path, s.detached, s.seq, s.class, s.digest, s.request_ref, s.state, s.outcome_kind,
         s.outcome_ref, s.reused_from, s.input_tokens, s.cached_tokens, s.output_tokens, s.cost_usd,
         s.estimated_calls,
         s.started_at, s.ended_at,
         coalesce(nullif((SELECT count(*) FROM step_attempts a WHERE a.step_id = s.id), 0),
             CASE WHEN s.class = 'external' AND s.reused_from IS NULL THEN 1 ELSE 0 END),
         (SELECT count(*) FROM step_attempts a WHERE a.step_id = s.id AND a.error = 'interrupted'), s.hash
         FROM steps s WHERE s.session_id = ?",
        [session.into()],
    );
    STEPS.fetch(db, statement, page, |step: &StepView| (step.id,)).await
}

from_row! { impl row => StepView {
    id, path, detached, seq, class, digest, request_ref, state, outcome_ref,
    reused_from: row.get::<Option<String>>()?.map(origin), usage, cost_usd, estimated_calls, started_at, ended_at,
    attempts, interrupted, hash,
} }

from_row! { impl row => ExposureView { id, path, shown } }

/// A step's origin in the form that readers get.
fn origin(stored: String) -> String {
    match serde_json::from_str::<ReusedFrom>(&stored) {
        Ok(origin) => origin.to_string(),
        Err(_) => stored,
    }
}

async fn exposures(db: &mut dyn Db, session: SessionId, page: &PageRequest) -> Result<Page<ExposureView>> {
    let mut statement = Statement::default();
    statement.add(
        &format!(
            "SELECT e.id, s.path, {EXPOSURE} FROM exposures e JOIN steps s ON s.id = e.step_id
             WHERE e.session_id = ?"
        ),
        [session.into()],
    );
    EXPOSURES.fetch(db, statement, page, |exposure: &ExposureView| (exposure.id,)).await
}
