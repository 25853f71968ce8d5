//! Sessions by ID, for consumers that report each one when it ends.

use super::by_key;
use crate::db::Db;
use crate::error::StoreError;
use crate::read::UsageCost;
use crate::store::Store;
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::chat::ChatId;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::record::{DayStatus, SessionId};
use papertape_core::time::{Date, Timestamp};

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

impl Store {
    /// Session IDs above `after`, ascending, at most `limit`.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn sessions_after(&self, after: SessionId, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        self.read(move |db| {
            async move {
                let sql = "SELECT id FROM trading_sessions WHERE id > $1 ORDER BY id LIMIT $2";
                let rows = db.query(sql, params![after, limit]).await?;
                rows.into_iter().map(|mut row| row.get()).collect()
            }
            .boxed()
        })
        .await
    }

    /// The highest session ID and the IDs of open sessions; `None` if there are no sessions.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn newest_and_open_sessions(&self) -> Result<Option<(SessionId, Vec<SessionId>)>, StoreError> {
        self.read(move |db| {
            async move {
                let newest: Option<SessionId> =
                    match db.row("SELECT max(id) FROM trading_sessions", &[]).await? {
                        Some(mut row) => row.get()?,
                        None => None,
                    };
                let Some(newest) = newest else { return Ok(None) };
                let sql = "SELECT id FROM trading_sessions WHERE completed_at IS NULL ORDER BY id";
                let rows = db.query(sql, &[]).await?;
                let open: Result<Vec<SessionId>, StoreError> =
                    rows.into_iter().map(|mut row| row.get()).collect();
                Ok(Some((newest, open?)))
            }
            .boxed()
        })
        .await
    }

    /// Those of the given sessions that have ended, by ID.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn ended_of(&self, sessions: Vec<SessionId>) -> Result<Vec<SessionId>, StoreError> {
        self.read_with(sessions, |db, sessions| {
            async move {
                if sessions.is_empty() {
                    return Ok(Vec::new());
                }
                let sql = "SELECT id FROM trading_sessions WHERE completed_at IS NOT NULL AND id IN (?)";
                Ok(by_key(db, sql, sessions, |_| Ok(())).await?.into_keys().collect())
            }
            .boxed()
        })
        .await
    }

    /// A session in brief; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn session_brief(&self, session: SessionId) -> Result<Option<SessionBrief>, StoreError> {
        self.read(move |db| async move { brief(db, session).await }.boxed()).await
    }
}

async fn brief(db: &mut dyn Db, session: SessionId) -> Result<Option<SessionBrief>, StoreError> {
    let sql = "SELECT id, job_id, date, model, status, error, started_at, completed_at, input_tokens,
        cached_tokens, output_tokens, cost_usd, estimated_calls, unpriced_calls,
        (SELECT d.agent_hash FROM job_details d
            WHERE d.job_id = t.job_id AND d.date = t.date AND d.model = t.model),
        (SELECT m.session_id FROM chat_messages m WHERE m.job_id = t.job_id ORDER BY m.n LIMIT 1)
        FROM trading_sessions t WHERE id = $1";
    let Some(mut row) = db.row(sql, params![session]).await? else { return Ok(None) };
    Ok(Some(SessionBrief {
        id: row.get()?,
        job: row.get()?,
        date: row.get()?,
        agent: row.get()?,
        status: row.get()?,
        error: row.get()?,
        started_at: row.get()?,
        completed_at: row.get()?,
        used: UsageCost {
            usage: Usage { input_tokens: row.get()?, cached_tokens: row.get()?, output_tokens: row.get()? },
            cost_usd: row.get()?,
            estimated_calls: row.get()?,
            unpriced_calls: row.get()?,
        },
        agent_hash: row.get()?,
        chat: row.get()?,
    }))
}
