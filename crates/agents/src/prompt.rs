//! Prompts: templates in files of their own, compiled in, and replaceable as a set.
//!
//! Text from outside only ever enters as a value of a template.

use crate::config::Language;
use papertape_core::id::ContentHash;
pub use papertape_core::prompt::PromptError;
use papertape_core::prompt::Templates;
use serde::Serialize;
use std::collections::BTreeMap;

/// Files of `prompts/` with their texts, by name and language.
macro_rules! files {
    ($($name:literal: $($language:literal)+),+ $(,)?) => {
        &[$($((
            concat!($name, ".", $language, ".md"),
            include_str!(concat!("prompts/", $name, ".", $language, ".md")),
        )),+),+]
    };
}

/// The prompts that come with the product, by file name.
const BUILT_IN: &[(&str, &str)] = files! {
    "solo": "en" "zh",
    "solo-day": "en" "zh",
    "summary": "en",
    "memory": "en" "zh",
    "memory-repair": "en" "zh",
    "round": "en" "zh",
    "reflection": "en" "zh",
    "desk/common": "en" "zh",
    "desk/style-standard": "en" "zh",
    "desk/style-compact": "en" "zh",
    "desk/style-detailed": "en" "zh",
    "desk/market-analyst": "en" "zh",
    "desk/sentiment-analyst": "en" "zh",
    "desk/news-analyst": "en" "zh",
    "desk/fundamentals-analyst": "en" "zh",
    "desk/analyst-task": "en" "zh",
    "desk/bull-researcher": "en" "zh",
    "desk/bear-researcher": "en" "zh",
    "desk/debate-opening": "en" "zh",
    "desk/debate-reply": "en" "zh",
    "desk/research-manager": "en" "zh",
    "desk/research-manager-task": "en" "zh",
    "desk/trader": "en" "zh",
    "desk/trader-task": "en" "zh",
    "desk/aggressive-analyst": "en" "zh",
    "desk/conservative-analyst": "en" "zh",
    "desk/neutral-analyst": "en" "zh",
    "desk/risk-opening": "en" "zh",
    "desk/risk-reply": "en" "zh",
    "desk/portfolio-manager": "en" "zh",
    "desk/portfolio-manager-task": "en" "zh",
    "desk/repair": "en" "zh",
};

/// A set of prompts, and the hash that names it.
#[derive(Clone, Debug)]
pub struct PromptSet(Templates);

impl PromptSet {
    /// The prompts that come with the product.
    ///
    /// # Panics
    /// Never: a test renders each.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with_overrides(BTreeMap::new()).expect("the built-in prompts are templates")
    }

    /// The built-in prompts, some of them replaced: file name to text.
    ///
    /// # Errors
    /// A name that no prompt has, a text that is no template.
    pub fn with_overrides(overrides: BTreeMap<String, String>) -> Result<Self, PromptError> {
        Templates::new(BUILT_IN, &overrides).map(Self)
    }

    /// The set's hash, part of a job's fingerprint.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.0.hash()
    }

    /// The prompt `name` in `language`, filled in.
    ///
    /// # Errors
    /// A replaced template that asks for a value that is not there.
    pub fn render(
        &self,
        name: &str,
        language: Language,
        values: impl Serialize,
    ) -> Result<String, PromptError> {
        self.0.render(&format!("{name}.{}.md", language.as_str()), values)
    }
}
