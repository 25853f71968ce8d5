//! Prompts: template files that are compiled in and can be overridden.
//!
//! Untrusted text is only ever a value of a template.

use papertape_core::id::ContentHash;
use papertape_core::json::to_value;
use papertape_core::language::Language;
pub use papertape_core::prompt::PromptError;
use papertape_core::prompt::Templates;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Files of `prompts/` with their texts, by name and language.
macro_rules! files {
    ($($name:literal: $($language:literal)+),+ $(,)?) => {
        &[$($((
            concat!($name, ".", $language, ".md"),
            include_str!(concat!("prompts/", $name, ".", $language, ".md")),
        )),+),+]
    };
}

/// The built-in prompts, by file name.
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
    /// The built-in prompts.
    ///
    /// # Panics
    /// Never: a test renders each.
    #[must_use]
    pub fn built_in() -> Self {
        Self::with_overrides(BTreeMap::new()).expect("the built-in prompts are templates")
    }

    /// The built-in prompts with overrides: file name to text.
    ///
    /// # Errors
    /// An unknown file name, an invalid template, or a template that uses an unknown value.
    pub fn with_overrides(overrides: BTreeMap<String, String>) -> Result<Self, PromptError> {
        let templates = Templates::new(BUILT_IN, &overrides)?;
        templates.check(|file| sample(file.split('.').next().unwrap_or(file)))?;
        Ok(Self(templates))
    }

    /// The set's hash, part of a job's fingerprint.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.0.hash()
    }

    /// Renders the prompt `name` in `language`.
    ///
    /// # Errors
    /// An override that uses an unknown value.
    pub fn render(
        &self,
        name: &str,
        language: Language,
        values: impl Serialize,
    ) -> Result<String, PromptError> {
        let values = to_value(&values);
        // Overrides are validated with the sample, so the sample may not have more values.
        debug_assert!(
            keys(&sample(name)).is_subset(&keys(&values)),
            "the sample of `{name}` has values that the prompt does not get"
        );
        self.0.render(&format!("{name}.{}.md", language.as_str()), values)
    }
}

fn keys(values: &Value) -> BTreeSet<&String> {
    values.as_object().into_iter().flat_map(|values| values.keys()).collect()
}

/// Sample values of a prompt: overrides are rendered with them at start.
fn sample(name: &str) -> Value {
    let priced = json!({ "symbol": "AAPL", "date": "2012-10-01", "has_prices": true, "prices": "{}" });
    let with = |more: Value| {
        let mut values = priced.clone();
        if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
            values.extend(more);
        }
        values
    };
    let account = |more: Value| {
        let mut values = with(json!({
            "account": "{}", "is_empty": true, "unpriced": "IBM", "orders": "[]", "limits": "{}",
            "rules": "Shares are whole.", "notices": ["A split."], "materials": "A report.",
        }));
        if let (Some(values), Value::Object(more)) = (values.as_object_mut(), more) {
            values.extend(more);
        }
        values
    };
    match name {
        "solo" => json!({
            "agent": "alpha", "symbols": ["AAPL", "IBM"], "rules": "Shares are whole.", "finish": "<END>",
            "instructions": "Be careful.",
        }),
        "solo-day" => json!({
            "date": "2012-10-01", "symbols": ["AAPL", "IBM"], "opens": "{}", "cash": "100", "holdings": "{}",
            "pending": "[]", "past": "It rose.", "notices": ["A split."],
        }),
        "summary" => json!({ "text": "I bought." }),
        "memory" => json!({ "open": ["AAPL"], "rounds": ["A round."], "lessons": ["A lesson."] }),
        "memory-repair" => json!({ "problem": "no conclusion" }),
        "round" => {
            json!({ "date": "2012-10-01", "decision": "I bought.", "booked": ["buy"], "held": ["AAPL"] })
        }
        "reflection" => json!({ "facts": ["It rose."], "thesis": "It will rise." }),
        "desk/common" => json!({ "style": "Be short.", "instructions": "Be careful." }),
        "desk/repair" => json!({ "reason": "no rating" }),
        "desk/analyst-task" => priced,
        "desk/debate-opening"
        | "desk/debate-reply"
        | "desk/risk-opening"
        | "desk/risk-reply"
        | "desk/research-manager-task" => with(json!({ "materials": "A report." })),
        "desk/trader-task" => account(json!({ "past_context": "It rose." })),
        "desk/portfolio-manager-task" => account(json!({})),
        // The system prompts of roles and the styles have no values.
        _ => json!({}),
    }
}
