//! The record as a running job uses it: `papertape_core::ports::RecordStore`.

mod abandon;
mod attempts;
mod close;
mod commit;
mod derived;
mod end;
mod memory;
mod notes;
mod prepared;

use self::prepared::PreparedCommits;
use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::read::{UsageCost, ended_days};
use crate::rows::{agent_state, derived as derived_rows};
use crate::store::{Store, port};
use crate::texts::{self, BodyIfAny};
use crate::value::{FromRow, Row, columns, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::ports::{RecordFuture, RecordStore};
use papertape_core::record::chain;
use papertape_core::record::{
    AgentState, Commit, DayStatus, DerivedRow, Lease, NewSession, OpenCall, OpenedSession, SessionId,
    SessionWithoutSummary, TapeRow, UsageTotal,
};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

impl RecordStore for Store {
    fn open_session<'a>(&'a self, lease: &'a Lease, new: NewSession) -> RecordFuture<'a, OpenedSession> {
        port(self.write_for_with(lease, (lease.clone(), new), |db, (lease, new)| {
            open_session(db, lease, new).boxed()
        }))
    }

    fn load_tape<'a>(&'a self, session: SessionId, detached: bool) -> RecordFuture<'a, Vec<TapeRow>> {
        port(self.all(TAPE, params![session, detached]))
    }

    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> RecordFuture<'a, BTreeMap<StepPath, Vec<DerivedRow>>> {
        port(self.read(move |db| implied_by_path(db, session).boxed()))
    }

    fn append<'a>(&'a self, commits: Vec<Commit>) -> RecordFuture<'a, ()> {
        let mut commits = match PreparedCommits::of(commits) {
            Ok(Some(commits)) => commits,
            Ok(None) => return async { Ok(()) }.boxed(),
            Err(error) => return async { Err(error.into()) }.boxed(),
        };
        let (heads, lease) = (Arc::clone(self.heads()), commits.lease.clone());
        // Summaries have counters of their own, in the same row.
        let ticket = (!commits.detached).then(|| {
            let (ticket, head) = heads.take(&lease, commits.session);
            commits.head = head;
            ticket
        });
        let writing = self.append_commits(commits);
        let appended = async move {
            let head = writing.await?;
            if let Some(ticket) = ticket {
                heads.hold(&lease, ticket, head);
            }
            Ok(())
        };
        port(appended.boxed())
    }

    fn texts<'a>(&'a self, hashes: Vec<ContentHash>) -> RecordFuture<'a, BTreeMap<ContentHash, String>> {
        if hashes.is_empty() {
            return async { Ok(BTreeMap::new()) }.boxed();
        }
        port(self.read_with(hashes.into_iter().collect(), |db, hashes| texts::fetch(db, hashes).boxed()))
    }

    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> RecordFuture<'a, Option<AgentState>> {
        port(self.read_with((job.clone(), agent.clone()), move |db, (job, agent)| {
            agent_state(db, job, agent, until).boxed()
        }))
    }

    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> RecordFuture<'a, Option<OpenedSession>> {
        port(self.read_with((job.clone(), agent.clone()), move |db, (job, agent)| {
            find_session(db, job, agent, date).boxed()
        }))
    }

    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> RecordFuture<'a, BTreeMap<Date, DayStatus>> {
        port(
            self.read_with((job.clone(), agent.clone()), |db, (job, agent)| {
                ended_days(db, job, agent).boxed()
            }),
        )
    }

    fn unsummarized<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<SessionWithoutSummary>> {
        let sql = "SELECT id, model, date FROM trading_sessions
            WHERE job_id = $1 AND completed_at IS NOT NULL
            AND session_summary IS NULL AND summary_error IS NULL
            ORDER BY date, model";
        port(self.all(sql, params![job]))
    }

    fn load_usage<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<UsageTotal>> {
        port(self.read_with(job.clone(), |db, job| spent(db, job).boxed()))
    }

    fn open_calls<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<OpenCall>> {
        // As `has_ended` of `TAPE`.
        let sql = "SELECT t.model, t.date, s.path, s.request_ref
            FROM trading_sessions t JOIN steps s ON s.session_id = t.id
            WHERE t.job_id = $1 AND t.completed_at IS NULL AND s.detached = $2
                AND s.state = 'intent' AND s.kind = 'model'
                AND (EXISTS (SELECT 1 FROM step_attempts a WHERE a.step_id = s.id AND a.ended_at IS NULL)
                    OR NOT EXISTS (SELECT 1 FROM step_attempts a WHERE a.step_id = s.id))
            ORDER BY t.model, t.date, s.id";
        port(self.all(sql, params![job, false]))
    }
}

async fn open_session(db: &mut dyn Db, lease: &Lease, new: &NewSession) -> Result<OpenedSession> {
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
    let row = columns! {
        job_id: &lease.job, date: new.date, model: &new.agent, started_at: new.at, status: DayStatus::Running,
        chain_head: chain::anchor(&lease.job, &new.agent, new.date),
    };
    let id = Statement::insert("trading_sessions", row).add(" RETURNING id", []).first(db).await?;
    let id = id.ok_or_else(|| StoreError::inconsistent("a new session has no id"))?;
    day_runs(db, lease, new).await?;
    progress(db, &mut fence, id, new).await?;
    Ok(OpenedSession { id, ended: None, is_new: true })
}

/// Marks the model-day as running; returns `false` if it already was.
async fn day_runs(db: &mut dyn Db, lease: &Lease, new: &NewSession) -> Result<bool> {
    let changed = db
        .execute(
            "UPDATE job_details SET status = 'running', error = NULL, started_at = coalesce(started_at, $1)
             WHERE job_id = $2 AND date = $3 AND model = $4 AND status <> 'running'",
            params![new.at, &lease.job, new.date, &new.agent],
        )
        .await?;
    Ok(changed > 0)
}

async fn progress(db: &mut dyn Db, fence: &mut Fence, id: SessionId, new: &NewSession) -> Result<()> {
    let event = json!({ "session": id, "agent": new.agent, "date": new.date, "status": DayStatus::Running });
    fence.event(db, "progress", &event, new.at).await.map(drop)
}

async fn find_session(
    db: &mut dyn Db,
    job: &JobId,
    agent: &AgentName,
    date: Date,
) -> Result<Option<OpenedSession>> {
    let sql = "SELECT id, CASE WHEN completed_at IS NULL THEN NULL ELSE status END
        FROM trading_sessions WHERE job_id = $1 AND date = $2 AND model = $3";
    let found = db.first::<(SessionId, Option<DayStatus>)>(sql, params![job, date, agent]).await?;
    Ok(found.map(|(id, ended)| OpenedSession { id, ended, is_new: false }))
}

from_row! { impl row => SessionWithoutSummary { session, agent, date } }

from_row! { impl row => OpenCall { agent, date, path, request_ref } }

const TAPE: &str = "SELECT s.path, s.class, s.digest, s.request_ref, s.state, s.outcome_kind, s.outcome_ref,
        coalesce((SELECT max(a.attempt) FROM step_attempts a WHERE a.step_id = s.id),
            CASE WHEN s.class = 'external' AND s.reused_from IS NULL THEN 1 ELSE 0 END), s.hash,
        CASE WHEN s.state = 'intent' THEN coalesce((SELECT min(CASE WHEN a.ended_at IS NULL THEN 0 ELSE 1 END)
            FROM step_attempts a WHERE a.step_id = s.id), 0) ELSE 0 END,
        t.body, t.encoding, t.packed,
        CASE WHEN s.state = 'intent' THEN (SELECT count(*) FROM step_attempts a
            WHERE a.step_id = s.id AND a.error = 'interrupted') ELSE 0 END
    FROM steps s
    LEFT JOIN texts t
        ON t.hash = s.outcome_ref AND s.class IN ('external', 'guard') AND s.state = 'done'
    WHERE s.session_id = $1 AND s.detached = $2 ORDER BY s.id";

impl FromRow for TapeRow {
    fn from_row(row: &mut Row) -> Result<Self> {
        let path: StepPath = row.get()?;
        let read = |BodyIfAny(body): BodyIfAny| -> Result<Option<serde_json::Value>> {
            let Some(body) = body else { return Ok(None) };
            serde_json::from_str(&body).map(Some).map_err(|error| {
                StoreError::inconsistent(format!("the outcome of {path} is not JSON: {error}"))
            })
        };
        Ok(from_row!(row => Self {
            path: path.clone(), class, digest, request_ref, state, outcome_ref, attempts, hash, has_ended,
            outcome: read(row.get()?)?, interrupted, implied: Vec::new(),
        }))
    }
}

async fn implied_by_path(db: &mut dyn Db, session: SessionId) -> Result<BTreeMap<StepPath, Vec<DerivedRow>>> {
    let mut rows = derived_rows::load_session(db, session).await?;
    let mut by_path = BTreeMap::new();
    let sql = "SELECT id, path FROM steps WHERE session_id = $1 AND detached = $2";
    for (id, path) in db.all::<(i64, StepPath)>(sql, params![session, false]).await? {
        if let Some(implied) = rows.remove(&id) {
            by_path.insert(path, implied.into_values().collect());
        }
    }
    Ok(by_path)
}

async fn spent(db: &mut dyn Db, job: &JobId) -> Result<Vec<UsageTotal>> {
    let sql = "SELECT model, date, input_tokens, cached_tokens, output_tokens, cost_usd, estimated_calls,
        unpriced_calls, detached_input_tokens, detached_cached_tokens, detached_output_tokens,
        detached_cost_usd, detached_estimated_calls, detached_unpriced_calls
        FROM trading_sessions WHERE job_id = $1 ORDER BY model, date";
    let mut all = Vec::new();
    for (agent, date, own, summaries) in
        db.all::<(AgentName, Date, UsageCost, UsageCost)>(sql, params![job]).await?
    {
        for (detached, used) in [(false, own), (true, summaries)] {
            let UsageCost { usage, cost_usd, estimated_calls, unpriced_calls } = used;
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

#[cfg(test)]
mod statements_tests;
