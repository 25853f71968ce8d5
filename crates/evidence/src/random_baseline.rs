//! A random baseline with the agent's own turnover.
//!
//! The agent's schedule of weights is rotated by `u` days, its symbols are permuted, and the result runs through the
//! same broker with the same fill, lots and costs. It has the agent's turnover, holding times and leverage, but not its
//! timing, its choice, or both. `p = (1 + #{null >= agent}) / (R + 1)`.
//!
//! Source: rotation tests, as in Romano and Tirlea (2022), "Permutation testing for dependence in time series", with
//! the p-value of Phipson and Smyth (2010). Assumption: on this path, every rotation and permutation was equally likely
//! without skill. The claim is about this timing and choice, on this path: 3.3 to 6.0% of unskilled agents beat it at
//! 5%.
//!
//! This file draws and counts. The caller runs each draw through the broker.

use crate::random::{Random, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The maximum number of redraws of a draw whose symbols lack bars, before it is discarded.
pub const MAX_REDRAWS: usize = 100;
/// The minimum number of distinct schedules for a test.
pub const MIN_SCHEDULES: usize = 100;
/// The maximum fraction of discarded draws for a test.
const MAX_DISCARDED: f64 = 0.2;

/// What a draw changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Null {
    /// Days only.
    Timing,
    /// Symbols only.
    Choice,
    /// Both.
    Both,
}

/// Where a symbol can be traded: each takes a symbol and a day.
#[derive(Clone, Copy)]
pub struct Availability<'a> {
    /// Whether it has a bar.
    pub has_bar: &'a dyn Fn(usize, usize) -> bool,
    /// Whether a position may be opened or enlarged: of an index, whether the symbol is a member.
    pub may_open: &'a dyn Fn(usize, usize) -> bool,
}

/// One draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineDraw {
    /// `u`: what the agent held on day `t` is held on day `(t + u) mod n`.
    pub rotation: usize,
    /// The new position of each symbol.
    pub symbols: Vec<usize>,
}

/// The signed weight of equity in each symbol after its last fill, by day, leverage included: 1.5 is one and a half times the
/// equity.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightSchedule {
    weights: Vec<Vec<f64>>,
    symbols: usize,
}

impl WeightSchedule {
    /// From the weights by day, each with one weight per symbol. `None` without days, or if days differ in symbols.
    #[must_use]
    pub fn new(weights: Vec<Vec<f64>>) -> Option<Self> {
        let symbols = weights.first()?.len();
        weights.iter().all(|day| day.len() == symbols).then_some(Self { weights, symbols })
    }

    /// By day, then by symbol.
    #[must_use]
    pub fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// The schedule of a draw of [`draw_baseline`]. A position that wraps around closes on the last day and opens on
    /// the first.
    #[must_use]
    pub fn apply(&self, draw: &BaselineDraw) -> Self {
        let days = self.weights.len();
        let mut weights = vec![vec![0.0; self.symbols]; days];
        for (day, of_day) in self.weights.iter().enumerate() {
            for (weight, to) in of_day.iter().zip(&draw.symbols) {
                weights[(day + draw.rotation) % days][*to] = *weight;
            }
        }
        Self { weights, symbols: self.symbols }
    }

    /// Whether every symbol has a bar on each day on which it is held or its weight changes, and may be opened where its weight
    /// grows.
    fn is_playable(&self, availability: &Availability<'_>) -> bool {
        let flat: Vec<f64> = vec![0.0; self.symbols];
        let mut before = &flat;
        self.weights.iter().enumerate().all(|(day, weights)| {
            let is_playable = before.iter().zip(weights).enumerate().all(|(symbol, (before, weight))| {
                let is_used = weight.abs() > 0.0 || before.abs() > 0.0;
                let opens = weight.abs() > before.abs() || weight * before < 0.0;
                (!is_used || (availability.has_bar)(symbol, day))
                    && (!opens || (availability.may_open)(symbol, day))
            });
            before = weights;
            is_playable
        })
    }

    fn fingerprint(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for weight in self.weights.iter().flatten() {
            hasher.update(&(weight + 0.0).to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// The draws of one null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineDraws {
    /// The draws to run through the broker, in order.
    pub accepted: Vec<BaselineDraw>,
    /// Draws without bars for their symbols, even after [`MAX_REDRAWS`] attempts.
    pub discarded: usize,
    /// Distinct schedules among the accepted ones.
    pub distinct: usize,
}

/// The test of an agent against one null.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NullTest {
    /// The one-sided p-value and the number of draws behind it.
    Tested {
        /// Small if few draws perform as well as the agent.
        p_value: f64,
        /// `R`.
        draws: usize,
    },
    /// Over 20% of the draws were discarded, or there are fewer than 100 distinct schedules.
    NotPossible {
        /// Discarded draws.
        discarded: usize,
        /// Distinct schedules.
        distinct: usize,
    },
}

impl BaselineDraws {
    /// Whether a test is possible. Check it before you run the draws.
    #[must_use]
    pub fn is_testable(&self) -> bool {
        let all = self.accepted.len() + self.discarded;
        self.distinct >= MIN_SCHEDULES && self.discarded as f64 <= MAX_DISCARDED * all as f64
    }

    /// The test, from the agent's result and those of the accepted draws.
    #[must_use]
    pub fn test(&self, agent: f64, nulls: &[f64]) -> NullTest {
        if self.is_testable() && nulls.len() == self.accepted.len() {
            NullTest::Tested { p_value: upper_tail_p(agent, nulls), draws: nulls.len() }
        } else {
            NullTest::NotPossible { discarded: self.discarded, distinct: self.distinct }
        }
    }
}

/// Draws of one null, 999 by convention.
///
/// ```
/// use papertape_evidence::{Availability, Null, Seed, WeightSchedule, draw_baseline};
/// let held = |day: usize| vec![if day % 3 == 0 { 0.9 } else { 0.0 }, 0.1 * (day % 7) as f64];
/// let schedule = WeightSchedule::new((0..120).map(held).collect()).expect("a schedule");
/// let always = Availability { has_bar: &|_, _| true, may_open: &|_, _| true };
/// let draws = draw_baseline(&schedule, Null::Timing, 999, Seed::derive(&["d"], &["j"], "timing"), &always);
/// assert_eq!(draws.accepted.len(), 999);
/// // The schedule repeats after 21 days.
/// assert_eq!(draws.distinct, 120);
/// ```
#[must_use]
pub fn draw_baseline(
    schedule: &WeightSchedule,
    null: Null,
    draws: usize,
    seed: Seed,
    availability: &Availability<'_>,
) -> BaselineDraws {
    let mut random = Random::new(seed);
    let mut result = BaselineDraws { accepted: Vec::with_capacity(draws), discarded: 0, distinct: 0 };
    let mut seen = BTreeSet::new();
    for _ in 0..draws {
        let attempts = (0..=MAX_REDRAWS).map(|_| {
            let draw = next_draw(schedule, null, &mut random);
            let applied = schedule.apply(&draw);
            (draw, applied)
        });
        let playable = { attempts }.find(|(_, applied)| applied.is_playable(availability));
        match playable {
            Some((draw, applied)) => {
                seen.insert(applied.fingerprint());
                result.accepted.push(draw);
            }
            None => result.discarded += 1,
        }
    }
    result.distinct = seen.len();
    result
}

fn next_draw(schedule: &WeightSchedule, null: Null, random: &mut Random) -> BaselineDraw {
    let rotation = if null == Null::Choice { 0 } else { random.below(schedule.weights.len()) };
    let symbols = match null {
        Null::Timing => (0..schedule.symbols).collect(),
        Null::Choice | Null::Both => random.permutation(schedule.symbols),
    };
    BaselineDraw { rotation, symbols }
}

/// `(1 + #{null >= observed}) / (R + 1)`.
#[must_use]
pub fn upper_tail_p(observed: f64, nulls: &[f64]) -> f64 {
    let reached = nulls.iter().filter(|null| **null >= observed).count();
    (1 + reached) as f64 / (nulls.len() + 1) as f64
}
