//! The assistant's prompts: templates in files, compiled in, and replaceable by files of the same name.

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use papertape_core::action::Language;
use papertape_core::id::ContentHash;
use papertape_core::json;
use serde::Serialize;
use std::collections::BTreeMap;

/// Files of `prompts/` with their texts, under `assistant/`.
macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(
            (concat!("assistant/", $name, ".en.md"), include_str!(concat!("prompts/", $name, ".en.md"))),
            (concat!("assistant/", $name, ".zh.md"), include_str!(concat!("prompts/", $name, ".zh.md"))),
        )+]
    };
}

const BUILT_IN: &[(&str, &str)] =
    files!["chat", "message", "task", "task-message", "decompose", "decompose-message"];

/// A folder that the files of replaced prompts are in.
pub const FOLDER: &str = "assistant/";

/// The assistant's prompts.
#[derive(Clone, Debug)]
pub struct Prompts {
    environment: Environment<'static>,
    hash: ContentHash,
}

/// Why a prompt cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("prompt `{name}`: {reason}")]
pub struct PromptError {
    /// The prompt.
    pub name: String,
    /// The engine's words.
    pub reason: String,
}

impl Prompts {
    /// Those that come with the product.
    ///
    /// # Panics
    /// Never: a test renders each.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with_overrides(&BTreeMap::new()).expect("the built-in prompts are templates")
    }

    /// The built-in ones, some of them replaced: file name (`assistant/chat.en.md`) to text.
    ///
    /// # Errors
    /// A name that no prompt has, a text that is no template.
    pub fn with_overrides(overrides: &BTreeMap<String, String>) -> Result<Self, PromptError> {
        if let Some(name) = overrides.keys().find(|name| BUILT_IN.iter().all(|(known, _)| known != name)) {
            let known: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let reason = format!("there is none of this name; there are: {}", known.join(", "));
            return Err(PromptError { name: name.clone(), reason });
        }
        let mut texts: BTreeMap<String, String> =
            BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        texts.extend(overrides.clone());
        let hash = json::hash(&json::to_value(&texts));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("the usual delimiters with trimmed blocks are a syntax"));
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, text) in texts {
            environment
                .add_template_owned(name.clone(), text)
                .map_err(|error| PromptError { name, reason: error.to_string() })?;
        }
        Ok(Self { environment, hash })
    }

    /// The set's hash.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// A prompt in a language, filled in.
    ///
    /// # Errors
    /// A replaced template that asks for a value that is not there.
    pub fn render(
        &self,
        name: &str,
        language: Language,
        values: impl Serialize,
    ) -> Result<String, PromptError> {
        let file = format!("{FOLDER}{name}.{}.md", language.as_str());
        self.environment
            .get_template(&file)
            .and_then(|template| template.render(minijinja::value::Serde(values)))
            .map(|text| text.trim_end().to_owned())
            .map_err(|error| PromptError { name: file, reason: format!("{error:#}") })
    }
}
