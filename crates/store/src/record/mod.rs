//! The record as a running job uses it: `papertape_core::ports::RecordStore`.

mod close;
mod commit;
mod derived;
mod head;
mod memory;
mod notes;

use crate::chain;
use crate::db::Db;
use crate::error::StoreError;
use crate::fence::Fence;
use crate::read::ended_days;
use crate::rows::{agent_state, derived as derived_rows, read_state};
use crate::store::{Store, port};
use crate::texts;
use crate::value::{Row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::ports::{BoxFuture, RecordError, RecordStore};
use papertape_core::record::{
    AgentState, Commit, DayStatus, DerivedRow, Lease, NewSession, OpenedSession, SessionId,
    SessionWithoutSummary, TapeRow, UsageTotal,
};
use papertape_core::tape::{OutcomeKind, StepPath};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde_json::json;
use std::collections::BTreeMap;

impl RecordStore for Store {
    fn open_session<'a>(
        &'a self,
        lease: &'a Lease,
        new: NewSession,
    ) -> BoxFuture<'a, Result<OpenedSession, RecordError>> {
        port(self.write_for_with(&lease.job, (lease.clone(), new), |db, (lease, new)| {
            open_session(db, lease, new).boxed()
        }))
    }

    fn load_tape<'a>(
        &'a self,
        session: SessionId,
        detached: bool,
    ) -> BoxFuture<'a, Result<Vec<TapeRow>, RecordError>> {
        port(self.read(move |db| {
            async move {
                let rows = db.query(TAPE, params![session, detached]).await?;
                rows.into_iter().map(tape_row).collect()
            }
            .boxed()
        }))
    }

    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> BoxFuture<'a, Result<BTreeMap<StepPath, Vec<DerivedRow>>, RecordError>> {
        port(self.read(move |db| implied_by_path(db, session).boxed()))
    }

    fn commit<'a>(&'a self, commit: Commit) -> BoxFuture<'a, Result<(), RecordError>> {
        let job = commit.lease.job.clone();
        port(self.write_for_with(&job, commit, |db, commit| commit::apply(db, commit).boxed()))
    }

    fn texts<'a>(
        &'a self,
        hashes: Vec<ContentHash>,
    ) -> BoxFuture<'a, Result<BTreeMap<ContentHash, String>, RecordError>> {
        port(self.read_with(hashes.into_iter().collect(), |db, hashes| texts::fetch(db, hashes).boxed()))
    }

    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> BoxFuture<'a, Result<Option<AgentState>, RecordError>> {
        port(self.read_with((job.clone(), agent.clone()), move |db, (job, agent)| {
            agent_state(db, job, agent, until).boxed()
        }))
    }

    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> BoxFuture<'a, Result<Option<OpenedSession>, RecordError>> {
        port(self.read_with((job.clone(), agent.clone()), move |db, (job, agent)| {
            find_session(db, job, agent, date).boxed()
        }))
    }

    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> BoxFuture<'a, Result<BTreeMap<Date, DayStatus>, RecordError>> {
        port(
            self.read_with((job.clone(), agent.clone()), |db, (job, agent)| {
                ended_days(db, job, agent).boxed()
            }),
        )
    }

    fn unsummarized<'a>(
        &'a self,
        job: &'a JobId,
    ) -> BoxFuture<'a, Result<Vec<SessionWithoutSummary>, RecordError>> {
        port(self.read_with(job.clone(), |db, job| unsummarized(db, job).boxed()))
    }

    fn load_usage<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<UsageTotal>, RecordError>> {
        port(self.read_with(job.clone(), |db, job| spent(db, job).boxed()))
    }
}

async fn open_session(db: &mut dyn Db, lease: &Lease, new: &NewSession) -> Result<OpenedSession, StoreError> {
    let mut fence = Fence::take(db, lease, 1).await?;
    if let Some(found) = find_session(db, &lease.job, &new.agent, new.date).await? {
        if found.ended.is_none() {
            // It may have stopped on an error that has since been fixed.
            let sql = "UPDATE trading_sessions SET status = 'running', error = NULL
                WHERE id = $1 AND status <> 'running'";
            db.execute(sql, params![found.id]).await?;
        }
        if found.ended.is_none() && day_runs(db, lease, new).await? {
            progress(db, &mut fence, found.id, new).await?;
        }
        fence.settle(db).await?;
        return Ok(found);
    }
    let anchor = chain::anchor(&lease.job, &new.agent, new.date);
    let id: SessionId = db
        .row(
            "INSERT INTO trading_sessions (job_id, date, model, started_at, status, chain_head)
             VALUES ($1, $2, $3, $4, 'running', $5) RETURNING id",
            params![&lease.job, new.date, &new.agent, new.at, anchor],
        )
        .await?
        .ok_or_else(|| StoreError::inconsistent("a new session has no id"))?
        .get()?;
    day_runs(db, lease, new).await?;
    progress(db, &mut fence, id, new).await?;
    Ok(OpenedSession { id, ended: None })
}

/// Marks the model-day as running; returns `false` if it already was.
async fn day_runs(db: &mut dyn Db, lease: &Lease, new: &NewSession) -> Result<bool, StoreError> {
    let changed = db
        .execute(
            "UPDATE job_details SET status = 'running', error = NULL, started_at = coalesce(started_at, $1)
             WHERE job_id = $2 AND date = $3 AND model = $4 AND status <> 'running'",
            params![new.at, &lease.job, new.date, &new.agent],
        )
        .await?;
    Ok(changed > 0)
}

async fn progress(
    db: &mut dyn Db,
    fence: &mut Fence,
    id: SessionId,
    new: &NewSession,
) -> Result<(), StoreError> {
    let event = json!({ "session": id, "agent": new.agent, "date": new.date, "status": DayStatus::Running });
    fence.event(db, "progress", &event, new.at).await.map(drop)
}

async fn find_session(
    db: &mut dyn Db,
    job: &JobId,
    agent: &AgentName,
    date: Date,
) -> Result<Option<OpenedSession>, StoreError> {
    let sql = "SELECT id, CASE WHEN completed_at IS NULL THEN NULL ELSE status END
        FROM trading_sessions WHERE job_id = $1 AND date = $2 AND model = $3";
    let row = db.row(sql, params![job, date, agent]).await?;
    let read = |mut row: Row| Ok(OpenedSession { id: row.get()?, ended: row.get()? });
    row.map(read).transpose()
}

const TAPE: &str = "SELECT s.path, s.class, s.digest, s.request_ref, s.state, s.outcome_kind, s.outcome_ref,
        (SELECT coalesce(max(a.attempt), 0) FROM step_attempts a WHERE a.step_id = s.id), s.hash,
        CASE WHEN s.state = 'intent' AND NOT EXISTS
            (SELECT 1 FROM step_attempts a WHERE a.step_id = s.id AND a.ended_at IS NULL) THEN 1 ELSE 0 END,
        t.body, t.encoding,
        CASE WHEN s.state = 'intent' THEN (SELECT count(*) FROM step_attempts a
            WHERE a.step_id = s.id AND a.error = 'interrupted') ELSE 0 END
    FROM steps s
    LEFT JOIN texts t
        ON t.hash = s.outcome_ref AND s.class IN ('external', 'guard') AND s.state = 'done'
    WHERE s.session_id = $1 AND s.detached = $2 ORDER BY s.id";

fn tape_row(mut row: Row) -> Result<TapeRow, StoreError> {
    let (path, class, digest, request_ref) = (row.get()?, row.get()?, row.get()?, row.get()?);
    let state: String = row.get()?;
    let outcome_kind: Option<OutcomeKind> = row.get()?;
    let (outcome_ref, attempts, hash, has_ended) = (row.get()?, row.get()?, row.get()?, row.get()?);
    let (body, encoding): (Option<String>, Option<i64>) = (row.get()?, row.get()?);
    let interrupted = row.get()?;
    let outcome = body
        .map(|body| {
            let body = texts::decode(body, encoding.unwrap_or_default())?;
            serde_json::from_str(&body).map_err(|error| {
                StoreError::inconsistent(format!("the outcome of {path} is not JSON: {error}"))
            })
        })
        .transpose()?;
    let state = read_state(&state, outcome_kind)?;
    let implied = Vec::new();
    Ok(TapeRow {
        path,
        class,
        digest,
        request_ref,
        state,
        outcome,
        outcome_ref,
        attempts,
        hash,
        interrupted,
        has_ended,
        implied,
    })
}

async fn implied_by_path(
    db: &mut dyn Db,
    session: SessionId,
) -> Result<BTreeMap<StepPath, Vec<DerivedRow>>, StoreError> {
    let mut rows = derived_rows::of_session(db, session).await?;
    let mut by_path = BTreeMap::new();
    let sql = "SELECT id, path FROM steps WHERE session_id = $1 AND detached = $2";
    for mut row in db.query(sql, params![session, false]).await? {
        let id: i64 = row.get()?;
        if let Some(implied) = rows.remove(&id) {
            by_path.insert(row.get()?, implied.into_values().collect());
        }
    }
    Ok(by_path)
}

async fn unsummarized(db: &mut dyn Db, job: &JobId) -> Result<Vec<SessionWithoutSummary>, StoreError> {
    let sql = "SELECT id, model, date FROM trading_sessions
        WHERE job_id = $1 AND completed_at IS NOT NULL
          AND session_summary IS NULL AND summary_error IS NULL
        ORDER BY date, model";
    let rows = db.query(sql, params![job]).await?;
    let read =
        |mut row: Row| Ok(SessionWithoutSummary { session: row.get()?, agent: row.get()?, date: row.get()? });
    rows.into_iter().map(read).collect()
}

async fn spent(db: &mut dyn Db, job: &JobId) -> Result<Vec<UsageTotal>, StoreError> {
    let sql = "SELECT model, date, input_tokens, cached_tokens, output_tokens, cost_usd, estimated_calls,
        unpriced_calls, detached_input_tokens, detached_cached_tokens, detached_output_tokens,
        detached_cost_usd, detached_estimated_calls, detached_unpriced_calls
        FROM trading_sessions WHERE job_id = $1 ORDER BY model, date";
    let mut all = Vec::new();
    for mut row in db.query(sql, params![job]).await? {
        let (agent, date): (AgentName, Date) = (row.get()?, row.get()?);
        for detached in [false, true] {
            let usage =
                Usage { input_tokens: row.get()?, cached_tokens: row.get()?, output_tokens: row.get()? };
            let cost_usd: Decimal = row.get()?;
            let (estimated_calls, unpriced_calls) = (row.get()?, row.get()?);
            if usage != Usage::default() || !cost_usd.is_zero() {
                let agent = agent.clone();
                all.push(UsageTotal {
                    agent,
                    date,
                    detached,
                    usage,
                    cost_usd,
                    estimated_calls,
                    unpriced_calls,
                });
            }
        }
    }
    Ok(all)
}
