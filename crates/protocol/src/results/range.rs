//! One agent's range of days.

use crate::cutoff::TrainingCutoffResponse;
use crate::masking::MaskedResponse;
use crate::number::Number;
use crate::quality::{BooksFacts, DegradedDayResponse};
use crate::reasoning::MessageResponse;
use crate::results::account::InsolvencyResponse;
use crate::results::baseline::Baselines;
use crate::results::benchmark::BenchmarkResponse;
use crate::results::conventions::ConventionsResponse;
use crate::results::history::HistoryResponse;
use crate::results::metrics::Metrics;
use crate::results::point_in_time::PointInTimeReason;
use crate::results::refill::RefillResponse;
use papertape_core::id::JobId;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The result of one model's range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RangeResult {
    /// The agent.
    pub model: String,
    /// The job whose result it is.
    pub job_id: String,
    /// Days that earlier jobs ran: those that this job skipped and, if no job was requested,
    /// those that it continues. Oldest first.
    pub done_before: Vec<DoneBefore>,
    /// The rules version of the job.
    pub rules_version: u32,
    /// `false`: a rule-based house model, not a language model.
    pub is_llm: Option<bool>,
    /// The training cut-offs of its language models, compared with its days.
    pub training_cutoffs: Vec<TrainingCutoffResponse>,
    /// The first day.
    pub start_date: Date,
    /// The last day.
    pub end_date: Date,
    /// The portfolio value before the first day.
    pub starting_portfolio_value: Number,
    /// The portfolio value at the last close.
    pub ending_portfolio_value: Number,
    /// The insolvency of the account; `null` otherwise.
    pub insolvent: Option<InsolvencyResponse>,
    /// The market conventions; `null` if the job names no market.
    pub conventions: Option<ConventionsResponse>,
    /// The same orders, filled at the next open; `null` if they filled there anyway.
    pub refilled_at_next_open: Option<RefillResponse>,
    /// The closes, oldest first.
    pub daily_portfolio_values: Vec<DailyPortfolioValue>,
    /// Over all days.
    pub period_metrics: Metrics,
    /// Its months, drawdowns and rolling Sharpe ratio.
    pub history: HistoryResponse,
    /// Over the days of full research only.
    pub full_research: FullResearch,
    /// The provenance of the research.
    pub provenance: RangeProvenance,
    /// The results of the baselines; `null` if the job's dataset is not available, or if they are shared.
    pub baselines: Option<Baselines>,
    /// The benchmark, the requested one or the job's own; `null`: none.
    pub benchmark: Option<BenchmarkResponse>,
    /// `null`, or one entry per day, as requested.
    pub reasoning: Option<Vec<RangeReasoning>>,
    /// The mark of a masked job; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<MaskedResponse>,
}

/// The account at a close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DailyPortfolioValue {
    /// The trading day.
    pub date: Date,
    /// Cash and holdings at the close.
    pub portfolio_value: Number,
    /// Cash.
    pub cash: Number,
    /// The status of the day: `completed` or `failed`.
    #[schema(schema_with = crate::vocabulary::day_status)]
    pub status: DayStatus,
    /// Whether it was a day of full research.
    pub full_research: bool,
    /// The job that ran it.
    pub job_id: String,
}

/// Days that an earlier job ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoneBefore {
    /// The job.
    pub job_id: String,
    /// The first of the days.
    pub start_date: Date,
    /// The last of them.
    pub end_date: Date,
}

/// The days of full research only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FullResearch {
    /// The number of these days.
    pub days: usize,
    /// The number of all days.
    pub total_days: usize,
    /// Their metrics, from their chained returns.
    pub period_metrics: Metrics,
}

/// The provenance of the research of a range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RangeProvenance {
    /// `verified` where all days are.
    pub point_in_time: Option<String>,
    /// Why the first `unverified` day is unverified; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point_in_time_reason: Option<PointInTimeReason>,
    /// Days whose session failed.
    pub failed_days: Vec<Date>,
    /// Days without full research, including failed days.
    pub degraded_days: Vec<Date>,
    /// The same days, each with its state and first reason.
    pub reasons: Vec<DegradedDayResponse>,
}

/// The reasoning of one day of a range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RangeReasoning {
    /// The trading day.
    pub date: Date,
    /// The session.
    pub session_id: i64,
    /// Its summary.
    pub session_summary: Option<String>,
    /// Order counts of the day, from the books.
    pub books: BooksFacts,
    /// Every message; absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Vec<MessageResponse>>,
}

impl DoneBefore {
    /// The days that other jobs than this one did, put together by job, from the job of each day, oldest first.
    #[must_use]
    pub fn spans<'a>(own: &JobId, days: impl Iterator<Item = (Date, &'a JobId)>) -> Vec<Self> {
        let mut spans: Vec<Self> = Vec::new();
        for (date, job) in days.filter(|(_, job)| *job != own) {
            match spans.last_mut() {
                Some(span) if span.job_id == job.as_str() => span.end_date = date,
                _ => spans.push(Self { job_id: job.to_string(), start_date: date, end_date: date }),
            }
        }
        spans
    }
}
