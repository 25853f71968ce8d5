//! One trial of an item in one window: its daily values, and the series that are computed from them.

use crate::view::results::AgentSeries;
use papertape_core::id::JobId;
use papertape_core::time::Date;
use papertape_evidence::{ReturnSeries, net_of_cost};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;

/// Everything that a trial's series are computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialInput {
    pub(crate) window: u32,
    /// Of an agent.
    pub(crate) job: Option<JobId>,
    /// The value before the first day.
    pub(crate) initial: f64,
    /// The values at the closes.
    pub(crate) values: Vec<(Date, f64)>,
    pub(crate) refilled: Refilled,
    pub(crate) model_cost: ModelCost,
    /// Days without full research.
    pub(crate) fallback: BTreeSet<Date>,
    /// In US dollars; `None` if a call has no known price.
    pub(crate) cost: Option<Decimal>,
}

/// The values of the same orders at the next open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refilled {
    /// The orders filled there anyway.
    Same,
    Values(Vec<(Date, f64)>),
    /// Why there are none.
    Unavailable(String),
}

/// What the model calls cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelCost {
    Free,
    /// In the account's currency, by day.
    Daily(Vec<f64>),
    /// The account is in another currency: the check does not apply.
    OtherCurrency,
    /// The dataset is not available, so the account's currency is unknown.
    NoDataset,
    /// The price of some calls is unknown.
    Unpriced(u64),
}

/// A trial.
#[derive(Deserialize)]
#[serde(from = "TrialInput")]
pub(crate) struct Trial {
    pub(crate) input: TrialInput,
    pub(super) actual: ReturnSeries,
    /// The same orders at the next open, or why there are none.
    pub(super) refilled: Result<ReturnSeries, String>,
    /// Net of model cost, or why there is none.
    pub(super) net: Result<ReturnSeries, NoNet>,
    /// Of an agent, if it was read from the database.
    pub(super) series: Option<AgentSeries>,
}

/// Why there is no net series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoNet {
    OtherCurrency,
    NoDataset,
    Unpriced(u64),
}

impl Serialize for Trial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.input.serialize(serializer)
    }
}

impl From<TrialInput> for Trial {
    fn from(input: TrialInput) -> Self {
        let actual = returns(input.initial, &input.values);
        let refilled = match &input.refilled {
            Refilled::Same => Ok(actual.clone()),
            Refilled::Values(values) => Ok(returns(input.initial, values)),
            Refilled::Unavailable(why) => Err(why.clone()),
        };
        let net = match &input.model_cost {
            ModelCost::Free => Ok(actual.clone()),
            ModelCost::Daily(costs) => Ok(returns(input.initial, &net_of_cost(&input.values, costs))),
            ModelCost::OtherCurrency => Err(NoNet::OtherCurrency),
            ModelCost::NoDataset => Err(NoNet::NoDataset),
            ModelCost::Unpriced(calls) => Err(NoNet::Unpriced(*calls)),
        };
        Self { input, actual, refilled, net, series: None }
    }
}

impl Trial {
    /// Without orders of an agent and without cost.
    pub(super) fn plain(window: u32, initial: f64, values: Vec<(Date, f64)>) -> Self {
        Self::from(TrialInput {
            window,
            job: None,
            initial,
            values,
            refilled: Refilled::Same,
            model_cost: ModelCost::Free,
            fallback: BTreeSet::new(),
            cost: Some(Decimal::ZERO),
        })
    }
}

/// The books have finite values in date order. An account without a starting value has no returns.
fn returns(initial: f64, values: &[(Date, f64)]) -> ReturnSeries {
    ReturnSeries::from_values(initial, values).unwrap_or_default()
}
