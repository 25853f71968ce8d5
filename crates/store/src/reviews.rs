//! Scores and notes of sessions.

use crate::db::{Backend, Db, Statement};
use crate::error::Result;
use crate::read::reviews_of;
use crate::store::Store;
use crate::value::{columns, params};
use futures::FutureExt as _;
use papertape_core::label::LabelError;
use papertape_core::record::SessionId;
use papertape_core::review::{ReviewChanges, SessionReview};
use papertape_core::time::Timestamp;
use papertape_redact::Sanitized;

/// The outcome of a change of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewWrite {
    /// There is no such session.
    NotFound,
    /// The changes are invalid; nothing was written.
    Rejected(LabelError),
    /// The review now.
    Written(SessionReview),
}

impl Store {
    /// Changes a session's score and note. Each is replaced as a whole; the last write wins.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn write_review(
        &self,
        session: SessionId,
        changes: Sanitized<ReviewChanges>,
        by: Option<String>,
        at: Timestamp,
    ) -> Result<ReviewWrite> {
        let changes = match changes.get().checked() {
            Ok(changes) => changes,
            Err(error) => return Ok(ReviewWrite::Rejected(error)),
        };
        self.write_with((changes, by), move |db, (changes, by)| {
            write(db, session, changes, by.as_deref(), at).boxed()
        })
        .await
    }
}

async fn write(
    db: &mut dyn Db,
    session: SessionId,
    changes: &ReviewChanges,
    by: Option<&str>,
    at: Timestamp,
) -> Result<ReviewWrite> {
    // The session cannot be deleted meanwhile. Its worker, which updates the row, does not wait for this.
    let lock = match db.backend() {
        Backend::Postgres => "FOR KEY SHARE",
        Backend::Sqlite => "",
    };
    let sql = format!("SELECT 1 FROM trading_sessions WHERE id = $1 {lock}");
    if db.row(&sql, params![session]).await?.is_none() {
        return Ok(ReviewWrite::NotFound);
    }
    let note = changes.note.as_ref().filter(|note| !note.is_empty());
    let row = columns! {
        session_id: session, score: changes.score.flatten().map(i64::from), note, updated_at: at, updated_by: by,
    };
    // One statement per write, so that two readers who write at the same time do not undo each other's field. An equal
    // value changes nothing, not even the name of the writer.
    let given = [("score", changes.score.is_some()), ("note", changes.note.is_some())];
    let given: Vec<&str> =
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
    if !given.is_empty() {
        let all = |text: fn(&str) -> String, by: &str| {
            given.iter().map(|name| text(name)).collect::<Vec<_>>().join(by)
        };
        let set = all(|name| format!("{name} = excluded.{name}"), ", ");
        let differs = all(|name| format!("session_reviews.{name} IS DISTINCT FROM excluded.{name}"), " OR ");
        let conflict = format!(
            " ON CONFLICT (session_id) DO UPDATE SET {set}, updated_at = excluded.updated_at,
            updated_by = excluded.updated_by WHERE {differs}"
        );
        Statement::insert("session_reviews", row).add(&conflict, []).execute(db).await?;
        let empty = "DELETE FROM session_reviews WHERE session_id = $1 AND score IS NULL AND note IS NULL";
        db.execute(empty, params![session]).await?;
    }
    let found = reviews_of(db, &[session]).await?.remove(&session);
    Ok(ReviewWrite::Written(found.unwrap_or_default()))
}
