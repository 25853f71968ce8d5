//! Completing a step.

use super::attempts::{attempts_of, used_by};
use super::commit::{CommitApplier, FoundStep, duplicate_step, stored_origin};
use super::derived;
use super::prepared::PreparedEnd;
use crate::error::StoreError;
use crate::session_head::{Link, Origin};
use crate::value::params;
use papertape_core::record::StepEnd;
use papertape_core::tape::StepClass;
use serde_json::json;

impl CommitApplier<'_> {
    pub(super) async fn end(&mut self, prepared: &PreparedEnd) -> Result<(), StoreError> {
        let end = &prepared.end;
        let is_closed = self.head.closed && !self.commit.detached;
        let is_first_success =
            end.attempt.as_ref().is_some_and(|attempt| attempt.number == 1 && attempt.error.is_none());
        // One statement for nearly every step. What it does not fit takes the general way.
        let step_id = match prepared.is_sent() {
            _ if is_closed => None,
            true if is_first_success => self.complete_first_attempt(prepared).await?,
            false if end.attempt.is_none() => self.add_done(prepared).await?,
            _ => None,
        };
        let step_id = match step_id {
            Some(step_id) => step_id,
            None => match self.end_other(prepared).await? {
                Some(step_id) => step_id,
                None => return Ok(()),
            },
        };
        let origin = Origin { step_id, path: &end.path, at: self.commit.at };
        for (ord, row) in prepared.rows.iter().enumerate() {
            derived::insert(self, origin, ord, row).await?;
        }
        Ok(())
    }

    /// Completes an open step whose first attempt succeeds. Returns `None` if there is no such step.
    async fn complete_first_attempt(&mut self, prepared: &PreparedEnd) -> Result<Option<i64>, StoreError> {
        let end = &prepared.end;
        let Some(attempt) = &end.attempt else { return Ok(None) };
        let link = self.head.link_text(&prepared.link);
        let (used, cost, estimated) = used_by(attempt);
        let sql = "UPDATE steps SET state = 'done', outcome_kind = $1, outcome_ref = $2, request_ref = $3,
            lease_epoch = $4, ended_at = $5, seq = $6, hash = $7, input_tokens = $8, cached_tokens = $9,
            output_tokens = $10, cost_usd = $11, estimated_calls = $12
            WHERE session_id = $13 AND detached = $14 AND path = $15 AND state = 'intent'
              AND class = 'external' AND digest = $16
              AND NOT EXISTS (SELECT 1 FROM step_attempts a WHERE a.step_id = steps.id)
            RETURNING id";
        let values = params![
            end.outcome_kind,
            end.outcome_ref,
            end.request_ref,
            self.commit.lease.epoch,
            self.commit.at,
            link.seq,
            link.hash,
            used.input_tokens,
            used.cached_tokens,
            used.output_tokens,
            cost,
            i64::from(estimated),
            self.commit.session,
            self.commit.detached,
            &end.path,
            end.digest
        ];
        match self.db.row(sql, values).await? {
            Some(mut row) => {
                self.head.spend(attempt);
                row.get().map(Some)
            }
            None => {
                self.head.unlink(link);
                Ok(None)
            }
        }
    }

    /// Adds a step that is done at once, without an attempt. Returns `None` if the step is there already.
    async fn add_done(&mut self, prepared: &PreparedEnd) -> Result<Option<i64>, StoreError> {
        let link = self.head.link_text(&prepared.link);
        let n = self.verdict_event(&prepared.end).await?;
        let id = self.insert_done(prepared, link, n).await?;
        if id.is_none() {
            self.head.unlink(link);
        }
        Ok(id)
    }

    /// Completes a step in all other cases: further attempts, failed ones, outcomes after the step's guard has
    /// closed. Returns `None` if only the cost was recorded.
    async fn end_other(&mut self, prepared: &PreparedEnd) -> Result<Option<i64>, StoreError> {
        let end = &prepared.end;
        let found = self.find(&end.path).await?;
        if let Some(step) = &found {
            if let Some(attempt) = &end.attempt {
                self.end_attempt(step, attempt).await?;
            }
            if step.class == StepClass::External && end.class == StepClass::External && !step.is_open {
                // Its guard closed earlier: this only adds to the cost.
                return Ok(None);
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
        let link = match (&found, &end.attempt) {
            (Some(_), Some(only)) if only.number == 1 => self.head.link_text(&prepared.link),
            (Some(step), _) => {
                let attempts = attempts_of(self.db, step.id).await?;
                self.head.link_text(&prepared.link_with(&attempts))
            }
            (None, _) => self.head.link_text(&prepared.link),
        };
        let n = self.verdict_event(end).await?;
        let Some(step) = found else {
            let id = self.insert_done(prepared, link, n).await?;
            let id = id.ok_or_else(|| duplicate_step(&end.path))?;
            if let Some(attempt) = &end.attempt {
                let step =
                    FoundStep { id, is_open: false, class: end.class, digest: end.digest, cost_usd: None };
                self.add_ended_attempt(&step, attempt).await?;
            }
            return Ok(Some(id));
        };
        let sql = "UPDATE steps SET state = 'done', request_ref = $1, outcome_kind = $2, outcome_ref = $3,
            reused_from = $4, lease_epoch = $5, ended_at = $6, seq = $7, hash = $8, n = $9 WHERE id = $10";
        let values = params![
            end.request_ref,
            end.outcome_kind,
            end.outcome_ref,
            end.reused_from.as_ref().map(stored_origin),
            self.commit.lease.epoch,
            self.commit.at,
            link.seq,
            link.hash,
            n,
            step.id
        ];
        self.db.execute(sql, values).await?;
        Ok(Some(step.id))
    }

    async fn insert_done(
        &mut self,
        prepared: &PreparedEnd,
        link: Link,
        n: Option<i64>,
    ) -> Result<Option<i64>, StoreError> {
        let (commit, end) = (self.commit, &prepared.end);
        let sql = "INSERT INTO steps (session_id, path, kind, class, digest, request_ref, state,
             outcome_kind, outcome_ref, reused_from, lease_epoch, started_at, ended_at, seq, hash, n, detached)
             VALUES ($1, $2, $3, $4, $5, $6, 'done', $7, $8, $9, $10, $11, $11, $12, $13, $14, $15) ON CONFLICT (session_id, detached, path) DO NOTHING RETURNING id";
        let values = params![
            commit.session,
            &end.path,
            end.path.kind(),
            end.class,
            end.digest,
            end.request_ref,
            end.outcome_kind,
            end.outcome_ref,
            end.reused_from.as_ref().map(stored_origin),
            commit.lease.epoch,
            commit.at,
            link.seq,
            link.hash,
            n,
            commit.detached
        ];
        self.db.insert_id(sql, values).await
    }

    /// Adds a guard's event; other steps have none.
    async fn verdict_event(&mut self, end: &StepEnd) -> Result<Option<i64>, StoreError> {
        if end.class != StepClass::Guard {
            return Ok(None);
        }
        let event = json!({
            "session": self.head.id, "agent": self.head.agent, "date": self.head.date, "path": end.path,
            "node": end.path.node(), "verdict": end.outcome_kind,
        });
        self.fence.event(self.db, "node", &event, self.commit.at).await.map(Some)
    }
}
