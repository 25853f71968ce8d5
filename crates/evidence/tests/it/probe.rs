//! Scores of the memorization probe.

use crate::support::{Lcg, assert_digits};
use papertape_evidence::{
    PermutationItem, ProbeVerdict, QuizKind, QuizResponse, QuizScore, Seed, binomial_critical,
    binomial_power, counterfactual_future, detectable_points, difference_power, majority, newcombe,
    permutation_by_month, probe_verdicts,
};

fn seed() -> Seed {
    Seed::derive(&["dataset"], &["job"], "probe")
}

// Goal: Newcombe's interval as published: 56/70 against 48/80, 0.0524 to 0.3339, and 9/10 against 3/10.
#[test]
fn newcombe_as_published() {
    let interval = newcombe((56.0 / 70.0, 70), (48.0 / 80.0, 80), 0.05);
    assert!((interval.low - 0.0524).abs() < 5e-5 && (interval.high - 0.3339).abs() < 5e-5, "{interval:?}");
    let interval = newcombe((0.9, 10), (0.3, 10), 0.05);
    assert!((interval.low - 0.1705).abs() < 5e-5 && (interval.high - 0.8090).abs() < 5e-5, "{interval:?}");
}

// Goal: the sizes that the method names have the power that it names.
#[test]
fn power_of_the_named_sizes() {
    assert_eq!(binomial_critical(200, 0.5, 0.05), Some(113));
    assert_digits(binomial_power(200, 0.6, 113), 0.86, 2);
    assert_digits(difference_power(310, 310, 0.6, 0.5), 0.81, 2);
    assert!(difference_power(310, 310, 0.55, 0.5) < 0.4, "55% is out of reach");
    let points = detectable_points(310, 310, 0.5).expect("some difference is seen");
    assert!((9.0..10.01).contains(&points), "{points}");
    assert_eq!(detectable_points(3, 3, 0.9), None);
}

// Goal: declined items are counted apart and score as chance; a split vote is one.
#[test]
fn declined_items_score_as_chance() {
    use QuizResponse::{Choice, Declined};
    assert_eq!(majority(&[Choice(2), Choice(2), Declined]), Some(2));
    assert_eq!(majority(&[Choice(1), Choice(2), Choice(3)]), None);
    let mut score = QuizScore::new(QuizKind::Level);
    let scores = [Some(1), Some(0), None, None].map(|choice| score.add(choice, 1));
    assert_eq!(scores.map(f64::to_bits), [1.0, 0.0, 0.25, 0.25].map(f64::to_bits));
    assert_eq!((score.items, score.correct, score.declined), (4, 1, 2));
    assert_digits(score.accuracy().expect("items"), 0.375, 12);
}

fn quiz(accuracy: f64, control_accuracy: f64, months: i32) -> (QuizScore, QuizScore, Vec<PermutationItem>) {
    let (mut items, mut controls) = (QuizScore::new(QuizKind::Date), QuizScore::new(QuizKind::Date));
    let mut rows = Vec::new();
    let mut lcg = Lcg::new(4);
    for at in 0..400_i32 {
        for (side, accuracy, is_control) in
            [(&mut items, accuracy, false), (&mut controls, control_accuracy, true)]
        {
            let choice = if lcg.next() < accuracy { 1 } else { 0 };
            rows.push(PermutationItem { month: at % months, score: side.add(Some(choice), 1), is_control });
        }
    }
    (items, controls, rows)
}

// Goal: recall is shown if both tests see it; otherwise the words say what would have been seen, or that nothing could.
#[test]
fn recall_is_shown_or_not() {
    let (items, controls, rows) = quiz(0.6, 0.3, 24);
    let check = permutation_by_month(&rows, seed());
    let (idle, idle_controls, idle_rows) = quiz(0.3, 0.3, 24);
    let idle_check = permutation_by_month(&idle_rows, seed());
    assert!(check < Some(0.01) && idle_check > Some(0.05), "{check:?} {idle_check:?}");
    let empty = QuizScore::new(QuizKind::Company);
    let verdicts = probe_verdicts(&[
        (empty, empty, check),
        (items, controls, check),
        (items, controls, Some(0.2)),
        (idle, idle_controls, idle_check),
        (items, controls, None),
    ]);
    assert!(matches!(verdicts[1], ProbeVerdict::RecallShown { interval, .. } if interval.low > 0.2));
    assert_eq!(verdicts[1].words(), "recall shown");
    assert!(matches!(verdicts[2], ProbeVerdict::NotShown { .. }), "the check by month must agree");
    assert_eq!(verdicts[3].words(), "not shown (would have seen ≥ 9 points)");
    assert_eq!([verdicts[0], verdicts[4]].map(|verdict| verdict.words()), ["not testable", "not testable"]);
}

// Goal: months are exchanged as a whole: with controls after the cut-off, whose months have no items, too.
#[test]
fn months_are_the_unit() {
    let item = |month, score, is_control| PermutationItem { month, score, is_control };
    // Four months with items, four with controls: one of 70 arrangements is as good.
    let rows: Vec<_> =
        (0..8).flat_map(|month| [item(month, f64::from(u8::from(month < 4)), month >= 4); 10]).collect();
    let p = permutation_by_month(&rows, seed()).expect("eight months");
    assert!((p - 1.0 / 70.0).abs() < 0.005, "{p}");
    assert_eq!(permutation_by_month(&rows[..50], seed()), None);
}

// Goal: positions that follow the real future on a resampled path are seen; those that do not are not.
#[test]
fn the_real_future_is_seen_in_positions() {
    let mut lcg = Lcg::new(8);
    let mut noise =
        |n: usize| -> Vec<Vec<f64>> { (0..n).map(|_| (0..3).map(|_| lcg.next() - 0.5).collect()).collect() };
    let (future, other) = (noise(120), noise(120));
    let knows: Vec<Vec<f64>> = future
        .iter()
        .zip(&other)
        .map(|(future, other)| future.iter().zip(other).map(|(f, o)| 0.5 * f + o).collect())
        .collect();
    let shown = counterfactual_future(&knows, &future, seed()).expect("120 days");
    let none = counterfactual_future(&other, &future, seed()).expect("120 days");
    assert!(shown.p_value < 0.01 && none.p_value > 0.05, "{shown:?} {none:?}");
    assert_eq!(counterfactual_future(&other[..59], &future[..59], seed()), None);
}
