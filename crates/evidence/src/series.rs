//! Daily log returns, and the days that several series share.
//!
//! `g(t) = ln(1 + r(t))`, `r(t)` as in `docs/metrics.md`. `d(t) = g_A(t) - g_B(t)`, on days that both closed. A gain on
//! a day that another series did not close counts on the next day that all closed, so the sum of `d` is `ln(V_A / V_B)`
//! over the shared days and its sign cannot contradict the displayed returns.
//!
//! Assumption: the values of a day are those of its close, without deposits or withdrawals.

use papertape_core::metric::daily_returns;
use papertape_core::time::Date;
use std::collections::BTreeSet;

/// Why daily values do not form a series: the caller passed invalid data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// The initial value is not a number above zero.
    #[error("the initial value is not above zero")]
    InitialNotPositive,
    /// A value is NaN or infinite.
    #[error("the value of {0} is not finite")]
    NotFinite(Date),
    /// Days must ascend without repetition.
    #[error("{0} is not after the day before it")]
    OutOfOrder(Date),
}

/// Daily log returns of one trial of one agent, or of a baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReturnSeries {
    days: Vec<Date>,
    log_returns: Vec<f64>,
    insolvent_on: Option<Date>,
}

impl ReturnSeries {
    /// From the values at the closes, the first return over `initial`. The series ends before the first day whose value
    /// is zero or below; that day is [`insolvent_on`](Self::insolvent_on).
    ///
    /// # Errors
    /// If the initial value is not above zero, a value is not finite, or days do not ascend.
    pub fn from_values(initial: f64, values: &[(Date, f64)]) -> Result<Self, SeriesError> {
        check(values)?;
        let (days, closes): (Vec<Date>, Vec<f64>) = values.iter().copied().unzip();
        let returns = daily_returns(initial, &closes).ok_or(SeriesError::InitialNotPositive)?;
        Ok(Self::build(days.into_iter().zip(returns)))
    }

    /// From daily returns (0.01 is one percent). The series ends before the first day that lost everything or more.
    ///
    /// # Errors
    /// If a return is not finite, or days do not ascend.
    pub fn from_returns(returns: &[(Date, f64)]) -> Result<Self, SeriesError> {
        check(returns)?;
        Ok(Self::build(returns.iter().copied()))
    }

    fn build(returns: impl Iterator<Item = (Date, f64)>) -> Self {
        let mut series = Self::default();
        for (day, value) in returns {
            if value <= -1.0 {
                series.insolvent_on = Some(day);
                break;
            }
            series.days.push(day);
            series.log_returns.push(value.ln_1p());
        }
        series
    }

    /// The days, ascending.
    #[must_use]
    pub fn days(&self) -> &[Date] {
        &self.days
    }

    /// `ln(1 + r)` of each day.
    #[must_use]
    pub fn log_returns(&self) -> &[f64] {
        &self.log_returns
    }

    /// `r` of each day.
    #[must_use]
    pub fn returns(&self) -> Vec<f64> {
        self.log_returns.iter().map(|g| g.exp_m1()).collect()
    }

    /// The day on which everything was lost; an insolvent series is listed and never compared.
    #[must_use]
    pub fn insolvent_on(&self) -> Option<Date> {
        self.insolvent_on
    }

    /// The sum of log returns of the days that `is_chosen` selects, such as fallback days.
    #[must_use]
    pub fn sum_on(&self, is_chosen: impl Fn(Date) -> bool) -> f64 {
        let days = self.days.iter().zip(&self.log_returns);
        days.filter(|(day, _)| is_chosen(**day)).fold(0.0, |sum, (_, g)| sum + g)
    }
}

fn check(rows: &[(Date, f64)]) -> Result<(), SeriesError> {
    if let Some((day, _)) = rows.iter().find(|(_, value)| !value.is_finite()) {
        return Err(SeriesError::NotFinite(*day));
    }
    match rows.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        Some(pair) => Err(SeriesError::OutOfOrder(pair[1].0)),
        None => Ok(()),
    }
}

/// Several series on the days that all of them closed.
#[derive(Clone, Debug, PartialEq)]
pub struct AlignedSeries {
    /// The shared days, ascending.
    pub days: Vec<Date>,
    /// Log returns, series by series.
    pub log_returns: Vec<Vec<f64>>,
}

impl AlignedSeries {
    /// `g_a - g_b` by day, of the series with these positions.
    ///
    /// # Panics
    /// If there is no series at a position.
    #[must_use]
    pub fn difference(&self, a: usize, b: usize) -> Vec<f64> {
        self.log_returns[a].iter().zip(&self.log_returns[b]).map(|(a, b)| a - b).collect()
    }

    /// Only the days that `is_chosen` selects, such as those with full research. These days are a selected subset:
    /// display the difference with its interval, and never a verdict.
    #[must_use]
    pub fn only(&self, is_chosen: impl Fn(Date) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.days.len()).filter(|at| is_chosen(self.days[*at])).collect();
        Self {
            days: kept.iter().map(|at| self.days[*at]).collect(),
            log_returns: self.log_returns.iter().map(|g| kept.iter().map(|at| g[*at]).collect()).collect(),
        }
    }
}

/// Aligns series on the days that all of them closed, from the latest of their first days.
#[must_use]
pub fn align(series: &[&ReturnSeries]) -> AlignedSeries {
    let mut shared: Option<BTreeSet<Date>> = None;
    for one in series {
        let days = one.days.iter().copied();
        shared = Some(match shared {
            None => days.collect(),
            Some(shared) => days.filter(|day| shared.contains(day)).collect(),
        });
    }
    let days: Vec<Date> = shared.unwrap_or_default().into_iter().collect();
    let first = series.iter().filter_map(|one| one.days.first()).max().copied();
    let log_returns = series.iter().map(|one| on_days(one, first, &days)).collect();
    AlignedSeries { days, log_returns }
}

fn on_days(series: &ReturnSeries, first: Option<Date>, days: &[Date]) -> Vec<f64> {
    let mut rows = series.days.iter().zip(&series.log_returns).peekable();
    while rows.next_if(|(day, _)| Some(**day) < first).is_some() {}
    let sum_until = |until: &Date| {
        let mut sum = 0.0;
        while let Some((_, g)) = rows.next_if(|(day, _)| *day <= until) {
            sum += g;
        }
        sum
    };
    days.iter().map(sum_until).collect()
}

/// Values minus the cumulative model cost: `V(t) - sum of cost up to t`. `daily_cost` has one amount per value. The
/// result depends on the size of the account: the same calls cost a large account a smaller fraction.
#[must_use]
pub fn net_of_cost(values: &[(Date, f64)], daily_cost: &[f64]) -> Vec<(Date, f64)> {
    let mut paid = 0.0;
    let net = values.iter().zip(daily_cost).map(|((day, value), cost)| {
        paid += cost;
        (*day, value - paid)
    });
    net.collect()
}
