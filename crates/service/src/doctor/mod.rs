//! Checks the installation: the same checks for the command line and the server's pages.
//!
//! Nothing is created or changed. Keys are looked up, sent to their providers to list the models, and never shown.

mod data;
mod models;
mod parts;

use crate::config::Config;
use serde::Serialize;
use utoipa::ToSchema;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// The check passed.
    Ok,
    /// The check passed, with a remark.
    Note,
    /// The check failed.
    Broken,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Finding {
    /// The outcome.
    pub state: CheckState,
    /// What was checked: `config`, `data`, `disk`, `database`, `owner`, `address`, `dataset`, `models`,
    /// `agent`, `provider`, `prompts` or `tools`.
    pub what: &'static str,
    /// The finding, in a sentence.
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
    let mut findings = vec![match &config.file {
        Some(file) => Finding::ok("config", format!("read from {}", file.display())),
        None => Finding::ok("config", "no config file; using the defaults and the environment"),
    }];
    findings.extend(data::directory(config));
    findings.extend(data::database(config).await);
    findings.push(data::listening(config, by_server));
    findings.push(parts::dataset(config));
    findings.extend(parts::imported_datasets(config));
    findings.extend(models::models(config).await);
    findings.push(parts::prompts(config));
    findings.extend(parts::tools(config).await);
    findings
}
