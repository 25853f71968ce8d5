//! Whether a difference between two cohorts of runs is more than chance.
//!
//! Times: the exact two-sided rank-sum test (Wilcoxon, 1945) with midranks for ties. Shares: Fisher's exact test (1935),
//! two-sided. Assumption: the runs are independent, such as those of alternating cohorts. With three runs each, the smallest
//! p-value of either test is 0.1: nothing can be shown.

/// A difference with a larger p-value is within noise.
pub(super) const LEVEL: f64 = 0.05;

/// Over this many runs in all, the rank sum is taken as normal.
const MAX_EXACT: usize = 100;

/// Two-sided p-value that two samples are of one distribution; 1 if either is empty.
pub(super) fn rank_sum_p(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len(), b.len());
    if n == 0 || m == 0 {
        return 1.0;
    }
    // Twice the midranks are whole numbers.
    let ranks = doubled_midranks(a, b);
    let own: usize = ranks[..n].iter().sum();
    let center = n * (n + m + 1);
    let distance = own.abs_diff(center);
    if n + m > MAX_EXACT {
        let mean = ranks.iter().sum::<usize>() as f64 / (n + m) as f64;
        let squares = ranks.iter().map(|rank| (*rank as f64 - mean).powi(2)).sum::<f64>();
        let all = (n + m) as f64;
        let variance = squares * (n * m) as f64 / (all * (all - 1.0));
        let z = distance as f64 / variance.sqrt();
        return if variance > 0.0 { normal_two_sided(z) } else { 1.0 };
    }
    // How many choices of n ranks have each sum.
    let total: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0_f64; total + 1]; n + 1];
    ways[0][0] = 1.0;
    for rank in &ranks {
        for count in (1..=n).rev() {
            for sum in (*rank..=total).rev() {
                ways[count][sum] += ways[count - 1][sum - rank];
            }
        }
    }
    let all: f64 = ways[n].iter().sum();
    let extreme = ways[n].iter().enumerate().filter(|(sum, _)| sum.abs_diff(center) >= distance);
    extreme.map(|(_, ways)| ways).sum::<f64>() / all
}

fn doubled_midranks(a: &[f64], b: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| other.total_cmp(value).is_lt()).count();
        let equal = all.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        2 * below + equal + 1
    };
    all.iter().map(rank).collect()
}

/// `2 (1 - Phi(z))`, by the expansion of Abramowitz and Stegun 7.1.26, to 1e-7.
fn normal_two_sided(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    (sum * (-x * x).exp()).clamp(0.0, 1.0)
}

/// Two-sided p-value that two shares, `hits` of `all`, are equal.
pub(super) fn share_p((hits_a, all_a): (usize, usize), (hits_b, all_b): (usize, usize)) -> f64 {
    let (hits, all) = (hits_a + hits_b, all_a + all_b);
    let log_factorial = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let log_choose = |n: usize, k: usize| log_factorial(n) - log_factorial(k) - log_factorial(n - k);
    let least = hits.saturating_sub(all_b);
    let log_of = |k: usize| log_choose(all_a, k) + log_choose(all_b, hits - k) - log_choose(all, hits);
    let own = log_of(hits_a);
    let probabilities = (least..=hits.min(all_a)).map(log_of);
    probabilities.filter(|log| *log <= own + 1e-9).map(f64::exp).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::{normal_two_sided, rank_sum_p, share_p};

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    /// Goal: p-values of small samples by counting: of 20 choices of three in six, two are as extreme; of 70 of four in eight,
    /// two; ties share ranks. Shares as in Fisher's tea: 3 of 4 against 1 of 4.
    #[test]
    fn small_samples_have_exact_p_values() {
        close(rank_sum_p(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 2.0 / 20.0);
        close(rank_sum_p(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.0]), 2.0 / 70.0);
        close(rank_sum_p(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        close(rank_sum_p(&[], &[1.0]), 1.0);
        close(share_p((3, 4), (1, 4)), 34.0 / 70.0);
        close(share_p((4, 4), (0, 4)), 2.0 / 70.0);
        close(share_p((0, 3), (0, 3)), 1.0);
        close(normal_two_sided(1.959_963_985), 0.05);
    }
}
