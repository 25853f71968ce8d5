//! Merges several rankings into one.

use std::collections::BTreeMap;

/// The constant of reciprocal rank fusion: the larger, the less a first place outweighs the ones after it.
pub const K: f64 = 60.0;

/// Reciprocal rank fusion: an item's score is the sum of `1 / (60 + rank)` over the rankings that contain it,
/// with ranks counted from 1 (Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
/// individual rank learning methods", SIGIR 2009). Scores of different kinds need not be comparable, because only
/// ranks count. On ties, the smaller item comes first.
#[must_use]
pub fn reciprocal_ranks<T: Ord + Clone>(rankings: &[&[T]]) -> Vec<T> {
    let mut scores: BTreeMap<&T, f64> = BTreeMap::new();
    for ranking in rankings {
        for (at, item) in ranking.iter().enumerate() {
            *scores.entry(item).or_default() += 1.0 / (K + (at + 1) as f64);
        }
    }
    let mut ranked: Vec<(&T, f64)> = scores.into_iter().collect();
    // The sort is stable, and the map yields its items in order.
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.into_iter().map(|(item, _)| item.clone()).collect()
}
