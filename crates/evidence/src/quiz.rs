//! The quiz of a memorization probe: does a model recall the dates and prices that it is tested on?
//!
//! The score is the accuracy minus the accuracy on controls of the same form. Declined items are counted separately and
//! score as chance. The test is the one-sided score test of two proportions, with Holm's adjustment over the kinds. A
//! permutation of whole months between items and controls checks it, because items of one month are not independent.
//! The interval is Newcombe's at 95%.
//!
//! Sources: Newcombe (1998), "Interval estimation for the difference between independent proportions", method 10;
//! Clopper and Pearson (1934) for counts against chance. Assumptions: controls are as hard as the items for a model
//! that recalls nothing, and months are exchangeable. `recall shown` does not prove that recall was used, and no result
//! proves that a model recalls nothing.
//!
//! Power at 5%, one-sided: 60% against chance (50%) needs 200 items (113 correct ones reject); against controls, it
//! needs 310 of each.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::ewc::Interval;
use crate::holm::{FAMILY_LEVEL, holm};
use crate::random::{Random, Seed};
use crate::random_baseline::upper_tail_p;
use serde::{Deserialize, Serialize};
use statrs::function::beta::checked_beta_reg;
use std::collections::BTreeMap;

/// Number of permutations.
const DRAWS: usize = 9_999;
/// The fewest exchangeable months for a permutation test. With 5 months, the smallest p-value is 2^-5, barely under 5%.
const MIN_MONTHS: usize = 6;
/// The power that "would have seen" refers to.
const POWER: f64 = 0.8;

/// One forced-choice response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuizResponse {
    /// The position of the choice.
    Choice(u8),
    /// None of the choices.
    Declined,
}

/// The kind of fact that an item asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuizKind {
    /// Up or down in a month.
    Direction,
    /// The price level, among those of the same symbol within six months.
    Level,
    /// The date of a masked chart.
    Date,
    /// The company of a masked chart.
    Company,
}

impl QuizKind {
    /// Number of choices.
    #[must_use]
    pub fn choices(self) -> u8 {
        if self == Self::Direction { 2 } else { 4 }
    }
}

/// The choice of more than half of the paraphrases. `None` counts as a declined item.
///
/// ```
/// use papertape_evidence::{QuizResponse, majority};
/// let responses = [QuizResponse::Choice(1), QuizResponse::Declined, QuizResponse::Choice(1)];
/// assert_eq!(majority(&responses), Some(1));
/// ```
#[must_use]
pub fn majority(responses: &[QuizResponse]) -> Option<u8> {
    let count =
        |choice| responses.iter().filter(|response| **response == QuizResponse::Choice(choice)).count();
    responses.iter().find_map(|response| match response {
        QuizResponse::Choice(choice) if 2 * count(*choice) > responses.len() => Some(*choice),
        _ => None,
    })
}

/// Counts of one kind, of items or of controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuizScore {
    /// Which kind.
    pub kind: QuizKind,
    /// Items.
    pub items: usize,
    /// Correct ones.
    pub correct: usize,
    /// Declined ones, and those without a majority.
    pub declined: usize,
}

impl QuizScore {
    /// No item yet.
    #[must_use]
    pub fn new(kind: QuizKind) -> Self {
        Self { kind, items: 0, correct: 0, declined: 0 }
    }

    /// Counts an item, and returns its score: 1, 0, or chance for a declined item.
    pub fn add(&mut self, choice: Option<u8>, truth: u8) -> f64 {
        self.items += 1;
        match choice {
            None => {
                self.declined += 1;
                self.chance()
            }
            Some(choice) if choice == truth => {
                self.correct += 1;
                1.0
            }
            Some(_) => 0.0,
        }
    }

    /// One over the number of choices.
    #[must_use]
    pub fn chance(&self) -> f64 {
        1.0 / f64::from(self.kind.choices())
    }

    /// Fraction correct, declined items scored as chance. `None` without items.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (self.items > 0)
            .then(|| (self.correct as f64 + self.declined as f64 * self.chance()) / self.items as f64)
    }
}

/// Newcombe's interval (method 10, without continuity correction) of `a - b`, two accuracies with their numbers of
/// items, at `level`.
#[must_use]
pub fn newcombe(a: (f64, usize), b: (f64, usize), level: f64) -> Interval {
    let z = normal_quantile(1.0 - level / 2.0);
    let wilson = |(p, n): (f64, usize)| {
        let n = n as f64;
        let center = p + z * z / (2.0 * n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        ((center - half) / (1.0 + z * z / n), (center + half) / (1.0 + z * z / n))
    };
    let ((low_a, high_a), (low_b, high_b)) = (wilson(a), wilson(b));
    let difference = a.0 - b.0;
    Interval {
        low: difference - ((a.0 - low_a).powi(2) + (high_b - b.0).powi(2)).sqrt(),
        high: difference + ((high_a - a.0).powi(2) + (b.0 - low_b).powi(2)).sqrt(),
    }
}

/// One-sided p-value of the score test of `a > b`.
fn score_test(a: (f64, usize), b: (f64, usize)) -> f64 {
    let (n, m) = (a.1 as f64, b.1 as f64);
    let pooled = (a.0 * n + b.0 * m) / (n + m);
    let error = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    if error > 0.0 { normal_cdf(-(a.0 - b.0) / error) } else { 1.0 }
}

/// The score of one item, for the permutation by month.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PermutationItem {
    /// Months since any fixed month.
    pub month: i32,
    /// As [`QuizScore::add`] returns it.
    pub score: f64,
    /// Whether it is a control.
    pub is_control: bool,
}

/// One-sided p-value of the accuracy minus that on controls, by permutation of whole months. A month with both items
/// and controls swaps them with probability 1/2; months with only one of the two are shuffled among each other. `None`
/// under six such months, or without items or controls.
#[must_use]
pub fn permutation_by_month(items: &[PermutationItem], seed: Seed) -> Option<f64> {
    // By month: sum and count of the items, and of the controls.
    let mut months: BTreeMap<i32, [(f64, f64); 2]> = BTreeMap::new();
    for item in items {
        let side = &mut months.entry(item.month).or_default()[usize::from(item.is_control)];
        *side = (side.0 + item.score, side.1 + 1.0);
    }
    let months: Vec<[(f64, f64); 2]> = months.into_values().collect();
    let (both, single): (Vec<_>, Vec<_>) = months.iter().partition(|[a, b]| a.1 > 0.0 && b.1 > 0.0);
    let is_control: Vec<bool> = single.iter().map(|[item, _]: &[(f64, f64); 2]| item.1 <= 0.0).collect();
    let is_mixed = is_control.contains(&true) && is_control.contains(&false);
    if both.len() + if is_mixed { single.len() } else { 0 } < MIN_MONTHS {
        return None;
    }
    let difference = |swaps: &mut dyn FnMut() -> bool, labels: &[usize]| {
        let mut sums = [(0.0, 0.0); 2];
        let mut count =
            |side: usize, (sum, n): (f64, f64)| sums[side] = (sums[side].0 + sum, sums[side].1 + n);
        for month in &both {
            let swap = swaps();
            count(usize::from(swap), month[0]);
            count(usize::from(!swap), month[1]);
        }
        for (month, label) in single.iter().zip(labels) {
            let side = usize::from(is_control[*label]);
            count(side, month[0]);
            count(side, month[1]);
        }
        sums[0].0 / sums[0].1 - sums[1].0 / sums[1].1
    };
    let own: Vec<usize> = (0..single.len()).collect();
    let observed = difference(&mut || false, &own);
    let mut random = Random::new(seed);
    let mut nulls = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let labels = random.permutation(single.len());
        nulls.push(difference(&mut || random.uniform() < 0.5, &labels) + 1e-12);
    }
    observed.is_finite().then(|| upper_tail_p(observed, &nulls))
}

/// The result of one kind. Its label is never "clean".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeVerdict {
    /// The accuracy is higher than on the controls.
    RecallShown {
        /// Accuracy less that on controls.
        difference: f64,
        /// Newcombe's, 95%.
        interval: Interval,
        /// Adjusted over the kinds.
        holm_p: f64,
    },
    /// Nothing is shown.
    NotShown {
        /// Accuracy less that on controls.
        difference: f64,
        /// Newcombe's, 95%.
        interval: Interval,
        /// Adjusted over the kinds.
        holm_p: f64,
        /// Percentage points that would have been detected with 80% power.
        would_have_seen_points: f64,
    },
    /// No items, no controls, only declined items, too few months, or no difference that these counts could show.
    NotTestable,
}

impl ProbeVerdict {
    /// As displayed.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::RecallShown { .. } => "recall shown".to_owned(),
            Self::NotShown { would_have_seen_points, .. } => {
                format!("not shown (would have seen ≥ {would_have_seen_points:.0} points)")
            }
            Self::NotTestable => "not testable".to_owned(),
        }
    }
}

/// The verdicts of several kinds, from the items, the controls, and the p-value of [`permutation_by_month`] of each.
/// Recall is shown if the adjusted p-value and that of the permutation are both at most 0.05.
#[must_use]
pub fn probe_verdicts(kinds: &[(QuizScore, QuizScore, Option<f64>)]) -> Vec<ProbeVerdict> {
    let sides: Vec<_> =
        kinds.iter().map(|(items, controls, check)| testable(items, controls, *check)).collect();
    let p_values: Vec<f64> =
        sides.iter().flatten().map(|tested| score_test(tested.items, tested.controls)).collect();
    // Holm's p-values are in the order of the kinds that are testable.
    let mut adjusted = holm(&p_values).into_iter();
    let verdict = |tested: Option<Tested>| {
        let Some(tested) = tested else { return ProbeVerdict::NotTestable };
        let holm_p = adjusted.next().unwrap_or(1.0);
        let difference = tested.items.0 - tested.controls.0;
        let interval = newcombe(tested.items, tested.controls, 0.05);
        if holm_p <= FAMILY_LEVEL && tested.permutation_p <= FAMILY_LEVEL {
            return ProbeVerdict::RecallShown { difference, interval, holm_p };
        }
        ProbeVerdict::NotShown { difference, interval, holm_p, would_have_seen_points: tested.points }
    };
    sides.into_iter().map(verdict).collect()
}

#[derive(Clone, Copy)]
struct Tested {
    items: (f64, usize),
    controls: (f64, usize),
    permutation_p: f64,
    points: f64,
}

fn testable(items: &QuizScore, controls: &QuizScore, check: Option<f64>) -> Option<Tested> {
    if items.declined == items.items || controls.declined == controls.items {
        return None;
    }
    let of = (items.accuracy()?, items.items);
    let against = (controls.accuracy()?, controls.items);
    let points = detectable_points(of.1, against.1, against.0)?;
    Some(Tested { items: of, controls: against, permutation_p: check?, points })
}

/// The power of a one-sided test at 5% to detect `accuracy` against `control_accuracy`, with these numbers of items and
/// controls.
///
/// ```
/// assert!((papertape_evidence::difference_power(310, 310, 0.6, 0.5) - 0.81).abs() < 0.005);
/// ```
#[must_use]
pub fn difference_power(items: usize, controls: usize, accuracy: f64, control_accuracy: f64) -> f64 {
    let (n, m) = (items as f64, controls as f64);
    let pooled = (accuracy * n + control_accuracy * m) / (n + m);
    let under_null = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
    let own = accuracy * (1.0 - accuracy) / n + control_accuracy * (1.0 - control_accuracy) / m;
    let critical = normal_quantile(1.0 - FAMILY_LEVEL) * under_null;
    normal_cdf((accuracy - control_accuracy - critical) / own.sqrt())
}

/// Percentage points above the controls that are detected with 80% power. `None` if no accuracy is.
#[must_use]
pub fn detectable_points(items: usize, controls: usize, control_accuracy: f64) -> Option<f64> {
    let steps = ((1.0 - control_accuracy) * 1000.0).floor() as usize;
    let points = (1..steps).map(|step| step as f64 / 1000.0);
    { points }
        .find(|ahead| difference_power(items, controls, control_accuracy + ahead, control_accuracy) >= POWER)
        .map(|ahead| ahead * 100.0)
}

/// `P(X >= at_least)` of a binomial distribution.
fn binomial_tail(items: usize, chance: f64, at_least: usize) -> f64 {
    if at_least == 0 {
        return 1.0;
    }
    if at_least > items {
        return 0.0;
    }
    checked_beta_reg(at_least as f64, (items - at_least + 1) as f64, chance).unwrap_or(f64::NAN)
}

/// The smallest number of correct items whose exact probability under `chance` is at most `level`. `None` if even all
/// items are not enough.
#[must_use]
pub fn binomial_critical(items: usize, chance: f64, level: f64) -> Option<usize> {
    (0..=items).find(|correct| binomial_tail(items, chance, *correct) <= level)
}

/// The probability that at least `critical` of the items are correct at this accuracy.
///
/// ```
/// assert!((papertape_evidence::binomial_power(200, 0.6, 113) - 0.86).abs() < 0.005);
/// ```
#[must_use]
pub fn binomial_power(items: usize, accuracy: f64, critical: usize) -> f64 {
    binomial_tail(items, accuracy, critical)
}
