//! The provider library's answer in our types.

use crate::config::ProviderKind;
use crate::{failure, note};
use genai::chat::{MessageContent, StopReason, ToolCall as LibraryCall, Usage as LibraryUsage};
use papertape_core::message::{
    FailureKind, FinishReason, ModelName, ModelReply, ProviderNote, ToolCall, Usage,
};
use papertape_core::ports::{Answer, AttemptFailure};
use serde_json::{Map, Value};

/// An answer's parts, however they came.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) text: String,
    pub(crate) reasoning: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) usage: Option<Usage>,
    /// What the provider wants back with the next request.
    pub(crate) note: Option<ProviderNote>,
}

impl Parts {
    pub(crate) fn new(
        content: Option<MessageContent>,
        reasoning: Option<String>,
        stop: Option<StopReason>,
        usage: Option<&LibraryUsage>,
        (kind, model): (ProviderKind, &ModelName),
    ) -> Self {
        let content = content.unwrap_or_default();
        let note = note::of_answer(&content, reasoning.as_deref(), kind, model);
        Self {
            text: content.texts().concat(),
            reasoning,
            tool_calls: content.tool_calls().into_iter().enumerate().map(tool_call).collect(),
            stop,
            usage: usage.and_then(tokens),
            note,
        }
    }

    /// The answer, unless there is nothing in it.
    pub(crate) fn into_answer(self) -> Result<Answer, Box<AttemptFailure>> {
        let finish = match (self.stop, self.tool_calls.is_empty()) {
            (Some(StopReason::MaxTokens(_)), _) => FinishReason::Length,
            (Some(StopReason::ContentFilter(_)), _) => FinishReason::ContentFilter,
            (_, false) => FinishReason::ToolCalls,
            (_, true) => FinishReason::Stop,
        };
        if self.tool_calls.is_empty() && self.text.trim().is_empty() {
            let message = match finish {
                FinishReason::Length => "the limit of output tokens was used up before any text",
                FinishReason::ContentFilter => "the provider's filter held the answer back",
                FinishReason::Stop | FinishReason::ToolCalls => "the answer has neither text nor tool calls",
            };
            return Err(Box::new(failure::used(FailureKind::EmptyAnswer, message, self.usage)));
        }
        let reasoning = self.reasoning.filter(|reasoning| !reasoning.trim().is_empty());
        let (text, tool_calls, provider) = (self.text, self.tool_calls, self.note);
        let reply = ModelReply { text, reasoning, tool_calls, finish, provider };
        Ok(Answer { reply, usage: self.usage })
    }
}

fn tool_call((at, call): (usize, &LibraryCall)) -> ToolCall {
    ToolCall {
        id: id_or_place(&call.call_id, at),
        name: call.fn_name.clone(),
        arguments: arguments(&call.fn_arguments),
    }
}

/// Some local servers give no ids; the place within the answer will do.
pub(crate) fn id_or_place(id: &str, at: usize) -> String {
    if id.is_empty() { format!("call_{at}") } else { id.to_owned() }
}

/// A call's arguments: an object, or a JSON string with the raw text of what is none. A call without
/// arguments often comes with an empty text or null, and means an empty object.
pub(crate) fn arguments(given: &Value) -> Value {
    match given {
        Value::Object(_) => given.clone(),
        Value::Null => Value::Object(Map::new()),
        Value::String(raw) if raw.trim().is_empty() => Value::Object(Map::new()),
        Value::String(raw) => match serde_json::from_str::<Value>(raw) {
            Ok(object @ Value::Object(_)) => object,
            _ => given.clone(),
        },
        other => Value::String(other.to_string()),
    }
}

/// What was used; `None` where the provider told nothing. Reasoning that is told apart from an absent
/// total is the total.
fn tokens(usage: &LibraryUsage) -> Option<Usage> {
    let reasoning = usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    let output = usage.completion_tokens.or(reasoning);
    if usage.prompt_tokens.is_none() && output.is_none() {
        return None;
    }
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
    let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
    Some(Usage {
        input_tokens: count(usage.prompt_tokens),
        cached_tokens: count(cached),
        output_tokens: count(output),
    })
}
