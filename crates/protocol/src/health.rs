//! Health of the server.

use crate::deployment::Deployment;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Well or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    /// It does all that it is there for.
    Ok,
    /// It does not: see `problems`.
    Failing,
}

/// How the product is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthResponse {
    /// Well or not.
    pub status: HealthState,
    /// The program's version.
    pub version: String,
    /// What is wrong, and keeps it from working.
    pub problems: Vec<String>,
    /// What somebody should look at, and does not.
    pub warnings: Vec<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The server's health. Callers with access also get the reasons.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum HealthBody {
    /// For callers with a token, and for everyone if no token is configured.
    Full(HealthResponse),
    /// For a probe without a token.
    Status(HealthStatus),
}

/// Only whether the server works.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HealthStatus {
    /// Whether the server works.
    pub status: HealthState,
}
