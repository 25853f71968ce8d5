//! Medians and spreads.

use serde::{Serialize, Serializer};

/// The median of some values, and their spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianIqr {
    /// The median: the middle value, or the mean of the two middle ones.
    pub median: f64,
    /// The interquartile range `Q3 - Q1`; `None` for a single value, which has no spread.
    pub iqr: Option<f64>,
}

impl MedianIqr {
    /// For finite values in any order; `None` if there are none.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let median = quantile(&values, 0.5)?;
        let iqr = match values.len() {
            0 | 1 => None,
            _ => Some(quantile(&values, 0.75)? - quantile(&values, 0.25)?),
        };
        Some(Self { median, iqr })
    }
}

/// The quantile of sorted values by linear interpolation between neighbors: with `h = (n - 1) p`, the value at
/// `h` (type 7 of Hyndman and Fan, 1996; the default of R and `NumPy`). It describes these values and does not
/// estimate a population: there is no ddof. `None` if there are no values.
#[must_use]
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = last as f64 * p.clamp(0.0, 1.0);
    let below = at.floor();
    let low = *sorted.get(below as usize)?;
    let high = *sorted.get((below as usize + 1).min(last))?;
    Some(low + (high - low) * (at - below))
}

/// Writes a whole number without a fraction: `450`, not `450.0`.
pub(super) fn plain<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        (*value as i64).serialize(serializer)
    } else {
        value.serialize(serializer)
    }
}

/// A number serialized by `plain`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Figure(#[serde(serialize_with = "plain")] pub f64);
