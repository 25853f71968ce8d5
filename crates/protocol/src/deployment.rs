//! The mode that the server runs in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whose data it is; part of every answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deployment {
    /// `prod` or `dev`.
    #[schema(example = "prod")]
    pub deployment_mode: String,
    /// Is it `dev`?
    pub is_dev_mode: bool,
    /// In `dev`: is the data kept at start? `null` in `prod`, where it always is.
    pub preserve_dev_data: Option<bool>,
}
