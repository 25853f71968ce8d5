//! Against the values of `arch` (`scripts/evidence_oracle.py`).

use crate::support::{Lcg, uniform};
use papertape_evidence::{SpaForm, politis_white, spa_with};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    block_lengths: Vec<BlockCase>,
    spa: Vec<SpaCase>,
}

#[derive(Deserialize)]
struct BlockCase {
    seed: u64,
    n: usize,
    phi: f64,
    stationary: Option<f64>,
    circular: Option<f64>,
}

#[derive(Deserialize)]
struct SpaCase {
    n: usize,
    restart: f64,
    means: Vec<f64>,
    counts: [usize; 3],
    variances: Vec<f64>,
    indices: Vec<String>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/arch.json")).expect("the fixture")
}

// Goal: Politis-White block lengths are those of arch, from eight values on.
#[test]
fn block_lengths_equal_arch() {
    let cases = fixture().block_lengths;
    assert!(cases.len() > 10);
    for case in cases {
        let (mut lcg, mut last) = (Lcg::new(case.seed), 0.0);
        let series: Vec<f64> = (0..case.n)
            .map(|_| {
                last = case.phi * last + (lcg.next() - 0.5);
                last
            })
            .collect();
        let ours = politis_white(&series);
        for (ours, theirs) in
            [(ours.map(|l| l.stationary), case.stationary), (ours.map(|l| l.circular), case.circular)]
        {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => {
                    assert!((ours - theirs).abs() <= 1e-9, "{}: {ours} is not {theirs}", case.seed);
                }
                (ours, theirs) => assert_eq!(ours, theirs, "{}", case.seed),
            }
        }
    }
}

// Goal: the unstudentized SPA test counts what arch counts, over the same draws, with the same variances.
#[test]
fn unstudentized_spa_equals_arch() {
    for case in fixture().spa {
        let differences: Vec<Vec<f64>> =
            (10..).zip(&case.means).map(|(seed, mean)| uniform(seed, case.n, *mean, 0.04)).collect();
        let mut draws = case.indices.iter();
        let result =
            spa_with(&differences, case.restart, case.indices.len(), SpaForm::Unstudentized, &mut |_| {
                let draw = draws.next().expect("a draw");
                draw.split(' ').map(|day| day.parse().expect("a day")).collect()
            })
            .expect("a test");
        assert!(result.statistic > 0.0, "a maximum of zero or below would not be comparable");
        assert_eq!(result.exceedances, case.counts);
        for (omega, variance) in result.omegas.iter().zip(&case.variances) {
            assert!((omega * omega - variance).abs() <= 1e-15, "{omega}");
        }
    }
}
