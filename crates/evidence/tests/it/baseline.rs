//! Draws of the random baseline.

use papertape_evidence::{
    Availability, BaselineDraw, Null, NullTest, Seed, WeightSchedule, draw_baseline, upper_tail_p,
};

fn seed() -> Seed {
    Seed::derive(&["dataset"], &["job"], "random_baseline")
}

fn bars(has_bar: &dyn Fn(usize, usize) -> bool) -> Availability<'_> {
    Availability { has_bar, may_open: &|_, _| true }
}

fn schedule() -> WeightSchedule {
    let weights = (0..150)
        .map(|day| (0..5).map(|symbol| if (day * 7 + symbol * 31) % 11 < 3 { 0.3 } else { 0.0 }).collect());
    WeightSchedule::new(weights.collect()).expect("a schedule")
}

// Goal: rotation wraps at the last day, renaming moves columns, and both keep the turnover's weights.
#[test]
fn a_draw_rotates_and_renames() {
    let schedule =
        WeightSchedule::new(vec![vec![1.5, 0.0], vec![0.0, 0.0], vec![0.0, -0.4]]).expect("a schedule");
    let applied = schedule.apply(&BaselineDraw { rotation: 1, symbols: vec![1, 0] });
    assert_eq!(applied.weights(), [vec![-0.4, 0.0], vec![0.0, 1.5], vec![0.0, 0.0]]);
    assert!(WeightSchedule::new(vec![vec![1.0], vec![]]).is_none());
}

// Goal: each null changes what it is named for, reproducibly.
#[test]
fn nulls_change_what_they_are_named_for() {
    let draws = |null| draw_baseline(&schedule(), null, 999, seed(), &bars(&|_, _| true));
    let own: Vec<usize> = (0..5).collect();
    let timing = draws(Null::Timing);
    assert!(timing.accepted.iter().all(|draw| draw.symbols == own));
    let rotations = (0..150).filter(|day| timing.accepted.iter().any(|draw| draw.rotation == *day)).count();
    assert!(rotations > 140, "{rotations} of 150 rotations");
    let choice = draws(Null::Choice);
    assert!(choice.accepted.iter().all(|draw| draw.rotation == 0));
    assert!(choice.accepted.iter().any(|draw| draw.symbols != own));
    assert_eq!(draws(Null::Both), draws(Null::Both));
    assert!((110..=120).contains(&choice.distinct), "{} of 120 permutations", choice.distinct);
}

// Goal: draws without bars are drawn again, and discarded at last; then, or with too few schedules, there is no test.
#[test]
fn some_schedules_have_no_test() {
    let schedule = schedule();
    // Symbol 4 is listed on day 140.
    let late =
        draw_baseline(&schedule, Null::Choice, 200, seed(), &bars(&|symbol, day| symbol != 4 || day >= 140));
    assert!(late.accepted.is_empty() && late.discarded == 200);
    assert_eq!(late.test(1.0, &[]), NullTest::NotPossible { discarded: 200, distinct: 0 });
    // Held from the first day to the last, a rotation changes nothing.
    let held = WeightSchedule::new(vec![vec![0.5, 0.5]; 100]).expect("a schedule");
    let draws = draw_baseline(&held, Null::Both, 200, seed(), &bars(&|_, _| true));
    assert_eq!(draws.test(1.0, &vec![0.0; 200]), NullTest::NotPossible { discarded: 0, distinct: 1 });
    // A day without a bar is avoided by drawing again.
    let gap =
        draw_baseline(&schedule, Null::Both, 200, seed(), &bars(&|symbol, day| (symbol, day) != (2, 70)));
    // Neither held there nor sold.
    let is_free = |draw: &BaselineDraw| {
        let applied = schedule.apply(draw);
        [69, 70].iter().all(|day| applied.weights()[*day][2].abs() <= 0.0)
    };
    assert!(gap.discarded == 0 && gap.accepted.iter().all(is_free));
    // A symbol joins the index on day 75: it is held before only if it was opened later, which it never is.
    let joins = Availability { may_open: &|symbol, day| symbol != 2 || day >= 75, ..bars(&|_, _| true) };
    let once = WeightSchedule::new((0..150).map(|day| vec![0.0, f64::from(day == 80), 0.0]).collect());
    let once = once.expect("a schedule");
    let members = draw_baseline(&once, Null::Both, 200, seed(), &joins);
    let opened = |draw: &BaselineDraw| (0..75).all(|day| once.apply(draw).weights()[day][2].abs() <= 0.0);
    assert!(members.discarded == 0 && members.accepted.iter().all(opened));
    let nulls: Vec<f64> = (0..200).map(f64::from).collect();
    assert_eq!(gap.test(190.0, &nulls), NullTest::Tested { p_value: 11.0 / 201.0, draws: 200 });
}

// Goal: a tie counts against the agent, and the agent itself is a draw.
#[test]
fn the_upper_tail_counts_ties() {
    assert_eq!(upper_tail_p(2.0, &[1.0, 2.0, 3.0]).to_bits(), 0.75_f64.to_bits());
    assert_eq!(upper_tail_p(9.0, &[1.0; 99]).to_bits(), 0.01_f64.to_bits());
}
