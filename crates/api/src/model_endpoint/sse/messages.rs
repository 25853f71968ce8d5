//! Events of Anthropic's messages.

use super::{Events, list, object, pieces, text, with};
use papertape_core::message::ModelName;
use serde_json::{Map, Value, json};

pub(in super::super) struct Writer {
    /// The message for words before the answer.
    early: Value,
    has_begun: bool,
}

impl Writer {
    pub(super) fn new(id: &str, model: &ModelName) -> Self {
        let early = json!({
            "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": model.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 0, "output_tokens": 0 },
        });
        Self { early, has_begun: false }
    }

    pub(super) fn words(&mut self, words: &str, out: &mut Events) {
        if !std::mem::replace(&mut self.has_begun, true) {
            out.event("message_start", &json!({ "type": "message_start", "message": self.early }));
            start(0, &json!({ "type": "text", "text": "" }), out);
        }
        delta(0, &json!({ "type": "text_delta", "text": words }), out);
    }

    pub(super) fn end(&mut self, body: &Value, sent: &str, out: &mut Events) -> Option<()> {
        let blocks = list(body, "content");
        if !sent.is_empty() {
            let first = blocks.first().filter(|block| text(block, "type") == "text")?;
            text(first, "text").strip_prefix(sent)?;
        }
        let usage = object(body, "usage");
        if !self.has_begun {
            let begun = with(&Value::Object(usage.clone()), [("output_tokens", json!(0))]);
            let changes = [
                ("content", json!([])),
                ("stop_reason", Value::Null),
                ("stop_sequence", Value::Null),
                ("usage", begun),
            ];
            let message = with(body, changes);
            out.event("message_start", &json!({ "type": "message_start", "message": message }));
        }
        for (index, block) in blocks.iter().enumerate() {
            write(index, block, if index == 0 { sent } else { "" }, out);
            out.event("content_block_stop", &json!({ "type": "content_block_stop", "index": index }));
        }
        let mut changed = Map::new();
        for name in ["stop_reason", "stop_sequence", "stop_details", "container"] {
            if let Some(value) = body.get(name) {
                changed.insert(name.to_owned(), value.clone());
            }
        }
        let end = json!({ "type": "message_delta", "delta": changed, "usage": usage });
        out.event("message_delta", &end);
        out.event("message_stop", &json!({ "type": "message_stop" }));
        Some(())
    }
}

/// A block, except for its text that was sent.
fn write(index: usize, block: &Value, sent: &str, out: &mut Events) {
    let is_begun = !sent.is_empty();
    match text(block, "type") {
        "text" => {
            let citations = list(block, "citations");
            if !is_begun {
                let empty = with(block, [("text", json!(""))]);
                let empty =
                    if citations.is_empty() { empty } else { with(&empty, [("citations", json!([]))]) };
                start(index, &empty, out);
            }
            let words = text(block, "text");
            for piece in pieces(words.strip_prefix(sent).unwrap_or(words)) {
                delta(index, &json!({ "type": "text_delta", "text": piece }), out);
            }
            for citation in citations {
                delta(index, &json!({ "type": "citations_delta", "citation": citation }), out);
            }
        }
        "thinking" => {
            start(index, &with(block, [("thinking", json!("")), ("signature", json!(""))]), out);
            for piece in pieces(text(block, "thinking")) {
                delta(index, &json!({ "type": "thinking_delta", "thinking": piece }), out);
            }
            let signature = text(block, "signature");
            delta(index, &json!({ "type": "signature_delta", "signature": signature }), out);
        }
        "tool_use" => {
            start(index, &with(block, [("input", json!({}))]), out);
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            for piece in pieces(&input) {
                delta(index, &json!({ "type": "input_json_delta", "partial_json": piece }), out);
            }
        }
        _ => start(index, block, out),
    }
}

fn start(index: usize, block: &Value, out: &mut Events) {
    let data = json!({ "type": "content_block_start", "index": index, "content_block": block });
    out.event("content_block_start", &data);
}

fn delta(index: usize, delta: &Value, out: &mut Events) {
    let data = json!({ "type": "content_block_delta", "index": index, "delta": delta });
    out.event("content_block_delta", &data);
}
