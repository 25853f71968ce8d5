//! The statistics of one item.

use super::estimate::interval;
use super::items::Item;
use super::trial::Trial;
use papertape_core::id::AgentName;
use papertape_core::metric::{deepest_fall, deviation, max_drawdown, mean};
use papertape_core::time::Date;
use papertape_evidence::{
    AlignedSeries, DeflatedSharpe, MIN_VERDICT_DAYS, MeanEstimate, RankSet, ReturnSeries, Seed,
    SharpeMoments, align, deflated_sharpe_of, min_track_record_length, probabilistic_sharpe, reorder_band,
    sharpe_estimate,
};
use papertape_protocol::compare::pair::{MeanResponse, SharpeResponse};
use papertape_protocol::compare::{ComparedItem, CurvePoint, RankResponse, SecondaryFigures};
use papertape_protocol::number::{figure, number};
use rust_decimal::Decimal;

/// The statistics of an item. `tried` has the daily Sharpe ratios of the configurations that ran on its days, including
/// its own.
pub(super) fn figures(item: &Item, rank: Option<RankSet>, tried: &[f64]) -> ComparedItem {
    let (windows, trials) = (item.windows.len(), item.trials_per_window());
    let single = match item.trials.as_slice() {
        [only] if windows == 1 => Some(&only.actual),
        _ => None,
    };
    let returns = single.map(ReturnSeries::returns).unwrap_or_default();
    let year = item.trading_days_per_year;
    // After the loss of everything, figures of the days before it would mislead.
    let is_solvent = item.insolvent_on().is_none();
    let sharpe = single.filter(|_| is_solvent).and_then(|_| sharpe_estimate(&returns));
    let mean_of = |values: &[f64]| (!values.is_empty()).then(|| figure(mean(values)));
    let curve = curve(item);
    let days = curve.len();
    let daily: Vec<f64> = daily_means(item).into_iter().map(|(_, g)| g).collect();
    let all_in_one = windows == 1;
    let cost = cost(item);
    let fallback: Vec<f64> = item
        .trials
        .iter()
        .map(|trial| trial.actual.sum_on(|day| trial.input.fallback.contains(&day)))
        .collect();
    let fallback_days = item.trials.iter().flat_map(|trial| &trial.input.fallback);
    let fallback_days = fallback_days.collect::<std::collections::BTreeSet<_>>().len();
    let totals: Vec<f64> = item.trials.iter().map(|trial| grown(&trial.actual)).collect();
    let net =
        |trial: &Trial| trial.net.as_ref().ok().filter(|series| series.insolvent_on().is_none()).map(grown);
    let nets: Option<Vec<f64>> = item.trials.iter().map(net).collect();
    let falls: Vec<f64> = item.trials.iter().filter_map(fall).collect();
    ComparedItem {
        id: item.id.clone(),
        label: item.label.clone(),
        kind: item.kind.as_str().to_owned(),
        agent: item.agent.as_ref().map(ToString::to_string),
        is_llm: item.is_llm,
        training_cutoffs: item.training_cutoffs.clone(),
        experiment_id: item.experiment.clone(),
        mask: Some(item.ground.conditions.mask.clone()).filter(|mask| mask != "none" && item.agent.is_some()),
        job_ids: item.jobs().iter().map(ToString::to_string).collect(),
        trials: u32::try_from(trials).unwrap_or(u32::MAX),
        windows: u32::try_from(windows).unwrap_or(u32::MAX),
        days,
        planned_days: item.windows.iter().map(|window| window.days).sum(),
        interim: item.interim.clone(),
        start_date: curve.first().map(|point| point.date),
        end_date: curve.last().map(|point| point.date),
        insolvent_on: item.insolvent_on(),
        total_return: mean_of(&totals).filter(|_| all_in_one && is_solvent),
        mean: mean_response(&daily, single.is_some()).filter(|_| is_solvent),
        sharpe: sharpe.map(|found| {
            let (annualized, bounds) = found.annualized(year);
            let days = returns.len();
            SharpeResponse { days, annualized: figure(annualized), interval: interval(bounds, 1.0) }
        }),
        sharpe_unavailable: match (single, sharpe) {
            (_, Some(_)) => None,
            _ if !is_solvent => Some("insolvent"),
            (None, None) => Some("several_trials"),
            (Some(_), None) if returns.len() < MIN_VERDICT_DAYS => Some("too_few_days"),
            (Some(_), None) => Some("too_few_active_days"),
        }
        .map(str::to_owned),
        secondary: SharpeMoments::of(&returns)
            .filter(|_| is_solvent)
            .map(|moments| secondary(&moments, tried)),
        max_drawdown: mean_of(&falls),
        reorder_band: single
            .filter(|_| is_solvent)
            .and_then(|_| reorder_band(&returns, seed(item, "reorder_band")))
            .map(|found| interval(found.band, 1.0)),
        full_research_days: days.saturating_sub(fallback_days),
        fallback_days,
        fallback_log_return: mean_of(&fallback).unwrap_or_default(),
        model_cost_usd: cost.map(|cost| number(cost.round_dp(10))),
        net_total_return: nets.filter(|_| all_in_one && is_solvent).and_then(|nets| mean_of(&nets)),
        rank: rank.map(|set| RankResponse { best: set.best, worst: set.worst }),
        curve,
    }
}

/// The seed of a figure of one item: the same however the item was selected.
fn seed(item: &Item, statistic: &str) -> Seed {
    let jobs: Vec<&str> = item.jobs().iter().map(|job| job.as_str()).collect();
    let of = item.agent.as_ref().map_or(item.id.as_str(), AgentName::as_str);
    Seed::derive(&[&item.ground.conditions.dataset], &jobs, &format!("{statistic} {of}"))
}

/// The deepest fall from a peak, that of a ruin and after it included.
fn fall(trial: &Trial) -> Option<f64> {
    if trial.input.job.is_some() && trial.actual.insolvent_on().is_some() {
        let values: Vec<f64> = trial.input.values.iter().map(|(_, value)| *value).collect();
        deepest_fall(trial.input.initial, &values)
    } else {
        max_drawdown(&trial.actual.returns())
    }
}

fn grown(series: &ReturnSeries) -> f64 {
    series.log_returns().iter().sum::<f64>().exp_m1()
}

/// Of the log returns of a single run, or of the daily means of several trials.
fn mean_response(daily: &[f64], is_single: bool) -> Option<MeanResponse> {
    (!daily.is_empty()).then(|| MeanResponse {
        days: daily.len(),
        mean_daily: figure(mean(daily)),
        daily_deviation: deviation(daily).map(figure),
        interval: MeanEstimate::of(daily).filter(|_| is_single).map(|found| interval(found.interval(), 1.0)),
    })
}

fn secondary(moments: &SharpeMoments, tried: &[f64]) -> SecondaryFigures {
    let deflated: Option<DeflatedSharpe> = deflated_sharpe_of(moments, tried);
    SecondaryFigures {
        daily_sharpe: figure(moments.sharpe),
        probabilistic_sharpe: probabilistic_sharpe(moments, 0.0).map(figure),
        min_track_record_days: min_track_record_length(moments, 0.0).map(figure),
        deflated_sharpe: deflated.map(|found| figure(found.probability)),
        expected_max_sharpe: deflated.map(|found| figure(found.expected_max)),
        configurations: tried.len().max(1),
    }
}

/// The mean of the trials' log returns on the days that all trials of a window closed.
fn daily_means(item: &Item) -> Vec<(Date, f64)> {
    let mut rows = Vec::new();
    for window in &item.windows {
        let trials: Vec<&ReturnSeries> = item
            .trials
            .iter()
            .filter(|trial| trial.input.window == window.number)
            .map(|trial| &trial.actual)
            .collect();
        let AlignedSeries { days, log_returns } = align(&trials);
        for (at, day) in days.iter().enumerate() {
            let sum = log_returns.iter().fold(0.0, |sum, g| sum + g[at]);
            rows.push((*day, sum / log_returns.len() as f64));
        }
    }
    rows.sort_by_key(|(day, _)| *day);
    rows
}

fn curve(item: &Item) -> Vec<CurvePoint> {
    let mut sum = 0.0;
    let point = |(date, g): (Date, f64)| {
        sum += g;
        CurvePoint { date, log_return: figure(sum) }
    };
    daily_means(item).into_iter().map(point).collect()
}

/// Per trial; `None` if the price of a call is unknown.
fn cost(item: &Item) -> Option<Decimal> {
    let costs: Option<Vec<Decimal>> = item.trials.iter().map(|trial| trial.input.cost).collect();
    let costs = costs?;
    costs.iter().sum::<Decimal>().checked_div(Decimal::from(item.trials_per_window().max(1)))
}
