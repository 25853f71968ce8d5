//! Checks of the installation.

use crate::deployment::Deployment;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The result of the installation check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoctorResponse {
    /// Whether all checks passed.
    pub ok: bool,
    /// Every check.
    pub findings: Vec<Finding>,
    /// When it was checked.
    pub checked_at: Timestamp,
    /// The mode that the server runs in.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// The check passed.
    Ok,
    /// The check passed, with a note.
    Note,
    /// The check failed.
    Broken,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// Its result.
    pub state: CheckState,
    /// What was checked: `config`, `data`, `disk`, `database`, `owner`, `address`, `dataset`, `models`,
    /// `agent`, `provider`, `prompts` or `tools`.
    pub check: String,
    /// The finding, in a sentence.
    pub text: String,
}

impl Finding {
    /// A check that passed.
    #[must_use]
    pub fn ok(check: &str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Ok, check: check.to_owned(), text: text.into() }
    }

    /// A check that passed, with a note.
    #[must_use]
    pub fn note(check: &str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Note, check: check.to_owned(), text: text.into() }
    }

    /// A check that failed.
    #[must_use]
    pub fn broken(check: &str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Broken, check: check.to_owned(), text: text.into() }
    }
}
