//! Reads a whole chat completion that the provider library gives up on.
//!
//! It refuses an answer in which any call's arguments are no JSON, and with it the text, the other
//! calls and the usage. For us that is an answer with a malformed call, which the model is told of.

use crate::reply::{Parts, arguments, id_or_place};
use genai::chat::StopReason;
use papertape_core::message::{ToolCall, Usage};
use serde_json::Value;

/// The answer's parts; `None` where this is no chat completion at all.
pub(crate) fn chat_completion(body: &Value) -> Option<Parts> {
    let choice = body.pointer("/choices/0")?;
    let message = choice.get("message")?.as_object()?;
    let text = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
    let calls = message.get("tool_calls").and_then(Value::as_array);
    let tool_calls = calls.into_iter().flatten().enumerate().map(tool_call).collect::<Option<_>>()?;
    Some(Parts {
        text: text("content").unwrap_or_default(),
        reasoning: text("reasoning_content").or_else(|| text("reasoning")),
        tool_calls,
        stop: choice.get("finish_reason").and_then(Value::as_str).map(|why| StopReason::from(why.to_owned())),
        usage: body.get("usage").and_then(usage),
        note: None,
    })
}

fn tool_call((at, call): (usize, &Value)) -> Option<ToolCall> {
    let function = call.get("function")?;
    Some(ToolCall {
        id: id_or_place(call.get("id").and_then(Value::as_str).unwrap_or_default(), at),
        name: function.get("name")?.as_str()?.to_owned(),
        arguments: arguments(function.get("arguments").unwrap_or(&Value::Null)),
    })
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(Usage {
        input_tokens: count("/prompt_tokens")?,
        cached_tokens: count("/prompt_tokens_details/cached_tokens").unwrap_or(0),
        output_tokens: count("/completion_tokens").unwrap_or(0),
    })
}
