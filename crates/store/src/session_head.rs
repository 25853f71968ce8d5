//! The counters in a session's row: its messages, its chain or its summaries' chain, its usage. Read at the start
//! of a transaction, unless the session's last commit left them, and written back at its end.

use crate::db::{Backend, Db};
use crate::error::{Result, StoreError};
use crate::value::{Array, Row, from_row, params};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::message::Usage;
use papertape_core::record::chain;
use papertape_core::record::{AttemptEnd, Lease, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A session's counters, to which this transaction has exclusive access.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) id: SessionId,
    pub(crate) job: JobId,
    pub(crate) agent: AgentName,
    pub(crate) date: Date,
    pub(crate) closed: bool,
    pub(crate) next_message: i64,
    length: i64,
    /// The chain's length in the database.
    stored_length: i64,
    hash: ContentHash,
    usage: Usage,
    cost_usd: Decimal,
    estimated_calls: u64,
    unpriced_calls: i64,
    detached: bool,
    changed: bool,
}

/// The step that derived rows belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) step_id: i64,
    pub(crate) path: &'a StepPath,
    pub(crate) at: Timestamp,
}

/// A link added to the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) seq: i64,
    pub(crate) previous: ContentHash,
    pub(crate) hash: ContentHash,
}

impl Head {
    /// The row of a session, as [`columns`] lists it.
    fn of(mut row: Row, lease: &Lease, detached: bool) -> Result<Self> {
        let id: SessionId = row.get()?;
        let (job, agent, date): (JobId, AgentName, Date) = row.get()?;
        let closed = row.get::<Option<i64>>()?.is_some();
        let (next_message, length): (i64, i64) = row.get()?;
        let hash = row.get::<Option<ContentHash>>()?;
        let hash = hash.unwrap_or_else(|| chain::detached_anchor(&job, &agent, date));
        let head = from_row!(row => Self {
            id: id, closed: closed, next_message: next_message, length: length,
            stored_length: length, hash: hash, job: job, agent: agent,
            date: date, usage, cost_usd, estimated_calls, unpriced_calls, detached: detached, changed: false,
        });
        if head.job != lease.job {
            return Err(StoreError::inconsistent(format!(
                "the session {id} is not of the job {}",
                lease.job
            )));
        }
        Ok(head)
    }

    /// Adds a link to the chain.
    pub(crate) fn link(&mut self, link: &Value) -> Link {
        self.link_text(&json::canonical(link))
    }

    /// Like [`Self::link`], with the link's canonical JSON.
    pub(crate) fn link_text(&mut self, link: &str) -> Link {
        let previous = self.hash;
        self.hash = chain::follow_text(previous, link);
        self.length += 1;
        self.changed = true;
        Link { seq: self.length, previous, hash: self.hash }
    }

    /// Takes the newest link back: its row was not written.
    pub(crate) fn unlink(&mut self, link: Link) {
        self.hash = link.previous;
        self.length -= 1;
    }

    /// The next message's index.
    pub(crate) fn message(&mut self) -> i64 {
        self.changed = true;
        self.next_message += 1;
        self.next_message - 1
    }

    /// Adds an attempt's usage.
    pub(crate) fn spend(&mut self, attempt: &AttemptEnd) {
        let estimate = attempt.estimate.filter(|_| attempt.usage.is_none());
        if let Some(usage) = attempt.usage.or(estimate.map(|estimate| estimate.usage)) {
            self.usage += usage;
            self.estimated_calls += u64::from(estimate.is_some());
            self.changed = true;
        }
        self.unpriced_calls += i64::from(attempt.is_unpriced());
        if let Some(cost) = attempt.cost_usd.or(estimate.and_then(|estimate| estimate.cost_usd)) {
            self.cost_usd += cost;
            self.changed = true;
        }
    }

    /// Writes the counters back, if they have changed. Returns whether they had.
    async fn save(&mut self, db: &mut dyn Db) -> Result<bool> {
        if !self.changed {
            return Ok(false);
        }
        let (chain, of) = columns_of(self.detached);
        let sql = format!(
            "UPDATE trading_sessions SET next_message = $1, {chain}_length = $2, {chain}_head = $3,
            {of}input_tokens = $4, {of}cached_tokens = $5, {of}output_tokens = $6, {of}cost_usd = $7,
            {of}estimated_calls = $8, {of}unpriced_calls = $9 WHERE id = $10 AND {chain}_length = $11"
        );
        let saved = db
            .execute(
                &sql,
                params![
                    self.next_message,
                    self.length,
                    self.hash,
                    self.usage.input_tokens,
                    self.usage.cached_tokens,
                    self.usage.output_tokens,
                    self.cost_usd,
                    self.estimated_calls,
                    self.unpriced_calls,
                    self.id,
                    self.stored_length
                ],
            )
            .await?;
        if saved == 0 {
            return Err(StoreError::inconsistent(format!(
                "another writer has changed the session {}",
                self.id
            )));
        }
        (self.stored_length, self.changed) = (self.length, false);
        Ok(true)
    }
}

/// The counters of the sessions that a transaction writes for, each read once.
#[derive(Debug)]
pub(crate) struct Heads<'a> {
    lease: &'a Lease,
    unused: BTreeMap<(SessionId, bool), Head>,
}

impl<'a> Heads<'a> {
    /// Takes the counters that are known, and reads those of the other sessions; `true`: the summaries' counters.
    pub(crate) async fn load(
        db: &mut dyn Db,
        lease: &'a Lease,
        sessions: impl Iterator<Item = (SessionId, bool, Option<&Head>)>,
    ) -> Result<Self> {
        let mut heads = Self { lease, unused: BTreeMap::new() };
        let mut wanted: BTreeMap<bool, BTreeSet<SessionId>> = BTreeMap::new();
        for (id, detached, known) in sessions {
            match known {
                Some(head) => drop(heads.unused.insert((id, detached), head.clone())),
                // An earlier commit leaves them.
                None if heads.unused.contains_key(&(id, detached)) => {}
                None => drop(wanted.entry(detached).or_default().insert(id)),
            }
        }
        for (detached, ids) in wanted {
            heads.read(db, ids, detached).await?;
        }
        Ok(heads)
    }

    async fn read(&mut self, db: &mut dyn Db, ids: BTreeSet<SessionId>, detached: bool) -> Result<()> {
        let columns = columns(detached);
        let mut rows = Vec::new();
        if db.backend() == Backend::Postgres && ids.len() > 1 {
            let sql = format!("SELECT {columns} FROM trading_sessions WHERE id = ANY(CAST($1 AS BIGINT[]))");
            rows = db.query(&sql, params![Array::Numbers(ids.iter().map(|id| id.0).collect())]).await?;
        } else {
            let sql = format!("SELECT {columns} FROM trading_sessions WHERE id = $1");
            for id in &ids {
                rows.extend(db.row(&sql, params![id]).await?);
            }
        }
        for row in rows {
            let head = Head::of(row, self.lease, detached)?;
            self.unused.insert((head.id, detached), head);
        }
        Ok(())
    }

    /// The counters of a session. If `detached`, usage is added to the summaries' columns.
    pub(crate) async fn take(&mut self, db: &mut dyn Db, id: SessionId, detached: bool) -> Result<Head> {
        if !self.unused.contains_key(&(id, detached)) {
            self.read(db, BTreeSet::from([id]), detached).await?;
        }
        let missing = || StoreError::inconsistent(format!("there is no session {id}"));
        self.unused.remove(&(id, detached)).ok_or_else(missing)
    }

    /// Writes a session's counters back and keeps them for its next commit. Returns them.
    pub(crate) async fn put_back(&mut self, db: &mut dyn Db, mut head: Head) -> Result<Head> {
        if head.save(db).await? {
            // Both tapes of a session share a column.
            self.unused.remove(&(head.id, !head.detached));
        }
        self.unused.insert((head.id, head.detached), head.clone());
        Ok(head)
    }
}

/// The columns that a [`Head`] reads.
fn columns(detached: bool) -> String {
    let (chain, of) = columns_of(detached);
    format!(
        "id, job_id, model, date, completed_at, next_message, {chain}_length, {chain}_head,
        {of}input_tokens, {of}cached_tokens, {of}output_tokens, {of}cost_usd, {of}estimated_calls,
        {of}unpriced_calls"
    )
}

/// The names of the columns of the session's own tape, or of its detached one.
fn columns_of(detached: bool) -> (&'static str, &'static str) {
    if detached { ("detached", "detached_") } else { ("chain", "") }
}
