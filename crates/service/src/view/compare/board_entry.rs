//! An entry of a board: the figures of one configuration.

use super::board_run::RunRecord;
use super::conditions::Settings;
use super::estimate::interval;
use super::figures::figures;
use super::items::{Item, Kind};
use papertape_core::time::Date;
use papertape_evidence::{Interval, MIN_VERDICT_DAYS, RankSet, ReturnSeries, TrialPanel, TwoWay, two_way};
use papertape_protocol::compare::pair::{IntervalResponse, MeanResponse};
use papertape_protocol::experiments::Spread;
use papertape_protocol::leaderboard::{AgainstOthers, LeaderboardEntry};
use papertape_protocol::number::figure;
use std::collections::BTreeSet;

/// What is known about a configuration's runs, besides their values.
pub(super) struct About {
    pub(super) configuration: Option<String>,
    pub(super) record: RunRecord,
    pub(super) experiments: BTreeSet<String>,
    /// Runs that are not trials.
    pub(super) omitted: usize,
    /// Why it is not ranked.
    pub(super) unranked: Option<&'static str>,
}

pub(super) fn entry(
    item: &Item,
    about: About,
    rank: Option<RankSet>,
    against: AgainstOthers,
) -> LeaderboardEntry {
    let compared = figures(item, rank, &[]);
    let returns = returns(item, compared.mean);
    let record = about.record;
    let is_agent = item.kind == Kind::Agent;
    let verified = if record.is_unverified { "unverified" } else { "verified" };
    LeaderboardEntry {
        label: compared.label,
        kind: compared.kind,
        agent: compared.agent,
        models: item.settings.as_ref().map(Settings::models).unwrap_or_default(),
        is_llm: compared.is_llm,
        configuration: about.configuration,
        job_ids: compared.job_ids,
        experiment_ids: about.experiments.into_iter().collect(),
        trials: compared.trials,
        omitted_runs: about.omitted,
        days: compared.days,
        planned_days: compared.planned_days,
        rank: compared.rank,
        unranked: about.unranked.map(str::to_owned),
        against,
        // Of a single run, without the rounding of its mean.
        total_return: if item.trials.len() == 1 { compared.total_return } else { returns.total_return },
        interval: returns.interval,
        return_spread: returns.spread,
        mean: returns.mean,
        annualized_return: returns.annualized,
        sharpe: compared.sharpe,
        sharpe_unavailable: compared.sharpe_unavailable,
        max_drawdown: compared.max_drawdown,
        model_cost_usd: compared.model_cost_usd,
        net_total_return: compared.net_total_return,
        quality: is_agent.then_some(record.quality),
        point_in_time: is_agent.then(|| verified.to_owned()),
        point_in_time_reason: record.unverified,
        imported_from: record.imported_from,
        mask: compared.mask,
        insolvent_on: compared.insolvent_on,
        interim: compared.interim,
        training_cutoffs: compared.training_cutoffs,
    }
}

/// Returns of a configuration.
struct Returns {
    mean: Option<MeanResponse>,
    total_return: Option<f64>,
    interval: Option<IntervalResponse>,
    annualized: Option<f64>,
    spread: Option<Spread>,
}

fn returns(item: &Item, mean: Option<MeanResponse>) -> Returns {
    let bounds = own_estimate(item).map(|found| found.interval());
    let total = |mean: MeanResponse, daily: f64| figure((daily * mean.days as f64).exp_m1());
    let is_solvent = item.insolvent_on().is_none();
    let totals = item.trials.iter().map(|trial| trial.actual.log_returns().iter().sum::<f64>().exp_m1());
    let spread = Spread::of(totals).filter(|spread| spread.n > 1 && is_solvent).map(|spread| Spread {
        mean: figure(spread.mean),
        deviation: spread.deviation.map(figure),
        min: figure(spread.min),
        max: figure(spread.max),
        ..spread
    });
    Returns {
        mean: mean.map(|mean| MeanResponse { interval: bounds.map(|bounds| interval(bounds, 1.0)), ..mean }),
        total_return: mean.map(|mean| total(mean, mean.mean_daily)),
        interval: mean.zip(bounds).map(|(mean, Interval { low, high })| IntervalResponse {
            low: total(mean, low),
            high: total(mean, high),
        }),
        annualized: mean
            .filter(|mean| mean.days >= MIN_VERDICT_DAYS)
            .map(|mean| figure((mean.mean_daily * item.trading_days_per_year).exp_m1())),
        spread,
    }
}

/// Its log return per day, over days and trials: the difference from an account that never changes. Two trials support
/// no claim.
fn own_estimate(item: &Item) -> Option<TwoWay> {
    if item.trials.len() == 2 || item.insolvent_on().is_some() {
        return None;
    }
    let trials: Vec<ReturnSeries> = item.trials.iter().map(|trial| trial.actual.clone()).collect();
    let flat: Vec<(Date, f64)> = trials.first()?.days().iter().map(|day| (*day, 0.0)).collect();
    let flat = ReturnSeries::from_returns(&flat).ok()?;
    two_way(&[TrialPanel::align(&trials, &[flat])]).ok()
}

/// Codes of what a reader of the board must know.
pub(super) fn notes(entries: &[LeaderboardEntry], has_baseline: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let llms = || entries.iter().filter(|entry| entry.is_llm == Some(true));
    if llms().any(|entry| entry.trials == 1) {
        notes.push("single_runs");
    }
    let mut trials = entries.iter().filter(|entry| entry.rank.is_some() && entry.is_llm == Some(true));
    if trials.clone().any(|entry| entry.trials == 1) && trials.any(|entry| entry.trials > 1) {
        notes.push("mixed_trials");
    }
    if !has_baseline {
        notes.push("no_baseline");
    }
    if entries.iter().any(|entry| entry.omitted_runs > 0) {
        notes.push("omitted_runs");
    }
    notes.into_iter().map(str::to_owned).collect()
}
