//! Prompts that the configuration replaces.

use papertape_assistant::prompt::FOLDER;
use std::collections::BTreeMap;

/// Replaced prompts by name.
pub type PromptOverrides = BTreeMap<String, String>;

/// Splits replaced prompts into those of agents, which come first, and those of the assistant.
#[must_use]
pub fn split_overrides(overrides: PromptOverrides) -> (PromptOverrides, PromptOverrides) {
    overrides.into_iter().partition(|(name, _)| !name.starts_with(FOLDER))
}
