//! Checks the installation: the same checks for the command line and the server's pages.
//!
//! Nothing is created or changed. Keys are looked up, sent to their providers to list the models, and never shown.

mod data;
mod models;
mod parts;

use crate::config::Config;
use serde::Serialize;
use utoipa::ToSchema;

/// What one look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Finding {
    /// What it came to.
    pub state: CheckState,
    /// What was looked at: `config`, `data`, `disk`, `database`, `owner`, `address`, `dataset`, `models`,
    /// `agent`, `provider`, `prompts` or `tools`.
    pub what: &'static str,
    /// What was found, in a sentence.
    pub text: String,
}

impl Finding {
    fn ok(what: &'static str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Ok, what, text: text.into() }
    }

    fn note(what: &'static str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Note, what, text: text.into() }
    }

    pub(crate) fn broken(what: &'static str, text: impl Into<String>) -> Self {
        Self { state: CheckState::Broken, what, text: text.into() }
    }
}

/// Runs every check that a simulation needs. `by_server`: the server itself runs them, and so already has its
/// address.
pub async fn check(config: &Config, by_server: bool) -> Vec<Finding> {
    let mut found = vec![match &config.file {
        Some(file) => Finding::ok("config", format!("read from {}", file.display())),
        None => Finding::ok("config", "the defaults and the environment; there is no papertape.toml here"),
    }];
    found.extend(data::directory(config));
    found.extend(data::database(config).await);
    found.push(data::listening(config, by_server));
    found.push(parts::dataset(config));
    found.extend(parts::imported_datasets(config));
    found.extend(models::models(config).await);
    found.push(parts::prompts(config));
    found.extend(parts::tools(config).await);
    found
}
