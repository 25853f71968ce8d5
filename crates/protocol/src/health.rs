//! Health of the server.

use crate::deployment::Deployment;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether the server works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    /// The server works.
    Ok,
    /// The server does not work: see `problems`.
    Failing,
}

/// Health of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthResponse {
    /// Whether the server works.
    pub status: HealthState,
    /// The program's version.
    pub version: String,
    /// What keeps it from working.
    pub problems: Vec<String>,
    /// What needs attention but does not keep it from working.
    pub warnings: Vec<String>,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The response to a probe. Callers with read access also get the reasons.
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
