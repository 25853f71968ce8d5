//! Compares runs: estimates, intervals, families of tests and verdicts over the recorded daily values. The method is
//! that of [`papertape_evidence`]. This module reads the series, checks that the runs are comparable, and puts the
//! result into words.

mod board;
mod board_entry;
mod board_load;
mod board_run;
mod branch;
mod conditions;
mod estimate;
mod figures;
mod input;
mod items;
mod judge;
mod judged;
mod random;
mod select;
mod trial;
mod tried;
mod words;

use super::{Configs, deployment};
use crate::app::App;
use crate::error::ServiceError;
pub(crate) use board::{EvaluatedBoard, evaluate};
pub(super) use board_load::load_board;
pub(crate) use board_run::{BoardBaseline, BoardRun, RunRecord, run_key, starts_fresh};
pub(crate) use input::{ComparedRun, ComparisonInput};
use items::{Declared, Item, Kind};
use judge::Family;
use papertape_core::id::AgentName;
use papertape_evidence::{DEFAULT_TARGET, FAMILY_LEVEL, ReturnSeries, Seed, SpaResult, align, spa};
use papertape_protocol::compare::pair::ComparedPair;
use papertape_protocol::compare::{CompareQuery, CompareResponse, FamilyResponse, SpaResponse};
use papertape_protocol::number::figure;
use select::{Baseline, Selector, Varied, selectors};
use std::collections::BTreeSet;

/// The value of an experiment's `compare` that means all pairs.
const ALL_PAIRS: &str = "all_pairs";

/// The maximum of `points`.
const MAX_POINTS: f64 = 1_000.0;

/// Compares the items that the query selects.
///
/// # Errors
/// An invalid selection; no such job, experiment or agent; a dataset that baselines need is not available; a database
/// error.
pub async fn compare(app: &App, query: CompareQuery) -> Result<CompareResponse, ServiceError> {
    Ok(compare_with_input(app, query).await?.0)
}

/// As [`compare`], with everything that the figures and verdicts were computed from.
///
/// # Errors
/// As for [`compare`].
pub(crate) async fn compare_with_input(
    app: &App,
    query: CompareQuery,
) -> Result<(CompareResponse, ComparisonInput), ServiceError> {
    let varied = Varied::parse(query.vary.as_deref())?;
    let points = query.points.unwrap_or(100.0 * DEFAULT_TARGET);
    if !(points.is_finite() && points > 0.0 && points <= MAX_POINTS) {
        return Err(ServiceError::invalid("points", "expected a number above 0, at most 1000"));
    }
    let mut selected = selectors(app, &query).await?;
    let mut configs = Configs::default();
    let mut items = items::load(app, &mut configs, &selected).await?;
    let declared = declared(&items);
    let against = query.against.as_deref().or(declared.as_ref().map(|(family, _)| family.compare.as_str()));
    // The baseline that is compared with is an item, whether it was selected or not.
    if let Some(baseline) = against.and_then(baseline_of)
        && !selected.contains(&Selector::Baseline(baseline))
    {
        selected.push(Selector::Baseline(baseline));
        items = items::load(app, &mut configs, &selected).await?;
    }
    let is_random = selected.contains(&Selector::Random);
    if items.len() + usize::from(is_random) < 2 {
        let message = "select at least two items, such as `latest,baseline:buy_and_hold`";
        return Err(ServiceError::invalid("select", message));
    }
    let family = family(&items, against)?;
    let random = match is_random {
        true => random::random_baselines(app, &mut configs, &items).await?,
        false => Vec::new(),
    };
    let branch = branch::branch(app, &mut configs, &items).await?;
    let tried = tried::tried(app, &mut configs, &items).await?;
    let deployment = deployment(app);
    let against = match family {
        Family::AllPairs => None,
        Family::Against(at) => Some(at),
    };
    let input = ComparisonInput { items, against, vary: varied.names, target_points: points, tried };
    // For many items over long runs, this is CPU work.
    let compared = tokio::task::spawn_blocking(move || {
        let response = input.compute(deployment);
        response.map(|response| (CompareResponse { random, branch, ..response }, input))
    });
    compared.await.map_err(anyhow::Error::from)?
}

fn baseline_of(text: &str) -> Option<Baseline> {
    Baseline::parse(text.strip_prefix("baseline:").unwrap_or(text))
}

/// What the experiment of all agents declares, with its ID.
fn declared(items: &[Item]) -> Option<(Declared, String)> {
    let mut agents = items.iter().filter(|item| item.kind == Kind::Agent);
    let first = agents.next()?;
    let found = (first.declared.clone()?, first.experiment.clone()?);
    agents.all(|item| item.experiment.as_ref() == Some(&found.1)).then_some(found)
}

fn family(items: &[Item], against: Option<&str>) -> Result<Family, ServiceError> {
    let Some(against) = against.filter(|against| *against != ALL_PAIRS) else { return Ok(Family::AllPairs) };
    let is_named = |item: &Item| {
        let agent = item.agent.as_ref().is_some_and(|agent| agent.as_str() == against);
        let id = item.id.as_str();
        id == against
            || item.label == against
            || agent
            || id.split_once(':').is_some_and(|(_, id)| id == against)
    };
    let named: Vec<usize> = (0..items.len()).filter(|at| is_named(&items[*at])).collect();
    let known = || items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>().join(", ");
    match named.as_slice() {
        [at] => Ok(Family::Against(*at)),
        [] => {
            let against = against.escape_default();
            let message = format!("`{against}` is not compared; expected one of {}", known());
            Err(ServiceError::invalid("against", message))
        }
        _ => {
            let against = against.escape_default();
            let message = format!("`{against}` names several items; expected one of {}", known());
            Err(ServiceError::invalid("against", message))
        }
    }
}

fn family_response(
    items: &[Item],
    family: Family,
    tests: usize,
    declared: Option<(Declared, String)>,
) -> FamilyResponse {
    let (kind, against) = match family {
        Family::AllPairs => (ALL_PAIRS, None),
        Family::Against(at) => ("against", Some(&items[at])),
    };
    // With fewer agents, or with more baselines, it is another family.
    let is_declared = |(planned, _): &(Declared, String)| {
        let agents: BTreeSet<AgentName> = items.iter().filter_map(|item| item.agent.clone()).collect();
        let baseline = format!("baseline:{}", planned.compare);
        let is_planned = |item: &Item| item.kind == Kind::Agent || item.id == baseline;
        let is_same = match against {
            None => planned.compare == ALL_PAIRS,
            Some(item) => {
                item.agent.as_ref().is_some_and(|agent| agent.as_str() == planned.compare)
                    || item.id == baseline
            }
        };
        is_same && agents == planned.agents && items.iter().all(is_planned)
    };
    FamilyResponse {
        kind: kind.to_owned(),
        against: against.map(|item| item.id.clone()),
        tests,
        adjustment: "holm".to_owned(),
        level: FAMILY_LEVEL,
        declared_by: declared.filter(is_declared).map(|(_, experiment)| experiment),
    }
}

/// SPA of single runs with the same days, against one item.
fn any_better(items: &[Item], family: Family, pairs: &[ComparedPair]) -> Option<SpaResponse> {
    let Family::Against(reference) = family else { return None };
    let is_single = |item: &&Item| item.trials.len() == 1 && item.windows.len() == 1;
    let with_claim = pairs.iter().all(|pair| pair.difference.is_some() && pair.verdict != "interim");
    if pairs.len() < 2 || !with_claim || !items.iter().all(|item| is_single(&item)) {
        return None;
    }
    let compared: Vec<&Item> =
        items.iter().filter(|item| pairs.iter().any(|pair| pair.a == item.id)).collect();
    let series: Vec<&ReturnSeries> = [&items[reference]]
        .into_iter()
        .chain(compared.iter().copied())
        .map(|item| &item.trials[0].actual)
        .collect();
    let aligned = align(&series);
    let differences: Vec<Vec<f64>> = (1..series.len()).map(|at| aligned.difference(at, 0)).collect();
    let jobs: Vec<&str> = items.iter().flat_map(Item::jobs).map(|job| job.as_str()).collect();
    let statistic = format!("spa {}", items[reference].id);
    let seed = Seed::derive(&[&items[reference].ground.conditions.dataset], &jobs, &statistic);
    let found: SpaResult = spa(&differences, seed)?;
    let [p_lower, p_value, p_upper] = found.p_values().map(figure);
    Some(SpaResponse {
        statistic: figure(found.statistic),
        p_value,
        p_lower,
        p_upper,
        items: compared.len(),
        days: aligned.days.len(),
    })
}

fn notes(items: &[Item], varied: &Varied) -> Vec<String> {
    let mut notes = Vec::new();
    let agents = || items.iter().filter(|item| item.kind == Kind::Agent);
    if agents().any(|item| item.trials_per_window() == 1 && !item.is_deterministic) {
        notes.push(
            "A single run says something about that run, not about a model or a configuration: run 3 or more trials."
                .to_owned(),
        );
    }
    if agents().any(|item| item.trials.iter().any(|trial| !trial.input.fallback.is_empty())) {
        notes.push(
            "Days with full research are selected days: their difference has an interval and no verdict."
                .to_owned(),
        );
    }
    if agents()
        .any(|item| item.trials.iter().any(|trial| trial.input.cost.is_none_or(|cost| !cost.is_zero())))
    {
        notes.push("Returns net of model cost depend on the size of the account.".to_owned());
    }
    let cutoffs =
        items.iter().flat_map(|item| item.training_cutoffs.iter().map(move |cutoff| (item, cutoff)));
    notes.extend(
        cutoffs.filter_map(|(item, cutoff)| Some(format!("{}: {}.", item.label, cutoff.warning.as_ref()?))),
    );
    if !varied.names.is_empty() {
        notes.push(format!("The experiment varies: {}.", varied.names.join(", ")));
    }
    notes
}
