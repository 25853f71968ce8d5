//! The published schemas of the turn protocol, compared with what is really exchanged.

use crate::external_support::{AGENT, Agents, python};
use papertape_core::external::{
    AgentReply, ErrorCode, IncomingMessage, PROTOCOL, ReplyError, SessionEnding, end_message,
    oversized_message, parse_message, reply_message,
};
use papertape_service::config::ExternalAgent;
use serde_json::{Value, json};
use std::path::Path;

const SCHEMA: &str = include_str!("../../../../docs/schemas/turn-protocol-1.json");
const GUIDE: &str = include_str!("../../../../docs/own-agents.md");

/// Checks a value against a definition of the schema.
pub(crate) fn conforms(definition: &str, value: &Value) -> Result<(), String> {
    let root: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    check(&root, &json!({ "$ref": format!("#/$defs/{definition}") }), value, "")
}

/// The part of JSON Schema that the protocol's schema uses.
fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "description" | "title" | "$schema" | "$defs" => true,
            "$ref" => {
                let pointer = rule.as_str().expect("a reference").trim_start_matches('#');
                let target = root.pointer(pointer).unwrap_or_else(|| panic!("{rule} leads nowhere"));
                check(root, target, value, at)?;
                true
            }
            "const" => value == rule,
            "enum" => rule.as_array().expect("a list").contains(value),
            "oneOf" => {
                let schemas = rule.as_array().expect("a list");
                let failed: Vec<String> =
                    schemas.iter().filter_map(|schema| check(root, schema, value, at).err()).collect();
                if failed.len() + 1 != schemas.len() {
                    return Err(format!(
                        "{at}: {value} matches {} of {failed:?}",
                        schemas.len() - failed.len()
                    ));
                }
                true
            }
            "type" => {
                let is = |name: &Value| match name.as_str().expect("a type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "number" => value.is_number(),
                    "null" => value.is_null(),
                    other => panic!("unknown type {other}"),
                };
                rule.as_array().map_or_else(|| is(rule), |names| names.iter().any(is))
            }
            "required" => rule.as_array().expect("a list").iter().all(|name| {
                value.as_object().is_none_or(|fields| fields.contains_key(name.as_str().expect("a name")))
            }),
            "properties" => {
                for (name, schema) in rule.as_object().expect("an object") {
                    if let Some(field) = value.get(name) {
                        check(root, schema, field, &format!("{at}/{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(*rule, false);
                let known = schema["properties"].as_object().expect("properties");
                value.as_object().is_none_or(|fields| fields.keys().all(|name| known.contains_key(name)))
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    check(root, rule, item, &format!("{at}[]"))?;
                }
                true
            }
            "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
            "minLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap_or(0))
            }
            "maxLength" => {
                value.as_str().is_none_or(|text| text.chars().count() as u64 <= rule.as_u64().unwrap_or(0))
            }
            other => panic!("the test does not know the keyword {other}"),
        };
        if !holds {
            return Err(format!("{at}: {value} does not hold {keyword} {rule}"));
        }
    }
    Ok(())
}

/// The types of the lines of a recorded exchange, up to the first one of type `last`. All of them conform.
pub(crate) fn recorded(file: &Path, definition: &str, last: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("it is recorded");
    let mut kinds: Vec<String> = Vec::new();
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).expect("JSON");
        conforms(definition, &message).unwrap_or_else(|error| panic!("{definition}: {error}: {line}"));
        kinds.push(message["type"].as_str().unwrap_or_default().to_owned());
        if message["type"] == last {
            return kinds;
        }
    }
    panic!("no line is of type {last}: {kinds:?}");
}

/// A program whose lines are recorded, both ways, in its working directory.
pub(crate) fn recording(mode: &str, cwd: &Path) -> ExternalAgent {
    let script = format!("tee in.jsonl | '{}' '{AGENT}' {mode} | tee out.jsonl", python());
    let command = ["/bin/sh", "-c", &script].map(str::to_owned).to_vec();
    ExternalAgent { command, cwd: Some(cwd.to_owned()), ..ExternalAgent::default() }
}

/// Goal: what goes through the pipes of a real program, both ways, is what the schemas describe.
#[tokio::test]
async fn a_recorded_exchange_conforms() {
    let dir = tempfile::tempdir().expect("a directory");
    let agents = Agents::new(recording("days", dir.path())).await;
    agents.app.open_doors().await.expect("they open");
    let mut session = agents.start("job", jiff::civil::date(2025, 3, 3)).await.expect("it starts");
    session.play().await;
    session.end(SessionEnding::Completed).await;
    // Its first request shows that everything of the first day has been recorded.
    let mut next = agents.start("job", jiff::civil::date(2025, 3, 4)).await.expect("it starts");
    next.next().await.expect("a request");
    let given = recorded(&dir.path().join("in.jsonl"), "fromPapertape", "end");
    assert_eq!(given, ["day", "reply", "reply", "reply", "end"]);
    let requests = recorded(&dir.path().join("out.jsonl"), "fromAgent", "done");
    assert_eq!(requests, ["read", "order", "done"]);
}

/// Goal: every reply that can be written conforms, and whatever conforms is read as a request.
#[test]
fn messages_conform() {
    let codes = [
        "bad_json",
        "unknown_type",
        "bad_message",
        "unknown_tool",
        "bad_arguments",
        "order_rejected",
        "limit",
    ];
    for code in codes.into_iter().chain(["session_ended"]) {
        let code: ErrorCode = serde_json::from_value(json!(code)).expect("a code");
        let error = ReplyError {
            code,
            message: "why".to_owned(),
            expected: vec!["a".to_owned()],
            reason: Some("insufficient_cash".to_owned()),
        };
        let bare = ReplyError { expected: Vec::new(), reason: None, ..error.clone() };
        for error in [error, bare] {
            conforms("fromPapertape", &reply_message(&json!("x"), &AgentReply::Error { error }))
                .expect("it conforms");
        }
    }
    for ending in [SessionEnding::Completed, SessionEnding::Deadline, SessionEnding::Stopped] {
        conforms("fromPapertape", &end_message(ending)).expect("it conforms");
    }
    for result in [Value::Null, json!([1.5]), json!({ "a": null })] {
        let reply = reply_message(&Value::Null, &AgentReply::Ok { result });
        conforms("fromPapertape", &reply).expect("it conforms");
    }
    let cases = [
        (json!({ "type": "read", "id": 1, "tool": "get_portfolio" }), true),
        (json!({ "type": "read", "tool": "get_portfolio", "arguments": null }), true),
        (
            json!({ "type": "order", "id": "a", "side": "sell", "symbol": "A", "quantity": "1.5", "limit": 3 }),
            true,
        ),
        (json!({ "type": "done" }), true),
        (json!({ "type": "done", "id": null, "decision": null, "state": null }), true),
        (json!({ "type": "read", "id": 1 }), false),
        (json!({ "type": "read", "id": [], "tool": "x" }), false),
        (json!({ "type": "read", "id": 1, "tool": "x", "args": {} }), false),
        (json!({ "type": "order", "side": "hold" }), false),
        (json!({ "type": "done", "reason": "x" }), false),
        (json!({ "type": "raed" }), false),
    ];
    for (message, is_request) in cases {
        let IncomingMessage { request, .. } = parse_message(message.to_string().as_bytes());
        let is_malformed = matches!(request, papertape_core::external::AgentRequest::Malformed { .. });
        assert_eq!(!is_malformed, is_request, "{message}");
        assert_eq!(conforms("fromAgent", &message).is_ok(), is_request, "{message}");
    }
    let oversized = oversized_message(&[b'x'; 10_000]);
    assert!(
        matches!(oversized.request, papertape_core::external::AgentRequest::Malformed { text, .. } if text.len() == 1_000)
    );
}

/// Goal: the guide states this version, and its examples conform.
#[test]
fn the_guides_examples_conform() {
    assert!(GUIDE.contains(&format!("version {PROTOCOL}")), "the guide states the version");
    let mut checked = 0;
    for block in GUIDE.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next()) {
        for line in block.lines() {
            let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let is_ours = ["day", "reply", "end"].iter().any(|kind| message["type"] == *kind);
            let definition = if is_ours { "fromPapertape" } else { "fromAgent" };
            conforms(definition, &message).unwrap_or_else(|error| panic!("{error}: {line}"));
            checked += 1;
        }
    }
    assert!(checked >= 10, "{checked}");
}
