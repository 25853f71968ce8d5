//! The range of ranks that an agent can have.
//!
//! The confidence set of agent `j` of `K` is `[1 + number significantly better, K - number significantly worse]`, from
//! the Holm decisions over all pairs. Ranks are not bootstrapped.
//!
//! Source: Mogstad, Romano, Shaikh and Wilhelm (2024), "Inference for ranks", Review of Economic Studies 91(1).
//! Assumptions: those of the tests of the pairs, and a family of all pairs.

use crate::holm::FAMILY_LEVEL;

/// One pair of a family of all pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairDecision {
    /// Position of the first agent.
    pub a: usize,
    /// Position of the second agent.
    pub b: usize,
    /// The estimate of `a` minus that of `b`.
    pub difference: f64,
    /// Adjusted by [`holm`](crate::holm) over all pairs.
    pub holm_p: f64,
}

/// The ranks that an agent can have, 1 the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankSet {
    /// The best of them.
    pub best: usize,
    /// The worst of them.
    pub worst: usize,
}

/// Of `agents` agents, by position. Pairs that name another position are ignored.
///
/// ```
/// use papertape_evidence::{PairDecision, RankSet, rank_sets};
/// let ahead = PairDecision { a: 0, b: 1, difference: 0.002, holm_p: 0.01 };
/// assert_eq!(rank_sets(2, &[ahead]), [RankSet { best: 1, worst: 1 }, RankSet { best: 2, worst: 2 }]);
/// ```
#[must_use]
pub fn rank_sets(agents: usize, pairs: &[PairDecision]) -> Vec<RankSet> {
    let mut sets = vec![RankSet { best: 1, worst: agents }; agents];
    for pair in pairs.iter().filter(|pair| pair.holm_p <= FAMILY_LEVEL && pair.a < agents && pair.b < agents)
    {
        let (better, worse) = if pair.difference > 0.0 { (pair.a, pair.b) } else { (pair.b, pair.a) };
        sets[worse].best = (sets[worse].best + 1).min(agents);
        sets[better].worst = sets[better].worst.saturating_sub(1).max(1);
    }
    sets
}
