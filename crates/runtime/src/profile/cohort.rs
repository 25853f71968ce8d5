//! A set of runs under one label, and its statistics.

use super::invariant::Invariant;
use super::stats::{Figure, MedianIqr};
use super::trace::{ElapsedDefinition, NodeTiming, Status, Trace};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A run reduced to what a comparison needs, so that a large cohort fits in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The file it was read from.
    pub file: String,
    /// The run's id.
    pub run_id: String,
    pub(super) is_ok: bool,
    pub(super) is_degraded: bool,
    pub(super) schema: String,
    pub(super) definition: ElapsedDefinition,
    pub(super) invariants: BTreeMap<Invariant, String>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) is_reused: bool,
    pub(super) is_interrupted: bool,
    pub(super) total_ms: f64,
    events: f64,
    phases_ms: BTreeMap<String, f64>,
    history_len: Option<f64>,
    response_len: Option<f64>,
}

impl Run {
    /// The run of a trace read from `file`.
    #[must_use]
    pub fn of(trace: &Trace, file: impl Into<String>) -> Self {
        let at_the_end =
            |figure: fn(&NodeTiming) -> Option<u64>| trace.at_the_end(figure).map(|len| len as f64);
        let mut settings: BTreeMap<String, String> = trace
            .invariants
            .settings
            .iter()
            .map(|(name, value)| {
                (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        settings.insert("selected_analysts".to_owned(), trace.selected_analysts.join(","));
        if let Some(style) = &trace.analysis_prompt_style {
            settings.insert("analysis_prompt_style".to_owned(), style.clone());
        }
        Self {
            file: file.into(),
            run_id: trace.run_id.clone(),
            is_ok: trace.status == Status::Ok,
            is_degraded: trace.is_degraded(),
            schema: trace.trace_schema_version.clone().unwrap_or_else(|| "unknown".to_owned()),
            definition: trace.elapsed_definition,
            invariants: Invariant::ALL
                .into_iter()
                .filter_map(|invariant| Some((invariant, invariant.of(trace)?)))
                .collect(),
            settings,
            is_reused: trace.summary.reused_steps > 0,
            is_interrupted: trace.summary.interrupted_attempts > 0,
            total_ms: trace.summary.total_elapsed_ms as f64,
            events: trace.summary.event_count as f64,
            phases_ms: trace
                .phase_totals_seconds
                .iter()
                .map(|(phase, seconds)| (phase.clone(), seconds * 1000.0))
                .collect(),
            history_len: at_the_end(|node| node.history_len),
            response_len: at_the_end(|node| node.response_len),
        }
    }
}

/// Statistics of a cohort. Medians and spreads cover successful runs only; the spread is the interquartile range,
/// `None` for fewer than two values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cohort {
    /// Its label.
    pub label: String,
    /// Number of runs.
    pub run_count: usize,
    /// Runs with the status `ok`.
    pub ok_count: usize,
    /// Runs with the status `error`.
    pub error_count: usize,
    /// Runs in which anything was degraded, whatever their status.
    pub degraded_run_count: usize,
    /// `error_count / run_count`.
    pub error_rate: Figure,
    /// `degraded_run_count / run_count`.
    pub degraded_rate: Figure,
    /// Wall time of a run.
    pub median_total_elapsed_ms: Option<Figure>,
    /// Its spread.
    pub iqr_total_elapsed_ms: Option<Figure>,
    /// Number of node timings in a run.
    pub median_event_count: Option<Figure>,
    /// Its spread.
    pub iqr_event_count: Option<Figure>,
    /// By phase, over the runs that include it.
    pub median_phase_elapsed_ms: BTreeMap<String, Option<Figure>>,
    /// Its spread.
    pub iqr_phase_elapsed_ms: BTreeMap<String, Option<Figure>>,
    /// Characters of the debate's history at the end of the research.
    pub median_final_history_len: Option<Figure>,
    /// Its spread.
    pub iqr_final_history_len: Option<Figure>,
    /// Characters of the response at the end of the research.
    pub median_final_response_len: Option<Figure>,
    /// Its spread.
    pub iqr_final_response_len: Option<Figure>,
    /// What `elapsed_ms` means in its files; more than one means that they are mixed.
    pub elapsed_definitions: BTreeSet<ElapsedDefinition>,
    /// Schemas of its files; `unknown` if a file names none.
    pub trace_schema_versions: BTreeSet<String>,
    /// The files.
    pub source_files: Vec<String>,
}

impl Cohort {
    /// The statistics of these runs. Rates are 0 if there are no runs.
    #[must_use]
    pub fn of(label: &str, runs: &[Run]) -> Self {
        let ok = || runs.iter().filter(|run| run.is_ok);
        let of = |values: Vec<f64>| {
            let middle = MedianIqr::of(values);
            (middle.map(|middle| Figure(middle.median)), middle.and_then(|middle| middle.iqr).map(Figure))
        };
        let rate =
            |count: usize| Figure(if runs.is_empty() { 0.0 } else { count as f64 / runs.len() as f64 });
        let ok_count = ok().count();
        let degraded_run_count = runs.iter().filter(|run| run.is_degraded).count();
        let (median_total_elapsed_ms, iqr_total_elapsed_ms) = of(ok().map(|run| run.total_ms).collect());
        let (median_event_count, iqr_event_count) = of(ok().map(|run| run.events).collect());
        let (median_final_history_len, iqr_final_history_len) =
            of(ok().filter_map(|run| run.history_len).collect());
        let (median_final_response_len, iqr_final_response_len) =
            of(ok().filter_map(|run| run.response_len).collect());
        let mut by_phase: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (phase, ms) in ok().flat_map(|run| &run.phases_ms) {
            by_phase.entry(phase).or_default().push(*ms);
        }
        let mut median_phase_elapsed_ms = BTreeMap::new();
        let mut iqr_phase_elapsed_ms = BTreeMap::new();
        for (phase, values) in by_phase {
            let (median, iqr) = of(values);
            median_phase_elapsed_ms.insert(phase.to_owned(), median);
            iqr_phase_elapsed_ms.insert(phase.to_owned(), iqr);
        }
        let mut source_files: Vec<String> = runs.iter().map(|run| run.file.clone()).collect();
        source_files.sort_unstable();
        Self {
            label: label.to_owned(),
            run_count: runs.len(),
            ok_count,
            error_count: runs.len() - ok_count,
            degraded_run_count,
            error_rate: rate(runs.len() - ok_count),
            degraded_rate: rate(degraded_run_count),
            median_total_elapsed_ms,
            iqr_total_elapsed_ms,
            median_event_count,
            iqr_event_count,
            median_phase_elapsed_ms,
            iqr_phase_elapsed_ms,
            median_final_history_len,
            iqr_final_history_len,
            median_final_response_len,
            iqr_final_response_len,
            elapsed_definitions: runs.iter().map(|run| run.definition).collect(),
            trace_schema_versions: runs.iter().map(|run| run.schema.clone()).collect(),
            source_files,
        }
    }
}
