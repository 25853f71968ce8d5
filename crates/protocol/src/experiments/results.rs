//! Results of experiments: every trial, with mean and spread.

use super::{PlannedAgent, Window};
use crate::cutoff::TrainingCutoffResponse;
use crate::deployment::Deployment;
use crate::number::Number;
use papertape_core::record::JobStatus;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The results of an experiment: every trial, and the mean and the spread of the trials of each window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExperimentResults {
    /// The experiment.
    pub experiment_id: String,
    /// Why it is interim; `null`: it is complete.
    pub interim: Option<String>,
    /// By agent, as planned.
    pub agents: Vec<AgentTrials>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The results of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentTrials {
    /// The agent, and what its trials differ in.
    pub agent: PlannedAgent,
    /// The training cut-offs of its language models, compared with the closed days of its trials.
    pub training_cutoffs: Vec<TrainingCutoffResponse>,
    /// By window, oldest first.
    pub windows: Vec<WindowTrials>,
}

/// The trials of an agent in a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WindowTrials {
    /// The window, from 1.
    pub number: u32,
    /// The arm: what is masked; absent if the experiment has one arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Its days.
    pub window: Window,
    /// The total return of buying and holding over the window; `null` until a trial has completed it.
    pub buy_and_hold: Option<f64>,
    /// Every planned trial that has a job.
    pub trials: Vec<TrialResult>,
    /// Mean and spread of the trials that have completed the window.
    pub spread: TrialSpread,
}

/// The result of one trial. Metrics are `null` before its first completed day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialResult {
    /// The trial, from 1.
    pub trial: u32,
    /// Its seed.
    pub seed: u64,
    /// Its job.
    pub job_id: String,
    /// The status of the job.
    #[schema(schema_with = crate::vocabulary::job_status)]
    pub status: JobStatus,
    /// Whether all days of the window are closed. Only such trials count in `spread`.
    pub is_complete: bool,
    /// Closed trading days.
    pub days: u32,
    /// Of these, days that failed.
    pub failed_days: u32,
    /// Of these, days without full research, the failed ones included.
    pub degraded_days: u32,
    /// The portfolio value at the last close.
    pub ending_portfolio_value: Option<Number>,
    /// `last / initial - 1`.
    pub total_return: Option<f64>,
    /// The mean of `ln(1 + r)` over the days.
    pub mean_daily_log_return: Option<f64>,
    /// The sample deviation of the daily returns, not annualized.
    pub daily_deviation: Option<f64>,
    /// The largest decline from a peak, at or below zero.
    pub max_drawdown: Option<f64>,
    /// The annualized return; `null` under 60 days.
    pub annualized_return: Option<f64>,
    /// The annualized Sharpe ratio, risk-free rate 0; `null` under 60 days.
    pub sharpe: Option<f64>,
    /// The first day on which the account was insolvent; `null`: never.
    pub insolvent_on: Option<Date>,
    /// Cost of the agent's calls in this job, summaries included, in US dollars; `null` if a price is unknown.
    pub cost_usd: Option<Number>,
}

/// Mean and spread of completed trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialSpread {
    /// The number of trials that have completed the window.
    pub trials: u32,
    /// Of the total return.
    pub total_return: Option<Spread>,
    /// Of the mean daily log return.
    pub mean_daily_log_return: Option<Spread>,
    /// Of the maximum drawdown.
    pub max_drawdown: Option<Spread>,
    /// Of the Sharpe ratio; `null` under 60 days.
    pub sharpe: Option<Spread>,
}

/// Mean and spread of a number over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Spread {
    /// The number of trials in which it is defined.
    pub n: u32,
    /// Their mean.
    pub mean: f64,
    /// Their sample deviation (ddof 1); `null` for one trial.
    pub deviation: Option<f64>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of these numbers; `None` if there are none.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let numbers: Vec<f64> = numbers.into_iter().collect();
        let n = u32::try_from(numbers.len()).ok().filter(|n| *n > 0)?;
        let mean = numbers.iter().sum::<f64>() / f64::from(n);
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        Some(Self {
            n,
            mean,
            deviation: (n > 1).then(|| (squares / f64::from(n - 1)).sqrt()),
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;

    /// Goal: the deviation is the sample's (ddof 1), and one trial has none.
    #[test]
    fn a_spread_is_the_samples() {
        let spread = Spread::of([0.01, 0.03, 0.02]).expect("numbers");
        assert_eq!(
            (spread.n, spread.min.to_bits(), spread.max.to_bits()),
            (3, 0.01_f64.to_bits(), 0.03_f64.to_bits())
        );
        assert!(
            (spread.mean - 0.02).abs() < 1e-15 && (spread.deviation.expect("three") - 0.01).abs() < 1e-15
        );
        assert_eq!(Spread::of([0.5]).expect("one").deviation, None);
        assert_eq!(Spread::of([]), None);
    }
}
