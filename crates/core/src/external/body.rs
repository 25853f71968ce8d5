//! The part of a request's body that determines its answer.

use serde_json::Value;

/// Fields that transport, label or cache a request. The provider gets them unchanged.
const OUTSIDE_THE_DIGEST: [&str; 4] = ["stream", "stream_options", "user", "metadata"];
/// Marks a place in a conversation up to which the provider caches it.
const CACHE_CONTROL: &str = "cache_control";
/// What the model or the client wrote, or a schema: its names are not fields of the protocol.
const CONTENT: [&str; 4] = ["input", "arguments", "parameters", "input_schema"];

/// The body without transport, caching and user fields: what the digest of a request covers. Fields with
/// these names in the arguments and schemas of tools are kept.
#[must_use]
pub fn digest_body(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| !OUTSIDE_THE_DIGEST.contains(&name.as_str()) && name != CACHE_CONTROL);
        for (_, field) in fields {
            remove_cache_control(field);
        }
    }
    body
}

fn remove_cache_control(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_cache_control),
        Value::Object(fields) => {
            fields.retain(|name, _| name != CACHE_CONTROL);
            for (name, field) in fields {
                if !CONTENT.contains(&name.as_str()) {
                    remove_cache_control(field);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // Goal: two requests that differ only in how they are sent, labeled or cached are equal; fields of the client's own
    // tools with these names still count.
    #[test]
    fn transport_caching_and_user_fields_are_left_out() {
        let cached = json!({
            "stream": true, "stream_options": { "include_usage": true }, "user": "u", "metadata": { "run": "7" },
            "cache_control": { "type": "ephemeral" },
            "system": [{ "type": "text", "text": "Trade.", "cache_control": { "type": "ephemeral" } }],
            "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "x", "cache_control": 1 }] }],
            "tools": [{ "name": "set", "cache_control": {}, "input_schema": {
                "properties": { "cache_control": { "type": "string" }, "user": { "type": "string" } } } }],
        });
        let plain = json!({
            "system": [{ "type": "text", "text": "Trade." }],
            "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "x" }] }],
            "tools": [{ "name": "set", "input_schema": {
                "properties": { "cache_control": { "type": "string" }, "user": { "type": "string" } } } }],
        });
        assert_eq!(digest_body(&cached), plain);
        assert_eq!(digest_body(&plain), plain);
    }
}
