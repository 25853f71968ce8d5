//! A desk's analysis of one instrument: the live contract.

use crate::deployment::Deployment;
use crate::fields::maybe_day;
use papertape_core::provenance::{DataQuality, Research};
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// Which analysis of an instrument.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LiveQuery {
    /// The trading day; absent: the newest analysis.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(example = "2012-10-01")]
    pub date: Option<Date>,
    /// Only of this job.
    pub job_id: Option<String>,
    /// Only of this agent.
    pub model: Option<String>,
}

/// Which analysis of a session.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TickerQuery {
    /// The instrument; optional if the session has only one.
    pub ticker: Option<String>,
}

/// A desk's analysis of one instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveResponse {
    /// The version of this contract.
    #[schema(example = "papertape.live.v1")]
    pub contract_version: String,
    /// The instrument.
    pub ticker: String,
    /// The trading day.
    pub date: Date,
    /// `completed`, `degraded_success` (a result, but a node failed) or `failed` (no result).
    pub status: LiveStatus,
    /// The result; `null` if it failed. A fallback is not a result.
    pub result: Option<LiveResult>,
    /// Why there is no result.
    pub error: Option<LiveError>,
    /// What was degraded.
    pub degradation: LiveDegradation,
    /// The quality of the data behind the result.
    #[schema(value_type = Object)]
    pub data_quality: DataQuality,
    /// The six fields of the research debate; also present without a result.
    #[schema(value_type = Option<Object>)]
    pub research: Option<Research>,
    /// The job.
    pub job_id: String,
    /// The session.
    pub session_id: i64,
    /// The agent.
    pub model: String,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// How an analysis ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LiveStatus {
    /// With a result, and every node completed.
    Completed,
    /// With a result, although a node failed.
    DegradedSuccess,
    /// Without a result.
    Failed,
}

/// The result of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveResult {
    /// 1 to increase the position, -1 to decrease it, 0 for no change.
    pub direction: i64,
    /// The Research Manager's: 1.0 after a full debate, 0.5 after a degraded one, 0.0 without a
    /// judgment.
    pub confidence: Option<f64>,
    /// `Buy`, `Overweight`, `Hold`, `Underweight` or `Sell`.
    pub rating: String,
    /// When the session was closed.
    pub timestamp: Option<Timestamp>,
}

/// Why an analysis has no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveError {
    /// The error code, such as `portfolio_manager_timeout`, `job_cancelled`, …
    pub code: String,
    /// A human-readable message.
    pub message: String,
    /// Whether it can be retried.
    pub retryable: bool,
}

/// The degradations of an analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LiveDegradation {
    /// Whether anything is degraded.
    pub degraded: bool,
    /// Why, in the order of the graph, each reason once.
    pub reason_codes: Vec<String>,
    /// By node that failed: `{kind, reason, elapsed_ms}`; by missing source, under
    /// `sources_missing`: the reason.
    #[schema(value_type = Object)]
    pub source_diagnostics: Map<String, Value>,
}
