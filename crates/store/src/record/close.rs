//! Closing a session: its final rows, and the link that commits to them.

use super::commit::CommitApplier;
use crate::db::Statement;
use crate::error::{Result, StoreError};
use crate::rows::unsign;
use crate::value::{columns, params};
use papertape_core::id::ContentHash;
use papertape_core::json;
use papertape_core::record::chain::{self, CloseLink, DailyFigures, DayLink};
use papertape_core::record::{CloseSession, DayStatus, HoldingRow, StartingPosition};
use serde_json::json;

impl CommitApplier<'_> {
    pub(super) async fn close(&mut self, close: &CloseSession) -> Result<()> {
        if self.head.closed {
            return Err(StoreError::inconsistent(format!("the session {} is closed already", self.head.id)));
        }
        let at = self.commit.at;
        let (starting, holdings) = (starting(&close.starting), holdings(&close.holdings));
        let (mut cash, mut value) = (close.cash, close.portfolio_value);
        unsign(&mut cash.0);
        unsign(&mut value.0);
        let daily = self.daily_figures(close).await?;
        let link = self.head.link(
            &CloseLink {
                status: close.status.as_str(),
                error: close.error.as_deref(),
                metadata: &close.metadata,
                starting: &starting,
                state: close.state.hash,
                holdings: &holdings,
                cash,
                portfolio_value: value,
                daily: &daily,
            }
            .to_json(),
        );
        let (job, agent, date) = (&self.head.job, &self.head.agent, self.head.date);
        let row = columns! {
            completed_at: at, total_messages: self.head.next_message, status: close.status,
            error: close.error.as_ref(), metadata: &close.metadata, starting_position: &json::to_value(&starting),
            cash, portfolio_value: value, state_hash: close.state.hash, close_seq: link.seq,
        };
        let mut update = Statement::update("trading_sessions", row);
        update.add(" WHERE id = ?", [self.head.id.into()]).add(
            " RETURNING (SELECT a.days FROM agent_chains a WHERE a.job_id = ? AND a.agent = ?),
                (SELECT a.head FROM agent_chains a WHERE a.job_id = ? AND a.agent = ?),
                (SELECT c.anchor FROM job_configs c WHERE c.job_id = ?)",
            [job.into(), agent.into(), job.into(), agent.into(), job.into()],
        );
        let chained =
            update.first::<(Option<i64>, Option<ContentHash>, Option<ContentHash>)>(self.db).await?;
        let (days, previous, anchor) = chained
            .ok_or_else(|| StoreError::inconsistent(format!("there is no session {}", self.head.id)))?;
        let previous = previous
            .or_else(|| anchor.map(|anchor| chain::agent_anchor(anchor, agent)))
            .ok_or_else(|| StoreError::inconsistent(format!("the job {job} has no anchor")))?;
        let day = DayLink {
            date,
            session: link.hash,
            links: link.seq,
            status: close.status.as_str(),
            state: close.state.hash,
        };
        let head = chain::follow(previous, &day.to_json());
        let row = columns! { job_id: job, agent, days: days.unwrap_or_default() + 1, head };
        let changes = " ON CONFLICT (job_id, agent) DO UPDATE SET days = excluded.days, head = excluded.head";
        Statement::insert("agent_chains", row).add(changes, []).execute(self.db).await?;
        for row in &holdings {
            let row = columns! {
                session_id: self.head.id, symbol: &row.symbol, quantity: row.quantity, price: row.price,
            };
            self.db.insert("holdings", row).await?;
        }
        let row = columns! { job_id: job, agent, after_date: date, hash: close.state.hash };
        self.db.insert("agent_states", row).await?;
        self.db
            .execute(
                "UPDATE job_details SET status = $1, error = $2, completed_at = $3
                 WHERE job_id = $4 AND date = $5 AND model = $6",
                params![close.status, close.error.as_ref(), at, job, date, agent],
            )
            .await?;
        self.head.closed = true;
        let event = json!({ "session": self.head.id, "agent": agent, "date": date, "status": close.status });
        self.fence.event(self.db, "progress", &event, at).await.map(drop)
    }

    /// The session stays open, and its model-day is marked as failed until the job is resumed.
    pub(super) async fn fail_day(&mut self, error: &str) -> Result<()> {
        let (job, agent, date) = (self.head.job.clone(), self.head.agent.clone(), self.head.date);
        let status = DayStatus::Failed;
        let sql =
            "UPDATE trading_sessions SET status = $1, error = $2 WHERE id = $3 AND completed_at IS NULL";
        if self.db.execute(sql, params![status, error, self.head.id]).await? == 0 {
            return Err(StoreError::inconsistent("a session that is closed cannot stop"));
        }
        let sql =
            "UPDATE job_details SET status = $1, error = $2 WHERE job_id = $3 AND date = $4 AND model = $5";
        self.db.execute(sql, params![status, error, &job, date, &agent]).await?;
        let event = json!({ "session": self.head.id, "agent": agent, "date": date, "status": status });
        self.fence.event(self.db, "progress", &event, self.commit.at).await.map(drop)
    }

    /// Writes the day's profit and return to the session's last row of `positions`, if there is one.
    async fn daily_figures(&mut self, close: &CloseSession) -> Result<DailyFigures> {
        let (mut profit, mut return_pct) = (close.daily_profit, close.daily_return_pct);
        unsign(&mut profit.0);
        return_pct.iter_mut().for_each(unsign);
        let sql = "UPDATE positions SET daily_profit = $1, daily_return_pct = $2
            WHERE session_id = $3
              AND action_id = (SELECT max(action_id) FROM positions WHERE session_id = $3)";
        Ok(match self.db.execute(sql, params![profit, return_pct, self.head.id]).await? {
            0 => DailyFigures::default(),
            _ => DailyFigures { profit: Some(profit), return_pct },
        })
    }
}

fn holdings(rows: &[HoldingRow]) -> Vec<HoldingRow> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        unsign(&mut row.quantity.0);
        unsign(&mut row.price.0);
    }
    rows.sort_by(|left, right| left.symbol.cmp(&right.symbol));
    rows
}

fn starting(position: &StartingPosition) -> StartingPosition {
    let mut position = position.clone();
    for (_, quantity) in &mut position.holdings {
        unsign(&mut quantity.0);
    }
    unsign(&mut position.cash.0);
    unsign(&mut position.portfolio_value.0);
    position
}
