//! Checks of the installation.

use crate::deployment::Deployment;
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the doctor has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DoctorResponse {
    /// Is nothing broken?
    pub ok: bool,
    /// Every look.
    pub findings: Vec<Finding>,
    /// When it was looked.
    pub looked_at: Timestamp,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What one look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// Nothing is broken, but somebody may want to know.
    Note,
    /// It does not work.
    Broken,
}

/// One look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// What it came to.
    pub state: CheckState,
    /// What was looked at: `config`, `data`, `disk`, `database`, `owner`, `address`, `dataset`, `models`,
    /// `agent`, `provider`, `prompts` or `tools`.
    pub what: String,
    /// What was found, in a sentence.
    pub text: String,
}

impl Finding {
    /// A check that passed.
    #[must_use]
    pub fn ok(what: &str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Ok, what: what.to_owned(), text: text.into() }
    }

    /// A check that passed, with something to know.
    #[must_use]
    pub fn note(what: &str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Note, what: what.to_owned(), text: text.into() }
    }

    /// A check that failed.
    #[must_use]
    pub fn broken(what: &str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Broken, what: what.to_owned(), text: text.into() }
    }
}
