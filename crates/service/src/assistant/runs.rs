//! A trader's run over all requested days, whichever jobs ran them: days that an earlier job ran are not
//! repeated, but still belong to the run.

use super::toolbox::{JobToolbox, ToolArgs, missing, service_failure, unavailable};
use crate::error::ServiceError;
use crate::view;
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::message::CallFailure;
use papertape_core::time::Date;
use papertape_protocol::results::range::RangeResult;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The maximum number of best and of worst days that are listed.
const EXTREME_DAYS: usize = 3;

/// One trader's days as a single run.
pub(super) struct Run {
    /// The job that was requested.
    pub(super) job: JobId,
    /// The results of the days.
    pub(super) range: RangeResult,
}

/// A job that has a trader's days, up to some day; `None`: up to the last.
struct Link {
    job: JobId,
    until: Option<Date>,
}

impl JobToolbox {
    /// The jobs that ran a trader's days, newest first: this job, and those that it continues.
    async fn chain(&self, job: &JobId, model: &str, from: Option<Date>) -> Result<Vec<Link>, CallFailure> {
        let mut links = vec![Link { job: job.clone(), until: None }];
        let mut seen = BTreeSet::from([job.to_string()]);
        let mut job = job.to_string();
        loop {
            let summary = view::job_summary(&self.0, &job).await.map_err(service_failure)?;
            let before = summary.simulation.and_then(|mut run| run.continues.remove(model));
            let Some(before) = before.filter(|before| from.is_none_or(|from| before.date >= from)) else {
                return Ok(links);
            };
            if !seen.insert(before.job.clone()) {
                return Ok(links);
            }
            links.push(Link { job: JobId::new(&before.job), until: Some(before.date) });
            job = before.job;
        }
    }

    /// The first and last day of a job, and its traders.
    async fn days(&self, job: &JobId) -> Result<(Option<Date>, Option<Date>, BTreeSet<String>), CallFailure> {
        let details = self.0.store.job_details(job).await.map_err(unavailable)?;
        let days = details.map(|details| details.days).unwrap_or_default();
        let dates = || days.iter().map(|day| day.date);
        let agents = days.iter().map(|day| day.agent.to_string()).collect();
        Ok((dates().min(), dates().max(), agents))
    }

    /// The jobs that ran a job's days.
    pub(super) async fn done_by(&self, job: &JobId) -> Result<Vec<JobId>, CallFailure> {
        let (first, _, agents) = self.days(job).await?;
        let mut found = Vec::new();
        for model in agents {
            for link in self.chain(job, &model, first).await? {
                if !found.contains(&link.job) {
                    found.push(link.job);
                }
            }
        }
        // A job with nothing left to do ran none of them.
        let progress = view::job_summary(&self.0, job.as_str()).await.map_err(service_failure)?.progress;
        if progress.total_model_days > 0 && progress.skipped == progress.total_model_days {
            found.retain(|one| one != job);
        }
        Ok(if found.is_empty() { vec![job.clone()] } else { found })
    }

    /// The job that ran a given day of a job, or its newest days.
    pub(super) async fn job_of_day(
        &self,
        job: &JobId,
        model: Option<&str>,
        date: Option<Date>,
    ) -> Result<JobId, CallFailure> {
        let (first, last, agents) = self.days(job).await?;
        let Some(date) = date.or(last) else { return Ok(job.clone()) };
        let Some(model) = model.map(str::to_owned).or_else(|| agents.into_iter().next()) else {
            return Ok(job.clone());
        };
        let links = self.chain(job, &model, first).await?;
        let link = links.into_iter().rfind(|link| link.until.is_none_or(|until| date <= until));
        Ok(link.map_or_else(|| job.clone(), |link| link.job))
    }

    async fn ranges(&self, query: ResultsQuery) -> Result<Vec<RangeResult>, CallFailure> {
        match view::results(&self.0, query).await {
            Ok(ResultsResponse::Range(range)) => Ok(range.results),
            Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => Ok(Vec::new()),
            Err(error) => Err(service_failure(error)),
        }
    }

    /// The results of a job's days by trader, including days that other jobs ran earlier.
    pub(super) async fn runs(&self, job: &JobId, args: &ToolArgs<'_>) -> Result<Vec<Run>, CallFailure> {
        let (first, last, agents) = self.days(job).await?;
        let (from, to) = (args.day("start_date")?.max(first), args.day("end_date")?.or(last).min(last));
        let requested = args.text("model");
        let mut runs = Vec::new();
        for model in
            agents.into_iter().filter(|model| requested.as_ref().is_none_or(|requested| requested == model))
        {
            let query = ResultsQuery {
                job_id: Some(job.to_string()),
                model: Some(model),
                start_date: from,
                end_date: to,
                ..ResultsQuery::default()
            };
            runs.extend(self.ranges(query).await?.into_iter().map(|range| Run { job: job.clone(), range }));
        }
        if runs.is_empty() {
            let none = (format!("no session of job {job} matches"), format!("任务 {job} 没有匹配的会话"));
            return Err(missing(args.localized(none.0, none.1)));
        }
        Ok(runs)
    }
}

/// A fraction as a percentage.
pub(super) fn percent(fraction: Option<f64>) -> Option<f64> {
    fraction.map(|fraction| fraction * 100.0)
}

impl Run {
    /// A short summary for the model.
    pub(super) fn to_json(&self) -> Value {
        let (job, run) = (&self.job, &self.range);
        let mut value = run.starting_portfolio_value.to_f64();
        let mut days = Vec::new();
        for day in &run.daily_portfolio_values {
            let return_pct = (value > 0.0).then(|| (day.portfolio_value.to_f64() / value - 1.0) * 100.0);
            days.push((day.date, return_pct));
            value = day.portfolio_value.to_f64();
        }
        let by_return = |pick_worst: bool| {
            let known = days.iter().filter_map(|(date, gain)| Some((*date, (*gain)?)));
            let found = known.reduce(|one, other| match (one.1 <= other.1) == pick_worst {
                true => one,
                false => other,
            });
            found.map(|(date, gain)| json!({ "date": date, "return_pct": gain }))
        };
        let extreme = |loses: bool| {
            let mut known: Vec<(Date, f64)> =
                days.iter().filter_map(|(date, gain)| Some((*date, (*gain)?))).collect();
            known.retain(|(_, gain)| if loses { *gain < 0.0 } else { *gain > 0.0 });
            known.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
            let entry = |(date, gain): &(Date, f64)| json!({ "date": date, "return_pct": gain });
            known.iter().take(EXTREME_DAYS).map(entry).collect::<Vec<_>>()
        };
        let metrics = &run.period_metrics;
        json!({
            "job_id": job, "model": run.model, "is_llm": run.is_llm, "start_date": run.start_date,
            "end_date": run.end_date, "days": metrics.days, "start_value": run.starting_portfolio_value,
            "end_value": run.ending_portfolio_value, "return_pct": percent(metrics.total_return),
            "max_drawdown_pct": percent(metrics.max_drawdown), "sharpe": metrics.sharpe,
            "sharpe_interval": metrics.sharpe_interval, "annualized_unavailable": metrics.annualized_unavailable,
            "mean_daily_log_return_interval": metrics.mean_interval,
            "win_rate_pct": percent(metrics.win_rate), "costs": metrics.costs,
            "worst_day": by_return(true), "best_day": by_return(false),
            "worst_days": extreme(true), "best_days": extreme(false),
            "failed_days": to_value(&run.provenance.failed_days),
            "degraded_days": run.provenance.degraded_days.len(), "done_before": to_value(&run.done_before),
        })
    }
}
