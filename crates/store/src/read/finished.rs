//! Sessions by ID, for consumers that report each one when it ends.

use super::by_key;
use crate::error::Result;
use crate::read::UsageCost;
use crate::store::Store;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::chat::ChatId;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::{DayStatus, SessionId};
use papertape_core::time::{Date, Timestamp};
use std::collections::BTreeMap;

/// A session without its transcript and actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionBrief {
    /// Its ID.
    pub id: SessionId,
    /// Its job.
    pub job: JobId,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// `running` until it is closed.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// Its usage, without summaries.
    pub used: UsageCost,
    /// The agent's hash, if the job names its model-days.
    pub agent_hash: Option<ContentHash>,
    /// The chat session that it replies in.
    pub chat: Option<ChatId>,
}

/// The parts of a session that its results leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// Number of messages at its close.
    pub total_messages: Option<u32>,
    /// Why there is no summary.
    pub summary_error: Option<String>,
    /// Its usage, without summaries.
    pub used: UsageCost,
    /// Usage of its summaries.
    pub used_by_summaries: UsageCost,
}

impl Store {
    /// When these sessions ran and what they used, by session.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn session_records(
        &self,
        sessions: &[SessionId],
    ) -> Result<BTreeMap<SessionId, SessionRecord>> {
        self.read_with(sessions.to_vec(), |db, sessions| {
            async move {
                if sessions.is_empty() {
                    return Ok(BTreeMap::new());
                }
                let sql = "SELECT id, started_at, completed_at, total_messages, summary_error,
                    input_tokens, cached_tokens, output_tokens, cost_usd, estimated_calls, unpriced_calls,
                    detached_input_tokens, detached_cached_tokens, detached_output_tokens, detached_cost_usd,
                    detached_estimated_calls, detached_unpriced_calls
                    FROM trading_sessions WHERE id IN (?)";
                let found = by_key::<_, SessionRecord>(db, sql, sessions).await?;
                Ok(found.into_iter().filter_map(|(id, rows)| Some((id, rows.into_iter().next()?))).collect())
            }
            .boxed()
        })
        .await
    }

    /// Session IDs above `after`, ascending, at most `limit`.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn sessions_after(&self, after: SessionId, limit: u32) -> Result<Vec<SessionId>> {
        let sql = "SELECT id FROM trading_sessions WHERE id > $1 ORDER BY id LIMIT $2";
        self.all(sql, params![after, limit]).await
    }

    /// The highest session ID and the IDs of open sessions; `None` if there are no sessions.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn newest_and_open_sessions(&self) -> Result<Option<(SessionId, Vec<SessionId>)>> {
        self.read(move |db| {
            async move {
                let newest =
                    db.first::<Option<SessionId>>("SELECT max(id) FROM trading_sessions", &[]).await?;
                let Some(newest) = newest.flatten() else { return Ok(None) };
                let sql = "SELECT id FROM trading_sessions WHERE completed_at IS NULL ORDER BY id";
                Ok(Some((newest, db.all(sql, &[]).await?)))
            }
            .boxed()
        })
        .await
    }

    /// Those of the given sessions that have ended, by ID.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn ended_of(&self, sessions: Vec<SessionId>) -> Result<Vec<SessionId>> {
        self.read_with(sessions, |db, sessions| {
            async move {
                if sessions.is_empty() {
                    return Ok(Vec::new());
                }
                let sql = "SELECT id, completed_at FROM trading_sessions WHERE completed_at IS NOT NULL AND id IN (?)";
                Ok(by_key::<_, Timestamp>(db, sql, sessions).await?.into_keys().collect())
            }
            .boxed()
        })
        .await
    }

    /// A session in brief; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn session_brief(&self, session: SessionId) -> Result<Option<SessionBrief>> {
        let sql = "SELECT id, job_id, date, model, status, error, started_at, completed_at, input_tokens,
            cached_tokens, output_tokens, cost_usd, estimated_calls, unpriced_calls,
            (SELECT d.agent_hash FROM job_details d
                WHERE d.job_id = t.job_id AND d.date = t.date AND d.model = t.model),
            (SELECT m.session_id FROM chat_messages m WHERE m.job_id = t.job_id ORDER BY m.n LIMIT 1)
            FROM trading_sessions t WHERE id = $1";
        self.first(sql, params![session]).await
    }
}

from_row! { impl row => SessionRecord {
    started_at, completed_at, total_messages, summary_error, used, used_by_summaries,
} }

from_row! { impl row => SessionBrief {
    id, job, date, agent, status, error, started_at, completed_at, used, agent_hash, chat,
} }
