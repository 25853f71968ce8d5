//! Steps that end without an outcome: their guard closed.

use super::attempts::attempts_of;
use super::commit::{CommitApplier, duplicate_step, stored_origin};
use crate::error::StoreError;
use crate::value::params;
use papertape_core::json;
use papertape_core::record::chain::StepLink;
use papertape_core::record::{Intent, ReusedFrom};
use papertape_core::tape::{StepClass, StepPath};
use serde_json::json;

impl CommitApplier<'_> {
    /// Adds a step that was abandoned in the parent of a branch.
    pub(super) async fn abandoned(
        &mut self,
        step: &Intent,
        reused_from: &ReusedFrom,
    ) -> Result<(), StoreError> {
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
        let sql = "INSERT INTO steps (session_id, detached, path, kind, class, digest, request_ref,
            state, lease_epoch, started_at, ended_at, reused_from, seq, hash)
            VALUES ($1, $2, $3, $4, $5, $6, $7, 'abandoned', $8, $9, $9, $10, $11, $12)
            ON CONFLICT (session_id, detached, path) DO NOTHING";
        let added = self
            .db
            .execute(
                sql,
                params![
                    commit.session,
                    commit.detached,
                    &step.path,
                    step.path.kind(),
                    class,
                    step.digest,
                    step.request_ref,
                    commit.lease.epoch,
                    commit.at,
                    stored_origin(reused_from),
                    link.seq,
                    link.hash
                ],
            )
            .await?;
        if added == 0 { Err(duplicate_step(&step.path)) } else { Ok(()) }
    }

    /// Abandons all open steps in the scope, in path order.
    pub(super) async fn close_scope(&mut self, scope: &str) -> Result<(), StoreError> {
        let commit = self.commit;
        let rows = self
            .db
            .query(
                "SELECT id, path, class, digest, request_ref,
                 (SELECT coalesce(max(a.attempt), 1) FROM step_attempts a WHERE a.step_id = steps.id) FROM steps
                 WHERE session_id = $1 AND detached = $2 AND state = 'intent'",
                params![commit.session, commit.detached],
            )
            .await?;
        let mut open = Vec::new();
        for mut row in rows {
            let id: i64 = row.get()?;
            let path: StepPath = row.get()?;
            if path.is_within(scope) {
                open.push((path, id, row));
            }
        }
        open.sort_by(|left, right| left.0.cmp(&right.0));
        for (path, id, mut row) in open {
            let implied_hash = json::hash(&json!([]));
            let (class, digest, request_ref) = (row.get()?, row.get()?, row.get()?);
            let mut attempts = Vec::new();
            if row.get::<u32>()? > 1 {
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
                    "UPDATE steps SET state = 'abandoned', ended_at = $1, seq = $2, hash = $3
                     WHERE id = $4",
                    params![commit.at, link.seq, link.hash, id],
                )
                .await?;
        }
        Ok(())
    }
}
