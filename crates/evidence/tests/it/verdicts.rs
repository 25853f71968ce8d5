//! The first verdict that applies, and ranks.

use papertape_evidence::{
    Conditions, Contrast, Mismatch, PairDecision, RankSet, RobustnessCheck, Verdict, VerdictInput, rank_sets,
    verdict,
};

const CLEAR: Contrast = Contrast { difference: 0.002, holm_p: 0.01 };
const UNCLEAR: Contrast = Contrast { difference: 0.002, holm_p: 0.06 };

fn input(differences: &[f64]) -> VerdictInput<'_> {
    VerdictInput {
        mismatches: &[],
        insolvent: [false, false],
        differences,
        is_interim: false,
        contrast: CLEAR,
        refilled: CLEAR,
        net_of_cost: CLEAR,
        noise: Some(1e-4.into()),
        trading_days_per_year: 252.0,
        target: 0.1,
    }
}

// Goal: each verdict precedes the next: every input below also has all the later reasons.
#[test]
fn the_first_verdict_that_applies() {
    let (same, few) = (vec![1e-13; 80], vec![0.01; 59]);
    let mut rare = vec![0.0; 80];
    rare[..29].fill(0.01);
    let worst = VerdictInput {
        mismatches: &[Mismatch::Costs],
        insolvent: [true, false],
        is_interim: true,
        ..input(&same)
    };
    assert_eq!(verdict(&worst), Verdict::NotComparable { mismatches: vec![Mismatch::Costs] });
    let worst = VerdictInput { mismatches: &[], ..worst };
    assert_eq!(verdict(&worst), Verdict::Insolvent { a: true, b: false });
    let worst = VerdictInput { insolvent: [false, false], ..worst };
    assert_eq!(verdict(&worst), Verdict::Identical);
    let worst = VerdictInput { differences: &few, ..worst };
    assert_eq!(verdict(&worst), Verdict::Interim);
    let too_few =
        |days, different_days, has_interval| Verdict::TooFewDays { days, different_days, has_interval };
    let worst = VerdictInput { is_interim: false, ..worst };
    assert_eq!(verdict(&worst), too_few(59, 59, true));
    assert_eq!(verdict(&input(&few[..19])), too_few(19, 19, false));
    assert_eq!(verdict(&input(&rare)), too_few(80, 29, true));
    let (clear, unknown) = (vec![0.002; 80], None);
    assert_eq!(verdict(&VerdictInput { noise: unknown, ..input(&clear) }), too_few(80, 80, false));
}

// Goal: better or worse only if the fill and the model cost do not decide it; otherwise what could have been seen.
#[test]
fn a_difference_must_be_robust() {
    let days = vec![0.002; 250];
    let plain = input(&days);
    assert_eq!(verdict(&plain), Verdict::Better);
    let reverse = Contrast { difference: -0.002, ..CLEAR };
    let worse = VerdictInput { contrast: reverse, refilled: reverse, net_of_cost: reverse, ..plain };
    assert_eq!(verdict(&worse), Verdict::Worse);
    let depends_on = |input: &VerdictInput<'_>| match verdict(input) {
        Verdict::NotDistinguishable(because) => {
            assert!((because.min_detectable - 0.4606).abs() < 5e-5);
            assert_eq!(because.days_needed, Some(5_026));
            because.depends_on
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(depends_on(&VerdictInput { refilled: reverse, ..plain }), [RobustnessCheck::Fill]);
    assert_eq!(depends_on(&VerdictInput { net_of_cost: UNCLEAR, ..plain }), [RobustnessCheck::ModelCost]);
    assert_eq!(depends_on(&VerdictInput { contrast: UNCLEAR, ..plain }), []);
    let stored = serde_json::to_value(verdict(&VerdictInput { refilled: UNCLEAR, ..plain })).expect("JSON");
    assert_eq!(stored["verdict"], "not_distinguishable");
    assert_eq!(stored["depends_on"][0], "fill");
}

// Goal: only what the experiment varies may differ.
#[test]
fn conditions_must_match() {
    let of = |dataset: &str, fill: &str| Conditions {
        dataset: dataset.into(),
        fill: fill.into(),
        ..Conditions::default()
    };
    let (a, b) = (of("x", "open"), of("y", "close"));
    assert_eq!(a.mismatches(&b, &[]), [Mismatch::Dataset, Mismatch::Fill]);
    assert_eq!(a.mismatches(&b, &[Mismatch::Fill]), [Mismatch::Dataset]);
}

// Goal: rank sets count only significant pairs.
#[test]
fn ranks_are_sets() {
    let pair = |a, b, difference, holm_p| PairDecision { a, b, difference, holm_p };
    let pairs = [pair(0, 1, 0.1, 0.01), pair(0, 2, 0.2, 0.05), pair(1, 2, 0.1, 0.2)];
    let sets = [(1, 1), (2, 3), (2, 3)].map(|(best, worst)| RankSet { best, worst });
    assert_eq!(rank_sets(3, &pairs), sets);
    let reversed = [pair(1, 0, -0.1, 0.01), pair(2, 0, -0.2, 0.05)];
    assert_eq!(rank_sets(3, &reversed), sets);
}
