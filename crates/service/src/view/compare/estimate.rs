//! The estimate of a pair: its shared days, the difference, and its variance.

use super::items::Item;
use super::trial::{NoNet, Trial};
use papertape_core::time::Date;
use papertape_evidence::{Interval, MIN_VERDICT_DAYS, ReturnSeries, TrialPanel, TwoWay, t_quantile, two_way};
use papertape_protocol::compare::pair::{DifferenceResponse, IntervalResponse};
use papertape_protocol::number::figure;
use std::collections::BTreeSet;

/// A difference over the shared days of all windows.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) days: Vec<Date>,
    /// Mean of the trials of A, by day.
    pub(super) a: Vec<f64>,
    /// That of B.
    pub(super) b: Vec<f64>,
    /// `None` under 20 shared days, and if windows overlap.
    pub(super) two_way: Option<TwoWay>,
}

impl Estimate {
    /// `None` without shared days.
    pub(super) fn of(panels: &[TrialPanel]) -> Option<Self> {
        let mut rows: Vec<(Date, f64, f64)> = Vec::new();
        for panel in panels {
            for (at, day) in panel.days.iter().enumerate() {
                rows.push((*day, mean_of(&panel.a, at), mean_of(&panel.b, at)));
            }
        }
        rows.sort_by_key(|(day, ..)| *day);
        (!rows.is_empty()).then(|| Self {
            days: rows.iter().map(|(day, ..)| *day).collect(),
            a: rows.iter().map(|(_, a, _)| *a).collect(),
            b: rows.iter().map(|(.., b)| *b).collect(),
            two_way: two_way(panels).ok(),
        })
    }

    /// `g_A - g_B`, by day.
    pub(super) fn differences(&self) -> Vec<f64> {
        self.a.iter().zip(&self.b).map(|(a, b)| a - b).collect()
    }

    pub(super) fn mean(&self) -> f64 {
        papertape_core::metric::mean(&self.differences())
    }

    /// Two-sided; `None` under 20 days.
    pub(super) fn p_value(&self) -> Option<f64> {
        self.two_way.as_ref().map(TwoWay::p_value)
    }

    /// The t quantile of a two-sided test at `level`.
    pub(super) fn critical(&self, level: f64) -> Option<f64> {
        Some(t_quantile(1.0 - level / 2.0, self.two_way.as_ref()?.degrees_of_freedom))
    }

    pub(super) fn response(&self, trading_days_per_year: f64) -> DifferenceResponse {
        let (days, mean) = (self.days.len(), self.mean());
        let n = days as f64;
        let is_long = days >= MIN_VERDICT_DAYS;
        let bounds = self.two_way.as_ref().map(TwoWay::interval);
        let of = |get: fn(&TwoWay) -> f64| self.two_way.as_ref().map(get).map(figure);
        DifferenceResponse {
            days,
            mean_daily: figure(mean),
            total: figure(mean * n),
            per_year: is_long.then(|| figure(mean * trading_days_per_year)),
            annualized_unavailable: (!is_long).then(|| "too_few_days".to_owned()),
            interval: bounds.map(|bounds| interval(bounds, 1.0)),
            total_interval: bounds.map(|bounds| interval(bounds, n)),
            standard_error: of(TwoWay::standard_error),
            degrees_of_freedom: of(|of| of.degrees_of_freedom),
            t: of(TwoWay::t).filter(|t| t.is_finite()),
            p_value: of(TwoWay::p_value),
        }
    }
}

fn mean_of(trials: &[Vec<f64>], at: usize) -> f64 {
    trials.iter().fold(0.0, |sum, g| sum + g[at]) / trials.len() as f64
}

pub(super) fn interval(bounds: Interval, factor: f64) -> IntervalResponse {
    IntervalResponse { low: figure(bounds.low * factor), high: figure(bounds.high * factor) }
}

/// Which series of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Actual,
    Refilled,
    NetOfCost,
}

/// Why there is no such series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoSeries {
    pub(super) reason: String,
    /// The check does not apply, so it neither passes nor fails.
    pub(super) is_inapplicable: bool,
}

impl Which {
    fn of(self, trial: &Trial) -> Result<&ReturnSeries, NoSeries> {
        let missing = |reason: String| NoSeries { reason, is_inapplicable: false };
        let series = match self {
            Self::Actual => return Ok(&trial.actual),
            Self::Refilled => trial.refilled.as_ref().map_err(|why| missing(why.clone())),
            Self::NetOfCost => trial.net.as_ref().map_err(|why| match why {
                NoNet::NoDataset => missing(
                    "the job's dataset is not available, so the account's currency is unknown; import it again"
                        .to_owned(),
                ),
                NoNet::OtherCurrency => NoSeries {
                    reason: "the account is not in US dollars: model cost is apart".to_owned(),
                    is_inapplicable: true,
                },
                NoNet::Unpriced(calls) => {
                    missing(format!("the price of {calls} model calls is unknown; set `models.prices`"))
                }
            }),
        }?;
        // The series ends before that day, so its difference would leave the loss out.
        match series.insolvent_on() {
            Some(on) => Err(missing(format!("a run loses everything on {on}"))),
            None => Ok(series),
        }
    }
}

/// One panel per window that both have.
pub(super) fn panels(a: &Item, b: &Item, which: Which) -> Result<Vec<TrialPanel>, NoSeries> {
    let of = |item: &Item, window: u32| -> Result<Vec<ReturnSeries>, NoSeries> {
        let trials = item.trials.iter().filter(|trial| trial.input.window == window);
        trials.map(|trial| which.of(trial).cloned()).collect::<Result<_, _>>()
    };
    let mut panels = Vec::new();
    for window in &a.windows {
        let (of_a, of_b) = (of(a, window.number)?, of(b, window.number)?);
        if !of_a.is_empty() && !of_b.is_empty() {
            panels.push(TrialPanel::align(&of_a, &of_b));
        }
    }
    Ok(panels)
}

/// The same panels on days with full research in all trials of both.
pub(super) fn with_full_research(panels: &[TrialPanel], a: &Item, b: &Item) -> Vec<TrialPanel> {
    let trials = a.trials.iter().chain(&b.trials);
    let fallback: BTreeSet<Date> = trials.flat_map(|trial| trial.input.fallback.iter().copied()).collect();
    let only = |panel: &TrialPanel| {
        let kept: Vec<usize> =
            (0..panel.days.len()).filter(|at| !fallback.contains(&panel.days[*at])).collect();
        let pick = |trials: &[Vec<f64>]| -> Vec<Vec<f64>> {
            trials.iter().map(|g| kept.iter().map(|at| g[*at]).collect()).collect()
        };
        TrialPanel {
            days: kept.iter().map(|at| panel.days[*at]).collect(),
            a: pick(&panel.a),
            b: pick(&panel.b),
        }
    };
    panels.iter().map(only).filter(|panel| !panel.days.is_empty()).collect()
}
