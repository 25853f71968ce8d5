//! Who the caller is and what they may do.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The scope of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read everything, change nothing.
    Read,
    /// Read everything, start and stop jobs, and make changes.
    Operate,
}

impl Scope {
    /// As configuration and responses spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Operate => "operate",
        }
    }
}

/// The caller and its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AccessResponse {
    /// Whether tokens are configured. If not, anyone who can reach the server has full access.
    pub required: bool,
    /// The name of the caller's token; `null` where none is needed.
    pub name: Option<String>,
    /// What the caller may do.
    pub scope: Scope,
}
