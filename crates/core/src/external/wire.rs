//! The messages of the turn protocol as JSON: what an agent sends, and the reply to it.
//!
//! An agent's message is never an error of ours: one that cannot be read becomes [`AgentRequest::Malformed`], which
//! says what was expected, and is answered like any other request.

use super::{AgentReply, AgentRequest, ErrorCode, ReplyError, SessionEnding};
use serde_json::{Map, Value, json};

/// The version of the turn protocol.
pub const PROTOCOL: u32 = 1;
/// Bytes of one message: a line, or the body of a request.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;
/// Levels of nesting in a message.
const MAX_DEPTH: usize = 64;
/// JSON values in a message: as a tree they take up to a hundred times the memory of their text.
const MAX_VALUES: usize = 250_000;
/// Characters of a malformed message that are recorded.
const SHOWN_CHARS: usize = 1_000;
/// Characters of an ID.
const MAX_ID_CHARS: usize = 256;

const TYPES: [&str; 3] = ["read", "order", "done"];
const SIDES: [&str; 4] = ["buy", "sell", "short", "cover"];

/// An agent's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingMessage {
    /// The ID that the agent chose for it, which its reply repeats; null: none, or it cannot be read.
    pub id: Value,
    /// The request.
    pub request: AgentRequest,
}

/// Reads a message of an agent.
#[must_use]
pub fn parse_message(bytes: &[u8]) -> IncomingMessage {
    let malformed = |id: Value, error: ReplyError| {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim().chars().take(SHOWN_CHARS).collect();
        IncomingMessage { id, request: AgentRequest::Malformed { text, error } }
    };
    let message = match read_object(bytes) {
        Ok(message) => message,
        Err(reason) => return malformed(Value::Null, error(ErrorCode::BadJson, reason, &[])),
    };
    let id = message.get("id").filter(|id| is_id(id)).cloned().unwrap_or_default();
    match request(message) {
        Ok(request) => IncomingMessage { id, request },
        Err(error) => malformed(id, error),
    }
}

/// A message that is larger than [`MAX_MESSAGE_BYTES`], of which only the beginning was read.
#[must_use]
pub fn oversized_message(beginning: &[u8]) -> IncomingMessage {
    let reason = format!("a message of more than {MAX_MESSAGE_BYTES} bytes");
    let text = String::from_utf8_lossy(beginning).chars().take(SHOWN_CHARS).collect();
    let error = error(ErrorCode::BadJson, reason, &[]);
    IncomingMessage { id: Value::Null, request: AgentRequest::Malformed { text, error } }
}

/// The reply to the message with this ID.
#[must_use]
pub fn reply_message(id: &Value, reply: &AgentReply) -> Value {
    match reply {
        AgentReply::Ok { result } => json!({ "type": "reply", "id": id, "ok": true, "result": result }),
        AgentReply::Error { error } => json!({ "type": "reply", "id": id, "ok": false, "error": error }),
    }
}

/// The message that ends a session.
#[must_use]
pub fn end_message(ending: SessionEnding) -> Value {
    json!({ "type": "end", "reason": ending })
}

fn read_object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    check_shape(bytes)?;
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(message)) => Ok(message),
        Ok(_) => Err("the message is not a JSON object".to_owned()),
        Err(error) => Err(format!("the message is not valid JSON: {error}")),
    }
}

/// Counts values and nesting before anything is parsed.
fn check_shape(bytes: &[u8]) -> Result<(), String> {
    let (mut depth, mut values, mut in_string, mut escaped) = (0_usize, 1_usize, false, false);
    for byte in bytes {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => {
                depth += 1;
                values += 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(format!("the message is nested deeper than {MAX_DEPTH} levels"));
        }
        if values > MAX_VALUES {
            return Err(format!("the message has more than {MAX_VALUES} JSON values"));
        }
    }
    Ok(())
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::String(text) => text.chars().count() <= MAX_ID_CHARS,
        Value::Number(_) | Value::Null => true,
        _ => false,
    }
}

fn request(mut message: Map<String, Value>) -> Result<AgentRequest, ReplyError> {
    if !message.shift_remove("id").is_none_or(|id| is_id(&id)) {
        return Err(bad(format!("`id` must be a number or a string of at most {MAX_ID_CHARS} characters")));
    }
    let kind = match message.shift_remove("type") {
        Some(Value::String(kind)) => kind,
        Some(_) => return Err(error(ErrorCode::BadMessage, "`type` must be a string".to_owned(), &TYPES)),
        None => return Err(error(ErrorCode::BadMessage, "the field `type` is missing".to_owned(), &TYPES)),
    };
    match kind.as_str() {
        "read" => {
            let tool = text(&mut message, "tool")?;
            let arguments = match message.shift_remove("arguments") {
                None | Some(Value::Null) => Value::Object(Map::new()),
                Some(arguments @ Value::Object(_)) => arguments,
                Some(_) => return Err(bad("`arguments` must be an object".to_owned())),
            };
            nothing_else(&message, &["tool", "arguments"])?;
            Ok(AgentRequest::Read { tool, arguments })
        }
        "order" => {
            let side = text(&mut message, "side")?;
            if !SIDES.contains(&side.as_str()) {
                let reason = format!("unknown side `{}`; expected one of {}", shown(&side), listed(&SIDES));
                return Err(error(ErrorCode::BadMessage, reason, &SIDES));
            }
            Ok(AgentRequest::Order { side, arguments: message })
        }
        "done" => {
            let decision = match message.shift_remove("decision") {
                None | Some(Value::Null) => None,
                Some(Value::String(decision)) => Some(decision),
                Some(_) => return Err(bad("`decision` must be a string".to_owned())),
            };
            let state = message.shift_remove("state");
            nothing_else(&message, &["decision", "state"])?;
            Ok(AgentRequest::Done { decision, state })
        }
        other => {
            let reason = format!("unknown type `{}`; expected one of {}", shown(other), listed(&TYPES));
            Err(error(ErrorCode::UnknownType, reason, &TYPES))
        }
    }
}

fn text(message: &mut Map<String, Value>, field: &str) -> Result<String, ReplyError> {
    match message.shift_remove(field) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(bad(format!("`{field}` must be a string"))),
        None => Err(error(ErrorCode::BadMessage, format!("the field `{field}` is missing"), &[field])),
    }
}

/// Rejects fields that would be ignored: they are misspelled.
fn nothing_else(rest: &Map<String, Value>, expected: &[&str]) -> Result<(), ReplyError> {
    match rest.keys().next() {
        Some(field) => {
            let reason = format!("unknown field `{}`; expected one of {}", shown(field), listed(expected));
            Err(error(ErrorCode::BadMessage, reason, expected))
        }
        None => Ok(()),
    }
}

fn bad(message: String) -> ReplyError {
    error(ErrorCode::BadMessage, message, &[])
}

fn error(code: ErrorCode, message: String, expected: &[&str]) -> ReplyError {
    let expected = expected.iter().map(|name| (*name).to_owned()).collect();
    ReplyError { code, message, expected, reason: None }
}

fn shown(name: &str) -> String {
    name.chars().take(100).collect()
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn malformed(text: &str) -> (Value, ReplyError) {
        match parse_message(text.as_bytes()) {
            IncomingMessage { id, request: AgentRequest::Malformed { error, .. } } => (id, error),
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Goal: each message becomes the request that it means, with the agent's own ID.
    #[test]
    fn messages_become_requests() {
        let read = parse_message(br#"{"type":"read","id":"a","tool":"get_portfolio"}"#);
        assert_eq!(read.id, json!("a"));
        assert_eq!(
            read.request,
            AgentRequest::Read { tool: "get_portfolio".to_owned(), arguments: json!({}) }
        );
        let order =
            parse_message(br#"{"type":"order","id":2,"side":"buy","symbol":"AAPL","quantity":"1.5"}"#);
        let Value::Object(arguments) = json!({ "symbol": "AAPL", "quantity": "1.5" }) else {
            panic!("an object")
        };
        assert_eq!(order.request, AgentRequest::Order { side: "buy".to_owned(), arguments });
        let state = |text: &str| match parse_message(text.as_bytes()).request {
            AgentRequest::Done { state, .. } => state,
            other => panic!("{other:?}"),
        };
        // An absent state is not a state of null.
        assert_eq!(state(r#"{"type":"done","id":3}"#), None);
        assert_eq!(state(r#"{"type":"done","id":3,"state":null}"#), Some(Value::Null));
    }

    /// Goal: whatever is wrong with a message, its reply has its ID and says what was expected.
    #[test]
    fn malformed_messages_say_what_was_expected() {
        let cases = [
            ("nonsense", ErrorCode::BadJson, "not valid JSON", 0),
            ("[1]", ErrorCode::BadJson, "not a JSON object", 0),
            (r#"{"id":1}"#, ErrorCode::BadMessage, "`type` is missing", 3),
            (r#"{"type":"raed","id":1}"#, ErrorCode::UnknownType, "unknown type `raed`", 3),
            (r#"{"type":"read","id":1}"#, ErrorCode::BadMessage, "`tool` is missing", 1),
            (r#"{"type":"read","id":1,"tool":5}"#, ErrorCode::BadMessage, "`tool` must be a string", 0),
            (
                r#"{"type":"read","id":1,"tool":"x","args":{}}"#,
                ErrorCode::BadMessage,
                "unknown field `args`",
                2,
            ),
            (r#"{"type":"read","id":1,"tool":"x","arguments":[]}"#, ErrorCode::BadMessage, "`arguments`", 0),
            (r#"{"type":"order","id":1,"side":"hold"}"#, ErrorCode::BadMessage, "unknown side `hold`", 4),
            (
                r#"{"type":"done","id":1,"decision":5}"#,
                ErrorCode::BadMessage,
                "`decision` must be a string",
                0,
            ),
            (r#"{"type":"done","id":[]}"#, ErrorCode::BadMessage, "`id` must be", 0),
        ];
        for (text, code, words, expected) in cases {
            let (id, error) = malformed(text);
            assert_eq!((error.code, error.expected.len()), (code, expected), "{text}: {error:?}");
            assert!(error.message.contains(words), "{text}: {}", error.message);
            assert_eq!(id, if text.contains("\"id\":1") { json!(1) } else { Value::Null }, "{text}");
        }
    }

    /// Goal: a small message cannot become a large tree.
    #[test]
    fn deep_and_wide_messages_are_rejected() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(malformed(&deep).1.message.contains("nested deeper than 64 levels"));
        let wide = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(malformed(&wide).1.message.contains("more than 250000 JSON values"));
        let quoted = format!(r#"{{"type":"done","decision":"{}"}}"#, "[,\\\"".repeat(100_000));
        assert!(matches!(parse_message(quoted.as_bytes()).request, AgentRequest::Done { .. }));
    }
}
