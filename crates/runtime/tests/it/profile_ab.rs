//! Comparisons of cohorts: every rule, and every rejection.

use crate::profile_read::{ours, theirs};
use papertape_runtime::profile::ab::{AbReport, CompareError, Comparison, Difference, compare};
use papertape_runtime::profile::cohort::{Cohort, Run};
use papertape_runtime::profile::invariant::Invariant;
use papertape_runtime::profile::read::read;
use papertape_runtime::profile::stats::{Figure, MedianIqr, quantile};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A run in our format, modified.
fn run(id: &str, change: impl FnOnce(&mut Value)) -> Run {
    let mut value = ours();
    value["run_id"] = json!(id);
    change(&mut value);
    Run::of(&read(&value.to_string(), id).expect("reads"), format!("{id}.json"))
}

/// Successful runs with these times.
fn times(prefix: &str, ms: &[u64]) -> Vec<Run> {
    ms.iter()
        .enumerate()
        .map(|(at, ms)| {
            run(&format!("{prefix}{at}"), |value| value["summary"]["total_elapsed_ms"] = json!(ms))
        })
        .collect()
}

fn degraded(value: &mut Value) {
    value["summary"]["final_research_status"] = json!("degraded");
}

fn failed(value: &mut Value) {
    value["status"] = json!("error");
}

/// A cohort of runs with one time, some of them degraded and some failed.
fn cohort(prefix: &str, ms: u64, runs: usize, degraded_runs: usize, failed_runs: usize) -> Vec<Run> {
    (0..runs)
        .map(|at| {
            run(&format!("{prefix}{at}"), |value| {
                value["summary"]["total_elapsed_ms"] = json!(ms);
                if at < degraded_runs {
                    degraded(value);
                }
                if at >= runs - failed_runs {
                    failed(value);
                }
            })
        })
        .collect()
}

fn report(a: &[Run], b: &[Run]) -> AbReport {
    compare(("a", a), ("b", b), &BTreeSet::new()).expect("compares")
}

/// (faster, less degraded, fewer errors, recommended), and why.
fn judged(a: &[Run], b: &[Run]) -> ([Option<String>; 4], String) {
    let forth = report(a, b).comparison;
    // The order of the cohorts does not matter.
    let back = compare(("b", b), ("a", a), &BTreeSet::new()).expect("compares").comparison;
    let labels = |comparison: &Comparison| {
        [
            comparison.faster_label.clone(),
            comparison.lower_degradation_label.clone(),
            comparison.lower_error_rate_label.clone(),
            comparison.recommended_label.clone(),
        ]
    };
    assert_eq!(labels(&forth), labels(&back));
    (labels(&forth), forth.why)
}

fn labels(labels: [&str; 4]) -> [Option<String>; 4] {
    labels.map(|label| (!label.is_empty()).then(|| label.to_owned()))
}

// Goal: medians and quartiles follow the documented formula.
#[test]
fn medians_and_spreads_are_those_of_type_7() {
    let middle = |values: &[f64]| MedianIqr::of(values.to_vec());
    assert_eq!(middle(&[]), None);
    assert_eq!(middle(&[3.0]), Some(MedianIqr { median: 3.0, iqr: None }));
    assert_eq!(middle(&[4.0, 1.0]), Some(MedianIqr { median: 2.5, iqr: Some(1.5) }));
    // numpy.percentile([1, 2, 4, 8], [25, 75]) is 1.75 and 5.0.
    assert_eq!(middle(&[8.0, 1.0, 4.0, 2.0]), Some(MedianIqr { median: 3.0, iqr: Some(3.25) }));
    assert_eq!((quantile(&[1.0, 2.0], 0.0), quantile(&[1.0, 2.0], 1.0)), (Some(1.0), Some(2.0)));
    assert_eq!(serde_json::to_string(&[Figure(450.0), Figure(2.5)]).expect("writes"), "[450,2.5]");
}

// Goal: a cohort's counts and rates cover all its runs; its times cover the successful ones.
#[test]
fn a_cohort_has_rates_of_all_runs_and_medians_of_those_that_ended_well() {
    let mut runs = times("a", &[1000, 3000]);
    runs.push(run("broken", |value| {
        failed(value);
        value["summary"]["total_elapsed_ms"] = json!(99_000);
    }));
    runs.push(run("poor", |value| {
        value["summary"]["total_elapsed_ms"] = json!(5000);
        value["node_timings"][1]["history_len"] = json!(1000);
        value["phase_totals_seconds"]["research"] = json!(3.0);
        degraded(value);
    }));
    let cohort = Cohort::of("a", &runs);
    assert_eq!(
        (cohort.run_count, cohort.ok_count, cohort.error_count, cohort.degraded_run_count),
        (4, 3, 1, 1)
    );
    assert_eq!((cohort.error_rate, cohort.degraded_rate), (Figure(0.25), Figure(0.25)));
    assert_eq!(
        (cohort.median_total_elapsed_ms, cohort.iqr_total_elapsed_ms),
        (Some(Figure(3000.0)), Some(Figure(2000.0)))
    );
    assert_eq!((cohort.median_event_count, cohort.iqr_event_count), (Some(Figure(3.0)), Some(Figure(0.0))));
    assert_eq!(cohort.median_final_history_len, Some(Figure(640.0)));
    assert_eq!(cohort.median_final_response_len, Some(Figure(620.0)));
    assert_eq!(cohort.median_phase_elapsed_ms["research"], Some(Figure(1000.0)));
    assert_eq!(cohort.iqr_phase_elapsed_ms["research"], Some(Figure(1000.0)));
    assert_eq!(cohort.source_files, ["a0.json", "a1.json", "broken.json", "poor.json"]);
    assert_eq!(cohort.trace_schema_versions.first().map(String::as_str), Some("papertape.profile_trace.v1"));
}

// Goal: a failed node makes its run degraded, even if the research was full.
#[test]
fn a_run_is_degraded_by_any_node() {
    let trader = run("a", |value| value["node_timings"][2]["state"] = json!("timeout"));
    assert_eq!(Cohort::of("a", &[trader]).degraded_run_count, 1);
}

// Goal: the faster side is recommended if it is otherwise no worse.
#[test]
fn the_faster_side_is_recommended() {
    let (found, why) = judged(&cohort("a", 1000, 4, 0, 0), &cohort("b", 2000, 4, 0, 0));
    assert_eq!(found, labels(["a", "", "", "a"]));
    // Of 70 choices of four in eight, two are as extreme.
    let said =
        "a is faster: a takes 1.00 s and b takes 2.00 s (medians); it is not worse otherwise (p = 0.029)";
    assert_eq!(why, said);
    let (found, _) = judged(&cohort("a", 1000, 6, 0, 0), &cohort("b", 2000, 6, 1, 1));
    assert_eq!(found, labels(["a", "a", "a", "a"]));
}

// Goal: nothing is recommended for a difference that chance explains: three runs each can show nothing.
#[test]
fn nothing_within_noise_is_recommended() {
    let (found, why) = judged(&cohort("a", 1000, 3, 0, 0), &cohort("b", 2000, 3, 0, 0));
    assert_eq!(found, labels(["a", "", "", ""]));
    assert!(why.ends_with("but with 3 and 3 runs that is within noise (p = 0.100)"), "{why}");
    let (found, why) = judged(&cohort("a", 1000, 4, 1, 0), &cohort("b", 1000, 4, 0, 0));
    assert_eq!(found, labels(["", "b", "", ""]));
    assert!(why.ends_with("within noise (p = 1.000)"), "{why}");
    let (found, _) = judged(&cohort("a", 1000, 4, 1, 1), &cohort("b", 1000, 4, 1, 0));
    assert_eq!(found, labels(["", "", "b", ""]));
    let (found, why) = judged(&cohort("a", 1000, 2, 0, 0), &cohort("b", 1000, 2, 0, 2));
    assert_eq!(found[3], None, "{why}");
}

// Goal: a faster side with more degraded or failed runs is not recommended, and the reason is given.
#[test]
fn a_faster_side_that_is_worse_otherwise_is_not_recommended() {
    let (found, why) = judged(&cohort("a", 1000, 4, 1, 0), &cohort("b", 2000, 4, 0, 0));
    assert_eq!(found, labels(["a", "b", "", ""]));
    assert!(why.contains("but 1 of 4 runs are degraded in a, 0 of 4 in b"), "{why}");
    let (found, why) = judged(&cohort("a", 1000, 4, 0, 1), &cohort("b", 2000, 4, 0, 0));
    assert_eq!(found, labels(["a", "", "b", ""]));
    assert!(why.contains("but 1 of 4 runs failed in a, 0 of 4 in b"), "{why}");
    // Better in one respect and worse in another is still worse in one.
    let (found, _) = judged(&cohort("a", 1000, 4, 0, 1), &cohort("b", 2000, 4, 1, 0));
    assert_eq!(found, labels(["a", "a", "b", ""]));
}

// Goal: rates decide, not counts, so a larger cohort is not penalized for its size.
#[test]
fn rates_decide_and_not_counts() {
    let (found, _) = judged(&cohort("a", 1000, 6, 2, 2), &cohort("b", 1000, 3, 1, 1));
    assert_eq!(found, labels(["", "", "", ""]));
    let (found, _) = judged(&cohort("a", 1000, 10, 2, 0), &cohort("b", 1000, 2, 1, 0));
    assert_eq!(found, labels(["", "a", "", ""]));
}

// Goal: less than 2% of the longer time is a tie, 2% is not; a difference within the spread is a tie too.
#[test]
fn small_differences_of_time_are_ties() {
    let (found, why) = judged(&times("a", &[981, 981]), &times("b", &[1000, 1000]));
    assert_eq!(found, labels(["", "", "", ""]));
    assert!(why.starts_with("the times differ by under 2%"), "{why}");
    let (found, _) = judged(&times("a", &[980; 4]), &times("b", &[1000; 4]));
    assert_eq!(found, labels(["a", "", "", "a"]));
    // Medians 1000 and 1400, larger spread 400: within it.
    let (found, why) = judged(&times("a", &[1000, 1000]), &times("b", &[1200, 1400, 2000]));
    assert_eq!(found, labels(["", "", "", ""]));
    assert!(why.starts_with("the times differ by no more than their spread of 400 ms"), "{why}");
    let (found, _) = judged(&times("a", &[1000, 1000]), &times("b", &[1202, 1401, 2000]));
    assert_eq!(found, labels(["a", "", "", ""]));
    let (found, why) = judged(&times("a", &[0]), &times("b", &[0]));
    assert_eq!(found, labels(["", "", "", ""]));
    assert!(why.starts_with("the times are equal"), "{why}");
}

// Goal: a tie in time is broken by degradation, and a tie in that by errors.
#[test]
fn a_tie_in_time_is_broken_by_degradation_and_then_by_errors() {
    let (found, _) = judged(&cohort("a", 1000, 10, 6, 0), &cohort("b", 1000, 10, 0, 0));
    assert_eq!(found, labels(["", "b", "", "b"]));
    let (found, _) = judged(&cohort("a", 1000, 10, 1, 6), &cohort("b", 1000, 10, 1, 0));
    assert_eq!(found, labels(["", "", "b", "b"]));
    // Degradation takes precedence, and the counterargument is reported.
    let (found, why) = judged(&cohort("a", 1000, 10, 0, 1), &cohort("b", 1000, 10, 6, 0));
    assert_eq!(found, labels(["", "a", "b", "a"]));
    assert!(why.contains("; but 1 of 10 runs failed in a, 0 of 10 in b"), "{why}");
}

// Goal: a side without a successful run is never recommended.
#[test]
fn a_side_without_a_good_run_is_never_recommended() {
    let (found, why) = judged(&cohort("a", 1000, 4, 0, 4), &cohort("b", 1000, 4, 1, 0));
    assert_eq!(found, labels(["", "a", "b", "b"]));
    assert_eq!(why, "no run of a completed, but 4 of b did (p = 0.029)");
    let (found, _) = judged(&cohort("a", 1000, 2, 0, 2), &cohort("b", 1000, 2, 0, 2));
    assert_eq!(found, labels(["", "", "", ""]));
}

// Goal: cohorts with equal labels, without runs, or with a duplicate run are rejected.
#[test]
fn equal_labels_empty_cohorts_and_runs_that_stand_twice_are_refused() {
    let (a, b) = (times("a", &[1]), times("b", &[1]));
    let none = BTreeSet::new();
    assert_eq!(compare(("x", &a), ("x", &b), &none), Err(CompareError::EqualLabels("x".to_owned())));
    assert_eq!(compare(("x", &a), ("y", &[]), &none), Err(CompareError::Empty("y".to_owned())));
    let twice = [times("a", &[1, 2]), vec![run("a0", |_| {})]].concat();
    let error = compare(("x", &twice), ("y", &b), &none).expect_err("a duplicate run");
    assert_eq!(error.to_string(), "duplicate run a0: in a0.json and in a0.json");
    // Also across the cohorts.
    assert!(matches!(compare(("x", &a), ("y", &a), &none), Err(CompareError::DuplicateRun { .. })));
}

// Goal: each invariant that differs is rejected by name, unless it is the experiment.
#[test]
fn what_must_be_the_same_is_refused_by_name_unless_it_is_the_experiment() {
    let cases: [(Invariant, &str, Value); 7] = [
        (Invariant::Ticker, "/ticker", json!("IBM")),
        (Invariant::Date, "/date", json!("2012-10-03")),
        (Invariant::Provider, "/invariants/provider", json!("openai")),
        (Invariant::Model, "/invariants/model", json!("contrarian")),
        (Invariant::OverallTimeout, "/invariants/overall_timeout_secs", json!(60)),
        (Invariant::MaxDebateRounds, "/invariants/max_debate_rounds", json!(2)),
        (Invariant::MaxRiskDiscussRounds, "/invariants/max_risk_discuss_rounds", json!(2)),
    ];
    let a = times("a", &[1000]);
    for (invariant, pointer, other) in cases {
        let b = [run("b", |value| *value.pointer_mut(pointer).expect("is there") = other.clone())];
        let refused = compare(("a", &a), ("b", &b), &BTreeSet::new()).expect_err("differs");
        let CompareError::Differ(differences) = &refused else { panic!("{refused}") };
        assert_eq!(differences.len(), 1, "{refused}");
        assert!(refused.to_string().contains(&format!("--vary {invariant}")), "{refused}");
        // Varying another invariant does not help.
        let wrong = Invariant::ALL.into_iter().find(|one| *one != invariant && *one != Invariant::Model);
        compare(("a", &a), ("b", &b), &wrong.into_iter().collect()).expect_err("still differs");
        let report = compare(("a", &a), ("b", &b), &BTreeSet::from([invariant])).expect("is the experiment");
        assert_eq!(report.differences, *differences);
        assert_eq!(invariant.as_str().parse::<Invariant>(), Ok(invariant));
    }
    assert!("lunch".parse::<Invariant>().is_err());
}

// Goal: a different model may come from a different provider.
#[test]
fn another_model_may_come_from_another_provider() {
    let b = [run("b", |value| {
        value["invariants"]["provider"] = json!("openai");
        value["invariants"]["model"] = json!("gpt-5-mini");
    })];
    let a = times("a", &[1000]);
    let error = compare(("a", &a), ("b", &b), &BTreeSet::new()).expect_err("differs").to_string();
    assert!(error.contains("provider: house against openai; model: momentum against gpt-5-mini"), "{error}");
    compare(("a", &a), ("b", &b), &BTreeSet::from([Invariant::Model])).expect("is the experiment");
    compare(("a", &a), ("b", &b), &BTreeSet::from([Invariant::Provider])).expect_err("the model differs too");
}

// Goal: in cohorts of many ticker-days, the same ones are equally frequent, individually and in combination.
#[test]
fn cohorts_of_many_ticker_days_hold_the_same_ones() {
    let day = |id: &str, ticker: &str, date: &str| {
        run(id, |value| {
            value["ticker"] = json!(ticker);
            value["date"] = json!(date);
        })
    };
    let a = [day("a1", "AAPL", "2012-10-02"), day("a2", "IBM", "2012-10-03")];
    let same = [
        day("b1", "AAPL", "2012-10-02"),
        day("b2", "IBM", "2012-10-03"),
        day("b3", "AAPL", "2012-10-02"),
        day("b4", "IBM", "2012-10-03"),
    ];
    report(&a, &same);
    let refusal =
        |b: &[Run]| compare(("a", &a), ("b", b), &BTreeSet::new()).expect_err("differs").to_string();
    let said = refusal(&same[..3]);
    assert!(
        said.contains(
            "ticker: AAPL (1 of 2 runs), IBM (1 of 2 runs) against AAPL (2 of 3 runs), IBM (1 of 3 runs)"
        ),
        "{said}"
    );
    let crossed = [day("b1", "AAPL", "2012-10-03"), day("b2", "IBM", "2012-10-02")];
    assert!(refusal(&crossed).contains("combinations"), "{}", refusal(&crossed));
    // A missing day whose run failed does not cause a rejection, and is reported.
    let mut broken = same.to_vec();
    broken[3] = run("b4", |value| {
        value["ticker"] = json!("IBM");
        value["date"] = json!("2012-10-03");
        failed(value);
    });
    let flags = report(&a, &broken).flags;
    assert!(flags.iter().any(|flag| flag.contains("not of the same ticker-days")), "{flags:?}");
}

// Goal: allowed differences are listed, so that one cause is not mistaken for another.
#[test]
fn settings_that_differ_are_listed() {
    let b = [run("b", |value| {
        value["analysis_prompt_style"] = json!("detailed");
        value["selected_analysts"] = json!(["market", "news"]);
        value["invariants"]["max_retries"] = json!(2);
    })];
    let report = report(&times("a", &[1000]), &b);
    let difference =
        |name: &str, a: &str, b: &str| Difference { name: name.to_owned(), a: a.to_owned(), b: b.to_owned() };
    assert_eq!(
        report.differences,
        [
            difference("analysis_prompt_style", "compact", "detailed"),
            difference("max_retries", "0", "2"),
            difference("selected_analysts", "market", "market,news"),
        ]
    );
}

// Goal: traces of TradingAgents can be compared with each other, and with ours under a flag.
#[test]
fn traces_of_tradingagents_are_compared_and_mixing_definitions_is_flagged() {
    let other = |id: &str| {
        let mut value = theirs();
        value["node_timings"][0]["run_id"] = json!(id);
        value
    };
    let read_run = |value: &Value| Run::of(&read(&value.to_string(), "file").expect("reads"), "file");
    let (a, b) = ([read_run(&other("r1"))], [read_run(&other("r2"))]);
    let flags = report(&a, &b).flags;
    assert!(
        flags
            .iter()
            .any(|flag| flag.contains("not recorded in every trace: provider, model, overall-timeout")),
        "{flags:?}"
    );
    assert!(!flags.iter().any(|flag| flag.contains("elapsed_ms")), "{flags:?}");
    let mine = [run("m", |value| value["date"] = json!("2026-04-11"))];
    let mixed = report(&a, &mine);
    assert!(
        mixed.flags.iter().any(|flag| flag.contains("node_span and since_previous_event")),
        "{:?}",
        mixed.flags
    );
    let versions =
        |label: &str| mixed.cohorts[label].trace_schema_versions.iter().cloned().collect::<Vec<_>>();
    assert_eq!(
        (versions("a"), versions("b")),
        (vec!["unknown".to_owned()], vec!["papertape.profile_trace.v1".to_owned()])
    );
    assert_eq!(mixed.cohorts["a"].median_phase_elapsed_ms["unknown"], Some(Figure(188.0)));
}

// Goal: times that are not call times are flagged, and so is a spread that cannot be determined.
#[test]
fn doubtful_times_are_flagged() {
    let a = [run("a", |value| value["summary"]["reused_steps"] = json!(4))];
    let b = [run("b", |value| value["summary"]["interrupted_attempts"] = json!(1))];
    let vary = BTreeSet::from([Invariant::Ticker]);
    let flags = compare(("a", &a), ("b", &b), &vary).expect("compares").flags.join("\n");
    assert!(flags.contains("a: 1 of 1 runs reused steps"), "{flags}");
    assert!(flags.contains("b: 1 of 1 runs were interrupted"), "{flags}");
    assert!(flags.contains("so there is no spread"), "{flags}");
    assert!(flags.contains("ticker was expected to vary, but is the same"), "{flags}");
}
