//! Whether two runs may be compared: what must be equal unless the experiment varies it.
//!
//! A difference of returns is informative about agents only if everything else was the same. Each condition is an
//! identifying text, such as a content hash or a fingerprint.

use papertape_core::time::Date;
use serde::{Deserialize, Serialize};

/// The conditions of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// The dataset's content hash.
    pub dataset: String,
    /// The market's rules.
    pub market: String,
    /// The symbols, or the index.
    pub universe: String,
    /// Fees, slippage, financing.
    pub costs: String,
    /// The price at which orders fill.
    pub fill: String,
    /// What is masked.
    pub mask: String,
    /// First and last day.
    pub days: Option<(Date, Date)>,
}

/// A condition in which two runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mismatch {
    /// Different data.
    Dataset,
    /// Different market rules.
    Market,
    /// Different symbols.
    Universe,
    /// Different costs.
    Costs,
    /// Different fill prices.
    Fill,
    /// Different masks.
    Mask,
    /// Different days.
    Days,
}

impl Conditions {
    /// The mismatches, except those in `varied`, which the experiment varies on purpose.
    ///
    /// ```
    /// use papertape_evidence::{Conditions, Mismatch};
    /// let plain = Conditions { mask: "none".into(), ..Conditions::default() };
    /// let masked = Conditions { mask: "dates".into(), ..Conditions::default() };
    /// assert_eq!(plain.mismatches(&masked, &[]), [Mismatch::Mask]);
    /// assert!(plain.mismatches(&masked, &[Mismatch::Mask]).is_empty());
    /// ```
    #[must_use]
    pub fn mismatches(&self, other: &Self, varied: &[Mismatch]) -> Vec<Mismatch> {
        let differs = [
            (Mismatch::Dataset, self.dataset != other.dataset),
            (Mismatch::Market, self.market != other.market),
            (Mismatch::Universe, self.universe != other.universe),
            (Mismatch::Costs, self.costs != other.costs),
            (Mismatch::Fill, self.fill != other.fill),
            (Mismatch::Mask, self.mask != other.mask),
            (Mismatch::Days, self.days != other.days),
        ];
        let found = differs.iter().filter(|(which, differs)| *differs && !varied.contains(which));
        found.map(|(which, _)| *which).collect()
    }
}
