//! Recomputes the metrics from the recomputed books, with the code that computes `GET /results`.

use super::books::BookDay;
use super::difference::difference;
use crate::view::{DayFigures, history, metrics};
use papertape_core::id::JobId;
use papertape_core::metric::DayValue;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_protocol::number::number;
use papertape_protocol::results::account::InsolvencyResponse;
use papertape_protocol::results::range::{
    DailyPortfolioValue, DoneBefore, FullResearch, RangeProvenance, RangeResult,
};
use papertape_runtime::config::SimulationConfig;

/// Compares an agent's results with those of its books. What needs prices of days on which it held nothing cannot be
/// recomputed: baselines, the benchmark, the refill at the next open. So is whether a month has more trading days.
pub(super) fn check(
    (job, config): (&JobId, &SimulationConfig),
    stated: &RangeResult,
    days: &[BookDay],
) -> Result<(), String> {
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return Err("there are no days".to_owned());
    };
    let year = config.market.trading_days_per_year;
    let all: Vec<&DayFigures> = days.iter().map(|day| &day.figures).collect();
    let full: Vec<&DayFigures> = days.iter().filter(|day| day.is_full).map(|day| &day.figures).collect();
    let values: Vec<DayValue> = all.iter().map(|figures| figures.value).collect();
    let those = |is_one: fn(&BookDay) -> bool| -> Vec<Date> {
        days.iter().filter(|day| is_one(day)).map(|day| day.date).collect()
    };
    let is_verified = days.iter().all(|day| day.is_verified);
    let mut parts = history(first.figures.before, &values, (None, None), year);
    for (month, stated) in parts.months.iter_mut().zip(&stated.history.months) {
        month.is_partial = stated.is_partial;
    }
    let expected = RangeResult {
        job_id: job.to_string(),
        done_before: DoneBefore::spans(job, days.iter().map(|day| (day.date, &day.job))),
        start_date: first.date,
        end_date: last.date,
        starting_portfolio_value: number(first.figures.before.0),
        ending_portfolio_value: number(last.figures.value.portfolio_value.0),
        insolvent: last.insolvent.map(InsolvencyResponse::from),
        daily_portfolio_values: days.iter().map(at_close).collect(),
        period_metrics: metrics(&all, year),
        history: parts,
        full_research: FullResearch {
            days: full.len(),
            total_days: days.len(),
            period_metrics: metrics(&full, year),
        },
        provenance: RangeProvenance {
            point_in_time: Some(if is_verified { "verified" } else { "unverified" }.to_owned()),
            failed_days: those(|day| day.status == DayStatus::Failed),
            degraded_days: those(|day| !day.is_full),
            ..stated.provenance.clone()
        },
        ..stated.clone()
    };
    match difference(&expected, stated) {
        Some(found) => Err(format!("{}: {found}", stated.model)),
        None => Ok(()),
    }
}

fn at_close(day: &BookDay) -> DailyPortfolioValue {
    DailyPortfolioValue {
        date: day.date,
        portfolio_value: number(day.figures.value.portfolio_value.0),
        cash: number(day.cash.0),
        status: day.status,
        full_research: day.is_full,
        job_id: day.job.to_string(),
    }
}
