//! Loads the runs of a board from the database.

use super::board_run::{BoardBaseline, BoardRun, RunRecord, starts_fresh};
use super::items::{Item, baseline_item, of_job};
use super::select::Baseline;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::cutoff::training_cutoffs;
use crate::view::results::unverified_reason;
use crate::view::{Configs, masked};
use papertape_core::id::{AgentName, JobId};
use papertape_core::provenance::QualityState;
use papertape_core::record::DayStatus;
use papertape_protocol::leaderboard::EntryQuality;
use std::collections::BTreeSet;

/// The runs of these agents in these jobs, in this order, with buy-and-hold over the days of the first one that closed
/// all its days. Runs that turn out to continue an older account are left out.
///
/// # Errors
/// A database error.
pub(in crate::view) async fn load_board(
    app: &App,
    selected: &[(JobId, BTreeSet<AgentName>)],
) -> Result<(Vec<BoardRun>, Option<BoardBaseline>), ServiceError> {
    let (mut runs, mut baseline) = (Vec::new(), None);
    for (job, agents) in selected {
        // Configs and series of one job at a time: a board has hundreds of runs.
        let mut configs = Configs::default();
        let only = agents.first().filter(|_| agents.len() == 1);
        let items = match Box::pin(of_job(app, &mut configs, job, only)).await {
            Ok(items) => items,
            // It was deleted meanwhile.
            Err(ServiceError::NotFound(_)) => continue,
            Err(error) => return Err(error),
        };
        let experiment = app.store.experiment_of(job).await?.map(|(id, ..)| id.to_string());
        for mut item in items {
            let is_selected = item.agent.as_ref().is_some_and(|agent| agents.contains(agent));
            if !is_selected || !is_fresh(app, &mut configs, &item).await? {
                continue;
            }
            if baseline.is_none() && has_all_days(&item) {
                baseline = buy_and_hold(app, &mut configs, &item).await?;
            }
            let record = record(app, &mut configs, &item).await?;
            let days = item.trials.iter().flat_map(|trial| trial.actual.days().iter().copied()).collect();
            item.training_cutoffs = training_cutoffs(app, &item.models, &days);
            item.experiment.clone_from(&experiment);
            for trial in &mut item.trials {
                trial.series = None;
            }
            runs.extend(BoardRun::new(item, record));
        }
    }
    Ok((runs, baseline))
}

fn has_all_days(item: &Item) -> bool {
    let series = item.trials.iter().filter_map(|trial| trial.series.as_ref());
    series.into_iter().all(|series| !series.days.is_empty() && series.days.len() == series.planned.len())
}

/// Days that an earlier job completed count, if that job's account did not begin even earlier.
async fn is_fresh(app: &App, configs: &mut Configs, item: &Item) -> Result<bool, ServiceError> {
    for series in item.trials.iter().filter_map(|trial| trial.series.as_ref()) {
        let Some(first) = series.days.first().map(|day| &day.closed) else { continue };
        if first.job == series.job {
            continue;
        }
        let config = configs.of(app, &first.job).await?;
        if !config.is_some_and(|config| starts_fresh(config, &series.agent, first.date)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `None` without the dataset, or if the baseline cannot be computed.
async fn buy_and_hold(
    app: &App,
    configs: &mut Configs,
    item: &Item,
) -> Result<Option<BoardBaseline>, ServiceError> {
    match Box::pin(baseline_item(app, configs, item, Baseline::BuyAndHold)).await {
        Ok(found) => Ok(BoardBaseline::new(found)),
        Err(ServiceError::Conflict(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn record(app: &App, configs: &mut Configs, item: &Item) -> Result<RunRecord, ServiceError> {
    let mut record = RunRecord::default();
    for series in item.trials.iter().filter_map(|trial| trial.series.as_ref()) {
        let count = |is: &dyn Fn(&crate::view::results::SeriesDay) -> bool| {
            series.days.iter().filter(|day| is(day)).count()
        };
        record.quality = EntryQuality {
            model_days: series.days.len(),
            degraded_days: count(&|day| !day.is_full),
            no_decision_days: count(&|day| day.quality == Some(QualityState::NoDecision)),
            failed_days: count(&|day| day.closed.status == DayStatus::Failed),
            ..EntryQuality::default()
        };
        record.sessions = series.days.iter().map(|day| (day.closed.job.clone(), day.closed.date)).collect();
        if let Some(day) = &series.unverified {
            let of = (&day.job, &series.agent, day.date);
            let reason = unverified_reason(app, configs, of, Some(&day.metadata)).await?;
            record.is_unverified = true;
            record.unverified = match reason {
                Some(mut reason) => {
                    let config = configs.of(app, &series.job).await?;
                    reason.date = masked::real_date(config, reason.date);
                    Some(reason)
                }
                None => None,
            };
        }
        let config = configs.of(app, &series.job).await?;
        let imported = config.and_then(|config| config.imported.as_ref());
        record.imported_from = imported.map(|imported| imported.format.clone());
    }
    Ok(record)
}
