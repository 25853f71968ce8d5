//! What a comparison is about: the unit that varies determines the method and the wording.
//!
//! Two single runs differ by the randomness of the runs and of the days. Averaging over days is possible, averaging
//! over a single run is not. So with one trial per side the claim is about *this run*, and never about a model or a
//! configuration.

use crate::trials::MIN_TRIALS;
use serde::{Deserialize, Serialize};

/// The claim that a comparison supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimand {
    /// One run against a baseline: days, paired. [`MeanEstimate`](crate::MeanEstimate) of the differences.
    RunAgainstBaseline,
    /// Two single runs: days, paired. [`MeanEstimate`](crate::MeanEstimate) of the differences.
    TwoRuns,
    /// Trials on exactly these days: [`compare_trials`](crate::compare_trials). A spread, never a verdict.
    TheseDays,
    /// Configurations, on days like these: [`two_way`](crate::two_way) with at least three trials per agent.
    Configurations,
    /// Configurations over disjoint windows: [`two_way`](crate::two_way) with one panel per window.
    Windows,
}

impl Estimand {
    /// The claim that this many trials support. `trials_b` is `None` for a baseline. `None` with two trials, or three
    /// of one agent and fewer of the other: compare single runs, or run more trials.
    #[must_use]
    pub fn of(trials_a: usize, trials_b: Option<usize>, windows: usize) -> Option<Self> {
        match (trials_a, trials_b) {
            (a, b) if a >= MIN_TRIALS && b.is_none_or(|b| b >= MIN_TRIALS) => {
                Some(if windows > 1 { Self::Windows } else { Self::Configurations })
            }
            (1, None) => Some(Self::RunAgainstBaseline),
            (1, Some(1)) => Some(Self::TwoRuns),
            _ => None,
        }
    }

    /// Whether a verdict may be displayed.
    #[must_use]
    pub fn allows_verdict(self) -> bool {
        self != Self::TheseDays
    }

    /// What the estimate is about.
    #[must_use]
    pub fn claim(self) -> &'static str {
        match self {
            Self::RunAgainstBaseline => "this run, on days like these",
            Self::TwoRuns => "this run of A and this run of B, on days like these",
            Self::TheseDays => "exactly these days, beyond run-to-run noise",
            Self::Configurations => "configuration A, on days like these",
            Self::Windows => "configuration A, on days like those of the windows",
        }
    }
}
