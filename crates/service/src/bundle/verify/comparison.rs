//! Recomputes the comparison from its inputs, after comparing these with the recomputed books.

use super::books::BookDay;
use super::difference::difference;
use crate::view::{ComparedRun, ComparisonInput};
use papertape_core::id::{AgentName, JobId};
use papertape_protocol::compare::CompareResponse;
use papertape_runtime::config::SimulationConfig;
use std::collections::{BTreeMap, BTreeSet};

/// The recomputed books of a job, for the comparison.
#[derive(Debug)]
pub(super) struct ComparedJob<'a> {
    pub(super) config: &'a SimulationConfig,
    /// Whether the config contains the instructions of agents.
    pub(super) has_prompts: bool,
    pub(super) agents: &'a BTreeMap<AgentName, Vec<BookDay>>,
    /// The number of planned days, and how many have not ended, by agent.
    pub(super) planned: BTreeMap<AgentName, (usize, usize)>,
}

/// Compares the runs with the books of their jobs.
pub(super) fn check_input(
    input: &ComparisonInput,
    jobs: &BTreeMap<JobId, ComparedJob<'_>>,
) -> Result<(), String> {
    let configs = jobs.iter().map(|(id, job)| (id, job.config)).collect();
    input.check_conditions(&configs, jobs.values().all(|job| job.has_prompts))?;
    let mut seen: BTreeSet<(&JobId, &AgentName)> = BTreeSet::new();
    for run in &input.runs() {
        let job = jobs.get(run.job).ok_or_else(|| format!("job {} is not in the bundle", run.job))?;
        check_run(run, job).map_err(|why| format!("{} of job {}: {why}", run.agent, run.job))?;
        seen.insert((run.job, run.agent));
    }
    let all = jobs.iter().flat_map(|(id, job)| job.agents.keys().map(move |agent| (id, agent)));
    match all.into_iter().find(|key| !seen.contains(key)) {
        Some((job, agent)) => Err(format!("{agent} of job {job} is not compared")),
        None => Ok(()),
    }
}

#[expect(clippy::float_cmp, reason = "the same exact decimals give the same floats")]
fn check_run(run: &ComparedRun<'_>, job: &ComparedJob<'_>) -> Result<(), String> {
    let days = job.agents.get(run.agent).map(Vec::as_slice).unwrap_or_default();
    let (planned, open) = job.planned.get(run.agent).copied().unwrap_or_default();
    let initial = days.first().map_or(0.0, |day| day.figures.before.to_f64());
    let values: Vec<_> =
        days.iter().map(|day| (day.date, day.figures.value.portfolio_value.to_f64())).collect();
    let fallback: BTreeSet<_> = days.iter().filter(|day| !day.is_full).map(|day| day.date).collect();
    let checks = [
        (run.values == values && run.initial == initial, "its values are not those of the books"),
        (*run.fallback == fallback, "its days without full research are not those of the ledger"),
        (run.planned == planned, "its planned days are not those of the job"),
        (open == 0 || run.is_interim, "it has open days and is not interim"),
        (run.dataset == job.config.dataset.hash.to_hex(), "its dataset is not that of the config"),
        (
            run.trading_days_per_year == f64::from(job.config.market.trading_days_per_year),
            "its trading days per year are not those of the config",
        ),
    ];
    match checks.iter().find(|(is_same, _)| !is_same) {
        Some((_, why)) => Err((*why).to_owned()),
        None => Ok(()),
    }
}

/// Computes the response again.
pub(super) fn check(input: &ComparisonInput, stated: &CompareResponse) -> Result<(), String> {
    let expected = input.compute(stated.deployment.clone()).map_err(|error| error.to_string())?;
    match difference(&expected, stated) {
        Some(found) => Err(found),
        None => Ok(()),
    }
}
