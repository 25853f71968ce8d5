//! Attempts of external steps.
//!
//! A step that was sent and has no row in `step_attempts` has one attempt, which began with the step: it is in
//! progress while the step is open, and has succeeded when the step is done, with the step's usage. Rows are written
//! from the first failure or the second attempt on, and from then on each attempt of the step has one. Copied steps
//! have no attempts. The view `attempts` has a row for every attempt.

use super::commit::{CommitApplier, FoundStep};
use crate::db::Db;
use crate::error::StoreError;
use crate::value::{Value, params};
use papertape_core::message::Usage;
use papertape_core::record::AttemptEnd;
use papertape_core::tape::StepPath;
use rust_decimal::Decimal;

impl CommitApplier<'_> {
    pub(super) async fn attempt(
        &mut self,
        path: &StepPath,
        ended: &AttemptEnd,
        next: Option<u32>,
    ) -> Result<(), StoreError> {
        let step = self.find(path).await?;
        let step = step.ok_or_else(|| StoreError::inconsistent(format!("there is no step {path}")))?;
        self.end_attempt(&step, ended).await?;
        match next {
            Some(next) if step.is_open => self.send(step.id, next).await,
            _ => Ok(()),
        }
    }

    pub(super) async fn send_again(&mut self, path: &StepPath, attempt: u32) -> Result<(), StoreError> {
        let step = self.find(path).await?.filter(|step| step.is_open);
        let step = step.ok_or_else(|| StoreError::inconsistent(format!("there is no open step {path}")))?;
        self.write_first_attempt(step.id).await?;
        self.send(step.id, attempt).await
    }

    async fn send(&mut self, step_id: i64, attempt: u32) -> Result<(), StoreError> {
        let sql = "INSERT INTO step_attempts (step_id, attempt, sent_at) VALUES ($1, $2, $3)";
        self.db.execute(sql, params![step_id, attempt, self.commit.at]).await.map(drop)
    }

    /// Writes the row of the first attempt, if the step has no rows.
    async fn write_first_attempt(&mut self, step_id: i64) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO step_attempts (step_id, attempt, sent_at, ended_at, input_tokens, cached_tokens,
                output_tokens, cost_usd)
            SELECT a.step_id, a.attempt, a.sent_at, a.ended_at, a.input_tokens, a.cached_tokens,
                a.output_tokens, a.cost_usd
            FROM attempts a
            WHERE a.step_id = $1 AND NOT EXISTS (SELECT 1 FROM step_attempts b WHERE b.step_id = $1)";
        self.db.execute(sql, params![step_id]).await.map(drop)
    }

    /// Ends an attempt, and adds its usage to the step and the session.
    pub(super) async fn end_attempt(
        &mut self,
        step: &FoundStep,
        ended: &AttemptEnd,
    ) -> Result<(), StoreError> {
        self.write_first_attempt(step.id).await?;
        let sql = "UPDATE step_attempts SET ended_at = $1, error = $2, input_tokens = $3, cached_tokens = $4,
            output_tokens = $5, cost_usd = $6 WHERE step_id = $7 AND attempt = $8 AND ended_at IS NULL";
        if self.db.execute(sql, &self.ended_row(step, ended)).await? == 0 {
            self.insert_ended_attempt(step, ended).await?;
        }
        self.add_usage(step, ended).await
    }

    /// Adds an attempt of a step that was not announced.
    pub(super) async fn add_ended_attempt(
        &mut self,
        step: &FoundStep,
        ended: &AttemptEnd,
    ) -> Result<(), StoreError> {
        if ended.number != 1 || ended.error.is_some() {
            self.insert_ended_attempt(step, ended).await?;
        }
        self.add_usage(step, ended).await
    }

    async fn insert_ended_attempt(&mut self, step: &FoundStep, ended: &AttemptEnd) -> Result<(), StoreError> {
        let sql = "INSERT INTO step_attempts (sent_at, ended_at, error, input_tokens, cached_tokens,
            output_tokens, cost_usd, step_id, attempt) VALUES ($1, $1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (step_id, attempt) DO NOTHING";
        if self.db.execute(sql, &self.ended_row(step, ended)).await? == 0 {
            let attempt = ended.number;
            return Err(StoreError::inconsistent(format!("attempt {attempt} of a step has ended twice")));
        }
        Ok(())
    }

    fn ended_row(&self, step: &FoundStep, ended: &AttemptEnd) -> [Value; 8] {
        let usage = ended.usage;
        [
            self.commit.at.into(),
            ended.error.as_ref().into(),
            usage.map(|usage| usage.input_tokens).into(),
            usage.map(|usage| usage.cached_tokens).into(),
            usage.map(|usage| usage.output_tokens).into(),
            ended.cost_usd.into(),
            step.id.into(),
            ended.number.into(),
        ]
    }

    async fn add_usage(&mut self, step: &FoundStep, ended: &AttemptEnd) -> Result<(), StoreError> {
        self.head.spend(ended);
        if ended.usage.is_none() && ended.cost_usd.is_none() && ended.estimate.is_none() {
            return Ok(());
        }
        let (used, cost, estimated) = used_by(ended);
        let cost = cost.map_or(step.cost_usd, |cost| Some(step.cost_usd.unwrap_or_default() + cost));
        let sql = "UPDATE steps SET input_tokens = input_tokens + $1, cached_tokens = cached_tokens + $2,
            output_tokens = output_tokens + $3, cost_usd = $4, estimated_calls = estimated_calls + $5
            WHERE id = $6";
        let values = params![
            used.input_tokens,
            used.cached_tokens,
            used.output_tokens,
            cost,
            i64::from(estimated),
            step.id
        ];
        self.db.execute(sql, values).await.map(drop)
    }
}

/// What an attempt adds to its step: tokens, cost, and whether they are an estimate.
pub(super) fn used_by(ended: &AttemptEnd) -> (Usage, Option<Decimal>, bool) {
    let estimate = ended.estimate.filter(|_| ended.usage.is_none());
    let used = ended.usage.or(estimate.map(|estimate| estimate.usage)).unwrap_or_default();
    let cost = ended.cost_usd.or(estimate.and_then(|estimate| estimate.cost_usd));
    (used, cost, estimate.is_some())
}

/// The attempts of a step that was sent, with their errors, oldest first.
pub(super) async fn attempts_of(
    db: &mut dyn Db,
    step: i64,
) -> Result<Vec<(u32, Option<String>)>, StoreError> {
    let sql = "SELECT attempt, error FROM step_attempts WHERE step_id = $1 ORDER BY attempt";
    let rows = db.query(sql, params![step]).await?;
    if rows.is_empty() {
        return Ok(vec![(1, None)]);
    }
    rows.into_iter().map(|mut row| Ok((row.get()?, row.get()?))).collect()
}
