//! Our request in the protocol's format.

use super::own_id;
use super::types::{
    Content, FunctionCall, FunctionResponse, GenerationConfig, Part, Request, ThinkingConfig,
};
use crate::provider_state::{self, ProviderPart as NotePart};
use crate::wire::{Effort, bad_request, sendable, turns};
use papertape_core::message::{Message as Turn, ModelRequest, ProviderNote, ToolCall, ToolChoice, ToolSpec};
use papertape_core::ports::AttemptFailure;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Gemini's own tools have these names; they would return data from after the day.
const OWN_TOOLS: [&str; 4] = ["googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"];
/// Minimum thinking budget.
const LOW_BUDGET: u32 = 1_000;
/// The signature that Gemini 3 accepts for a call that has none.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The path of a model's method. A name that would change the path is an error.
pub(in crate::wire) fn path(model: &str, method: &str) -> Result<String, Box<AttemptFailure>> {
    if model.split('/').any(|part| matches!(part, "" | "." | "..")) || model.contains('\\') {
        return Err(bad_request(format!("`{model}` is not the name of a model")));
    }
    Ok(format!("models/{model}:{method}"))
}

pub(in crate::wire) fn write(
    request: &ModelRequest,
    effort: Option<Effort>,
) -> Result<Request<'_>, Box<AttemptFailure>> {
    if let Some(tool) = request.tools.iter().find(|tool| OWN_TOOLS.contains(&tool.name.as_str())) {
        let name = &tool.name;
        return Err(bad_request(format!(
            "a tool cannot be called `{name}`: the provider has its own of that name"
        )));
    }
    let calls: BTreeSet<&str> = request.messages.iter().flat_map(call_ids).collect();
    let (sampling, schema) = (&request.sampling, request.response_schema.as_ref().map(|it| &it.schema));
    Ok(Request {
        system_instruction: request
            .instructions
            .as_deref()
            .map(|text| Content { role: None, parts: vec![text_part(text)] }),
        tools: if request.tools.is_empty() {
            Vec::new()
        } else {
            vec![json!({ "functionDeclarations": request.tools.iter().map(declaration).collect::<Value>() })]
        },
        tool_config: tool_config(request),
        contents: turns(&request.messages).map(|turn| content(turn, request, &calls)).collect(),
        generation_config: GenerationConfig {
            thinking_config: effort.map(|effort| thinking(effort, &request.model.model)),
            response_mime_type: schema.map(|_| "application/json"),
            response_json_schema: schema,
            temperature: sampling.temperature,
            stop_sequences: &sampling.stop,
            max_output_tokens: sampling.max_tokens,
            top_p: sampling.top_p,
            seed: sampling.seed,
        },
    })
}

/// Thoughts are requested only together with an effort level: models that do not think reject the field.
fn thinking(effort: Effort, model: &str) -> ThinkingConfig {
    let by_level = ["gemini-3", "gemma-4"].iter().any(|name| model.contains(name));
    let level = match effort {
        Effort::None | Effort::Budget(_) => None,
        Effort::Minimal => Some("MINIMAL"),
        Effort::Low => Some("LOW"),
        Effort::Medium => Some("MEDIUM"),
        Effort::High | Effort::Xhigh | Effort::Max => Some("HIGH"),
    };
    ThinkingConfig {
        include_thoughts: true,
        thinking_budget: effort.budget(LOW_BUDGET).filter(|_| !by_level),
        thinking_level: level.filter(|_| by_level),
    }
}

fn declaration(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters })
}

fn tool_config(request: &ModelRequest) -> Option<Value> {
    let mode = match request.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "NONE",
        ToolChoice::Required => "ANY",
    };
    (!request.tools.is_empty()).then(|| json!({ "functionCallingConfig": { "mode": mode } }))
}

fn call_ids(message: &Turn) -> impl Iterator<Item = &str> {
    let calls = match message {
        Turn::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        Turn::User { .. } | Turn::Tool { .. } => &[],
    };
    calls.iter().map(|call| call.id.as_str())
}

fn text_part(text: &str) -> Part<'_> {
    Part { text: Some(text), ..Part::default() }
}

fn content<'a>(turn: &'a [Turn], request: &ModelRequest, calls: &BTreeSet<&str>) -> Content<'a> {
    let (role, parts) = match turn {
        [Turn::User { content }] => ("user", vec![text_part(content)]),
        [Turn::Assistant { content, tool_calls, provider }] => {
            ("model", assistant(content, tool_calls, provider.as_ref(), request))
        }
        answers => ("user", answers.iter().filter_map(|answer| answer_part(answer, calls)).collect()),
    };
    Content { role: Some(role), parts }
}

fn answer_part<'a>(answer: &'a Turn, calls: &BTreeSet<&str>) -> Option<Part<'a>> {
    let Turn::Tool { call_id, name, content } = answer else { return None };
    let function_response = Some(FunctionResponse {
        id: own_id(call_id).filter(|id| calls.contains(id)),
        name,
        response: json!({ "name": name, "content": content }),
    });
    Some(Part { function_response, ..Part::default() })
}

fn assistant<'a>(
    content: &'a str,
    tool_calls: &'a [ToolCall],
    note: Option<&ProviderNote>,
    request: &ModelRequest,
) -> Vec<Part<'a>> {
    let note = provider_state::to_send(note, &request.model);
    let mut of_calls = note.calls.into_iter();
    let signatures: Vec<Vec<String>> =
        tool_calls.iter().map(|_| of_calls.next().unwrap_or_default()).collect();
    // A signature that belongs to no call is the text's.
    let mut pending = note.parts.into_iter().rev().find_map(|part| match part {
        NotePart::Signature(signature) if !signatures.iter().flatten().any(|known| *known == signature) => {
            Some(signature)
        }
        _ => None,
    });
    let mut parts = Vec::new();
    if !content.is_empty() || tool_calls.is_empty() {
        parts.push(Part { thought_signature: pending.take(), ..text_part(content) });
    }
    let needs_one = request.model.model.contains("gemini-3");
    for (at, (call, signatures)) in tool_calls.iter().zip(signatures).enumerate() {
        let placeholder = || (needs_one && at == 0).then(|| NO_SIGNATURE.to_owned());
        parts.push(Part {
            function_call: Some(FunctionCall {
                id: own_id(&call.id),
                name: &call.name,
                args: sendable(&call.arguments),
            }),
            thought_signature: signatures.into_iter().next().or_else(|| pending.take()).or_else(placeholder),
            ..Part::default()
        });
    }
    parts
}
