//! JSON Schemas in the forms that providers accept for structured output.

use serde_json::{Map, Value, json};

/// What a provider requires besides objects without other properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Nothing else (Anthropic).
    Closed,
    /// Every property is required (`OpenAI`).
    AllRequired,
}

/// Keys whose value is a schema.
const SCHEMA: [&str; 8] =
    ["additionalProperties", "items", "additionalItems", "contains", "not", "if", "then", "else"];
/// Keys whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keys whose value is an object of schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// The schema with the provider's requirements applied.
pub(crate) fn strict(schema: &Value, strictness: Strictness) -> Value {
    let Value::Object(given) = schema else { return schema.clone() };
    let inner = |value: &Value| strict(value, strictness);
    let mut out = Map::new();
    for (key, value) in given {
        let value = match value {
            Value::Object(named) if NAMED.contains(&key.as_str()) => {
                Value::Object(named.iter().map(|(name, schema)| (name.clone(), inner(schema))).collect())
            }
            Value::Array(list) if LIST.contains(&key.as_str()) => list.iter().map(inner).collect(),
            value if SCHEMA.contains(&key.as_str()) => inner(value),
            value => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    let properties = out.get("properties").and_then(Value::as_object);
    if properties.is_none() && out.get("type").and_then(Value::as_str) != Some("object") {
        return Value::Object(out);
    }
    let names: Vec<String> = properties.into_iter().flat_map(Map::keys).cloned().collect();
    out.entry("additionalProperties").or_insert(Value::Bool(false));
    if strictness == Strictness::AllRequired && !names.is_empty() {
        let mut required = out.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        required.extend(names.into_iter().map(Value::String));
        let mut seen = std::collections::BTreeSet::new();
        required.retain(|name| seen.insert(name.to_string()));
        out.insert("required".to_owned(), json!(required));
    }
    Value::Object(out)
}
