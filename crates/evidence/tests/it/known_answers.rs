//! Values computed with 40 digits (mpmath), those of the SPA test in floats.

use crate::support::{Lcg, assert_digits, series, uniform};
use papertape_evidence::{
    MeanEstimate, SharpeMoments, SpaForm, align, bootstrap_block_length, cone, cosine_count, days_needed,
    deflated_sharpe, holm, long_run_variance_with, min_detectable_effect, min_track_record_length,
    politis_white, probabilistic_sharpe, sharpe_influence, spa_with, stationary_indices,
};

fn a(n: usize) -> Vec<f64> {
    uniform(1, n, 0.001, 0.04)
}

fn b(n: usize) -> Vec<f64> {
    uniform(2, n, 0.0005, 0.03)
}

// Goal: the interval of a paired difference and the block length are those of the formulas.
#[test]
fn means_and_block_lengths() {
    for (n, mean, omega, t, p, stationary, circular) in [
        (20, -0.0010044004902, 0.00060347664761, -0.18284861675, 0.86093879413, 1.5696332802, 1.7967815714),
        (60, 0.0017384456105, 0.00050319067948, 0.60030289656, 0.55947092498, 1.6396323457, 1.8769104987),
        (250, 0.00060544038996, 0.00030663668843, 0.54667515459, 0.58839397486, 1.6243740928, 1.8594441592),
    ] {
        let (first, second) = (series(&a(n)), series(&b(n)));
        let d = align(&[&first, &second]).difference(0, 1);
        let estimate = MeanEstimate::of(&d).expect("enough days");
        assert_digits(estimate.mean, mean, 11);
        assert_digits(estimate.long_run_variance, omega, 11);
        assert_digits(estimate.t(), t, 11);
        assert_digits(estimate.p_value(), p, 11);
        let length = politis_white(&d).expect("enough days");
        assert_digits(length.stationary, stationary, 11);
        assert_digits(length.circular, circular, 11);
        // Floors: n^(1/3), also where there is no length; the cap n / 6 is above it here.
        assert_digits(bootstrap_block_length(&d), (n as f64).cbrt(), 11);
    }
    assert_eq!(politis_white(&a(7)), None);
    assert_eq!(politis_white(&[0.0; 60]), None);
    assert_digits(bootstrap_block_length(&[0.0; 60]), 60_f64.cbrt(), 11);
}

// Goal: the number of cosines, their limit as the sample variance, and the cone's end as the interval.
#[test]
fn cosines_and_cone() {
    assert_eq!([20, 60, 120, 250, 500].map(cosine_count), [6, 12, 19, 32, 50]);
    let x = a(60);
    let variance = papertape_core::metric::deviation(&x).expect("a deviation").powi(2);
    assert_digits(long_run_variance_with(&x, 59), variance, 12);
    assert!(MeanEstimate::of(&x[..19]).is_none());
    let estimate = MeanEstimate::of(&x).expect("enough days");
    let half_widths = cone(&estimate, estimate.critical(0.05));
    let interval = estimate.interval();
    assert_digits(half_widths[59], 60.0 * (interval.high - interval.low) / 2.0, 12);
    assert_digits(half_widths[14], half_widths[59] / 2.0, 12);
}

// Goal: Sharpe ratios and their difference with standard errors by influence.
#[test]
fn sharpe_ratios() {
    for (n, sharpe, error, difference, error_of_difference) in [
        (20, 0.055535577686, 0.28477937606, -0.1191170411, 0.5644435371),
        (60, 0.19625466379, 0.15802669853, 0.14555432521, 0.28588043836),
        (250, 0.075778320604, 0.071015314786, 0.053489267882, 0.1124798026),
    ] {
        let ((of_a, influence_a), (of_b, influence_b)) =
            (sharpe_influence(&a(n)).expect("varies"), sharpe_influence(&b(n)).expect("varies"));
        assert_digits(of_a, sharpe, 11);
        assert_digits(MeanEstimate::of(&influence_a).expect("days").standard_error(), error, 11);
        assert_digits(of_a - of_b, difference, 10);
        let both: Vec<f64> = influence_a.iter().zip(&influence_b).map(|(a, b)| a - b).collect();
        assert_digits(MeanEstimate::of(&both).expect("days").standard_error(), error_of_difference, 10);
        let gated = papertape_evidence::sharpe_difference(&a(n), &b(n));
        assert_eq!(gated.is_some(), n >= 60);
        if let Some(gated) = gated {
            assert_digits(gated.sharpe, difference, 10);
            assert_digits(gated.standard_error(), error_of_difference, 10);
            let ours = papertape_evidence::sharpe_estimate(&a(n)).expect("60 days").annualized(252.0).0;
            let metric = papertape_core::metric::sharpe(&a(n), 0.0, 252.0).expect("varies");
            assert_digits(ours, metric, 12);
        }
    }
    // 59 days in the market are not enough, however many there are out of it.
    let mut idle = a(100);
    idle[59..].fill(0.0);
    assert!(papertape_evidence::sharpe_estimate(&idle).is_none());
}

// Goal: PSR, MinTRL and DSR, one of them as published.
#[test]
fn secondary_sharpe_figures() {
    let moments = |sharpe, days, skewness, kurtosis| SharpeMoments { sharpe, days, skewness, kurtosis };
    for (of, against, psr, length) in [
        (moments(0.1, 250, 0.0, 3.0), 0.0, 0.94226126672, 272.90711714),
        (moments(0.06, 60, -0.8, 7.0), 0.0, 0.67329694704, 792.67207626),
        (moments(0.12, 120, -1.5, 12.0), 0.05, 0.75535962025, 674.40424421),
    ] {
        assert_digits(probabilistic_sharpe(&of, against).expect("a probability"), psr, 11);
        assert_digits(min_track_record_length(&of, against).expect("a length"), length, 11);
        assert_eq!(min_track_record_length(&of, of.sharpe), None);
    }
    let root = 250_f64.sqrt();
    for (of, variance, k, expected, dsr) in [
        (moments(2.5 / root, 1250, -3.0, 10.0), 0.5 / 250.0, 100, 0.11317200187, 0.90039683445),
        (moments(0.12, 250, -0.5, 5.0), 0.004, 10, 0.099586340642, 0.62201183935),
        (moments(0.2, 120, 0.0, 3.0), 0.01, 5, 0.1192594001, 0.80842258315),
    ] {
        let deflated = deflated_sharpe(&of, variance, k).expect("two configurations or more");
        assert_digits(deflated.expected_max, expected, 10);
        assert_digits(deflated.probability, dsr, 11);
    }
    assert_eq!(deflated_sharpe(&moments(0.1, 250, 0.0, 3.0), 0.1, 1), None);
    let data = SharpeMoments::of(&a(60)).expect("60 days");
    assert_digits(data.sharpe, 0.19461233647, 11);
    assert_digits(data.skewness, -0.039790754761, 11);
    assert_digits(data.kurtosis, 1.7713524405, 11);
    assert_digits(probabilistic_sharpe(&data, 0.0).expect("a probability"), 0.93105897047, 11);
    assert_eq!(SharpeMoments::of(&a(59)), None);
}

// Goal: the studentized SPA test, draw by draw.
#[test]
fn superior_predictive_ability() {
    for (n, blocks, draws, means, statistic, omegas, counts) in [
        (
            24,
            4.0,
            199,
            &[0.002, 0.0, -0.02][..],
            0.5913153554,
            &[0.0112584676, 0.0089331306, 0.0088396801][..],
            [73, 103, 134],
        ),
        (
            60,
            5.0,
            999,
            &[0.004, 0.001, -0.01],
            2.8779733544,
            &[0.0084653413, 0.0091002544, 0.0096970978],
            [0, 2, 4],
        ),
        (
            120,
            6.0,
            999,
            &[0.003, 0.001, 0.0, -0.001, -0.004],
            3.9348844786,
            &[0.0106470584, 0.0091421799, 0.0107718041, 0.0126031876, 0.0099779229],
            [0, 0, 1],
        ),
    ] {
        let differences: Vec<Vec<f64>> =
            (10..).zip(means).map(|(seed, mean)| uniform(seed, n, *mean, 0.04)).collect();
        let mut lcg = Lcg::new(99);
        let restart = 1.0 / blocks;
        let result = spa_with(&differences, restart, draws, SpaForm::Studentized, &mut |days| {
            stationary_indices(days, restart, &mut || lcg.next())
        })
        .expect("a test");
        assert!((result.statistic - statistic).abs() <= 0.500001e-10, "{}", result.statistic);
        for (ours, expected) in result.omegas.iter().zip(omegas) {
            assert!((ours - expected).abs() <= 0.500001e-10, "{ours}");
        }
        assert_eq!(result.exceedances, counts);
        let [lower, ..] = result.p_values();
        assert_digits(lower, (1 + counts[0]) as f64 / (draws + 1) as f64, 12);
    }
}

// Goal: families, and what a comparison can see.
#[test]
fn families_and_power() {
    let close = |ours: &[f64], expected: &[f64]| {
        ours.iter().zip(expected).for_each(|(ours, expected)| assert_digits(*ours, *expected, 12));
    };
    close(&holm(&[0.01, 0.04, 0.03]), &[0.03, 0.06, 0.06]);
    close(&holm(&[0.001, 0.02, 0.021, 0.5]), &[0.004, 0.06, 0.06, 0.5]);
    close(&holm(&[0.2, 0.2]), &[0.4, 0.4]);
    // 0.03 fails at 0.025, and with it 0.04.
    close(&papertape_evidence::holm_levels(&[0.01, 0.04, 0.03]), &[0.05 / 3.0, 0.025, 0.025]);
    close(&papertape_evidence::holm_levels(&[0.01, 0.04, 0.02]), &[0.05 / 3.0, 0.05, 0.025]);
    for (n, points) in [(60, 99.27), (120, 67.95), (250, 46.06), (500, 32.20), (1250, 20.18)] {
        assert_digits(100.0 * min_detectable_effect(1e-4, n, 252.0), points, 4);
    }
    for (deviation, days) in [(0.005_f64, 1_273), (0.01, 5_026), (0.015, 11_270)] {
        assert_eq!(days_needed(deviation.powi(2), 252.0, 0.1), Some(days));
    }
    assert_eq!(days_needed(1e-12, 252.0, 0.1), Some(60));
    assert_eq!(days_needed(1e-4, 252.0, 0.0), None);
}
