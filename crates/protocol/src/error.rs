//! Errors.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The error code.
    #[schema(example = "invalid_input", pattern = "^[a-z_]+$")]
    pub error: String,
    /// What is wrong, for people; invalid input is named by its field.
    #[schema(example = "date: `2012-13-01` is not a date of the form YYYY-MM-DD")]
    pub message: String,
}
