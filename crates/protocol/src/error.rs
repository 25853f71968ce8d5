//! Errors.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The error code.
    #[schema(example = "invalid_input", pattern = "^[a-z_]+$")]
    pub error: String,
    /// A human-readable message; for invalid input it begins with the field.
    #[schema(example = "date: `2012-13-01` is not a date of the form YYYY-MM-DD")]
    pub message: String,
}
