//! Scores and notes of sessions.

use crate::deployment::Deployment;
use crate::fields::given;
use crate::masking::MaskedResponse;
use crate::query::{parsed, rows};
use papertape_core::record::DayStatus;
use papertape_core::review::{ReviewChanges, SessionReview};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A session's score and note, by hand. Nothing that a session does or proves depends on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Review {
    /// From 1, bad, to 5, good; `null`: none.
    #[schema(minimum = 1, maximum = 5)]
    pub score: Option<u8>,
    /// The note; `null`: none.
    pub note: Option<String>,
    /// When one of them last changed; `null` without both.
    pub updated_at: Option<Timestamp>,
    /// The name of the token that changed it last; `null` if no token was required.
    pub updated_by: Option<String>,
}

/// Changes to a session's review. A field that is absent stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "score": 2, "note": "It bought on a headline that it had read the day before." }))]
pub struct ReviewPatch {
    /// From 1, bad, to 5, good; `null` removes it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u8>, minimum = 1, maximum = 5)]
    pub score: Option<Option<u8>>,
    /// The note, up to 10,000 bytes; `null` or empty removes it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 10_000)]
    pub note: Option<Option<String>>,
}

/// A session's review after a change.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReviewResponse {
    /// The session.
    pub session_id: i64,
    /// Its score and note.
    pub review: Review,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// Which reviews of a job.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReviewsQuery {
    /// Only sessions with this score or a higher one.
    #[serde(default, deserialize_with = "parsed")]
    #[param(minimum = 1, maximum = 5)]
    pub min_score: Option<u8>,
    /// Only sessions with this score or a lower one.
    #[serde(default, deserialize_with = "parsed")]
    #[param(minimum = 1, maximum = 5)]
    pub max_score: Option<u8>,
    /// Max sessions.
    #[serde(default, deserialize_with = "rows")]
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of a job's reviewed sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewsResponse {
    /// The job.
    pub job_id: String,
    /// Its sessions with a score or a note, by day and agent.
    pub reviews: Vec<ReviewedSessionResponse>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A session with a score or a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewedSessionResponse {
    /// The session.
    pub session_id: i64,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Its score and note.
    pub review: Review,
}

impl From<SessionReview> for Review {
    fn from(review: SessionReview) -> Self {
        let SessionReview { score, note, updated_at, updated_by } = review;
        Self { score, note, updated_at, updated_by }
    }
}

impl From<ReviewPatch> for ReviewChanges {
    fn from(patch: ReviewPatch) -> Self {
        Self { score: patch.score, note: patch.note.map(Option::unwrap_or_default) }
    }
}
