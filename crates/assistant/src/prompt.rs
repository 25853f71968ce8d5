//! The assistant's prompts: templates compiled in from files, which can be overridden by files of the same name.

use papertape_core::id::ContentHash;
use papertape_core::json::to_value;
use papertape_core::language::Language;
pub use papertape_core::prompt::PromptError;
use papertape_core::prompt::Templates;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maps files of `prompts/` to their texts, under `assistant/`.
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

/// The folder of prompt files.
pub const FOLDER: &str = "assistant/";

/// The assistant's prompts.
#[derive(Clone, Debug)]
pub struct Prompts(Templates);

impl Prompts {
    /// The built-in prompts.
    ///
    /// # Panics
    /// Never: a test renders each prompt.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with_overrides(&BTreeMap::new()).expect("the built-in prompts are templates")
    }

    /// The built-in prompts with overrides: file name (`assistant/chat.en.md`) to text.
    ///
    /// # Errors
    /// Returns an error if a name is unknown, a text is not a template, or a template uses a value that its
    /// prompt does not have.
    pub fn with_overrides(overrides: &BTreeMap<String, String>) -> Result<Self, PromptError> {
        let templates = Templates::new(BUILT_IN, overrides)?;
        templates.check(|file| {
            let name = file.strip_prefix(FOLDER).unwrap_or(file);
            sample(name.split('.').next().unwrap_or(name))
        })?;
        Ok(Self(templates))
    }

    /// The set's hash.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.0.hash()
    }

    /// Renders a prompt in a language.
    ///
    /// # Errors
    /// Returns an error if an overridden template uses a value that does not exist.
    pub fn render(
        &self,
        name: &str,
        language: Language,
        values: impl Serialize,
    ) -> Result<String, PromptError> {
        let values = to_value(&values);
        // A template that renders with the sample at startup must render here too.
        debug_assert!(
            keys(&sample(name)).is_subset(&keys(&values)),
            "the sample of `{name}` has values that the prompt does not get"
        );
        self.0.render(&format!("{FOLDER}{name}.{}.md", language.as_str()), values)
    }
}

fn keys(values: &Value) -> BTreeSet<&String> {
    values.as_object().into_iter().flat_map(|values| values.keys()).collect()
}

/// Sample values of a prompt: overrides are rendered with them before anything runs.
fn sample(name: &str) -> Value {
    match name {
        "chat" | "task" => json!({
            "tools": true,
            "actions": [{
                "kind": "plan_operation", "name": "create_plan", "what": "make a plan",
                "parameters": [{ "name": "name", "form": "text", "required": true, "what": "its name" }],
            }],
        }),
        "message" => json!({
            "agents": ["alpha"], "datasets": ["sample"], "plan": 1, "context": "{}", "confirmed": "[]",
            "message": "Hello.",
        }),
        "task-message" => json!({
            "agents": ["alpha"], "datasets": ["sample"], "plan": "Autumn",
            "results": ["It rose."], "id": 2, "name": "compare",
            "instruction": "Compare them.",
        }),
        "decompose" => json!({ "max_children": 5 }),
        "decompose-message" => json!({
            "context": "A plan.", "name": "compare", "instruction": "Compare them.",
        }),
        _ => json!({}),
    }
}
