//! The head of one session.

use crate::deployment::Deployment;
use crate::number::Number;
use crate::quality::{BooksFacts, DayQualityResponse};
use crate::results::account::InsolvencyResponse;
use crate::results::conventions::ConventionsResponse;
use crate::results::provenance::Provenance;
use crate::usage::UsageSummary;
use papertape_core::record::DayStatus;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The head of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionHeadResponse {
    /// The session.
    pub session_id: i64,
    /// Its job.
    pub job_id: String,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub model: String,
    /// `solo` or `desk`; `null` until it is closed.
    pub agent_kind: Option<String>,
    /// `false`: a rule-based house model, no language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// What the day came to, in a sentence or two.
    pub session_summary: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// What it has used, summaries left out.
    pub usage: UsageSummary,
    /// Of a desk: what was decided about each instrument, by instrument.
    pub decisions: Vec<DecisionResponse>,
    /// This close's portfolio value less the previous session's.
    pub profit: Option<Number>,
    /// The same in percent.
    pub return_pct: Option<Number>,
    /// At the close.
    pub portfolio_value: Option<Number>,
    /// The end of the account, from the day on which it was found; `null` while something is left.
    pub insolvent: Option<InsolvencyResponse>,
    /// Fills.
    pub trades: usize,
    /// Orders that were refused or expired.
    pub rejections: usize,
    /// What the books say of the day, beside the summary.
    pub books: BooksFacts,
    /// What the run is traded by: the figures above depend on it. `null` for a job without a market.
    pub conventions: Option<ConventionsResponse>,
    /// How the day came about, in a few words; `null` while it is not over.
    pub quality: Option<DayQualityResponse>,
    /// How the research came about.
    pub provenance: Provenance,
    /// The same agent's session before, in the same job.
    pub previous: Option<NeighbourResponse>,
    /// The same agent's session after, in the same job.
    pub next: Option<NeighbourResponse>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What a desk has decided about an instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecisionResponse {
    /// The instrument.
    pub symbol: String,
    /// The Portfolio Manager's rating; `null` where there is none, which is another thing than a Hold.
    pub rating: Option<String>,
    /// What the Trader proposed.
    pub action: Option<String>,
    /// What the Research Manager recommended.
    pub recommendation: Option<String>,
    /// How much of the research stood behind it.
    pub confidence: Option<f64>,
}

/// A session beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NeighbourResponse {
    /// The session.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
}
