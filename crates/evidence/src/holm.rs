//! Several tests at once: Holm's step-down procedure.
//!
//! With p-values in ascending order, `p'_(i) = max_{j <= i} min(1, (m - j + 1) p_(j))`. The probability of any false
//! rejection in the family is at most 5%, whatever the dependence. A family is all pairs that are displayed together,
//! or all agents against one baseline; it is declared before the results are known.
//!
//! Source: Holm (1979), "A simple sequentially rejective multiple test procedure".

/// The level of a family of tests.
pub const FAMILY_LEVEL: f64 = 0.05;

/// Adjusted p-values, in the order given. A NaN is counted as 1.
///
/// ```
/// assert_eq!(papertape_evidence::holm(&[0.2, 0.2]), [0.4, 0.4]);
/// ```
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (rank, at) in ascending(p_values).into_iter().enumerate() {
        let p = if p_values[at].is_nan() { 1.0 } else { p_values[at] };
        highest = highest.max(p * (p_values.len() - rank) as f64).min(1.0);
        adjusted[at] = highest;
    }
    adjusted
}

/// The level with which each p-value is compared: 0.05 over `m` for the smallest, over `m - 1` for the next. After the first
/// that is not rejected nothing is, and its level is that of all the rest. Of use for critical values, as of a
/// [`cone`](crate::cone).
#[must_use]
pub fn holm_levels(p_values: &[f64]) -> Vec<f64> {
    let mut levels = vec![FAMILY_LEVEL; p_values.len()];
    let mut failed = None;
    for (rank, at) in ascending(p_values).into_iter().enumerate() {
        let level = failed.unwrap_or(FAMILY_LEVEL / (p_values.len() - rank) as f64);
        if p_values[at].is_nan() || p_values[at] > level {
            failed = Some(level);
        }
        levels[at] = level;
    }
    levels
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}
