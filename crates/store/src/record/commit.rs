//! Commits of a session in one transaction: the fence, then their writes in order.

use super::prepared::{PreparedCommits, PreparedWrite};
use crate::action;
use crate::chats;
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::fence::Fence;
use crate::plans;
use crate::session_head::{Head, Heads};
use crate::texts::{self, NewTexts, TextIds};
use crate::value::{from_row, params};
use crate::vectors;
use crate::write_task::SessionCommits;
use futures::FutureExt as _;
use papertape_core::id::ContentHash;
use papertape_core::json;
use papertape_core::ports::BoxFuture;
use papertape_core::record::{Intent, Lease, ReusedFrom, SessionId, Write};
use papertape_core::tape::{StepClass, StepPath};
use papertape_core::time::Timestamp;
use rust_decimal::Decimal;
use std::any::Any;

impl SessionCommits for PreparedCommits {
    fn lease(&self) -> &Lease {
        &self.lease
    }

    fn texts(&self) -> &NewTexts {
        &self.texts
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn apply_all<'a>(
        &'a self,
        db: &'a mut dyn Db,
        group: &'a [&'a dyn SessionCommits],
    ) -> BoxFuture<'a, Result<Vec<Head>, StoreError>> {
        async move {
            let own = group.iter().filter_map(|commits| commits.as_any().downcast_ref());
            let own: Vec<&Self> = own.collect();
            apply_all(db, &own).await
        }
        .boxed()
    }
}

/// Applies commits under one lease in their order; the caller owns the transaction. The lease is checked once, and the
/// counters that are not known are read in one statement. Returns the counters after each.
pub(super) async fn apply_all(db: &mut dyn Db, group: &[&PreparedCommits]) -> Result<Vec<Head>, StoreError> {
    let Some(PreparedCommits { lease, .. }) = group.first() else { return Ok(Vec::new()) };
    let events = group.iter().map(|commits| commits.events).sum();
    let is_progress = group.iter().any(|commits| commits.is_progress);
    let mut fence = Fence::take_for(db, lease, events, is_progress).await?;
    let sessions = group.iter().map(|commits| (commits.session, commits.detached, commits.head.as_ref()));
    let mut heads = Heads::load(db, lease, sessions).await?;
    let mut after = Vec::new();
    for commits in group {
        let PreparedCommits { session, detached, .. } = commits;
        let texts = TextIds::new(&commits.texts, texts::insert(db, &commits.texts).await?);
        let head = heads.take(db, *session, *detached).await?;
        let commit =
            CommitOrigin { lease, session: *session, detached: *detached, at: Timestamp::UNIX_EPOCH };
        let mut applying = CommitApplier { db: &mut *db, commit, fence: &mut fence, head, texts };
        for (at, writes) in &commits.commits {
            applying.commit.at = *at;
            for write in writes {
                match write {
                    PreparedWrite::End(end) => applying.end(end).await?,
                    PreparedWrite::Other(write) => applying.write(write).await?,
                }
            }
        }
        let head = applying.head;
        after.push(heads.put_back(db, head).await?);
    }
    fence.settle(db).await?;
    Ok(after)
}

/// Where a commit comes from.
#[derive(Clone, Copy)]
pub(super) struct CommitOrigin<'a> {
    pub(super) lease: &'a Lease,
    pub(super) session: SessionId,
    pub(super) detached: bool,
    pub(super) at: Timestamp,
}

/// Commits while they are being applied.
pub(super) struct CommitApplier<'a> {
    pub(super) db: &'a mut dyn Db,
    pub(super) commit: CommitOrigin<'a>,
    pub(super) fence: &'a mut Fence,
    pub(super) head: Head,
    pub(super) texts: TextIds<'a>,
}

/// An existing step.
pub(super) struct FoundStep {
    pub(super) id: i64,
    pub(super) is_open: bool,
    pub(super) class: StepClass,
    pub(super) digest: ContentHash,
    pub(super) cost_usd: Option<Decimal>,
}

impl CommitApplier<'_> {
    async fn write(&mut self, write: &Write) -> Result<()> {
        match write {
            // Prepared apart from the other writes.
            Write::Text(_) | Write::End(_) => Ok(()),
            Write::Intent(intent) => self.intent(intent).await,
            Write::Attempt { path, ended, next } => self.attempt(path, ended, *next).await,
            Write::SendAgain { path, attempt } => self.send_again(path, *attempt).await,
            Write::FailDay { error } => self.fail_day(error).await,
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
        let sql = "INSERT INTO steps (session_id, detached, path, kind, class, digest, request_ref,
            state, lease_epoch, started_at)
            VALUES ($1, $2, $3, $4, 'external', $5, $6, 'intent', $7, $8)
            ON CONFLICT (session_id, detached, path) DO NOTHING RETURNING id";
        // Its first attempt is in progress; see `attempts`.
        self.db
            .insert_id(
                sql,
                params![
                    commit.session,
                    commit.detached,
                    &intent.path,
                    intent.path.kind(),
                    intent.digest,
                    intent.request_ref,
                    commit.lease.epoch,
                    commit.at
                ],
            )
            .await?
            .map(drop)
            .ok_or_else(|| duplicate_step(&intent.path))
    }

    pub(super) async fn find(&mut self, path: &StepPath) -> Result<Option<FoundStep>, StoreError> {
        let row = self
            .db
            .row(
                "SELECT id, state, class, digest, cost_usd FROM steps
                 WHERE session_id = $1 AND detached = $2 AND path = $3",
                params![self.commit.session, self.commit.detached, path],
            )
            .await?;
        let read = |mut row: crate::value::Row| {
            Ok(from_row!(row => FoundStep {
                id, is_open: row.get::<String>()? == "intent", class, digest, cost_usd,
            }))
        };
        row.map(read).transpose()
    }

    /// No steps of the day's own tape are accepted after the session's close; the summaries' tape stays open.
    pub(super) fn must_be_open(&self, path: &StepPath) -> Result<(), StoreError> {
        if self.head.closed && !self.commit.detached {
            return Err(StoreError::inconsistent(format!("the step {path} comes after its session's close")));
        }
        Ok(())
    }
}

/// A step's origin as stored in its column.
pub(super) fn stored_origin(origin: &ReusedFrom) -> String {
    json::canonical(&json::to_value(origin))
}

pub(super) fn duplicate_step(path: &StepPath) -> StoreError {
    StoreError::inconsistent(format!("the step {path} is there already"))
}
