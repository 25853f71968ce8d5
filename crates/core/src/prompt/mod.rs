//! Sets of prompts: template files, compiled into the crates that use them, and each can be overridden. A template
//! includes the [`lines`] that code recognizes.
//!
//! Untrusted text only ever enters as a template value.

pub mod lines;

use crate::id::ContentHash;
use crate::json;
use crate::language::Language;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Templates by file name, with the hash that identifies the set.
#[derive(Clone, Debug)]
pub struct Templates {
    environment: Environment<'static>,
    hash: ContentHash,
}

/// Why a prompt is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// An override whose name matches no prompt.
    #[error("unknown prompt `{name}`; expected one of {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// All names.
        known: Vec<String>,
    },
    /// The template is invalid or uses an undefined value.
    #[error("prompt `{name}`: {reason}")]
    Template {
        /// The prompt.
        name: String,
        /// The template engine's message.
        reason: String,
    },
}

impl Templates {
    /// The built-in prompts, file name and text, with overrides applied.
    ///
    /// # Errors
    /// An override whose name matches no built-in prompt, or a text that is not a valid template.
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
        for (name, text) in &mut texts {
            let language = if name.contains(".zh.") { Language::Zh } else { Language::En };
            *text = lines::include(text, language);
        }
        let hash = json::hash(&json::to_value(&texts));
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(plain_blocks());
        // Prompts are plain text for a model, so nothing is escaped as HTML.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        for (name, text) in texts {
            environment
                .add_template_owned(name.clone(), text)
                .map_err(|error| PromptError::Template { name, reason: in_line(&error) })?;
        }
        Ok(Self { environment, hash })
    }

    /// Renders each template with sample values, with the same values emptied, and with everything true made
    /// false, so that both branches of its conditions run. `sample` returns a file's values, an object.
    ///
    /// # Errors
    /// A template that uses an undefined value or cannot be rendered, with the line.
    pub fn check(&self, sample: impl Fn(&str) -> Value) -> Result<(), PromptError> {
        for (file, template) in self.environment.templates() {
            let wrong = |line: Option<usize>, what: String| {
                let reason = line.map_or_else(|| what.clone(), |line| format!("line {line}: {what}"));
                Err(PromptError::Template { name: file.to_owned(), reason })
            };
            let values = sample(file);
            let known: BTreeSet<&str> =
                values.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
            let used: BTreeSet<String> = template.undeclared_variables(false).into_iter().collect();
            let unknown = used
                .iter()
                .find(|name| !known.contains(name.as_str()) && !FUNCTIONS.contains(&name.as_str()));
            if let Some(unknown) = unknown {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                let there =
                    if known.is_empty() { "it has none".to_owned() } else { format!("there are: {known}") };
                let what = format!("`{unknown}` is not a value of this prompt; {there}");
                return wrong(line_of(template.source(), unknown), what);
            }
            for values in [&values, &emptied(&values), &denied(&values)] {
                if let Err(error) = template.render(minijinja::value::Serde(values)) {
                    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
                    return wrong(error.line(), what);
                }
            }
        }
        Ok(())
    }

    /// The set's hash.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Renders the prompt of a file.
    ///
    /// # Errors
    /// An unknown file name; an overridden template that uses an undefined value.
    pub fn render(&self, file: &str, values: impl Serialize) -> Result<String, PromptError> {
        self.environment
            .get_template(file)
            .and_then(|template| template.render(minijinja::value::Serde(values)))
            .map(|text| text.trim_end().to_owned())
            .map_err(|error| PromptError::Template { name: file.to_owned(), reason: format!("{error:#}") })
    }
}

/// Why a template is invalid, with its line.
fn in_line(error: &minijinja::Error) -> String {
    let what = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    error.line().map_or_else(|| what.clone(), |line| format!("line {line}: {what}"))
}

/// Functions that a template may call; they are not values.
const FUNCTIONS: [&str; 3] = ["range", "dict", "namespace"];

/// The first line on which a tag names the variable.
fn line_of(source: &str, variable: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let names = |line: &str| line.split(|c: char| !is_word(c)).any(|word| word == variable);
    let has_tag = |line: &str| line.contains("{{") || line.contains("{%");
    let lines = || (1..).zip(source.lines());
    let found = lines().find(|(_, line)| has_tag(line) && names(line));
    found.or_else(|| lines().find(|(_, line)| names(line))).map(|(number, _)| number)
}

/// The same values with every one emptied, which tests the other branch of each condition.
fn emptied(values: &Value) -> Value {
    match values {
        Value::Object(values) => {
            Value::Object(values.iter().map(|(key, value)| (key.clone(), empty_of_kind(value))).collect())
        }
        other => other.clone(),
    }
}

/// The same values with everything false, inside lists too.
fn denied(value: &Value) -> Value {
    match value {
        Value::Bool(_) => Value::Bool(false),
        Value::Array(items) => Value::Array(items.iter().map(denied).collect()),
        Value::Object(values) => {
            Value::Object(values.iter().map(|(key, value)| (key.clone(), denied(value))).collect())
        }
        other => other.clone(),
    }
}

fn empty_of_kind(value: &Value) -> Value {
    match value {
        Value::Null | Value::Object(_) => Value::Null,
        Value::Bool(_) => Value::Bool(false),
        Value::Number(_) => 0.into(),
        Value::String(_) => "".into(),
        Value::Array(_) => Value::Array(Vec::new()),
    }
}

/// A block tag on a line of its own leaves no empty line in the output.
fn plain_blocks() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the usual delimiters with trimmed blocks are a syntax")
}
