//! The assistant's prompts: templates in files, compiled in, and replaceable by files of the same name.

use papertape_core::action::Language;
use papertape_core::id::ContentHash;
pub use papertape_core::prompt::PromptError;
use papertape_core::prompt::Templates;
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
pub struct Prompts(Templates);

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
        Templates::new(BUILT_IN, overrides).map(Self)
    }

    /// The set's hash.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.0.hash()
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
        self.0.render(&format!("{FOLDER}{name}.{}.md", language.as_str()), values)
    }
}
