//! Rendering of answers to text, and the schemas for requesting them.

use super::label::{self, FieldKey};
use super::text::clean;
use super::{Action, Rating};
use papertape_core::language::Language;
use papertape_core::message::ResponseSchema;
use papertape_core::money::Price;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Whether the line, apart from leading backslashes, would be parsed as more than plain text.
fn is_structural(line: &str, opinion: FieldKey) -> bool {
    let line = line.trim_start_matches('\\');
    label::line(line, opinion).is_some()
        || line.trim_start().starts_with(['{', '`'])
        || label::table(&[line], opinion).is_some()
}

/// Renders an answer to text.
#[derive(Debug)]
pub(super) struct Renderer {
    language: Language,
    text: String,
    opinion: Option<FieldKey>,
}

impl Renderer {
    pub(super) fn new(language: Language) -> Self {
        Self { language, text: String::new(), opinion: None }
    }

    /// The answer's opinion, its first line.
    pub(super) fn value(&mut self, key: FieldKey, value: &str) {
        self.opinion.get_or_insert(key);
        self.line(key, value);
    }

    /// A text. Lines that would be parsed as a label get a backslash in front.
    pub(super) fn text(&mut self, key: FieldKey, text: &str) {
        let text = clean(text);
        let opinion = self.opinion.unwrap_or(key);
        let mut lines = text.split('\n');
        let mut whole = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            whole.push('\n');
            if is_structural(line, opinion) {
                whole.push('\\');
            }
            whole.push_str(line);
        }
        self.line(key, &whole);
    }

    pub(super) fn optional(&mut self, key: FieldKey, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    pub(super) fn price(&mut self, key: FieldKey, price: Option<Price>) {
        self.number(key, price.map(|price| price.0));
    }

    pub(super) fn number(&mut self, key: FieldKey, number: Option<Decimal>) {
        if let Some(number) = number {
            self.line(key, &number.normalize().to_string());
        }
    }

    /// The Trader's last line.
    pub(super) fn proposal(&mut self, action: Action) {
        let action = action.as_str().to_uppercase();
        self.text.push_str(&match self.language {
            Language::En => format!("FINAL TRANSACTION PROPOSAL: **{action}**\n"),
            Language::Zh => format!("最终交易建议：**{action}**\n"),
        });
    }

    fn line(&mut self, key: FieldKey, value: &str) {
        let (label, colon) = match self.language {
            Language::En => (key.label(self.language), ": "),
            Language::Zh => (key.label(self.language), "："),
        };
        self.text.push_str(&format!("**{label}**{colon}{value}\n\n"));
    }

    pub(super) fn finish(self) -> String {
        self.text.trim_end().to_owned()
    }
}

/// A schema of an object with exactly these properties, all of them required.
pub(super) fn properties(name: &str, properties: &[(&str, Value)]) -> ResponseSchema {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    });
    ResponseSchema { name: name.to_owned(), schema }
}

pub(super) fn rating_schema(description: &str) -> Value {
    json!({ "type": "string", "enum": Rating::ALL.map(Rating::as_str), "description": description })
}

pub(super) fn action_schema(description: &str) -> Value {
    json!({ "type": "string", "enum": Action::ALL.map(Action::as_str), "description": description })
}

pub(super) fn text_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(super) fn text_or_null(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

pub(super) fn price_schema(description: &str) -> Value {
    number_schema(description)
}

pub(super) fn number_schema(description: &str) -> Value {
    json!({ "type": ["number", "null"], "description": description })
}
