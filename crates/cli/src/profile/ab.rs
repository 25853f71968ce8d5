//! `papertape profile ab`

use super::super::failure::usage;
use super::super::output::{json, note, say, table, text_of, width, wrap};
use super::super::{Common, Outcome};
use super::files::{files, read_file, unreadable};
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_runtime::profile::ab::{AbReport, compare};
use papertape_runtime::profile::cohort::{Cohort, Run};
use papertape_runtime::profile::invariant::Invariant;
use papertape_runtime::profile::stats::Figure;
use papertape_runtime::profile::trace::Phase;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct AbArgs {
    /// Traces of the first cohort: files, or directories of `*.json`
    #[arg(long, value_name = "DIR|FILES", required = true, num_args = 1..)]
    a: Vec<PathBuf>,
    /// Traces of the second cohort
    #[arg(long, value_name = "DIR|FILES", required = true, num_args = 1..)]
    b: Vec<PathBuf>,
    /// The first cohort's name
    #[arg(long, value_name = "NAME", default_value = "A")]
    label_a: String,
    /// The second cohort's name
    #[arg(long, value_name = "NAME", default_value = "B")]
    label_b: String,
    /// Parameters that may differ: ticker, date, provider, model, overall-timeout, max-debate-rounds,
    /// max-risk-discuss-rounds
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = str::parse::<Invariant>)]
    vary: Vec<Invariant>,
    /// Also write the comparison as JSON to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn ab(common: &Common, args: &AbArgs) -> Outcome {
    let (a, b) = (runs(&args.a)?, runs(&args.b)?);
    let vary: BTreeSet<Invariant> = args.vary.iter().copied().collect();
    let report =
        compare((&args.label_a, &a), (&args.label_b, &b), &vary).map_err(|error| usage(error.to_string()))?;
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&report)?;
        std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        note!("written to {}", path.display());
    }
    if common.json {
        json(&report)?
    } else {
        print(&report)?
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs of a cohort. The error lists all unreadable files.
fn runs(inputs: &[PathBuf]) -> Result<Vec<Run>> {
    let (mut runs, mut failed) = (Vec::new(), Vec::new());
    for path in files(inputs)? {
        match read_file(&path) {
            Ok(trace) => runs.push(Run::of(&trace, path.display().to_string())),
            Err(reason) => failed.push((path, reason)),
        }
    }
    if failed.is_empty() { Ok(runs) } else { Err(unreadable(&failed)) }
}

fn print(report: &AbReport) -> Result<()> {
    let cohorts = [&report.label_a, &report.label_b].map(|label| &report.cohorts[label]);
    let [a, b] = cohorts;
    let (name_a, name_b) = (format!(">{}", a.label), format!(">{}", b.label));
    let mut rows = table(["", &name_a, &name_b]);
    let mut row = |name: &str, of: &dyn Fn(&Cohort) -> String| {
        rows.add_row([name.to_owned(), of(a), of(b)]);
    };
    row("runs", &|cohort| cohort.run_count.to_string());
    row("completed", &|cohort| cohort.ok_count.to_string());
    row("failed", &|cohort| count_and_rate(cohort.error_count, cohort.error_rate));
    row("degraded", &|cohort| count_and_rate(cohort.degraded_run_count, cohort.degraded_rate));
    row("total, ms", &|cohort| median_iqr(cohort.median_total_elapsed_ms, cohort.iqr_total_elapsed_ms));
    for phase in phases(cohorts) {
        let of = |cohort: &Cohort| {
            let value =
                |map: &std::collections::BTreeMap<String, Option<Figure>>| map.get(phase).copied().flatten();
            median_iqr(value(&cohort.median_phase_elapsed_ms), value(&cohort.iqr_phase_elapsed_ms))
        };
        row(&format!("  {phase}, ms"), &of);
    }
    row("events", &|cohort| median_iqr(cohort.median_event_count, cohort.iqr_event_count));
    row("history, characters", &|cohort| {
        median_iqr(cohort.median_final_history_len, cohort.iqr_final_history_len)
    });
    row("response, characters", &|cohort| {
        median_iqr(cohort.median_final_response_len, cohort.iqr_final_response_len)
    });
    say(text_of(&rows))?;
    say("\nmedian ± interquartile range of the completed runs\n")?;
    let label = |label: &Option<String>| label.clone().unwrap_or_else(|| "tie".to_owned());
    let comparison = &report.comparison;
    say(format_args!("faster           {}", label(&comparison.faster_label)))?;
    say(format_args!("less degraded    {}", label(&comparison.lower_degradation_label)))?;
    say(format_args!("fewer errors     {}", label(&comparison.lower_error_rate_label)))?;
    let recommended = comparison.recommended_label.clone().unwrap_or_else(|| "neither".to_owned());
    say(format_args!("recommended      {recommended}"))?;
    say(wrap(&comparison.why, width(), "  "))?;
    if !report.differences.is_empty() {
        say("\ndifferences")?;
        for one in &report.differences {
            say(wrap(&format!("{}: {} vs {}", one.name, one.a, one.b), width(), "  "))?;
        }
    }
    for flag in &report.flags {
        note!("note: {flag}");
    }
    Ok(())
}

/// The phases of both cohorts: the graph's own in order, then any others.
fn phases(cohorts: [&Cohort; 2]) -> Vec<&str> {
    let all: BTreeSet<&str> =
        cohorts.iter().flat_map(|cohort| cohort.median_phase_elapsed_ms.keys()).map(String::as_str).collect();
    let own = Phase::ALL.map(Phase::as_str);
    let other = all.iter().copied().filter(|phase| !own.contains(phase));
    own.into_iter().filter(|phase| all.contains(phase)).chain(other).collect()
}

fn count_and_rate(count: usize, rate: Figure) -> String {
    format!("{count} ({:.0}%)", rate.0 * 100.0)
}

fn median_iqr(median: Option<Figure>, iqr: Option<Figure>) -> String {
    match (median, iqr) {
        (None, _) => "-".to_owned(),
        (Some(median), None) => tenths(median.0),
        (Some(median), Some(iqr)) => format!("{} ± {}", tenths(median.0), tenths(iqr.0)),
    }
}

/// At most one decimal.
fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}
