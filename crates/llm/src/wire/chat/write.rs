//! Our request in the protocol's format.

use super::types::{
    Call, CallFunction, Content, JsonSchema, Message, Request, ResponseFormat, StreamOptions, Thinking, Tool,
    ToolFunction,
};
use crate::config::ProviderKind;
use crate::provider_state::{self, ProviderPart};
use crate::wire::schema::{Strictness, strict};
use crate::wire::{Effort, sendable};
use papertape_core::message::{Message as Turn, ModelRequest, ProviderNote, ToolCall, ToolChoice};
use serde_json::Value;
use std::borrow::Cow;

pub(in crate::wire) fn write(
    request: &ModelRequest,
    kind: ProviderKind,
    effort: Option<Effort>,
    stream: bool,
) -> Request<'_> {
    let (model, sampling) = (request.model.model.as_str(), &request.sampling);
    let system = request.instructions.iter().map(|text| turn("system", text));
    let turns = request.messages.iter().map(|message| match message {
        Turn::User { content } => turn("user", content),
        Turn::Assistant { content, tool_calls, provider } => {
            assistant(content, tool_calls, provider.as_ref(), request)
        }
        Turn::Tool { call_id, content, .. } => {
            Message { tool_call_id: Some(call_id.into()), ..turn("tool", content) }
        }
    });
    // OpenAI's reasoning models do not accept `max_tokens`.
    let of_completion = ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|prefix| model.starts_with(prefix));
    let is_mistral = kind == ProviderKind::Mistral;
    Request {
        model: model.into(),
        stream,
        reasoning_effort: effort
            .filter(|effort| kind != ProviderKind::Deepseek || *effort != Effort::None)
            .and_then(Effort::keyword)
            .map(Cow::Borrowed),
        thinking: effort.filter(|_| kind == ProviderKind::Deepseek).map(|effort| Thinking {
            kind: Cow::Borrowed(if effort == Effort::None { "disabled" } else { "enabled" }),
        }),
        tools: (!request.tools.is_empty()).then(|| tools(request)),
        tool_choice: tool_choice(request),
        messages: system.chain(turns).collect(),
        response_format: request.response_schema.as_ref().map(|schema| ResponseFormat {
            kind: "json_schema".into(),
            json_schema: Some(JsonSchema {
                name: schema.name.as_str().into(),
                strict: true,
                schema: strict(&schema.schema, Strictness::AllRequired),
            }),
        }),
        stream_options: stream.then_some(StreamOptions { include_usage: true }),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_tokens: sampling.max_tokens.filter(|_| !of_completion),
        max_completion_tokens: sampling.max_tokens.filter(|_| of_completion),
        // Mistral has a different name for it, and rejects this one.
        seed: sampling.seed.filter(|_| !is_mistral),
        random_seed: sampling.seed.filter(|_| is_mistral),
        stop: (!sampling.stop.is_empty()).then_some(Cow::Borrowed(&sampling.stop)),
    }
}

fn turn<'a>(role: &'a str, content: &'a str) -> Message<'a> {
    Message { role: role.into(), content: Some(Content::Text(content.into())), ..Message::default() }
}

fn assistant<'a>(
    content: &'a str,
    tool_calls: &'a [ToolCall],
    note: Option<&ProviderNote>,
    request: &ModelRequest,
) -> Message<'a> {
    let mut message = turn("assistant", content);
    let mut reasoning: Vec<String> = Vec::new();
    for part in provider_state::to_send(note, &request.model).parts {
        match part {
            ProviderPart::Reasoning(text) => reasoning.push(text),
            // OpenRouter expects its blocks back unchanged: their signatures cannot be recreated.
            ProviderPart::Custom(block) if is_reasoning(&block) => message.reasoning_details.push(block),
            ProviderPart::Custom(_) | ProviderPart::Signature(_) => {}
        }
    }
    message.reasoning_content = (!reasoning.is_empty()).then(|| reasoning.join("\n"));
    let call = |call: &'a ToolCall| Call {
        kind: "function".into(),
        id: call.id.as_str().into(),
        function: CallFunction {
            name: call.name.as_str().into(),
            arguments: sendable(&call.arguments).to_string(),
        },
    };
    message.tool_calls = tool_calls.iter().map(call).collect();
    message
}

fn is_reasoning(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("reasoning."))
}

fn tools(request: &ModelRequest) -> Vec<Tool<'_>> {
    let tools = request.tools.iter().map(|tool| Tool {
        kind: "function".into(),
        function: ToolFunction {
            name: tool.name.as_str().into(),
            description: tool.description.as_str().into(),
            parameters: Cow::Borrowed(&tool.parameters),
            strict: false,
        },
    });
    tools.collect()
}

/// Sent only when there are tools, and only when it differs from the default.
fn tool_choice(request: &ModelRequest) -> Option<Cow<'_, Value>> {
    let choice = match request.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "none",
        ToolChoice::Required => "required",
    };
    (!request.tools.is_empty()).then(|| Cow::Owned(choice.into()))
}
