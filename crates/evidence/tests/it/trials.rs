//! Several trials: Welch over trials, the two-way variance, windows.

use crate::support::{assert_digits, day, series, uniform};
use papertape_evidence::{
    Estimand, MeanEstimate, Noise, ReturnSeries, TrialPanel, TwoWayError, align, compare_trials, days_needed,
    min_detectable_effect, t_quantile, two_way,
};

fn a(seed: u64) -> ReturnSeries {
    series(&uniform(seed, 60, 0.001, 0.04))
}

fn b(seed: u64) -> ReturnSeries {
    series(&uniform(seed, 60, 0.0005, 0.03))
}

fn panel(a: &[ReturnSeries], b: &[ReturnSeries]) -> TrialPanel {
    TrialPanel::align(a, b)
}

// Goal: the two-way variance is that of the formulas, with and without a lasting difference between trials.
#[test]
fn two_way_known_answers() {
    let mut lasting = panel(&[1, 2, 3].map(a), &[4, 5, 6].map(b));
    lasting.a[0].iter_mut().for_each(|g| *g += 0.004);
    let first = two_way(&[lasting]).expect("a comparison");
    let [of_a, of_b] = first.sides[0];
    assert_digits(first.difference, 0.0018161009348, 11);
    assert_digits(first.day_variance, 1.1367171044e-6, 11);
    assert_digits(of_a.total, 4.0141053317e-6, 11);
    assert_digits(of_a.from_days, 1.4074997459e-6, 11);
    assert_digits(of_b.total, 4.7759183182e-7, 11);
    assert_digits(of_b.from_days, 4.5406793852e-7, 11);
    assert_digits(first.degrees_of_freedom, 7.7237745508, 11);
    assert_digits(first.t(), 0.93573099599, 11);
    assert_digits(first.p_value(), 0.37774026419, 11);

    let second = two_way(&[panel(&[1, 2, 3, 4, 5].map(a), &[6, 7, 8, 9, 10].map(b))]).expect("a comparison");
    assert_digits(second.difference, 0.00086840749893, 11);
    assert_digits(second.day_variance, 5.0461514284e-7, 11);
    assert!(second.trial_variance.abs() <= 0.0);
    assert_digits(second.degrees_of_freedom, 12.0, 11);
    assert_digits(second.t(), 1.2224846807, 11);
    assert_digits(second.p_value(), 0.24499259435, 11);

    let baseline = series(&uniform(20, 60, 0.0003, 0.02));
    let third = two_way(&[panel(&[1, 2, 3].map(a), &[baseline])]).expect("a comparison");
    assert_digits(third.difference, 0.00071832351962, 11);
    assert_digits(third.day_variance, 1.1872934612e-6, 11);
    assert!(third.trial_variance.abs() <= 0.0);
    assert_digits(third.t(), 0.65923620176, 11);
    assert_digits(third.p_value(), 0.52219415819, 11);
}

// Goal: one trial on each side is the paired comparison of days, and nothing else.
#[test]
fn single_runs_are_the_paired_comparison() {
    let (first, second) = (a(1), b(2));
    let days = MeanEstimate::of(&align(&[&first, &second]).difference(0, 1)).expect("60 days");
    let both = two_way(&[panel(&[first], &[second])]).expect("a comparison");
    assert_digits(both.p_value(), days.p_value(), 12);
    assert_digits(both.long_run_variance(), days.long_run_variance, 12);
    assert_digits(both.interval().low, days.interval().low, 11);
}

// Goal: windows are joined by date, their trial variances weigh by length, and overlaps are rejected.
#[test]
fn windows_are_pooled_by_length() {
    let whole = panel(&[1, 2, 3].map(a), &[4, 5, 6].map(b));
    let part = |from: usize, to: usize, lift: f64| {
        let cut = |trials: &[Vec<f64>]| trials.iter().map(|g| g[from..to].to_vec()).collect::<Vec<_>>();
        let mut part = TrialPanel { days: whole.days[from..to].to_vec(), a: cut(&whole.a), b: cut(&whole.b) };
        part.a[0].iter_mut().for_each(|g| *g += lift);
        part
    };
    let (early, late) = (part(0, 20, 0.02), part(20, 60, 0.03));
    let alone: Vec<_> =
        [&early, &late].iter().map(|window| two_way(&[(*window).clone()]).expect("a comparison")).collect();
    let pooled = two_way(&[late.clone(), early.clone()]).expect("a comparison");
    let expected = alone[0].trial_variance / 9.0 + alone[1].trial_variance * 4.0 / 9.0;
    assert!(alone[0].trial_variance > 0.0 && alone[1].trial_variance > 0.0);
    assert_digits(pooled.trial_variance, expected, 12);
    assert_digits(pooled.difference, alone[0].difference / 3.0 + alone[1].difference * 2.0 / 3.0, 12);
    assert_eq!(pooled.days, 60);
    assert_eq!(pooled.windows_ahead, 2);
    let overlap = two_way(&[part(0, 21, 0.0), late]);
    assert_eq!(overlap, Err(TwoWayError::Overlap(day(20))));
    assert_eq!(two_way(&[part(0, 19, 0.0)]), Err(TwoWayError::TooFewDays(19)));
    assert_eq!(two_way(&[]), Err(TwoWayError::Incomplete));
    // Windows under 20 days count together, and one without shared days not at all.
    let short: Vec<_> =
        (0..5).map(|at| part(12 * at, 12 * (at + 1), 0.0)).chain([part(60, 60, 0.0)]).collect();
    let joined = two_way(&short).expect("60 days");
    assert_eq!((joined.days, joined.sides.len()), (60, 5));
    assert!(joined.p_value().is_finite() && joined.trial_variance.is_finite());
}

// Goal: more days reduce the variance between days, not between trials; the current number of days changes nothing.
#[test]
fn days_do_not_average_out_trials() {
    let year = 252.0;
    let noise = Noise { long_run_variance: 1e-4, trial_variance: 1e-8, trial_freedom: 4.0 };
    let alone = Noise { trial_variance: 0.0, ..noise };
    assert_eq!(days_needed(alone, year, 0.1), days_needed(1e-4, year, 0.1));
    let needed = days_needed(noise, year, 0.15).expect("enough days");
    assert!(needed > days_needed(1e-4, year, 0.15).expect("enough days"));
    assert!(min_detectable_effect(noise, needed, year) <= 0.15);
    assert!(min_detectable_effect(noise, needed - 1, year) > 0.15);
    // 2.8 sqrt(E) 252 alone is 7.1 points.
    assert_eq!(days_needed(noise, year, 0.07), None);
    let mut lasting = panel(&[1, 2, 3].map(a), &[4, 5, 6].map(b));
    lasting.a[0].iter_mut().for_each(|g| *g += 0.004);
    let found = two_way(&[lasting]).expect("a comparison");
    let quantiles = t_quantile(0.975, found.degrees_of_freedom) + t_quantile(0.8, found.degrees_of_freedom);
    let shown = min_detectable_effect(found.noise(), found.days, year);
    assert!(found.trial_variance > 0.0);
    assert_digits(shown, quantiles * found.standard_error() * year, 12);
}

// Goal: Welch over trials, and the one-sample test against a baseline. Expected: scipy's ttest_ind and ttest_1samp.
#[test]
fn trials_on_these_days() {
    let constant = |values: &[f64]| values.iter().map(|g| vec![*g; 20]).collect::<Vec<_>>();
    let (a, b) = (constant(&[0.01, 0.014, 0.009, 0.016]), constant(&[0.004, 0.0075, 0.002]));
    let welch = compare_trials(&a, &b).expect("three trials or more");
    assert_digits(welch.degrees_of_freedom, WELCH.0, 10);
    assert_digits(welch.difference / welch.standard_error, WELCH.1, 10);
    assert_digits(welch.p_value, WELCH.2, 10);
    let single = compare_trials(&a, &constant(&[0.008])).expect("a baseline");
    assert_digits(single.degrees_of_freedom, 3.0, 10);
    assert_digits(single.p_value, ONE_SAMPLE, 10);
    assert_eq!(single.spread_b, None);
    assert!(compare_trials(&a, &b[..2]).is_none());
    assert!(compare_trials(&a[..2], &b).is_none());
}

// Goal: the number of trials decides the claim; one run is never a configuration.
#[test]
fn the_number_of_trials_decides_the_claim() {
    assert_eq!(Estimand::of(1, Some(1), 1), Some(Estimand::TwoRuns));
    assert_eq!(Estimand::of(1, None, 1), Some(Estimand::RunAgainstBaseline));
    assert_eq!(Estimand::of(3, None, 1), Some(Estimand::Configurations));
    assert_eq!(Estimand::of(3, Some(5), 4), Some(Estimand::Windows));
    assert_eq!(Estimand::of(3, Some(2), 1), None);
    assert!(!Estimand::TheseDays.allows_verdict());
}

/// Degrees of freedom, t and p.
const WELCH: (f64, f64, f64) = (4.84959602237, 3.36242209619, 0.0210166809052);
const ONE_SAMPLE: f64 = 0.0823062398288;
