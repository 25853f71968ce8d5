//! The training cut-offs of an agent's models, compared with the days of a result.

use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a vendor states about the end of a model's training data, and how many days of a result may be in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TrainingCutoffResponse {
    /// The model.
    pub model: String,
    /// `stated`, `not_stated` if the vendor states none, or `unknown` if the model is not in the table of cut-offs.
    pub status: String,
    /// The last day that the training data may cover. A stated month is its last day.
    pub date: Option<Date>,
    /// The statement.
    pub states: Option<String>,
    /// Where it is stated: a URL, or `config`.
    pub source: Option<String>,
    /// When the source was checked.
    pub checked: Option<Date>,
    /// The days of the result.
    pub days: usize,
    /// How many of them are not after the cut-off; `null` without a date.
    pub days_before: Option<usize>,
    /// The warning; `null` if all days are after the cut-off.
    pub warning: Option<String>,
}
