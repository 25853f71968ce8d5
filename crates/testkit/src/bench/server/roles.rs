//! Recorded responses of a desk's roles, by role and number of its own turns.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Placeholder for a sequence number in a recorded response, so that no two texts are equal.
const NUMBER: &str = "(n)";

/// Recorded responses by role and number of turns in the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles(BTreeMap<String, String>);

impl Roles {
    /// Records a role's response: its text, and its tool calls, each with name and arguments. `body` is the
    /// request as compact JSON.
    ///
    /// # Panics
    /// Panics if the request names no role.
    pub fn record(&mut self, body: &[u8], text: &str, calls: &[(String, Value)]) {
        let turns = super::marks(body, br#""role":"assistant""#);
        let calls: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                json!({ "id": format!("call_{NUMBER}_{at}"), "type": "function",
                    "function": { "name": name, "arguments": arguments.to_string() } })
            })
            .collect();
        let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
        // After the first sentence, which is text in prose and in JSON alike.
        let text = text.replacen(". ", &format!(". Reading {NUMBER}. "), 1);
        let mut message = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let answer = json!({
            "id": format!("answer-{NUMBER}"), "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
            "usage": { "prompt_tokens": 1200, "completion_tokens": 90, "total_tokens": 1290 },
        });
        self.0.insert(key(body, turns).expect("a role"), answer.to_string());
    }

    /// The role's response; if none was recorded, an error that no client mistakes for a response.
    #[must_use]
    pub fn answer(&self, body: &[u8], turns: u32) -> Value {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let found = key(body, turns).and_then(|key| self.0.get(&key));
        let number = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        found.map_or_else(
            || json!({ "error": { "message": "nothing was recorded for this request" } }),
            |answer| serde_json::from_str(&answer.replace(NUMBER, &number)).expect("is JSON"),
        )
    }

    /// Writes the responses to a file.
    ///
    /// # Panics
    /// Panics if the file cannot be written.
    pub fn write(&self, path: &Path) {
        std::fs::write(path, serde_json::to_vec(&self.0).expect("is JSON")).expect("writes");
    }

    /// Reads the responses from a file.
    ///
    /// # Panics
    /// Panics if the file does not exist or is invalid.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        Self(serde_json::from_slice(&std::fs::read(path).expect("reads")).expect("is JSON"))
    }
}

/// The role named in the first line of a request's system prompt, and the turns.
fn key(body: &[u8], turns: u32) -> Option<String> {
    const MARK: &[u8] = br#""Role: "#;
    let at = body.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    let end = body[at..].iter().position(|byte| matches!(byte, b'\\' | b'"'))?;
    Some(format!("{}#{turns}", String::from_utf8_lossy(&body[at..at + end])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response is found by role and turns, with a sequence number of its own.
    #[test]
    fn a_role_says_again_what_it_said() {
        let body = br#"{"messages":[{"role":"system","content":"Role: Trader\nYou trade."}]}"#;
        let mut roles = Roles::default();
        roles.record(body, "It rises. So we buy.", &[("buy".to_owned(), json!({ "quantity": 1 }))]);
        let said = |turns| roles.answer(body, turns)["choices"][0]["message"].clone();
        let (first, second) = (said(0), said(0));
        assert_eq!(first["tool_calls"][0]["function"]["name"], "buy");
        assert_ne!(first["content"], second["content"]);
        assert!(roles.answer(body, 1)["error"].is_object());
        assert!(roles.answer(b"{}", 0)["error"].is_object());
    }
}
