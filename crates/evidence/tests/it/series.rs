//! Daily log returns and the days that series share.

use crate::support::{assert_digits, day, series};
use papertape_evidence::{ReturnSeries, Seed, SeriesError, align, net_of_cost, reorder_band};

// Goal: the sum of differences is ln(V_A / V_B) over the shared days, also where one of them misses a day.
#[test]
fn differences_sum_to_the_ratio_of_values() {
    let a = [101.0, 103.0, 99.0, 104.0, 108.0].map(f64::from);
    let b = [99.0, 100.0, 102.0, 101.0, 105.0];
    let rows = |values: &[f64], days: &[usize]| -> Vec<_> {
        days.iter().map(|at| (day(*at), values[*at])).collect()
    };
    let of_a = ReturnSeries::from_values(100.0, &rows(&a, &[0, 1, 2, 3, 4])).expect("a series");
    let of_b = ReturnSeries::from_values(100.0, &rows(&b, &[0, 1, 3, 4])).expect("a series");
    let paired = align(&[&of_a, &of_b]);
    assert_eq!(paired.days, [0, 1, 3, 4].map(day));
    let sum: f64 = paired.difference(0, 1).iter().sum();
    assert_digits(sum, (108.0_f64 / 105.0).ln(), 12);
    // A series that starts later is compared from its own first day.
    let late = ReturnSeries::from_values(100.0, &rows(&b, &[3, 4])).expect("a series");
    let paired = align(&[&of_a, &late]);
    assert_digits(paired.log_returns[0][0], (104.0_f64 / 99.0).ln(), 12);
    let chosen = paired.only(|at| at == day(4));
    assert_eq!(chosen.days, [day(4)]);
    assert_digits(of_a.sum_on(|at| at == day(2) || at == day(3)), (104.0_f64 / 103.0).ln(), 12);
}

// Goal: an insolvent series is named, and its days before remain; data that are not a series are errors.
#[test]
fn insolvency_and_invalid_data() {
    let ruined = series(&[0.01, -0.02, -1.0, 0.5]);
    assert_eq!((ruined.insolvent_on(), ruined.days().len()), (Some(day(2)), 2));
    let by_value = ReturnSeries::from_values(10.0, &[(day(0), 12.0), (day(1), -3.0), (day(2), 4.0)]);
    assert_eq!(by_value.expect("a series").insolvent_on(), Some(day(1)));
    let rows = [(day(1), 0.0), (day(1), 0.1)];
    assert_eq!(ReturnSeries::from_returns(&rows), Err(SeriesError::OutOfOrder(day(1))));
    assert_eq!(ReturnSeries::from_returns(&[(day(0), f64::NAN)]), Err(SeriesError::NotFinite(day(0))));
    assert_eq!(ReturnSeries::from_values(0.0, &[]), Err(SeriesError::InitialNotPositive));
}

// Goal: model cost so far is subtracted from each value.
#[test]
fn costs_accumulate() {
    let net = net_of_cost(&[(day(0), 100.0), (day(1), 101.0), (day(2), 99.0)], &[0.5, 0.0, 0.25]);
    assert_eq!(net, [(day(0), 99.5), (day(1), 100.5), (day(2), 98.25)]);
}

// Goal: a reorder band is the same on every machine, holds the realized drawdown of an exchangeable series, and
// needs 60 days.
#[test]
fn reorder_bands_are_reproducible() {
    let returns = crate::support::uniform(5, 120, 0.001, 0.04);
    let seed = Seed::derive(&["dataset"], &["b", "a"], "reorder_band");
    let band = reorder_band(&returns, seed).expect("60 days");
    assert_eq!(reorder_band(&returns, seed), Some(band));
    assert!(band.band.low < band.realized && band.realized < band.band.high, "{band:?}");
    assert!(band.band.high < 0.0 && band.band.low > -1.0);
    assert_ne!(Seed::derive(&["dataset"], &["a"], "reorder_band"), seed);
    assert_eq!(reorder_band(&returns[..59], seed), None);
}
