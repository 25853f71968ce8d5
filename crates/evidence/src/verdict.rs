//! The verdict of a comparison: the first one that applies.
//!
//! 1. `not_comparable`
//! 2. `insolvent`
//! 3. `identical`: every |d| at most 1e-12
//! 4. `interim`: before the planned last day or trial
//! 5. `too_few_days`: under 60, under 30 with a difference, or no estimate
//! 6. `better`, `worse`: Holm p at most 0.05, and the same if the same orders are filled at the next open, and net of model
//!    cost
//! 7. `not_distinguishable`, always with the min. detectable difference and the days needed
//!
//! `interim` exists because checking 20 times between day 60 and day 250 raises an error rate of 5% to 19.9%.

use crate::comparable::Mismatch;
use crate::ewc::{MIN_INTERVAL_DAYS, MIN_VERDICT_DAYS};
use crate::holm::FAMILY_LEVEL;
use crate::power::{Noise, days_needed, min_detectable_effect};
use serde::{Deserialize, Serialize};

/// The minimum number of days with a difference for a verdict.
const MIN_DIFFERENT_DAYS: usize = 30;
/// A daily difference up to this is rounding error.
const IDENTICAL: f64 = 1e-12;

/// An estimate with its p-value within the family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// A minus B, in log return per day.
    pub difference: f64,
    /// Adjusted by [`holm`](crate::holm).
    pub holm_p: f64,
}

impl Contrast {
    fn sign(self) -> Option<bool> {
        (self.holm_p <= FAMILY_LEVEL && self.difference.abs() > 0.0).then_some(self.difference > 0.0)
    }
}

/// What a verdict depends on.
#[derive(Clone, Copy, Debug)]
pub struct VerdictInput<'a> {
    /// Conditions that differ, from [`Conditions::mismatches`](crate::Conditions::mismatches).
    pub mismatches: &'a [Mismatch],
    /// Whether A, and B, lost everything.
    pub insolvent: [bool; 2],
    /// Daily differences on the shared days.
    pub differences: &'a [f64],
    /// Whether the planned last day or trial has not been reached; the plan is in the manifest.
    pub is_interim: bool,
    /// The comparison.
    pub contrast: Contrast,
    /// The same orders, filled at the next open.
    pub refilled: Contrast,
    /// Net of model cost.
    pub net_of_cost: Contrast,
    /// `Omega`, or [`TwoWay::noise`](crate::TwoWay::noise); `None` without an estimate.
    pub noise: Option<Noise>,
    /// `Y` of the market.
    pub trading_days_per_year: f64,
    /// The difference per year that `days_needed` refers to: [`DEFAULT_TARGET`](crate::DEFAULT_TARGET) unless
    /// configured.
    pub target: f64,
}

/// A check that a difference did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobustnessCheck {
    /// It disappears if the same orders fill at the next open.
    Fill,
    /// It disappears net of model cost.
    ModelCost,
}

impl RobustnessCheck {
    /// As displayed in parentheses.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Fill => "depends on the fill",
            Self::ModelCost => "depends on model cost",
        }
    }
}

/// What an indistinguishable comparison could have detected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotDistinguishable {
    /// The checks that a significant difference did not pass; empty if it is not significant.
    pub depends_on: Vec<RobustnessCheck>,
    /// Min. detectable difference per year, in log return.
    pub min_detectable: f64,
    /// Days until it is at most the target; `None` if no number of days is enough.
    pub days_needed: Option<usize>,
}

/// The verdict of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The runs differ in more than the agents.
    NotComparable {
        /// The conditions that differ.
        mismatches: Vec<Mismatch>,
    },
    /// A side lost everything: listed, never compared.
    Insolvent {
        /// Whether A did.
        a: bool,
        /// Whether B did.
        b: bool,
    },
    /// No day differs.
    Identical,
    /// The planned end has not been reached.
    Interim,
    /// Too few days for a verdict.
    TooFewDays {
        /// Shared days.
        days: usize,
        /// Days with a difference.
        different_days: usize,
        /// Whether there is an interval: from 20 days.
        has_interval: bool,
    },
    /// A is better than B.
    Better,
    /// A is worse than B.
    Worse,
    /// No difference is shown, which does not mean that there is none.
    NotDistinguishable(NotDistinguishable),
}

/// The first verdict that applies.
///
/// ```
/// use papertape_evidence::{Contrast, Verdict, VerdictInput, verdict};
/// let differences = [0.001; 80];
/// let clear = Contrast { difference: 0.001, holm_p: 0.01 };
/// let input = VerdictInput {
///     mismatches: &[],
///     insolvent: [false, false],
///     differences: &differences,
///     is_interim: false,
///     contrast: clear,
///     refilled: clear,
///     net_of_cost: Contrast { difference: 0.0004, holm_p: 0.3 },
///     noise: Some(1e-4.into()),
///     trading_days_per_year: 252.0,
///     target: papertape_evidence::DEFAULT_TARGET,
/// };
/// let Verdict::NotDistinguishable(because) = verdict(&input) else { panic!("net of cost it is not clear") };
/// assert_eq!(because.depends_on[0].words(), "depends on model cost");
/// ```
#[must_use]
pub fn verdict(input: &VerdictInput<'_>) -> Verdict {
    let days = input.differences.len();
    let different_days = input.differences.iter().filter(|d| d.abs() > IDENTICAL).count();
    if !input.mismatches.is_empty() {
        return Verdict::NotComparable { mismatches: input.mismatches.to_vec() };
    }
    if let [a, b] = input.insolvent
        && (a || b)
    {
        return Verdict::Insolvent { a, b };
    }
    if days > 0 && different_days == 0 {
        return Verdict::Identical;
    }
    if input.is_interim {
        return Verdict::Interim;
    }
    let has_interval = days >= MIN_INTERVAL_DAYS && input.noise.is_some();
    let too_few = Verdict::TooFewDays { days, different_days, has_interval };
    let Some(noise) = input.noise else { return too_few };
    if days < MIN_VERDICT_DAYS || different_days < MIN_DIFFERENT_DAYS {
        return too_few;
    }
    let sign = input.contrast.sign();
    let mut depends_on = Vec::new();
    if sign.is_some() {
        let checks =
            [(RobustnessCheck::Fill, input.refilled), (RobustnessCheck::ModelCost, input.net_of_cost)];
        let failed = checks.iter().filter(|(_, contrast)| contrast.sign() != sign);
        depends_on.extend(failed.map(|(check, _)| *check));
    }
    match sign {
        Some(true) if depends_on.is_empty() => Verdict::Better,
        Some(false) if depends_on.is_empty() => Verdict::Worse,
        _ => {
            let year = input.trading_days_per_year;
            Verdict::NotDistinguishable(NotDistinguishable {
                depends_on,
                min_detectable: min_detectable_effect(noise, days, year),
                days_needed: days_needed(noise, year, input.target),
            })
        }
    }
}
