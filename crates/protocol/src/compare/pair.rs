//! One test of a comparison.

use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Two compared items: A minus B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ComparedPair {
    /// The first item.
    pub a: String,
    /// The second item.
    pub b: String,
    /// `better`, `worse`, `not_distinguishable`, `too_few_days`, `interim`, `identical`, `insolvent` or
    /// `not_comparable`: A against B.
    #[schema(schema_with = crate::vocabulary::verdict)]
    pub verdict: String,
    /// The same in words.
    pub words: String,
    /// What the estimate is about: `run_against_baseline`, `two_runs`, `configurations` or `windows`; `null` without a
    /// claim.
    pub estimand: Option<String>,
    /// The same in words.
    pub claim: Option<String>,
    /// Why this verdict, at least one sentence.
    pub reasons: Vec<String>,
    /// What differs besides the agents, if they are not comparable.
    pub mismatches: Vec<MismatchResponse>,
    /// Shared days.
    pub days: usize,
    /// Of these, days with a difference.
    pub different_days: usize,
    /// Total return of A over the shared days; for several trials, from the mean of their log returns.
    pub return_a: Option<f64>,
    /// That of B.
    pub return_b: Option<f64>,
    /// The difference; `null` if they are not comparable or an account is insolvent.
    pub difference: Option<DifferenceResponse>,
    /// Adjusted by Holm over the family; `null` under 20 days.
    pub holm_p: Option<f64>,
    /// The smallest difference per year, in points, that would have been detected with 80% power; `null` under 60 days.
    pub min_detectable_points: Option<f64>,
    /// The number of days needed to detect `target_points`; `null` if no number of days is enough, and under 60 days.
    pub days_needed: Option<usize>,
    /// The same orders, filled at the next open.
    pub refilled: CheckResponse,
    /// Net of model cost.
    pub net_of_model_cost: CheckResponse,
    /// The difference on days with full research in all trials of both. These are a selected subset, so there is no
    /// verdict.
    pub full_research: Option<DifferenceResponse>,
    /// How far the trials differ on exactly these days: a spread, without a verdict. For three or more trials in one
    /// window.
    pub trial_spread: Option<TrialSpreadResponse>,
    /// Parts of the variance of several trials.
    pub variance: Option<VarianceResponse>,
    /// For several windows: in how many A was ahead.
    pub windows_ahead: Option<WindowsAhead>,
    /// The difference of the annualized Sharpe ratios, for single runs from 60 active days on.
    pub sharpe: Option<SharpeResponse>,
    /// The cumulative difference with its cone, for a chart.
    pub cone: Vec<ConePoint>,
}

/// A condition that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MismatchResponse {
    /// `dataset`, `market`, `universe`, `costs`, `fill`, `mask`, `days`, `model`, `prompts`, `settings` or `trials`.
    pub what: String,
    /// That of A.
    pub a: String,
    /// That of B.
    pub b: String,
}

/// Bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IntervalResponse {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// A difference of log returns, A minus B. 0.01 is one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DifferenceResponse {
    /// Days.
    pub days: usize,
    /// Mean per day.
    pub mean_daily: f64,
    /// Over all days: `ln(V_A / V_B)`.
    pub total: f64,
    /// Mean per day x days per year; `null` under 60 days.
    pub per_year: Option<f64>,
    /// `too_few_days` if the difference is not annualized.
    pub annualized_unavailable: Option<String>,
    /// The 95% interval of the mean per day; `null` under 20 days.
    pub interval: Option<IntervalResponse>,
    /// That of the total.
    pub total_interval: Option<IntervalResponse>,
    /// The standard error of the mean per day.
    pub standard_error: Option<f64>,
    /// Degrees of freedom.
    pub degrees_of_freedom: Option<f64>,
    /// `mean / standard_error`.
    pub t: Option<f64>,
    /// Two-sided, not adjusted.
    pub p_value: Option<f64>,
}

/// A mean of log returns per day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MeanResponse {
    /// Days.
    pub days: usize,
    /// Per day.
    pub mean_daily: f64,
    /// The sample deviation per day, ddof 1.
    pub daily_deviation: Option<f64>,
    /// The 95% interval of the mean per day; `null` under 20 days, and for several trials.
    pub interval: Option<IntervalResponse>,
}

/// A Sharpe ratio or a difference of two, annualized, ddof 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SharpeResponse {
    /// Days.
    pub days: usize,
    /// Annualized.
    pub annualized: f64,
    /// Its 95% interval.
    pub interval: IntervalResponse,
}

/// A robustness check of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CheckResponse {
    /// The difference under the check; `null` if it could not be computed.
    pub difference: Option<DifferenceResponse>,
    /// Adjusted by Holm over the family.
    pub holm_p: Option<f64>,
    /// Why it could not be computed, or does not apply.
    pub unavailable: Option<String>,
}

/// Welch's t test of trials on the same days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialSpreadResponse {
    /// Mean of the trials of A minus that of B, in log return per day.
    pub difference: f64,
    /// The 95% interval on these days.
    pub interval: IntervalResponse,
    /// Two-sided.
    pub p_value: f64,
    /// Degrees of freedom.
    pub degrees_of_freedom: f64,
    /// Sample deviation of A's trials.
    pub spread_a: f64,
    /// That of B's; `null` of a baseline.
    pub spread_b: Option<f64>,
}

/// Parts of the variance of a difference of several trials, in squared log return per day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VarianceResponse {
    /// Of the days: `Vday`.
    pub days: f64,
    /// Of the trials beyond their days: `E`.
    pub trials: f64,
}

/// In how many windows A was ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WindowsAhead {
    /// Windows in which A was ahead.
    pub ahead: usize,
    /// All windows.
    pub of: usize,
}

/// A point of the chart of the cumulative difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConePoint {
    /// The trading day.
    pub date: Date,
    /// The cumulative difference of log returns.
    pub cumulated: f64,
    /// The half-width of the cone around 0, at the family's critical value.
    pub half_width: f64,
}
