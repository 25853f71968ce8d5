//! Our request in the protocol's format.

use super::models::{self, Capabilities};
use super::types::{Content, Message, OutputConfig, Request, Thinking, Tool};
use crate::provider_state::{self, NoteParts, ProviderPart};
use crate::wire::schema::{Strictness, strict};
use crate::wire::{Effort, refused, sendable, turns};
use papertape_core::message::{Message as Turn, ModelRequest, ProviderNote, ToolCall, ToolChoice, ToolSpec};
use papertape_core::ports::AttemptFailure;
use serde_json::{Value, json};

/// Anthropic's own search has this name; it would return data from after the day.
const OWN_TOOL: &str = "web_search";
/// Minimum thinking budget.
const LOW_BUDGET: u32 = 1_024;

pub(in crate::wire) fn write(
    request: &ModelRequest,
    effort: Option<Effort>,
    stream: bool,
) -> Result<Request<'_>, Box<AttemptFailure>> {
    if request.tools.iter().any(|tool| tool.name == OWN_TOOL) {
        return Err(refused(format!(
            "a tool cannot be called `{OWN_TOOL}`: the provider has its own of that name"
        )));
    }
    let sampling = &request.sampling;
    let capabilities = models::of(&request.model.model);
    let (thinking, effort) = effort.map_or((None, None), |effort| thinking(effort, capabilities));
    let format = request.response_schema.as_ref().map(
        |response| json!({ "type": "json_schema", "schema": strict(&response.schema, Strictness::Closed) }),
    );
    Ok(Request {
        model: &request.model.model,
        stream,
        system: request.instructions.as_deref(),
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(request),
        messages: turns(&request.messages).map(|turn| message(turn, request)).collect(),
        thinking,
        output_config: OutputConfig { effort, format },
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        stop_sequences: &sampling.stop,
        // The field is required; the default is the model's maximum.
        max_tokens: sampling.max_tokens.unwrap_or(capabilities.max_tokens),
    })
}

fn tool(ToolSpec { name, description, parameters }: &ToolSpec) -> Tool<'_> {
    Tool { name, description, input_schema: parameters }
}

/// How to control the model's thinking, and its effort level.
fn thinking(effort: Effort, can: Capabilities) -> (Option<Thinking>, Option<&'static str>) {
    if effort == Effort::None {
        let off = Thinking { kind: "disabled", budget_tokens: None, display: None };
        return (can.thinks.then_some(off), None);
    }
    let budget = if let Effort::Budget(tokens) = effort { Some(tokens) } else { None };
    let level = match effort {
        _ if !can.effort => None,
        Effort::None | Effort::Budget(_) => None,
        Effort::Minimal | Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::Xhigh if can.xhigh => Some("xhigh"),
        Effort::Max if can.max => Some("max"),
        Effort::High | Effort::Xhigh | Effort::Max => Some("high"),
    };
    let thinking = if can.adaptive {
        let display = Some("summarized");
        Some(Thinking { kind: "adaptive", budget_tokens: budget, display })
    } else if !can.effort || budget.is_some() {
        effort.budget(LOW_BUDGET).map(|tokens| Thinking {
            kind: "enabled",
            budget_tokens: Some(tokens),
            display: None,
        })
    } else {
        None
    };
    (thinking, level)
}

fn tool_choice(request: &ModelRequest) -> Option<Value> {
    let kind = match request.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "none",
        ToolChoice::Required => "any",
    };
    (!request.tools.is_empty()).then(|| json!({ "type": kind }))
}

fn message<'a>(turn: &'a [Turn], request: &ModelRequest) -> Message<'a> {
    let user = |content| Message { role: "user", content };
    match turn {
        [Turn::User { content }] => user(Content::Text(content)),
        [Turn::Assistant { content, tool_calls, provider }] => {
            Message { role: "assistant", content: assistant(content, tool_calls, provider.as_ref(), request) }
        }
        results => {
            let blocks = results.iter().filter_map(|result| match result {
                Turn::Tool { call_id, content, .. } => {
                    Some(json!({ "type": "tool_result", "tool_use_id": call_id, "content": content }))
                }
                Turn::User { .. } | Turn::Assistant { .. } => None,
            });
            user(Content::Blocks(blocks.collect()))
        }
    }
}

fn assistant<'a>(
    content: &'a str,
    tool_calls: &[ToolCall],
    note: Option<&ProviderNote>,
    request: &ModelRequest,
) -> Content<'a> {
    let (mut blocks, after) = thinking_blocks(provider_state::to_send(note, &request.model));
    if blocks.is_empty() && after.is_empty() && tool_calls.is_empty() {
        return Content::Text(content);
    }
    // The position of blocks other than thinking is not recorded; the provider accepts them before the text.
    blocks.extend(after);
    if !content.is_empty() || tool_calls.is_empty() {
        blocks.push(json!({ "type": "text", "text": content }));
    }
    blocks.extend(tool_calls.iter().map(|ToolCall { id, name, arguments }| {
        json!({ "type": "tool_use", "id": id, "name": name, "input": sendable(arguments) })
    }));
    Content::Blocks(blocks)
}

/// The thinking of an earlier turn, which the provider expects first and in order, and its other blocks. A
/// signature without its text, or a text without its signature, would be rejected and is left out.
fn thinking_blocks(note: NoteParts) -> (Vec<Value>, Vec<Value>) {
    let (mut blocks, mut others) = (Vec::new(), Vec::new());
    let mut parts = note.parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            ProviderPart::Signature(signature) => {
                if let Some(ProviderPart::Reasoning(thinking)) =
                    parts.next_if(|part| matches!(part, ProviderPart::Reasoning(_)))
                {
                    blocks.push(json!({ "type": "thinking", "thinking": thinking, "signature": signature }));
                }
            }
            ProviderPart::Custom(block) if is_thinking(&block) => blocks.push(block),
            ProviderPart::Custom(block) => others.push(block),
            ProviderPart::Reasoning(_) => {}
        }
    }
    (blocks, others)
}

fn is_thinking(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}
