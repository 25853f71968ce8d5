//! The digest of a call at the model endpoint: equal requests of an agent that begins its day again are the same step.

use super::{DoorProtocol, ModelDoorRequest, digest_body};
use crate::id::ContentHash;
use crate::json;
use crate::message::{FORMAT_VERSION, Message, ModelRequest, Sampling, ToolChoice};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Leaves out the parts of a text that a digest does not cover.
pub type Normalize<'a> = &'a (dyn Fn(&str) -> String + Send + Sync);

/// The parts of a body that are conversations; only they have call IDs.
pub(crate) const CONVERSATIONS: [&str; 2] = ["messages", "input"];
/// The fields that reference a call.
const REFERENCES: [&str; 3] = ["tool_call_id", "call_id", "tool_use_id"];
/// The types of items whose `id` the provider has given.
const WITH_ID: [&str; 6] =
    ["function", "tool_use", "function_call", "custom_tool_call", "message", "reasoning"];
/// Arguments that the model wrote, as JSON: no IDs of ours.
const ARGUMENTS: [&str; 2] = ["input", "arguments"];
/// The limits on output tokens, by any protocol.
const OUTPUT_LIMITS: [&str; 3] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

/// The digest of a request: of its [`digest_body`] with call IDs replaced by their numbers in order of appearance, and without what
/// `normalize` leaves out; of its protocol, its model and the client's key.
#[must_use]
pub fn call_digest(request: &ModelDoorRequest, normalize: Normalize<'_>) -> ContentHash {
    let mut body = digest_body(&request.body);
    let mut numbers = BTreeMap::new();
    for name in CONVERSATIONS {
        if let Some(conversation) = body.get_mut(name) {
            number_calls(conversation, &mut numbers);
        }
    }
    normalize_texts(&mut body, normalize);
    json::hash(&json!({
        "kind": "model",
        "format": FORMAT_VERSION,
        "protocol": request.protocol,
        "model": request.model,
        "house_version": request.house_version,
        "key": request.key,
        "body": body,
    }))
}

/// Replaces call IDs by their numbers. They are random and only link results to calls.
fn number_calls(value: &mut Value, numbers: &mut BTreeMap<String, usize>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| number_calls(item, numbers)),
        Value::Object(fields) => {
            let of = fields.get("type").and_then(Value::as_str);
            let has_id = of.is_some_and(|of| WITH_ID.contains(&of));
            let is_call = has_id && of != Some("message");
            let mut names: Vec<String> = fields.keys().cloned().collect();
            names.sort_unstable();
            for name in names {
                let Some(field) = fields.get_mut(&name) else { continue };
                let is_id = REFERENCES.contains(&name.as_str()) || (has_id && name == "id");
                match field {
                    Value::String(id) if is_id => {
                        let next = numbers.len() + 1;
                        *id = format!("call {}", numbers.entry(id.clone()).or_insert(next));
                    }
                    _ if is_call && ARGUMENTS.contains(&name.as_str()) => {}
                    field => number_calls(field, numbers),
                }
            }
        }
        _ => {}
    }
}

fn normalize_texts(value: &mut Value, normalize: Normalize<'_>) {
    match value {
        Value::String(text) => *text = normalize(text),
        Value::Array(items) => items.iter_mut().for_each(|item| normalize_texts(item, normalize)),
        Value::Object(fields) => fields.values_mut().for_each(|field| normalize_texts(field, normalize)),
        _ => {}
    }
}

/// A request of the same length and output limit, for estimates of its usage.
#[must_use]
pub fn estimate(request: &ModelDoorRequest) -> ModelRequest {
    let number = |name: &str| request.body.get(name).and_then(Value::as_u64);
    let max_tokens = match request.protocol {
        DoorProtocol::Embeddings => Some(0),
        _ => OUTPUT_LIMITS.iter().find_map(|name| number(name)).map(|limit| {
            let answers = number("n").unwrap_or(1).max(1);
            u32::try_from(limit.saturating_mul(answers)).unwrap_or(u32::MAX)
        }),
    };
    let mut text = String::new();
    collect_texts(&request.body, &mut text);
    ModelRequest {
        model: request.model.clone(),
        house_version: request.house_version,
        instructions: None,
        messages: vec![Message::user(text)],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling { max_tokens, ..Sampling::default() },
    }
}

/// All texts of a body. An image is not text: its tokens do not depend on the length of its encoding.
fn collect_texts(value: &Value, all: &mut String) {
    match value {
        Value::String(text) if !text.starts_with("data:") => all.push_str(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, all)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, all)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(protocol: DoorProtocol, body: Value) -> ModelDoorRequest {
        let model = "openai::gpt-5".parse().expect("a model's name");
        ModelDoorRequest { protocol, model, house_version: None, body, key: None }
    }

    fn plain(request: &ModelDoorRequest) -> ContentHash {
        call_digest(request, &str::to_owned)
    }

    /// A conversation with one call, whose ID is `id`, in each protocol.
    fn conversation(protocol: DoorProtocol, id: &str, argument: &str) -> ModelDoorRequest {
        let body = match protocol {
            DoorProtocol::ChatCompletions | DoorProtocol::Embeddings => json!({ "messages": [
                { "role": "user", "content": "What now?" },
                { "role": "assistant", "tool_calls": [{ "id": id, "type": "function",
                    "function": { "name": "look", "arguments": format!("{{\"id\":\"{argument}\"}}") } }] },
                { "role": "tool", "tool_call_id": id, "content": "42" },
            ] }),
            DoorProtocol::Responses => json!({ "input": [
                { "role": "user", "content": "What now?" },
                { "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "look",
                    "arguments": format!("{{\"id\":\"{argument}\"}}") },
                { "type": "function_call_output", "call_id": id, "output": "42" },
            ] }),
            DoorProtocol::AnthropicMessages => json!({ "messages": [
                { "role": "user", "content": "What now?" },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": id, "name": "look", "input": { "id": argument } }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "42" }] },
            ] }),
        };
        request(protocol, body)
    }

    // Goal: the IDs of calls, which differ from run to run, do not change a digest in any protocol; the arguments of a
    // call, an `id` among them, do.
    #[test]
    fn call_ids_are_numbered_and_arguments_are_not() {
        for protocol in
            [DoorProtocol::ChatCompletions, DoorProtocol::Responses, DoorProtocol::AnthropicMessages]
        {
            let one = plain(&conversation(protocol, "call_a", "x"));
            assert_eq!(one, plain(&conversation(protocol, "call_b", "x")), "{protocol}");
            assert_ne!(one, plain(&conversation(protocol, "call_a", "y")), "{protocol}");
        }
    }

    // Goal: which result belongs to which call is covered, though the IDs are not.
    #[test]
    fn the_order_of_results_is_covered() {
        let body = |first: &str, second: &str| {
            json!({ "messages": [
                { "role": "assistant", "tool_calls": [
                    { "id": "a", "type": "function" }, { "id": "b", "type": "function" }] },
                { "role": "tool", "tool_call_id": first, "content": "1" },
                { "role": "tool", "tool_call_id": second, "content": "2" },
            ] })
        };
        let of = |first, second| plain(&request(DoorProtocol::ChatCompletions, body(first, second)));
        assert_ne!(of("a", "b"), of("b", "a"));
    }

    // Goal: what a rule matches is left out wherever it is; unknown fields, model, protocol and key are covered.
    #[test]
    fn everything_but_what_a_rule_matches_is_covered() {
        let body = |time: &str| json!({ "messages": [{ "role": "user", "content": format!("It is {time}. Go.") }], "seed": 1 });
        let of = |body| request(DoorProtocol::ChatCompletions, body);
        let clock = |text: &str| text.replace("12:01", "").replace("12:02", "");
        assert_eq!(call_digest(&of(body("12:01")), &clock), call_digest(&of(body("12:02")), &clock));
        let one = of(body("12:01"));
        assert_ne!(plain(&one), plain(&of(body("12:02"))));
        let mut unknown = one.clone();
        unknown.body["later_field"] = json!(true);
        let other_model = ModelDoorRequest { model: "openai::o".parse().expect("a name"), ..one.clone() };
        let other_protocol = ModelDoorRequest { protocol: DoorProtocol::Responses, ..one.clone() };
        let keyed = ModelDoorRequest { key: Some("k".to_owned()), ..one.clone() };
        for other in [unknown, other_model, other_protocol, keyed] {
            assert_ne!(plain(&one), plain(&other));
        }
    }

    // Goal: an estimate counts the texts and the output limit of every answer, and no image.
    #[test]
    fn an_estimate_counts_texts_and_the_output_limit() {
        let body = json!({ "messages": [{ "role": "user", "content": "12345678" }], "max_tokens": 10, "n": 3,
            "image": "data:image/png;base64,AAAA" });
        let estimated = estimate(&request(DoorProtocol::ChatCompletions, body));
        assert_eq!(estimated.sampling.max_tokens, Some(30));
        assert_eq!(estimated.messages[0].content().len(), "12345678".len() + "user".len());
        let embedding = request(DoorProtocol::Embeddings, json!({ "input": "text" }));
        assert_eq!(estimate(&embedding).sampling.max_tokens, Some(0));
    }
}
