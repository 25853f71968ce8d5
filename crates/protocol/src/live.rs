//! A desk's analysis of one instrument: the live contract.

use crate::deployment::Deployment;
use papertape_core::provenance::{DataQuality, Research};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What a desk has come to about one instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveResponse {
    /// The version of this form.
    #[schema(example = "papertape.live.v1")]
    pub contract_version: String,
    /// The instrument.
    pub ticker: String,
    /// The trading day.
    pub date: Date,
    /// `completed`, `degraded_success` (a result, but some node gave nothing) or `failed` (no result).
    pub status: LiveStatus,
    /// What it came to; `null` where it failed. A fallback is no result.
    pub result: Option<LiveResult>,
    /// Why there is no result.
    pub error: Option<LiveError>,
    /// What was degraded.
    pub degradation: LiveDegradation,
    /// What the result rests on.
    #[schema(value_type = Object)]
    pub data_quality: DataQuality,
    /// The six fields of the research debate; also where there is no result.
    #[schema(value_type = Option<Object>)]
    pub research: Option<Research>,
    /// The job.
    pub job_id: String,
    /// The session.
    pub session_id: i64,
    /// The agent.
    pub model: String,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// How an analysis ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LiveStatus {
    /// With a result, and every node gave what it was asked for.
    Completed,
    /// With a result, although a node gave nothing.
    DegradedSuccess,
    /// Without a result.
    Failed,
}

/// What an analysis came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveResult {
    /// 1 to hold more of it, -1 less, 0 no change.
    pub direction: i64,
    /// The Research Manager's: 1.0 after a whole debate, 0.5 after a degraded one, 0.0 without a
    /// judgement.
    pub confidence: Option<f64>,
    /// `Buy`, `Overweight`, `Hold`, `Underweight` or `Sell`.
    pub rating: String,
    /// When the session was closed.
    pub timestamp: Option<Timestamp>,
}

/// Why an analysis has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveError {
    /// For programs: `portfolio_manager_timeout`, `job_cancelled`, …
    pub code: String,
    /// For people.
    pub message: String,
    /// May another try help?
    pub retryable: bool,
}

/// What was degraded of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveDegradation {
    /// Is anything?
    pub degraded: bool,
    /// Why, in the order of the graph, each reason once.
    pub reason_codes: Vec<String>,
    /// By node that gave nothing: `{kind, reason, elapsed_ms}`; by source that was not there, under
    /// `sources_missing`: the reason.
    #[schema(value_type = Object)]
    pub source_diagnostics: Map<String, Value>,
}
