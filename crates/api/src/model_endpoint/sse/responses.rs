//! Events of `OpenAI`'s responses.

use super::super::error::DoorError;
use super::{Events, list, pieces, text, with};
use serde_json::{Value, json};

/// Numbers the events.
#[derive(Default)]
pub(in super::super) struct Writer {
    sequence: u64,
}

/// Where an item, or a part of one, is in the output.
#[derive(Clone, Copy)]
struct Place<'a> {
    item: &'a str,
    output: usize,
}

impl Writer {
    pub(super) fn end(&mut self, body: &Value, out: &mut Events) {
        let begun = [
            ("status", json!("in_progress")),
            ("output", json!([])),
            ("usage", Value::Null),
            ("incomplete_details", Value::Null),
        ];
        let begun = with(body, begun);
        self.event(out, "response.created", json!({ "response": begun }));
        self.event(out, "response.in_progress", json!({ "response": begun }));
        for (output, item) in list(body, "output").iter().enumerate() {
            self.item(Place { item: text(item, "id"), output }, item, out);
        }
        let end = match text(body, "status") {
            "incomplete" => "response.incomplete",
            "failed" => "response.failed",
            _ => "response.completed",
        };
        self.event(out, end, json!({ "response": body }));
    }

    pub(super) fn failed(&mut self, error: &DoorError, out: &mut Events) {
        let (code, message) = error.parts();
        self.event(out, "error", json!({ "code": code, "message": message, "param": null }));
    }

    fn item(&mut self, at: Place<'_>, item: &Value, out: &mut Events) {
        let begun = match text(item, "type") {
            "message" => with(item, [("content", json!([])), ("status", json!("in_progress"))]),
            "function_call" => with(item, [("arguments", json!("")), ("status", json!("in_progress"))]),
            "custom_tool_call" => with(item, [("input", json!(""))]),
            "reasoning" => with(item, [("summary", json!([]))]),
            _ => item.clone(),
        };
        self.event(out, "response.output_item.added", json!({ "output_index": at.output, "item": begun }));
        match text(item, "type") {
            "message" => {
                for (index, part) in list(item, "content").iter().enumerate() {
                    self.part(at, index, part, out);
                }
            }
            "function_call" => {
                self.written(
                    at,
                    "response.function_call_arguments",
                    "arguments",
                    text(item, "arguments"),
                    out,
                );
            }
            "custom_tool_call" => {
                self.written(at, "response.custom_tool_call_input", "input", text(item, "input"), out);
            }
            "reasoning" => {
                for (index, part) in list(item, "summary").iter().enumerate() {
                    self.summary(at, index, part, out);
                }
            }
            _ => {}
        }
        self.event(out, "response.output_item.done", json!({ "output_index": at.output, "item": item }));
    }

    // A part of a message: text, or the words with which the model declines.
    fn part(&mut self, at: Place<'_>, index: usize, part: &Value, out: &mut Events) {
        let place = json!({ "item_id": at.item, "output_index": at.output, "content_index": index });
        let (field, kind) = match text(part, "type") {
            "refusal" => ("refusal", "response.refusal"),
            _ => ("text", "response.output_text"),
        };
        let begun = with(part, [(field, json!(""))]);
        self.event(out, "response.content_part.added", with(&place, [("part", begun)]));
        let words = text(part, field);
        let is_text = field == "text";
        let logprobs = |event: Value| if is_text { with(&event, [("logprobs", json!([]))]) } else { event };
        for piece in pieces(words) {
            let event = logprobs(with(&place, [("delta", json!(piece))]));
            self.event(out, &format!("{kind}.delta"), event);
        }
        self.event(out, &format!("{kind}.done"), logprobs(with(&place, [(field, json!(words))])));
        self.event(out, "response.content_part.done", with(&place, [("part", part.clone())]));
    }

    /// A part of a summary of reasoning.
    fn summary(&mut self, at: Place<'_>, index: usize, part: &Value, out: &mut Events) {
        let place = json!({ "item_id": at.item, "output_index": at.output, "summary_index": index });
        let begun = with(part, [("text", json!(""))]);
        self.event(out, "response.reasoning_summary_part.added", with(&place, [("part", begun)]));
        let words = text(part, "text");
        for piece in pieces(words) {
            let event = with(&place, [("delta", json!(piece))]);
            self.event(out, "response.reasoning_summary_text.delta", event);
        }
        let done = with(&place, [("text", json!(words))]);
        self.event(out, "response.reasoning_summary_text.done", done);
        self.event(out, "response.reasoning_summary_part.done", with(&place, [("part", part.clone())]));
    }

    /// What a call passes to its tool.
    fn written(&mut self, at: Place<'_>, kind: &str, field: &str, text: &str, out: &mut Events) {
        let place = json!({ "item_id": at.item, "output_index": at.output });
        for piece in pieces(text) {
            self.event(out, &format!("{kind}.delta"), with(&place, [("delta", json!(piece))]));
        }
        self.event(out, &format!("{kind}.done"), with(&place, [(field, json!(text))]));
    }

    fn event(&mut self, out: &mut Events, kind: &str, fields: Value) {
        let data = with(&fields, [("type", json!(kind)), ("sequence_number", json!(self.sequence))]);
        self.sequence += 1;
        out.event(kind, &data);
    }
}
