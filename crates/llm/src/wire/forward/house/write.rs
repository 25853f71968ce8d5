//! A response in the form of each protocol.

use papertape_core::message::{FinishReason, ModelName, ModelReply, ToolCall, Usage};
use serde_json::{Value, json};

/// A response with what its form needs besides.
pub(super) struct Answer<'a> {
    /// Ends the IDs.
    pub(super) id: &'a str,
    pub(super) model: &'a ModelName,
    pub(super) reply: &'a ModelReply,
    pub(super) usage: Usage,
}

impl Answer<'_> {
    pub(super) fn chat_completion(&self) -> Value {
        let Self { id, model, reply, usage } = self;
        let mut message = json!({ "role": "assistant", "content": self.text(), "refusal": null });
        if !reply.tool_calls.is_empty() {
            let call = |call: &ToolCall| {
                let function = json!({ "name": call.name, "arguments": arguments(call) });
                json!({ "id": call.id, "type": "function", "function": function })
            };
            message["tool_calls"] = reply.tool_calls.iter().map(call).collect();
        }
        let finish = match reply.finish {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
        };
        json!({
            "id": format!("chatcmpl-{id}"),
            "object": "chat.completion",
            "created": 0,
            "model": model.to_string(),
            "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish }],
            "usage": {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "total_tokens": usage.input_tokens + usage.output_tokens,
            },
        })
    }

    pub(super) fn response(&self) -> Value {
        let Self { id, model, reply, usage } = self;
        let text = self.text().map(|text| {
            json!({
                "id": format!("msg_{id}"), "type": "message", "status": "completed", "role": "assistant",
                "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }],
            })
        });
        let calls = reply.tool_calls.iter().enumerate().map(|(at, call)| {
            json!({
                "id": format!("fc_{id}{at}"), "type": "function_call", "status": "completed",
                "call_id": call.id, "name": call.name, "arguments": arguments(call),
            })
        });
        let (status, incomplete) = match reply.finish {
            FinishReason::Stop | FinishReason::ToolCalls => ("completed", Value::Null),
            FinishReason::Length => ("incomplete", json!({ "reason": "max_output_tokens" })),
            FinishReason::ContentFilter => ("incomplete", json!({ "reason": "content_filter" })),
        };
        json!({
            "id": format!("resp_{id}"),
            "object": "response",
            "created_at": 0,
            "status": status,
            "error": null,
            "incomplete_details": incomplete,
            "instructions": null,
            "max_output_tokens": null,
            "metadata": {},
            "model": model.to_string(),
            "output": text.into_iter().chain(calls).collect::<Value>(),
            "parallel_tool_calls": true,
            "previous_response_id": null,
            "store": false,
            "temperature": null,
            "text": { "format": { "type": "text" } },
            "tool_choice": "auto",
            "tools": [],
            "top_p": null,
            "truncation": "disabled",
            "usage": {
                "input_tokens": usage.input_tokens,
                "input_tokens_details": { "cached_tokens": usage.cached_tokens },
                "output_tokens": usage.output_tokens,
                "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": usage.input_tokens + usage.output_tokens,
            },
        })
    }

    pub(super) fn message(&self) -> Value {
        let Self { id, model, reply, usage } = self;
        let text = self.text().map(|text| json!({ "type": "text", "text": text }));
        let calls = reply.tool_calls.iter().map(|call| {
            let input = match &call.arguments {
                Value::String(text) => json!({ "malformed_arguments": text }),
                object => object.clone(),
            };
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
        });
        let stop = match reply.finish {
            FinishReason::Stop => "end_turn",
            FinishReason::ToolCalls => "tool_use",
            FinishReason::Length => "max_tokens",
            FinishReason::ContentFilter => "refusal",
        };
        json!({
            "id": format!("msg_{id}"),
            "type": "message",
            "role": "assistant",
            "model": model.to_string(),
            "content": text.into_iter().chain(calls).collect::<Value>(),
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": { "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens },
        })
    }

    /// The text; `None`: only calls.
    fn text(&self) -> Option<&str> {
        let is_empty = self.reply.text.is_empty() && !self.reply.tool_calls.is_empty();
        (!is_empty).then_some(self.reply.text.as_str())
    }
}

/// A call's arguments as text.
fn arguments(call: &ToolCall) -> String {
    match &call.arguments {
        Value::String(text) => text.clone(),
        object => object.to_string(),
    }
}
