//! Scores and notes of sessions.

use super::by_key;
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::store::Store;
use crate::value::{FromRow, Row, from_row};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{DayStatus, SessionId};
use papertape_core::review::SessionReview;
use papertape_core::time::Date;
use std::collections::BTreeMap;

/// A job has one session per day and agent.
const REVIEWS: List = List::ascending("reviews", (50, 200), "s.date, s.model");

/// Filter for reviewed sessions; conditions are ANDed.
#[derive(Clone, Debug)]
pub struct ReviewFilter {
    /// Of this job.
    pub job: JobId,
    /// With this score or a higher one.
    pub min_score: Option<u8>,
    /// With this score or a lower one.
    pub max_score: Option<u8>,
}

/// A session with a score or a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedSession {
    /// Its ID.
    pub id: SessionId,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// `running` until it is closed.
    pub status: DayStatus,
    /// Its score and note.
    pub review: SessionReview,
}

impl Store {
    /// The reviews of these sessions. Sessions without a score and a note are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn reviews(&self, sessions: &[SessionId]) -> Result<BTreeMap<SessionId, SessionReview>> {
        self.read_with(sessions.to_vec(), |db, sessions| reviews_of(db, sessions).boxed()).await
    }

    /// The reviewed sessions of a job by day and agent, which do not change.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn job_reviews(
        &self,
        filter: &ReviewFilter,
        page: &PageRequest,
    ) -> Result<Page<ReviewedSession>> {
        self.read_with((filter.clone(), page.clone()), |db, (filter, page)| {
            job_reviews(db, filter, page).boxed()
        })
        .await
    }
}

/// The reviews of these sessions. Sessions without a score and a note are left out.
pub(crate) async fn reviews_of(
    db: &mut dyn Db,
    sessions: &[SessionId],
) -> Result<BTreeMap<SessionId, SessionReview>> {
    let sql = "SELECT session_id, score, note, updated_at, updated_by FROM session_reviews
        WHERE session_id IN (?)";
    let rows: BTreeMap<SessionId, Vec<SessionReview>> = by_key(db, sql, sessions).await?;
    Ok(rows.into_iter().filter_map(|(session, mut rows)| Some((session, rows.pop()?))).collect())
}

async fn job_reviews(
    db: &mut dyn Db,
    filter: &ReviewFilter,
    page: &PageRequest,
) -> Result<Page<ReviewedSession>> {
    let mut statement = Statement::new(
        "SELECT s.id, s.date, s.model, s.status, r.score, r.note, r.updated_at, r.updated_by
         FROM session_reviews r JOIN trading_sessions s ON s.id = r.session_id WHERE 1 = 1",
    );
    statement.add_some(" AND s.job_id = ?", Some(&filter.job));
    statement.add_some(" AND r.score >= ?", filter.min_score.map(i64::from));
    statement.add_some(" AND r.score <= ?", filter.max_score.map(i64::from));
    let key = |item: &ReviewedSession| (item.date.to_string(), item.agent.clone());
    REVIEWS.fetch(db, statement, page, key).await
}

impl FromRow for SessionReview {
    fn from_row(row: &mut Row) -> Result<Self> {
        let (score, note): (Option<i64>, Option<String>) = row.get()?;
        Ok(Self {
            score: score.and_then(|score| u8::try_from(score).ok()),
            note,
            updated_at: Some(row.get()?),
            updated_by: row.get()?,
        })
    }
}

from_row! { impl row => ReviewedSession { id, date, agent, status, review } }
