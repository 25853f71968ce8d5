//! Our request in the protocol's format.

use super::types::{Message, Request, Tool, ToolFunction};
use crate::config::ProviderKind;
use crate::provider_state::{self, ProviderPart};
use crate::wire::schema::{Strictness, strict};
use crate::wire::{Effort, sendable};
use papertape_core::message::{Message as Turn, ModelRequest, ProviderNote, ToolCall, ToolChoice, ToolSpec};
use serde_json::{Value, json};

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
            Message { tool_call_id: Some(call_id), ..turn("tool", content) }
        }
    });
    // OpenAI's reasoning models do not accept `max_tokens`.
    let of_completion = ["gpt-5", "gpt-6", "o1", "o3", "o4"].iter().any(|prefix| model.starts_with(prefix));
    let is_mistral = kind == ProviderKind::Mistral;
    Request {
        model,
        stream,
        reasoning_effort: effort
            .filter(|effort| kind != ProviderKind::Deepseek || *effort != Effort::None)
            .and_then(Effort::keyword),
        thinking: effort
            .filter(|_| kind == ProviderKind::Deepseek)
            .map(|effort| json!({ "type": if effort == Effort::None { "disabled" } else { "enabled" } })),
        tools: (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect()),
        tool_choice: tool_choice(request),
        messages: system.chain(turns).collect(),
        response_format: request.response_schema.as_ref().map(|response| {
            let schema = strict(&response.schema, Strictness::AllRequired);
            let json_schema = json!({ "name": response.name, "strict": true, "schema": schema });
            json!({ "type": "json_schema", "json_schema": json_schema })
        }),
        stream_options: stream.then(|| json!({ "include_usage": true })),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_tokens: sampling.max_tokens.filter(|_| !of_completion),
        max_completion_tokens: sampling.max_tokens.filter(|_| of_completion),
        // Mistral has a different name for it, and rejects this one.
        seed: sampling.seed.filter(|_| !is_mistral),
        random_seed: sampling.seed.filter(|_| is_mistral),
        stop: &sampling.stop,
    }
}

fn turn<'a>(role: &'a str, content: &'a str) -> Message<'a> {
    Message { role, content, ..Message::default() }
}

fn assistant<'a>(
    content: &'a str,
    tool_calls: &[ToolCall],
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
    let call = |call: &ToolCall| {
        let function = json!({ "name": call.name, "arguments": sendable(&call.arguments).to_string() });
        json!({ "type": "function", "id": call.id, "function": function })
    };
    message.tool_calls = tool_calls.iter().map(call).collect();
    message
}

fn is_reasoning(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("reasoning."))
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    let ToolSpec { name, description, parameters } = tool;
    Tool { kind: "function", function: ToolFunction { name, description, parameters, strict: false } }
}

/// Sent only when there are tools, and only when it differs from the default.
fn tool_choice(request: &ModelRequest) -> Option<&'static str> {
    let choice = match request.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "none",
        ToolChoice::Required => "required",
    };
    (!request.tools.is_empty()).then_some(choice)
}
