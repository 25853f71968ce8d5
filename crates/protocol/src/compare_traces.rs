//! Two jobs' desks compared by their timing.

use serde::Deserialize;
use utoipa::IntoParams;

/// The jobs to compare.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareQuery {
    /// The first job.
    pub a: String,
    /// The second job.
    pub b: String,
    /// The first job's label in the response.
    pub label_a: Option<String>,
    /// The second job's label in the response.
    pub label_b: Option<String>,
    /// What may differ: `ticker`, `date`, `provider`, `model`, `overall-timeout`, `max-debate-rounds`,
    /// `max-risk-discuss-rounds`, separated by commas.
    pub vary: Option<String>,
}
