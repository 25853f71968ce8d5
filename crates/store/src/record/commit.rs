//! Commits of a session in one transaction: the fence, then their writes in order.

use super::derived;
use super::head::{Head, Origin};
use crate::action;
use crate::chain::StepLink;
use crate::chats;
use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::plans;
use crate::rows::storable;
use crate::texts;
use crate::value::{columns, from_row, params};
use crate::vectors;
use papertape_core::id::ContentHash;
use papertape_core::json;
use papertape_core::record::{AttemptEnd, Commit, Intent, ReusedFrom, StepEnd, StoredText, Write};
use papertape_core::tape::{StepClass, StepPath};
use rust_decimal::Decimal;
use serde_json::json;

/// Applies commits of one session in their order; the caller owns the transaction.
pub(super) async fn apply(db: &mut dyn Db, commits: &[Commit]) -> Result<()> {
    let Some(commit) = commits.first() else { return Ok(()) };
    let of = |commit: &Commit| (commit.lease.epoch, commit.session, commit.detached);
    if commits.iter().any(|other| of(other) != of(commit) || other.lease.job != commit.lease.job) {
        return Err(StoreError::inconsistent("a transaction has commits of several sessions"));
    }
    let writes = || commits.iter().flat_map(|commit| &commit.writes);
    let events = writes().map(events).sum();
    let mut fence = Fence::take_for(db, &commit.lease, events, writes().any(is_progress)).await?;
    texts::insert(db, writes().filter_map(text)).await?;
    let head = Head::load(db, commit.session, &commit.lease, commit.detached).await?;
    let mut applying = CommitApplier { db, commit, fence: &mut fence, head };
    for commit in commits {
        applying.commit = commit;
        for write in &commit.writes {
            applying.write(write).await?;
        }
    }
    applying.head.save(applying.db).await?;
    fence.settle(db).await
}

/// Whether the write is progress of the job. Starting a step or interrupting one is not.
const fn is_progress(write: &Write) -> bool {
    matches!(
        write,
        Write::End(_)
            | Write::Abandoned { .. }
            | Write::CloseScope { .. }
            | Write::Summary { .. }
            | Write::CloseSession(_)
    )
}

/// Max events that a write produces.
fn events(write: &Write) -> usize {
    match write {
        Write::End(end) => {
            usize::from(end.class == StepClass::Guard)
                + end.implied.iter().map(derived::events).sum::<usize>()
        }
        Write::Instructions { .. } | Write::Action(_) | Write::FailDay { .. } | Write::CloseSession(_) => 1,
        Write::Text(_)
        | Write::Intent(_)
        | Write::Attempt { .. }
        | Write::SendAgain { .. }
        | Write::Abandoned { .. }
        | Write::CloseScope { .. }
        | Write::Summary { .. }
        | Write::Vector(_)
        | Write::Plan(_)
        | Write::Chat(_) => 0,
    }
}

fn text(write: &Write) -> Option<&StoredText> {
    match write {
        Write::Text(text) => Some(text),
        Write::CloseSession(close) => Some(&close.state),
        _ => None,
    }
}

/// A commit while it is being applied.
pub(super) struct CommitApplier<'a> {
    pub(super) db: &'a mut dyn Db,
    pub(super) commit: &'a Commit,
    pub(super) fence: &'a mut Fence,
    pub(super) head: Head,
}

/// An existing step.
struct FoundSession {
    id: i64,
    is_open: bool,
    class: StepClass,
    digest: ContentHash,
    cost_usd: Option<Decimal>,
}

impl CommitApplier<'_> {
    async fn write(&mut self, write: &Write) -> Result<()> {
        match write {
            // All texts were stored beforehand.
            Write::Text(_) => Ok(()),
            Write::Intent(intent) => self.intent(intent).await,
            Write::Attempt { path, ended, next } => self.attempt(path, ended, *next).await,
            Write::SendAgain { path, attempt } => {
                let step = self.find(path).await?.filter(|step| step.is_open);
                let step =
                    step.ok_or_else(|| StoreError::inconsistent(format!("there is no open step {path}")))?;
                self.send(step.id, *attempt).await
            }
            Write::FailDay { error } => self.fail_day(error).await,
            Write::End(end) => self.end(end).await,
            Write::Abandoned { step, reused_from } => self.abandoned(step, reused_from).await,
            Write::CloseScope { scope } => self.close_scope(scope).await,
            Write::Instructions { node, hash } => self.instructions(node, *hash).await,
            Write::Summary { path, summary } => self.summary(path.as_ref(), summary).await,
            Write::Vector(row) => {
                let Self { db, head, .. } = self;
                vectors::store_own(*db, (&head.job, &head.agent), row).await
            }
            Write::Action(entry) => {
                let (job, at) = (&self.commit.lease.job, self.commit.at);
                action::append(self.db, self.fence, job, entry, at).await.map(drop)
            }
            Write::Plan(write) => plans::apply(self.db, write.get(), self.commit.at).await.map(drop),
            Write::Chat(write) => chats::apply(self.db, write.get(), self.commit.at).await,
            Write::CloseSession(close) => self.close(close).await,
        }
    }

    async fn intent(&mut self, intent: &Intent) -> Result<()> {
        self.must_be_open(&intent.path)?;
        let commit = self.commit;
        let row = columns! {
            job_id: &commit.lease.job, session_id: commit.session, detached: commit.detached, path: &intent.path,
            kind: intent.path.kind(), class: StepClass::External, digest: intent.digest,
            request_ref: intent.request_ref, state: "intent", lease_epoch: commit.lease.epoch, started_at: commit.at,
        };
        let new = " ON CONFLICT (session_id, detached, path) DO NOTHING RETURNING id";
        let step_id = Statement::insert("steps", row).add(new, []).first(self.db).await?;
        self.send(step_id.ok_or_else(|| duplicate_step(&intent.path))?, 1).await
    }

    async fn send(&mut self, step_id: i64, attempt: u32) -> Result<()> {
        self.db.insert("step_attempts", columns! { step_id, attempt, sent_at: self.commit.at }).await
    }

    async fn attempt(&mut self, path: &StepPath, ended: &AttemptEnd, next: Option<u32>) -> Result<()> {
        let step = self.find(path).await?;
        let step = step.ok_or_else(|| StoreError::inconsistent(format!("there is no step {path}")))?;
        self.end_attempt(&step, ended).await?;
        match next {
            Some(next) if step.is_open => self.send(step.id, next).await,
            _ => Ok(()),
        }
    }

    /// Ends an attempt, and adds its usage to the step and the session.
    async fn end_attempt(&mut self, step: &FoundSession, ended: &AttemptEnd) -> Result<()> {
        let usage = ended.usage;
        let values = params![
            self.commit.at,
            ended.error.as_ref(),
            usage.map(|usage| usage.input_tokens),
            usage.map(|usage| usage.cached_tokens),
            usage.map(|usage| usage.output_tokens),
            ended.cost_usd,
            step.id,
            ended.number
        ];
        let sql = "UPDATE step_attempts SET ended_at = $1, error = $2, input_tokens = $3, cached_tokens = $4,
            output_tokens = $5, cost_usd = $6 WHERE step_id = $7 AND attempt = $8 AND ended_at IS NULL";
        if self.db.execute(sql, values).await? == 0 {
            let sql = "INSERT INTO step_attempts (sent_at, ended_at, error, input_tokens, cached_tokens,
                output_tokens, cost_usd, step_id, attempt) VALUES ($1, $1, $2, $3, $4, $5, $6, $7, $8)
                ON CONFLICT (step_id, attempt) DO NOTHING";
            if self.db.execute(sql, values).await? == 0 {
                let attempt = ended.number;
                return Err(StoreError::inconsistent(format!("attempt {attempt} of a step has ended twice")));
            }
        }
        self.head.spend(ended);
        let estimate = ended.estimate.filter(|_| usage.is_none());
        if usage.is_none() && ended.cost_usd.is_none() && estimate.is_none() {
            return Ok(());
        }
        let used = usage.or(estimate.map(|estimate| estimate.usage)).unwrap_or_default();
        let cost = ended.cost_usd.or(estimate.and_then(|estimate| estimate.cost_usd));
        let cost = cost.map_or(step.cost_usd, |cost| Some(step.cost_usd.unwrap_or_default() + cost));
        self.db
            .execute(
                "UPDATE steps SET input_tokens = input_tokens + $1, cached_tokens = cached_tokens + $2,
                 output_tokens = output_tokens + $3, cost_usd = $4, estimated_calls = estimated_calls + $5
                 WHERE id = $6",
                params![
                    used.input_tokens,
                    used.cached_tokens,
                    used.output_tokens,
                    cost,
                    i64::from(estimate.is_some()),
                    step.id
                ],
            )
            .await
            .map(drop)
    }

    async fn end(&mut self, end: &StepEnd) -> Result<()> {
        let found = self.find(&end.path).await?;
        if let Some(step) = &found {
            if let Some(attempt) = &end.attempt {
                self.end_attempt(step, attempt).await?;
            }
            if step.class == StepClass::External && end.class == StepClass::External && !step.is_open {
                // Its guard closed earlier: this only adds to the cost.
                return Ok(());
            }
            if !step.is_open {
                return Err(duplicate_step(&end.path));
            }
            if step.class != end.class || step.digest != end.digest {
                let path = &end.path;
                return Err(StoreError::inconsistent(format!("the outcome of {path} is not of its intent")));
            }
        }
        self.must_be_open(&end.path)?;
        let rows = storable(&end.implied);
        let implied_hash = json::hash(&json::to_value(&rows));
        let attempts = match (&found, &end.attempt) {
            (None, None) => Vec::new(),
            (_, Some(only)) if only.number == 1 => vec![(1, only.error.clone())],
            (None, Some(only)) => vec![(only.number, only.error.clone())],
            (Some(step), _) => attempts_of(self.db, step.id).await?,
        };
        let link = self.head.link(
            &StepLink {
                path: &end.path,
                class: end.class,
                digest: end.digest,
                request_ref: Some(end.request_ref),
                outcome: Some((end.outcome_kind, end.outcome_ref)),
                implied_hash,
                detached: false,
                attempts: &attempts,
                reused_from: end.reused_from.as_ref(),
            }
            .to_json(),
        );
        let n = if end.class == StepClass::Guard { Some(self.verdict_event(end).await?) } else { None };
        let commit = self.commit;
        let row = columns! {
            job_id: &commit.lease.job, kind: end.path.kind(), class: end.class, digest: end.digest,
            request_ref: end.request_ref, state: "done", outcome_kind: end.outcome_kind,
            outcome_ref: end.outcome_ref, implied_hash, reused_from: end.reused_from.as_ref().map(stored_origin),
            lease_epoch: commit.lease.epoch, ended_at: commit.at, seq: link.seq, prev_hash: link.previous,
            hash: link.hash, n,
        };
        let mut statement = match &found {
            Some(_) => Statement::update("steps", row),
            None => {
                let place = columns! {
                    session_id: commit.session, detached: commit.detached, path: &end.path, started_at: commit.at,
                };
                Statement::insert("steps", row.into_iter().chain(place))
            }
        };
        if let Some(step) = &found {
            statement.add(" WHERE id = ?", [step.id.into()]);
        }
        let step_id = statement.add(" RETURNING id", []).first::<i64>(self.db).await?;
        let step_id =
            step_id.ok_or_else(|| StoreError::inconsistent(format!("the step {} is gone", end.path)))?;
        if let (None, Some(attempt)) = (&found, &end.attempt) {
            let step = FoundSession {
                id: step_id,
                is_open: false,
                class: end.class,
                digest: end.digest,
                cost_usd: None,
            };
            self.end_attempt(&step, attempt).await?;
        }
        let origin = Origin { step_id, path: &end.path, at: commit.at };
        for (ord, row) in rows.iter().enumerate() {
            derived::insert(self.db, self.fence, &mut self.head, origin, ord, row).await?;
        }
        Ok(())
    }

    async fn verdict_event(&mut self, end: &StepEnd) -> Result<i64> {
        let event = json!({
            "session": self.head.id, "agent": self.head.agent, "date": self.head.date, "path": end.path,
            "node": end.path.node(), "verdict": end.outcome_kind,
        });
        self.fence.event(self.db, "node", &event, self.commit.at).await
    }

    /// Adds a step that was abandoned in the parent of a branch.
    async fn abandoned(&mut self, step: &Intent, reused_from: &ReusedFrom) -> Result<()> {
        self.must_be_open(&step.path)?;
        let commit = self.commit;
        let implied_hash = json::hash(&json!([]));
        let class = StepClass::External;
        let link = StepLink {
            path: &step.path,
            class,
            digest: step.digest,
            request_ref: Some(step.request_ref),
            outcome: None,
            implied_hash,
            detached: false,
            attempts: &[],
            reused_from: Some(reused_from),
        };
        let link = self.head.link(&link.to_json());
        let row = columns! {
            job_id: &commit.lease.job, session_id: commit.session, detached: commit.detached, path: &step.path,
            kind: step.path.kind(), class, digest: step.digest, request_ref: step.request_ref, state: "abandoned",
            lease_epoch: commit.lease.epoch, started_at: commit.at, ended_at: commit.at, implied_hash,
            reused_from: stored_origin(reused_from), seq: link.seq, prev_hash: link.previous, hash: link.hash,
        };
        let new = " ON CONFLICT (session_id, detached, path) DO NOTHING";
        let added = Statement::insert("steps", row).add(new, []).execute(self.db).await?;
        if added == 0 { Err(duplicate_step(&step.path)) } else { Ok(()) }
    }

    /// Abandons all open steps in the scope, in path order.
    async fn close_scope(&mut self, scope: &str) -> Result<()> {
        let commit = self.commit;
        let sql = "SELECT path, id, (SELECT coalesce(max(a.attempt), 0) FROM step_attempts a
            WHERE a.step_id = steps.id), class, digest, request_ref FROM steps
            WHERE session_id = $1 AND detached = $2 AND state = 'intent'";
        let tape = params![commit.session, commit.detached];
        let mut open = self.db.all::<(StepPath, i64, u32, (_, _, _))>(sql, tape).await?;
        open.retain(|(path, ..)| path.is_within(scope));
        open.sort_by(|left, right| left.0.cmp(&right.0));
        for (path, id, last_attempt, (class, digest, request_ref)) in open {
            let implied_hash = json::hash(&json!([]));
            let mut attempts = Vec::new();
            if last_attempt > 1 {
                attempts = attempts_of(self.db, id).await?;
                // Its outcome may be recorded after its guard has closed.
                attempts.pop();
            }
            let link = self.head.link(
                &StepLink {
                    path: &path,
                    class,
                    digest,
                    request_ref,
                    outcome: None,
                    implied_hash,
                    detached: false,
                    attempts: &attempts,
                    reused_from: None,
                }
                .to_json(),
            );
            self.db
                .execute(
                    "UPDATE steps SET state = 'abandoned', ended_at = $1, implied_hash = $2, seq = $3,
                     prev_hash = $4, hash = $5 WHERE id = $6",
                    params![commit.at, implied_hash, link.seq, link.previous, link.hash, id],
                )
                .await?;
        }
        Ok(())
    }

    async fn find(&mut self, path: &StepPath) -> Result<Option<FoundSession>> {
        let sql = "SELECT id, state, class, digest, cost_usd FROM steps
            WHERE session_id = $1 AND detached = $2 AND path = $3";
        self.db.first(sql, params![self.commit.session, self.commit.detached, path]).await
    }

    /// No steps of the day's own tape are accepted after the session's close; the summaries' tape stays open.
    fn must_be_open(&self, path: &StepPath) -> Result<()> {
        if self.head.closed && !self.commit.detached {
            return Err(StoreError::inconsistent(format!("the step {path} comes after its session's close")));
        }
        Ok(())
    }
}

from_row! { impl row => FoundSession {
    id, is_open: row.get::<String>()? == "intent", class, digest, cost_usd,
} }

/// A step's attempts with their errors, oldest first.
async fn attempts_of(db: &mut dyn Db, step: i64) -> Result<Vec<(u32, Option<String>)>> {
    let sql = "SELECT attempt, error FROM step_attempts WHERE step_id = $1 ORDER BY attempt";
    db.all(sql, params![step]).await
}

/// A step's origin as stored in its column.
fn stored_origin(origin: &ReusedFrom) -> String {
    json::canonical(&json::to_value(origin))
}

fn duplicate_step(path: &StepPath) -> StoreError {
    StoreError::inconsistent(format!("the step {path} is there already"))
}
