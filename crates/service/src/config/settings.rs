//! Automatic cleanup and display settings: the `settings` table.

use serde::{Deserialize, Serialize};

/// The `settings` table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Jobs.
    pub jobs: JobsSettings,
    /// The assistant's replies.
    pub chat: ChatSettings,
}

/// How the assistant's replies are shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatSettings {
    /// Whether the paragraph that summarizes the actions is part of the reply.
    pub include_action_summary: bool,
    /// Whether the page shows the actions under a reply.
    pub show_action_summary: bool,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self { include_action_summary: true, show_action_summary: true }
    }
}

/// How long data of jobs is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobsSettings {
    /// Days after which a row of the action log is removed, once its job has stopped.
    pub log_retention_days: u32,
}

impl Default for JobsSettings {
    fn default() -> Self {
        Self { log_retention_days: 30 }
    }
}

impl Settings {
    /// # Errors
    /// An invalid value, with its key.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.jobs.log_retention_days {
            1..=36_500 => Ok(()),
            days => {
                Err(format!("settings.jobs.log_retention_days: {days} is out of range; expected 1 to 36500"))
            }
        }
    }
}
