//! Chunks of chat completions.

use super::super::request::Streaming;
use super::{Events, list, pieces};
use papertape_core::message::ModelName;
use papertape_core::time::Timestamp;
use serde_json::{Map, Value, json};

/// Fields of a message that have chunks of their own.
const OWN_CHUNKS: [&str; 3] = ["role", "content", "tool_calls"];

pub(in super::super) struct Writer {
    /// The fields of every chunk, except `choices`.
    head: Map<String, Value>,
    include_usage: bool,
    has_begun: bool,
}

impl Writer {
    pub(super) fn new(id: &str, model: &ModelName, now: Timestamp, streaming: Streaming) -> Self {
        let mut head = Map::new();
        head.insert("id".to_owned(), format!("chatcmpl-{id}").into());
        head.insert("object".to_owned(), "chat.completion.chunk".into());
        head.insert("created".to_owned(), now.as_second().into());
        head.insert("model".to_owned(), model.model.clone().into());
        Self { head, include_usage: streaming.include_usage, has_begun: false }
    }

    pub(super) fn words(&mut self, words: &str, out: &mut Events) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.delta(0, json!({ "role": "assistant", "content": "" }), out);
        }
        self.delta(0, json!({ "content": words }), out);
    }

    pub(super) fn end(&mut self, body: &Value, sent: &str, out: &mut Events) -> Option<()> {
        let choices = list(body, "choices");
        let content = choices.first().and_then(|choice| choice.pointer("/message/content"));
        let rest = content.and_then(Value::as_str).unwrap_or_default().strip_prefix(sent)?;
        if !self.has_begun {
            for (name, value) in body.as_object().into_iter().flatten() {
                if !["choices", "object", "usage"].contains(&name.as_str()) {
                    self.head.insert(name.clone(), value.clone());
                }
            }
        }
        for (at, choice) in choices.iter().enumerate() {
            self.choice(choice, (at == 0).then_some(rest), out);
        }
        if self.include_usage {
            let usage = body.get("usage").cloned().unwrap_or_default();
            self.chunk(json!([]), Some(usage), out);
        }
        out.0.push_str("data: [DONE]\n\n");
        Some(())
    }

    /// A choice, except for the part of its text that was sent.
    fn choice(&self, choice: &Value, rest: Option<&str>, out: &mut Events) {
        let index = choice.get("index").and_then(Value::as_u64).unwrap_or(0);
        let null = Value::Null;
        let message = choice.get("message").unwrap_or(&null);
        let content = message.get("content").unwrap_or(&null);
        if !(self.has_begun && rest.is_some()) {
            let role = message.get("role").cloned().unwrap_or_else(|| "assistant".into());
            let empty = if content.is_string() { json!("") } else { Value::Null };
            self.delta(index, json!({ "role": role, "content": empty }), out);
        }
        let others: Map<String, Value> = message
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, value)| !OWN_CHUNKS.contains(&name.as_str()) && !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !others.is_empty() {
            self.delta(index, Value::Object(others), out);
        }
        match content {
            Value::String(text) => {
                for piece in pieces(rest.unwrap_or(text)) {
                    self.delta(index, json!({ "content": piece }), out);
                }
            }
            Value::Null => {}
            parts => self.delta(index, json!({ "content": parts }), out),
        }
        for (at, call) in list(message, "tool_calls").iter().enumerate() {
            let call = super::with(call, [("index", at.into())]);
            self.delta(index, json!({ "tool_calls": [call] }), out);
        }
        let mut last = choice.as_object().cloned().unwrap_or_default();
        last.remove("message");
        last.insert("index".to_owned(), index.into());
        last.insert("delta".to_owned(), json!({}));
        self.chunk(json!([last]), None, out);
    }

    fn delta(&self, index: u64, delta: Value, out: &mut Events) {
        self.chunk(json!([{ "index": index, "delta": delta, "finish_reason": null }]), None, out);
    }

    fn chunk(&self, choices: Value, usage: Option<Value>, out: &mut Events) {
        let mut chunk = self.head.clone();
        chunk.insert("choices".to_owned(), choices);
        if let Some(usage) = usage {
            chunk.insert("usage".to_owned(), usage);
        }
        out.data(&Value::Object(chunk));
    }
}
