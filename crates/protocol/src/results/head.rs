//! The head of one session.

use crate::deployment::Deployment;
use crate::masking::MaskedResponse;
use crate::number::Number;
use crate::quality::{BooksFacts, DayQualityResponse};
use crate::results::account::InsolvencyResponse;
use crate::results::conventions::ConventionsResponse;
use crate::results::provenance::Provenance;
use crate::reviews::Review;
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
    /// `solo`, `desk` or `external`; `null` until it is closed.
    pub agent_kind: Option<String>,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: Option<bool>,
    /// `running`, `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// The summary of the day.
    pub session_summary: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// Its usage, without summaries.
    pub usage: UsageSummary,
    /// Of a desk: its decisions, by instrument.
    pub decisions: Vec<DecisionResponse>,
    /// The words of its decisions: a desk's last answer on each instrument, another agent's last text. Empty until it is
    /// closed.
    pub decision_texts: Vec<DecisionText>,
    /// This close's portfolio value less the previous session's.
    pub profit: Option<Number>,
    /// The same in percent.
    pub return_pct: Option<Number>,
    /// At the close.
    pub portfolio_value: Option<Number>,
    /// The insolvency of the account, from the day on which it occurred; `null` otherwise.
    pub insolvent: Option<InsolvencyResponse>,
    /// Fills.
    pub trades: usize,
    /// Orders that were rejected or expired.
    pub rejections: usize,
    /// Order counts of the day, from the books.
    pub books: BooksFacts,
    /// The market conventions behind these numbers; `null` for a job without a market.
    pub conventions: Option<ConventionsResponse>,
    /// The quality of the day; `null` until it ends.
    pub quality: Option<DayQualityResponse>,
    /// Its score and note, by hand.
    pub review: Review,
    /// The provenance of the research.
    pub provenance: Provenance,
    /// The same agent's previous session in the same job.
    pub previous: Option<NeighbourResponse>,
    /// The same agent's next session in the same job.
    pub next: Option<NeighbourResponse>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A desk's decision on an instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecisionResponse {
    /// The instrument.
    pub symbol: String,
    /// The Portfolio Manager's rating; `null` if there is none, which is not a Hold.
    pub rating: Option<String>,
    /// What the Trader proposed.
    pub action: Option<String>,
    /// What the Research Manager recommended.
    pub recommendation: Option<String>,
    /// The confidence of the research.
    pub confidence: Option<f64>,
}

/// The words of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionText {
    /// Of a desk: the instrument.
    pub symbol: Option<String>,
    /// The step.
    pub path: String,
    /// The text, as the agent wrote it.
    pub content: String,
}

/// The previous or next session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NeighbourResponse {
    /// The session.
    pub session_id: i64,
    /// Its trading day.
    pub date: Date,
}
