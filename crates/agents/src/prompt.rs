//! Prompts: templates in files of their own, compiled in, and replaceable as a set.
//!
//! Text from outside only ever enters as a value of a template.

use crate::config::Language;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};
use papertape_core::id::ContentHash;
use papertape_core::json;
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
pub struct PromptSet {
    environment: Environment<'static>,
    hash: ContentHash,
}

/// Why a prompt cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PromptError {
    /// An override's name is no prompt's.
    #[error("`{name}` is not a prompt; there are: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: Vec<String>,
    },
    /// The template is wrong, or asks for what is not there.
    #[error("prompt `{name}`: {reason}")]
    Template {
        /// The prompt.
        name: String,
        /// The engine's words.
        reason: String,
    },
}

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
        let mut texts: BTreeMap<String, String> =
            BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        for (name, text) in overrides {
            match texts.get_mut(&name) {
                Some(known) => *known = text,
                None => return Err(PromptError::Unknown { name, known: texts.into_keys().collect() }),
            }
        }
        let hash = json::hash(&json::to_value(&texts));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(plain_blocks());
        // Prompts are plain text for a model: nothing is HTML.
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        for (name, text) in texts {
            environment
                .add_template_owned(name.clone(), text)
                .map_err(|error| PromptError::Template { name, reason: error.to_string() })?;
        }
        Ok(Self { environment, hash })
    }

    /// The set's hash, part of a job's fingerprint.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
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
        let file = format!("{name}.{}.md", language.as_str());
        self.environment
            .get_template(&file)
            .and_then(|template| template.render(minijinja::value::Serde(values)))
            .map(|text| text.trim_end().to_owned())
            .map_err(|error| PromptError::Template { name: file, reason: format!("{error:#}") })
    }
}

/// A block tag on a line of its own leaves no empty line behind.
fn plain_blocks() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the usual delimiters with trimmed blocks are a syntax")
}
