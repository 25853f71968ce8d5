//! Requests that are not sent: they would use something at the provider that the record does not have, or that is not
//! bounded by the session's instant.

use papertape_core::external::DoorProtocol;
use serde_json::{Map, Value};

/// Fields with a value that is not sent, with the reason.
const FIELDS: [(&str, When, &str); 18] = [
    ("store", When::True, STATE),
    ("background", When::True, STATE),
    ("previous_response_id", When::Present, STATE),
    ("conversation", When::Present, STATE),
    ("prompt", When::Object, STATE),
    ("container", When::Present, STATE),
    ("web_search_options", When::Present, SEARCH),
    ("search_parameters", When::Present, SEARCH),
    ("search_settings", When::Present, SEARCH),
    ("search_options", When::Present, SEARCH),
    ("enable_search", When::True, SEARCH),
    ("web_search", When::Present, SEARCH),
    ("plugins", When::Present, SEARCH),
    ("mcp_servers", When::Present, TOOLS),
    ("connectors", When::Present, TOOLS),
    ("models", When::Present, MODELS),
    ("route", When::Present, MODELS),
    ("fallbacks", When::Present, MODELS),
];

const STATE: &str =
    "the provider would hold state that the record does not have; send the whole conversation";
const SEARCH: &str = "the provider's own search can see past the session's day; use the session's tools";
const TOOLS: &str = "the provider's own tools are not recorded and can see past the session's day; use the session's \
                     tools, or tools that your client runs";
const MODELS: &str = "another model than the requested one could answer; name one model";
const FILES: &str =
    "the provider would read something that the record does not have; send the content inline";

/// Which values of a field are not sent.
#[derive(Clone, Copy)]
enum When {
    /// Anything but null, false, and empty lists and objects.
    Present,
    /// `true`.
    True,
    /// An object.
    Object,
}

/// Checks a request.
///
/// # Errors
/// A sentence that begins with the field.
pub(super) fn check(protocol: DoorProtocol, fields: &Map<String, Value>) -> Result<(), String> {
    for (name, when, reason) in FIELDS {
        let is_rejected = fields.get(name).is_some_and(|value| match when {
            When::Present => is_present(value),
            When::True => value == &Value::Bool(true),
            When::Object => value.is_object(),
        });
        if is_rejected {
            return Err(format!("{name}: {reason}"));
        }
    }
    if fields.get("n").and_then(Value::as_f64).is_some_and(|answers| answers > 1.0) {
        return Err("n: a request has one answer; make several requests".to_owned());
    }
    for tool in fields.get("tools").and_then(Value::as_array).into_iter().flatten() {
        check_tool(protocol, tool)?;
    }
    for name in ["messages", "input", "system"] {
        if let Some(conversation) = fields.get(name) {
            check_sources(name, conversation)?;
        }
    }
    Ok(())
}

fn is_present(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// A tool that the client runs is a function, or a custom tool; those of Anthropic's protocol need no type.
fn check_tool(protocol: DoorProtocol, tool: &Value) -> Result<(), String> {
    let kind = tool.get("type").and_then(Value::as_str);
    let is_clients = match (protocol, kind) {
        (DoorProtocol::AnthropicMessages, kind) => matches!(kind, None | Some("custom")),
        (_, kind) => matches!(kind, Some("function" | "custom")),
    };
    match (is_clients, kind) {
        (true, _) => Ok(()),
        (false, Some(kind)) => Err(format!("tools: `{kind}` is not served: {TOOLS}")),
        (false, None) => Err("tools: a tool has no `type`".to_owned()),
    }
}

/// Checks that a conversation has its files and images inline. What the model or a tool wrote is not searched.
fn check_sources(name: &str, value: &Value) -> Result<(), String> {
    let fields = match value {
        Value::Array(items) => return items.iter().try_for_each(|item| check_sources(name, item)),
        Value::Object(fields) => fields,
        _ => return Ok(()),
    };
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    let within =
        |field: &str, of: &str| fields.get(field).and_then(|inner| inner.get(of)).and_then(Value::as_str);
    let is_remote = |url: Option<&str>| url.is_some_and(|url| !url.starts_with("data:"));
    let kind = text("type");
    let is_elsewhere = match kind {
        Some("item_reference" | "container_upload") => true,
        Some("image_url") => is_remote(text("image_url").or_else(|| within("image_url", "url"))),
        Some("video_url") => is_remote(text("video_url").or_else(|| within("video_url", "url"))),
        Some("file") => within("file", "file_id").is_some(),
        Some("input_image") => text("file_id").is_some() || is_remote(text("image_url")),
        Some("input_file") => text("file_id").is_some() || text("file_url").is_some(),
        Some("image" | "document") => matches!(within("source", "type"), Some("url" | "file")),
        _ => false,
    };
    if is_elsewhere {
        return Err(format!("{name}: `{}`: {FILES}", kind.unwrap_or_default()));
    }
    let is_call = matches!(kind, Some("tool_use" | "function_call" | "custom_tool_call"));
    if is_call {
        return Ok(());
    }
    ["content", "output", "tool_calls"]
        .iter()
        .filter_map(|part| fields.get(*part))
        .try_for_each(|part| check_sources(name, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DoorProtocol::{AnthropicMessages, ChatCompletions, Responses};
    use serde_json::json;

    fn rejection(protocol: DoorProtocol, body: &Value) -> Option<String> {
        check(protocol, body.as_object().expect("an object")).err()
    }

    /// Goal: every use of the provider's own tools, search, files and state is rejected with the field that asks for it.
    #[test]
    fn what_the_record_could_not_hold_is_rejected() {
        let user = |part: Value| json!([{ "role": "user", "content": [part] }]);
        let cases = [
            (ChatCompletions, json!({ "store": true }), "store"),
            (ChatCompletions, json!({ "n": 2 }), "n"),
            (
                ChatCompletions,
                json!({ "web_search_options": { "search_context_size": "low" } }),
                "web_search_options",
            ),
            (ChatCompletions, json!({ "enable_search": true }), "enable_search"),
            (ChatCompletions, json!({ "search_parameters": { "mode": "auto" } }), "search_parameters"),
            (ChatCompletions, json!({ "plugins": [{ "id": "web" }] }), "plugins"),
            (ChatCompletions, json!({ "models": ["a", "b"] }), "models"),
            (ChatCompletions, json!({ "tools": [{ "type": "browser_search" }] }), "tools"),
            (ChatCompletions, json!({ "tools": [{ "name": "x" }] }), "tools"),
            (
                ChatCompletions,
                json!({ "messages": user(json!({ "type": "image_url", "image_url": { "url": "https://x/y.png" } })) }),
                "messages",
            ),
            (
                ChatCompletions,
                json!({ "messages": user(json!({ "type": "file", "file": { "file_id": "f" } })) }),
                "messages",
            ),
            (Responses, json!({ "previous_response_id": "resp_1" }), "previous_response_id"),
            (Responses, json!({ "conversation": "conv_1" }), "conversation"),
            (Responses, json!({ "background": true }), "background"),
            (Responses, json!({ "prompt": { "id": "pmpt_1" } }), "prompt"),
            (Responses, json!({ "input": [{ "type": "item_reference", "id": "rs_1" }] }), "input"),
            (
                Responses,
                json!({ "input": user(json!({ "type": "input_file", "file_url": "https://x" })) }),
                "input",
            ),
            (Responses, json!({ "input": user(json!({ "type": "input_image", "file_id": "f" })) }), "input"),
            (AnthropicMessages, json!({ "mcp_servers": [{ "url": "https://x" }] }), "mcp_servers"),
            (AnthropicMessages, json!({ "container": "c" }), "container"),
            (
                AnthropicMessages,
                json!({ "messages": user(json!({ "type": "image", "source": { "type": "url", "url": "https://x" } })) }),
                "messages",
            ),
            (
                AnthropicMessages,
                json!({ "messages": user(json!({ "type": "tool_result", "tool_use_id": "t", "content":
                    [{ "type": "document", "source": { "type": "file", "file_id": "f" } }] })) }),
                "messages",
            ),
        ];
        for (protocol, body, field) in cases {
            let said = rejection(protocol, &body).unwrap_or_else(|| panic!("accepted: {body}"));
            assert!(said.starts_with(&format!("{field}: ")), "{body}: {said}");
        }
        for tool in [
            "web_search",
            "web_search_preview",
            "file_search",
            "code_interpreter",
            "computer_use_preview",
            "mcp",
            "image_generation",
            "local_shell",
        ] {
            let said = rejection(Responses, &json!({ "tools": [{ "type": tool }] })).expect("rejected");
            assert!(said.contains(tool), "{said}");
        }
        for tool in [
            "web_search_20250305",
            "web_fetch_20250910",
            "code_execution_20250825",
            "computer_20250124",
            "bash_20250124",
            "text_editor_20250728",
            "memory_20250818",
        ] {
            let body = json!({ "tools": [{ "type": tool, "name": "x" }] });
            assert!(rejection(AnthropicMessages, &body).expect("rejected").contains(tool));
        }
    }

    /// Goal: what the client runs or sends itself is accepted, whatever its words are, and so are fields with a value that
    /// asks for nothing.
    #[test]
    fn ordinary_requests_are_accepted() {
        let pixel = "data:image/png;base64,AAAA";
        let cases = [
            (
                ChatCompletions,
                json!({ "store": false, "n": 1, "enable_search": false, "plugins": [], "models": [] }),
            ),
            (
                ChatCompletions,
                json!({ "tools": [{ "type": "function", "function": { "name": "web_search" } },
                { "type": "custom", "custom": { "name": "code" } }] }),
            ),
            (
                ChatCompletions,
                json!({ "messages": [{ "role": "user", "content": [
                { "type": "text", "text": "{\"type\":\"item_reference\"}" },
                { "type": "image_url", "image_url": { "url": pixel } }] }] }),
            ),
            (ChatCompletions, json!({ "prompt": "an old name for the text" })),
            (
                Responses,
                json!({ "tools": [{ "type": "function", "name": "mcp" }], "store": null, "input": [
                { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" },
                { "type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"type\":\"item_reference\"}" },
                { "type": "function_call_output", "call_id": "c", "output": "file_id" }] }),
            ),
            (
                AnthropicMessages,
                json!({ "tools": [{ "name": "web_search" }, { "type": "custom", "name": "y" }],
                "messages": [{ "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "f",
                    "input": { "content": [{ "type": "item_reference" }] } }] }] }),
            ),
        ];
        for (protocol, body) in cases {
            assert_eq!(rejection(protocol, &body), None, "{body}");
        }
    }
}
