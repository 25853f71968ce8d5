//! The mode that the server runs in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The mode that the server runs in; part of most responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Deployment {
    /// `prod` or `dev`.
    #[schema(example = "prod")]
    pub deployment_mode: String,
    /// Whether it is `dev`.
    pub is_dev_mode: bool,
    /// In `dev`: is the data preserved at startup? `null` in `prod`, where it always is.
    pub preserve_dev_data: Option<bool>,
}
