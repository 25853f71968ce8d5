//! What a verdict is made from.

use super::estimate::{Estimate, NoSeries, Which, panels};
use super::items::Item;
use papertape_evidence::{Contrast, Estimand, Mismatch, TrialPanel};
use papertape_protocol::compare::pair::{CheckResponse, MismatchResponse};
use papertape_protocol::number::figure;

/// The inputs of a pair's verdict.
pub(super) struct Judged<'a> {
    pub(super) a: &'a Item,
    pub(super) b: &'a Item,
    pub(super) mismatches: Vec<Mismatch>,
    pub(super) described: Vec<MismatchResponse>,
    pub(super) estimand: Option<Estimand>,
    pub(super) panels: Vec<TrialPanel>,
    pub(super) actual: Option<Estimate>,
    pub(super) refilled: Check,
    pub(super) net: Check,
    /// Adjusted over the family.
    pub(super) holm_p: f64,
    /// The significance level of its rank in the family.
    pub(super) level: f64,
}

/// A robustness check.
pub(super) struct Check {
    pub(super) estimate: Result<Option<Estimate>, NoSeries>,
    pub(super) holm_p: f64,
}

impl Check {
    pub(super) fn of(a: &Item, b: &Item, which: Which) -> Self {
        let estimate = panels(a, b, which).map(|panels| Estimate::of(&panels));
        Self { estimate, holm_p: 1.0 }
    }

    pub(super) fn p_value(&self) -> f64 {
        let estimate = self.estimate.as_ref().ok().and_then(Option::as_ref);
        estimate.and_then(Estimate::p_value).unwrap_or(f64::NAN)
    }

    /// A check that does not apply passes with the contrast itself; one that could not be computed fails.
    pub(super) fn contrast(&self, own: Contrast) -> Contrast {
        match &self.estimate {
            Ok(Some(estimate)) => Contrast { difference: estimate.mean(), holm_p: self.holm_p },
            Err(why) if why.is_inapplicable => own,
            Ok(None) | Err(_) => Contrast { difference: 0.0, holm_p: 1.0 },
        }
    }

    pub(super) fn response(&self, year: f64) -> CheckResponse {
        let found = self.estimate.as_ref().ok().and_then(Option::as_ref);
        CheckResponse {
            difference: found.map(|estimate| estimate.response(year)),
            holm_p: found.and_then(Estimate::p_value).map(|_| figure(self.holm_p)),
            unavailable: self.estimate.as_ref().err().map(|why| why.reason.clone()),
        }
    }
}
