//! Compares two cohorts of traces. Nothing is run: only what the traces contain is known.

use super::cohort::{Cohort, Run};
use super::invariant::{Invariant, Shares};
use super::noise::{LEVEL, rank_sum_p, share_p};
use super::trace::ElapsedDefinition;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Schema of a comparison.
pub const SCHEMA: &str = "papertape.profile_ab.v1";

/// Times are equal if they differ by less than one part in this many of the longer one: 2%.
const CLOSE: f64 = 50.0;

/// Why two cohorts cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Both cohorts have the same label.
    #[error("both cohorts are labeled `{0}`")]
    EqualLabels(String),
    /// There is nothing to compare.
    #[error("the cohort `{0}` has no traces")]
    Empty(String),
    /// A duplicate run would count twice.
    #[error("duplicate run {run_id}: in {first} and in {second}")]
    DuplicateRun {
        /// The run.
        run_id: String,
        /// Where it first occurs.
        first: String,
        /// Where it occurs again.
        second: String,
    },
    /// More differs than what is being compared.
    #[error("{}", differ(.0))]
    Differ(Vec<Difference>),
    /// Each value is equally frequent in both cohorts, but their combinations are not.
    #[error(
        "{0} occur equally often in both cohorts, but their combinations do not: both cohorts must have the \
         same runs"
    )]
    Combinations(String),
}

/// Something that differs between the cohorts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the invariant or setting.
    pub name: String,
    /// Its value in the first cohort.
    pub a: String,
    /// Its value in the second cohort.
    pub b: String,
}

fn differ(differences: &[Difference]) -> String {
    let values: Vec<String> =
        differences.iter().map(|one| format!("{}: {} against {}", one.name, one.a, one.b)).collect();
    let vary: Vec<String> = differences.iter().map(|one| format!("--vary {}", one.name)).collect();
    format!(
        "the cohorts differ in what must be the same: {}; if that is the experiment, say {}",
        values.join("; "),
        vary.join(" ")
    )
}

/// A comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AbReport {
    /// [`SCHEMA`].
    pub schema_version: &'static str,
    /// The measure of spread reported with each median.
    pub spread: &'static str,
    /// The first cohort's label.
    pub label_a: String,
    /// The second cohort's label.
    pub label_b: String,
    /// The cohorts by their labels.
    pub cohorts: BTreeMap<String, Cohort>,
    /// The verdict.
    pub comparison: Comparison,
    /// What differs between the cohorts and is allowed to.
    pub differences: Vec<Difference>,
    /// Caveats.
    pub flags: Vec<String>,
}

/// Which cohort is better, by label; `None` is a tie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// By median total time.
    pub faster_label: Option<String>,
    /// By fraction of degraded runs.
    pub lower_degradation_label: Option<String>,
    /// By fraction of failed runs.
    pub lower_error_rate_label: Option<String>,
    /// Overall.
    pub recommended_label: Option<String>,
    /// Reason, in one sentence.
    pub why: String,
}

/// Compares two cohorts. `vary` names what the experiment is about and may differ.
///
/// # Errors
/// See [`CompareError`].
pub fn compare(
    a: (&str, &[Run]),
    b: (&str, &[Run]),
    vary: &BTreeSet<Invariant>,
) -> Result<AbReport, CompareError> {
    if a.0 == b.0 {
        return Err(CompareError::EqualLabels(a.0.to_owned()));
    }
    if let Some((label, _)) = [a, b].into_iter().find(|(_, runs)| runs.is_empty()) {
        return Err(CompareError::Empty(label.to_owned()));
    }
    ensure_unique(a.1.iter().chain(b.1))?;
    let (mut differences, mut flags) = check_invariants(a, b, vary)?;
    differences.extend(settings(a.1, b.1));
    flags.extend(caveats(a, b));
    let cohorts = [Cohort::of(a.0, a.1), Cohort::of(b.0, b.1)];
    let comparison = compare_cohorts((&cohorts[0], a.1), (&cohorts[1], b.1));
    Ok(AbReport {
        schema_version: SCHEMA,
        spread: "interquartile_range",
        label_a: a.0.to_owned(),
        label_b: b.0.to_owned(),
        cohorts: cohorts.into_iter().map(|cohort| (cohort.label.clone(), cohort)).collect(),
        comparison,
        differences,
        flags,
    })
}

/// Checks that every run occurs once.
fn ensure_unique<'r>(runs: impl Iterator<Item = &'r Run>) -> Result<(), CompareError> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for run in runs {
        if let Some(first) = seen.insert(&run.run_id, &run.file) {
            return Err(CompareError::DuplicateRun {
                run_id: run.run_id.clone(),
                first: first.to_owned(),
                second: run.file.clone(),
            });
        }
    }
    Ok(())
}

/// Checks that the invariants hold. Returns the allowed differences, and flags for what is unknown.
fn check_invariants(
    a: (&str, &[Run]),
    b: (&str, &[Run]),
    vary: &BTreeSet<Invariant>,
) -> Result<(Vec<Difference>, Vec<String>), CompareError> {
    let (mut forbidden, mut free, mut flags) = (Vec::new(), Vec::new(), Vec::new());
    let (mut held, mut unknown) = (Vec::new(), Vec::new());
    for invariant in Invariant::ALL {
        let values = |runs: &[Run]| -> Shares<String> {
            runs.iter().filter_map(|run| run.invariants.get(&invariant).cloned()).collect()
        };
        let (of_a, of_b) = (values(a.1), values(b.1));
        let is_recorded = a.1.iter().chain(b.1).all(|run| run.invariants.contains_key(&invariant));
        let is_free = invariant.is_free(vary);
        if of_a.is_empty() || of_b.is_empty() || of_a.same_as(&of_b) {
            if vary.contains(&invariant) && is_recorded {
                flags.push(format!("{invariant} was expected to vary, but is the same in both cohorts"));
            }
        } else {
            let difference =
                Difference { name: invariant.to_string(), a: of_a.describe(), b: of_b.describe() };
            if is_free { free.push(difference) } else { forbidden.push(difference) }
        }
        match (is_free, is_recorded) {
            (true, _) => {}
            (false, true) => held.push(invariant),
            (false, false) => unknown.push(invariant.as_str()),
        }
    }
    if !forbidden.is_empty() {
        return Err(CompareError::Differ(forbidden));
    }
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        flags.push(format!("not recorded in every trace: {names}; cannot check whether it is the same"));
    }
    let together = |runs: &[Run]| -> Shares<Vec<Option<String>>> {
        runs.iter().map(|run| held.iter().map(|one| run.invariants.get(one).cloned()).collect()).collect()
    };
    if !together(a.1).same_as(&together(b.1)) {
        let names: Vec<&str> = held.iter().map(|one| one.as_str()).collect();
        return Err(CompareError::Combinations(names.join(", ")));
    }
    Ok((free, flags))
}

/// Settings that differ; they are allowed to.
fn settings(a: &[Run], b: &[Run]) -> Vec<Difference> {
    let names: BTreeSet<&String> = a.iter().chain(b).flat_map(|run| run.settings.keys()).collect();
    let values = |runs: &[Run], name: &str| -> Shares<String> {
        let value = |run: &Run| run.settings.get(name).map_or("not recorded", String::as_str).to_owned();
        runs.iter().map(value).collect()
    };
    names
        .into_iter()
        .filter_map(|name| {
            let (of_a, of_b) = (values(a, name), values(b, name));
            (!of_a.same_as(&of_b)).then(|| Difference {
                name: name.clone(),
                a: of_a.describe(),
                b: of_b.describe(),
            })
        })
        .collect()
}

/// Why the times may mislead.
fn caveats(a: (&str, &[Run]), b: (&str, &[Run])) -> Vec<String> {
    let mut caveats = Vec::new();
    let definitions: BTreeSet<ElapsedDefinition> = a.1.iter().chain(b.1).map(|run| run.definition).collect();
    if definitions.len() > 1 {
        let names: Vec<&str> = definitions.iter().map(|definition| definition.as_str()).collect();
        caveats.push(format!(
            "elapsed_ms has different meanings in these traces ({}): phases and nodes are not comparable",
            names.join(" and ")
        ));
    }
    for (label, runs) in [a, b] {
        let count = |is: fn(&Run) -> bool| runs.iter().filter(|run| is(run)).count();
        let reused = count(|run| run.is_reused);
        if reused > 0 {
            caveats.push(format!(
                "{label}: {reused} of {} runs reused steps of a parent job; their times are copying times",
                runs.len()
            ));
        }
        let interrupted = count(|run| run.is_interrupted);
        if interrupted > 0 {
            caveats.push(format!(
                "{label}: {interrupted} of {} runs were interrupted and resumed; their totals include the time in between",
                runs.len()
            ));
        }
        if runs.iter().filter(|run| run.is_ok).count() == 1 {
            caveats.push(format!("{label}: only one run completed, so there is no spread"));
        }
    }
    let days = |runs: &[Run]| -> Shares<Vec<String>> {
        let day = |run: &Run| {
            [Invariant::Ticker, Invariant::Date]
                .iter()
                .filter_map(|one| run.invariants.get(one).cloned())
                .collect()
        };
        runs.iter().filter(|run| run.is_ok).map(day).collect()
    };
    let (days_a, days_b) = (days(a.1), days(b.1));
    if !days_a.is_empty() && !days_b.is_empty() && !days_a.same_as(&days_b) {
        caveats.push("the completed runs are not of the same ticker-days in both cohorts".to_owned());
    }
    caveats
}

/// Which cohort is better, and why.
fn compare_cohorts((a, runs_a): (&Cohort, &[Run]), (b, runs_b): (&Cohort, &[Run])) -> Comparison {
    let label = |ordering: Ordering| match ordering {
        Ordering::Less => Some(a.label.clone()),
        Ordering::Greater => Some(b.label.clone()),
        Ordering::Equal => None,
    };
    let share = |of_a: usize, of_b: usize| {
        // Integers, so that 1 of 3 and 2 of 6 are equal.
        (of_a as u128 * b.run_count as u128).cmp(&(of_b as u128 * a.run_count as u128))
    };
    let time = by_time(a, b);
    let degradation = share(a.degraded_run_count, b.degraded_run_count);
    let errors = share(a.error_count, b.error_count);
    let times =
        |runs: &[Run]| -> Vec<f64> { runs.iter().filter(|run| run.is_ok).map(|run| run.total_ms).collect() };
    let shares = |of: fn(&Cohort) -> usize| share_p((of(a), a.run_count), (of(b), b.run_count));
    let noise = Noise {
        time: rank_sum_p(&times(runs_a), &times(runs_b)),
        degradation: shares(|cohort| cohort.degraded_run_count),
        errors: shares(|cohort| cohort.error_count),
        completed: shares(|cohort| cohort.ok_count),
    };
    let (recommended, why) = recommend(a, b, &time, (degradation, errors), &noise);
    Comparison {
        faster_label: label(time.ordering),
        lower_degradation_label: label(degradation),
        lower_error_rate_label: label(errors),
        recommended_label: label(recommended),
        why,
    }
}

/// Comparison of times: `Less` if the first cohort is faster.
struct Time {
    ordering: Ordering,
    text: String,
}

fn by_time(a: &Cohort, b: &Cohort) -> Time {
    let tie = |text: String| Time { ordering: Ordering::Equal, text };
    let (Some(of_a), Some(of_b)) = (a.median_total_elapsed_ms, b.median_total_elapsed_ms) else {
        return tie("there are no times to compare".to_owned());
    };
    let (of_a, of_b) = (of_a.0, of_b.0);
    let (difference, longer) = ((of_a - of_b).abs(), of_a.max(of_b));
    let text = format!("{} takes {} and {} takes {} (medians)", a.label, ms(of_a), b.label, ms(of_b));
    if difference == 0.0 {
        return tie(format!("the times are equal: {text}"));
    }
    if difference * CLOSE < longer {
        return tie(format!("the times differ by under 2%: {text}"));
    }
    let spread =
        [a, b].iter().filter_map(|cohort| cohort.iqr_total_elapsed_ms).fold(0.0, |max, iqr| iqr.0.max(max));
    if difference <= spread {
        return tie(format!("the times differ by no more than their spread of {}: {text}", ms(spread)));
    }
    let (ordering, faster) = if of_a < of_b { (Ordering::Less, a) } else { (Ordering::Greater, b) };
    Time { ordering, text: format!("{} is faster: {text}", faster.label) }
}

/// The p-values of the differences.
struct Noise {
    time: f64,
    degradation: f64,
    errors: f64,
    completed: f64,
}

/// The recommendation, and why. A difference within noise decides nothing.
fn recommend(
    a: &Cohort,
    b: &Cohort,
    time: &Time,
    (degradation, errors): (Ordering, Ordering),
    noise: &Noise,
) -> (Ordering, String) {
    let decided = |ordering: Ordering, why: String, p: f64| match p <= LEVEL {
        true => (ordering, format!("{why} (p = {p:.3})")),
        false => {
            let within =
                format!("with {} and {} runs that is within noise (p = {p:.3})", a.run_count, b.run_count);
            (Ordering::Equal, format!("{why}, but {within}"))
        }
    };
    // A cohort without a successful run proves nothing.
    if (a.ok_count == 0) != (b.ok_count == 0) {
        let (ordering, good, bad) =
            if b.ok_count == 0 { (Ordering::Less, a, b) } else { (Ordering::Greater, b, a) };
        let why = format!("no run of {} completed, but {} of {} did", bad.label, good.ok_count, good.label);
        return decided(ordering, why, noise.completed);
    }
    let degraded = format!(
        "{} of {} runs are degraded in {}, {} of {} in {}",
        a.degraded_run_count, a.run_count, a.label, b.degraded_run_count, b.run_count, b.label
    );
    let failed = format!(
        "{} of {} runs failed in {}, {} of {} in {}",
        a.error_count, a.run_count, a.label, b.error_count, b.run_count, b.label
    );
    if time.ordering != Ordering::Equal {
        let worse: Vec<String> = [(degradation, &degraded), (errors, &failed)]
            .into_iter()
            .filter(|(ordering, _)| *ordering == time.ordering.reverse())
            .map(|(_, text)| text.clone())
            .collect();
        if worse.is_empty() {
            return decided(time.ordering, format!("{}; it is not worse otherwise", time.text), noise.time);
        }
        return (Ordering::Equal, format!("{}, but {}", time.text, worse.join(", and ")));
    }
    if degradation != Ordering::Equal {
        let but = if errors == degradation.reverse() { format!("; but {failed}") } else { String::new() };
        return decided(degradation, format!("{}; {degraded}{but}", time.text), noise.degradation);
    }
    if errors != Ordering::Equal {
        let why = format!("{}; equally many runs are degraded; {failed}", time.text);
        return decided(errors, why, noise.errors);
    }
    (Ordering::Equal, format!("{}; equally many runs are degraded and failed", time.text))
}

/// Milliseconds, formatted for people.
fn ms(value: f64) -> String {
    if value < 1000.0 { format!("{value:.0} ms") } else { format!("{:.2} s", value / 1000.0) }
}
