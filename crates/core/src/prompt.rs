//! Sets of prompts: templates in files, compiled in by whoever has them, and replaceable one by one.
//!
//! Text from outside only ever enters as a value of a template.

use crate::id::ContentHash;
use crate::json;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use std::collections::BTreeMap;

/// Templates by file name, and the hash that names them as a set.
#[derive(Clone, Debug)]
pub struct Templates {
    environment: Environment<'static>,
    hash: ContentHash,
}

/// Why a prompt cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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

impl Templates {
    /// Those that are built in, file name and text, some of them replaced.
    ///
    /// # Errors
    /// An override of a name that none of them has, a text that is no template.
    pub fn new(built_in: &[(&str, &str)], overrides: &BTreeMap<String, String>) -> Result<Self, PromptError> {
        let mut texts: BTreeMap<String, String> =
            built_in.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        for (name, text) in overrides {
            match texts.get_mut(name) {
                Some(known) => known.clone_from(text),
                None => {
                    return Err(PromptError::Unknown {
                        name: name.clone(),
                        known: texts.into_keys().collect(),
                    });
                }
            }
        }
        let hash = json::hash(&json::to_value(&texts));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(plain_blocks());
        // Prompts are plain text for a model: nothing is HTML.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, text) in texts {
            environment
                .add_template_owned(name.clone(), text)
                .map_err(|error| PromptError::Template { name, reason: error.to_string() })?;
        }
        Ok(Self { environment, hash })
    }

    /// The set's hash.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// The prompt in a file, filled in.
    ///
    /// # Errors
    /// A name that no file has; a replaced template that asks for a value that is not there.
    pub fn render(&self, file: &str, values: impl Serialize) -> Result<String, PromptError> {
        self.environment
            .get_template(file)
            .and_then(|template| template.render(minijinja::value::Serde(values)))
            .map(|text| text.trim_end().to_owned())
            .map_err(|error| PromptError::Template { name: file.to_owned(), reason: format!("{error:#}") })
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
