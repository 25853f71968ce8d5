//! Tests each agent against its own turnover with random timing, random choice, or both.

use super::items::{Item, Kind};
use crate::app::App;
use crate::error::ServiceError;
use crate::result_cache::RandomKey;
use crate::view::Configs;
use crate::view::results::{ScheduleGround, sessions};
use papertape_core::metric::percentile;
use papertape_core::time::Date;
use papertape_evidence::{Availability, BaselineDraws, Null, NullTest, Seed, WeightSchedule, draw_baseline};
use papertape_protocol::compare::random::{NullResponse, RandomBaselineResponse};
use papertape_protocol::number::figure;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `R`.
const DRAWS: usize = 999;
/// The time after which a test stops without a result.
const MAX_TIME: Duration = Duration::from_secs(120);

/// The tests of all agents that are single runs.
pub(super) async fn random_baselines(
    app: &App,
    configs: &mut Configs,
    items: &[Item],
) -> Result<Vec<RandomBaselineResponse>, ServiceError> {
    let mut all = Vec::new();
    for item in items.iter().filter(|item| item.kind == Kind::Agent) {
        all.push(of_item(app, configs, item).await?);
    }
    Ok(all)
}

fn unavailable(item: &Item, days: usize, why: &str) -> RandomBaselineResponse {
    RandomBaselineResponse {
        item: item.id.clone(),
        days,
        schedule_return: None,
        nulls: Vec::new(),
        unavailable: Some(why.to_owned()),
        elapsed_ms: 0,
    }
}

async fn of_item(
    app: &App,
    configs: &mut Configs,
    item: &Item,
) -> Result<RandomBaselineResponse, ServiceError> {
    let [trial] = item.trials.as_slice() else {
        return Ok(unavailable(item, 0, "it is a test of a single run; select one job's agent"));
    };
    let Some(series) = &trial.series else { return Ok(unavailable(item, 0, "it has no ledger")) };
    let days = series.days.len();
    let config = configs.of(app, &series.job).await?.cloned();
    let (Some(config), Some(dataset)) = (config, series.dataset.clone()) else {
        return Ok(unavailable(item, days, "the dataset is not available"));
    };
    if item.interim.is_some() || days == 0 {
        return Ok(unavailable(item, days, "the planned last day has not been reached"));
    }
    let mut by_job: BTreeMap<_, Vec<Date>> = BTreeMap::new();
    for day in &series.days {
        by_job.entry(day.closed.job.clone()).or_default().push(day.closed.date);
    }
    let mut jobs = Vec::new();
    for job in by_job.keys() {
        jobs.extend(app.store.stopped(job).await?);
    }
    let key = (jobs.len() == by_job.len()).then(|| RandomKey {
        agent: series.agent.clone(),
        jobs,
        last: series.days.last().map(|day| day.date),
    });
    if let Some(known) = key.as_ref().and_then(|key| app.results.random(key)) {
        return Ok(RandomBaselineResponse { item: item.id.clone(), ..RandomBaselineResponse::clone(&known) });
    }
    let mut recorded = Vec::new();
    for (job, dates) in &by_job {
        let span = (dates.first().copied(), dates.last().copied());
        recorded.extend(sessions(app, (&series.agent, job), span).await?);
    }
    let begins_flat = recorded
        .first()
        .and_then(|first| first.starting.as_ref())
        .is_some_and(|starting| starting.holdings.iter().all(|(_, held)| held.is_zero()));
    if !begins_flat {
        return Ok(unavailable(item, days, "the days begin with holdings, whose orders lie before them"));
    }
    let dates = series.days.iter().map(|day| day.closed.date).collect();
    let traded = (&config.symbols, config.universe.as_deref());
    let ground = ScheduleGround::new(&config.market, traded, series.initial, dates);
    // Of what the cached result depends on, however the item was selected.
    let jobs: Vec<&str> = by_job.keys().map(|job| job.as_str()).collect();
    let seeds = [Null::Timing, Null::Choice, Null::Both].map(|null| {
        let statistic = format!("{} {}", name(null), series.agent);
        (null, Seed::derive(&[&item.ground.conditions.dataset], &jobs, &statistic))
    });
    let id = item.id.clone();
    let found = tokio::task::spawn_blocking(move || {
        let weights = ground.weights(&recorded);
        let bars = ground.bars(&dataset);
        let run = |weights: &[Vec<f64>]| ground.total_return(&dataset, weights);
        let members = ground.members(&dataset);
        let availability = Availability {
            has_bar: &|symbol, day| bars[symbol][day],
            may_open: &|symbol, day| members[day].as_ref().is_none_or(|of_day| of_day[symbol]),
        };
        tested(id, weights, &seeds, &availability, &run)
    });
    let found = found.await.map_err(anyhow::Error::from)?;
    if let Some(key) = key.filter(|_| found.unavailable.is_none()) {
        app.results.insert_random(key, Arc::new(found.clone()));
    }
    Ok(found)
}

/// The three tests. Draws that no test could use are not run.
fn tested(
    item: String,
    weights: Vec<Vec<f64>>,
    seeds: &[(Null, Seed)],
    availability: &Availability<'_>,
    run: &dyn Fn(&[Vec<f64>]) -> Option<f64>,
) -> RandomBaselineResponse {
    let started = Instant::now();
    let days = weights.len();
    let mut response = RandomBaselineResponse {
        item,
        days,
        schedule_return: None,
        nulls: Vec::new(),
        unavailable: None,
        elapsed_ms: 0,
    };
    let Some(schedule) = WeightSchedule::new(weights) else { return response };
    let Some(own) = run(schedule.weights()) else {
        response.unavailable = Some("its numbers do not fit the books".to_owned());
        return response;
    };
    response.schedule_return = Some(figure(own));
    for (null, seed) in seeds {
        let draws = draw_baseline(&schedule, *null, DRAWS, *seed, availability);
        let mut results = Vec::new();
        if draws.is_testable() {
            for draw in &draws.accepted {
                if started.elapsed() > MAX_TIME {
                    response.unavailable =
                        Some(format!("the draws take longer than {} seconds", MAX_TIME.as_secs()));
                    response.nulls.clear();
                    return response;
                }
                results.extend(run(schedule.apply(draw).weights()));
            }
        }
        response.nulls.push(null_response(*null, own, &draws, &results));
    }
    response.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    response
}

fn null_response(null: Null, own: f64, draws: &BaselineDraws, results: &[f64]) -> NullResponse {
    let test = draws.test(own, results);
    let (p_value, words) = match test {
        NullTest::Tested { p_value, draws } => {
            let reached = (p_value * (draws + 1) as f64).round() as usize - 1;
            (Some(figure(p_value)), format!("{reached} of {draws} draws do as well, on this path"))
        }
        NullTest::NotPossible { discarded, distinct } => (
            None,
            format!(
                "no test possible: {discarded} of {DRAWS} draws discarded, {distinct} distinct schedules"
            ),
        ),
    };
    let at = |percent| percentile(results, percent).map(figure);
    NullResponse {
        null: name(null).to_owned(),
        p_value,
        draws: results.len(),
        discarded: draws.discarded,
        distinct: draws.distinct,
        percentiles: at(5.0).zip(at(50.0)).zip(at(95.0)).map(|((low, middle), high)| [low, middle, high]),
        words,
    }
}

fn name(null: Null) -> &'static str {
    match null {
        Null::Timing => "timing",
        Null::Choice => "choice",
        Null::Both => "both",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> [(Null, Seed); 3] {
        [Null::Timing, Null::Choice, Null::Both].map(|null| (null, Seed::derive(&["d"], &["j"], name(null))))
    }

    /// Goal: a schedule with too few distinct rotations and one symbol allows no test and says so; one with many is
    /// tested, and the best of all has the smallest p-value there is.
    #[test]
    fn a_test_needs_distinct_schedules() {
        let held: Vec<Vec<f64>> = (0..120).map(|_| vec![1.0]).collect();
        let all = Availability { has_bar: &|_, _| true, may_open: &|_, _| true };
        let found = tested("a".to_owned(), held, &seeds(), &all, &|_| Some(0.1));
        assert!(found.nulls.iter().all(|null| null.p_value.is_none() && null.draws == 0), "{found:?}");
        assert!(found.nulls[0].words.contains("no test possible: 0 of 999 draws discarded, 1 distinct"));

        let once: Vec<Vec<f64>> = (0..250).map(|day| vec![if day == 7 { 1.0 } else { 0.0 }, 0.0]).collect();
        let run = |weights: &[Vec<f64>]| Some(weights[7][0]);
        let found = tested("a".to_owned(), once, &seeds(), &all, &run);
        let p = found.nulls[0].p_value.expect("a test");
        assert!((0.001..0.02).contains(&p), "{p}");
        assert!(found.nulls[1].p_value.is_none(), "two symbols have two orders");
        assert_eq!(
            (found.nulls[0].draws, found.nulls[0].percentiles.map(|found| found[1])),
            (999, Some(0.0))
        );
    }
}
