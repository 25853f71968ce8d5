//! Our request in the provider library's types.

use crate::config::ProviderKind;
use crate::{failure, note};
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, JsonSpec, MessageContent, ReasoningEffort,
    Tool as LibraryTool, ToolCall as LibraryCall, ToolChoice as LibraryChoice, ToolResponse,
};
use papertape_core::message::{FailureKind, Message, ModelRequest, ToolCall, ToolChoice};
use papertape_core::ports::AttemptFailure;
use serde_json::{Value, json};

/// The conversation and the tools.
///
/// # Errors
/// A tool whose name the provider takes for a tool of its own.
pub(crate) fn conversation(
    request: &ModelRequest,
    kind: ProviderKind,
) -> Result<ChatRequest, Box<AttemptFailure>> {
    let mut messages: Vec<ChatMessage> = Vec::new();
    let mut answers: Vec<ToolResponse> = Vec::new();
    for message in &request.messages {
        if let Message::Tool { call_id, name, content } = message {
            answers.push(ToolResponse::new(call_id, content).with_fn_name(name));
            continue;
        }
        // Some providers want the answers to the calls of one turn in one message.
        if !answers.is_empty() {
            messages.push(ChatMessage::from(std::mem::take(&mut answers)));
        }
        match message {
            Message::User { content } => messages.push(ChatMessage::user(content)),
            Message::Assistant { content, tool_calls, provider } => {
                let (leading, signatures) = note::to_parts(provider.as_ref(), &request.model);
                messages.push(assistant(content, tool_calls, leading, signatures));
            }
            Message::Tool { .. } => {}
        }
    }
    if !answers.is_empty() {
        messages.push(ChatMessage::from(answers));
    }
    let mut chat = ChatRequest::new(messages);
    chat.system.clone_from(&request.instructions);
    if !request.tools.is_empty() {
        let mut tools = Vec::new();
        for tool in &request.tools {
            if is_providers_own(&tool.name, kind) {
                return Err(Box::new(failure::plain(
                    FailureKind::BadRequest,
                    format!("a tool cannot be called `{}`: the provider has its own of that name", tool.name),
                )));
            }
            tools.push(
                LibraryTool::new(tool.name.as_str())
                    .with_description(&tool.description)
                    .with_schema(tool.parameters.clone()),
            );
        }
        chat.tools = Some(tools);
    }
    Ok(chat)
}

/// Under these names the library would switch on the provider's search, which sees past the day.
fn is_providers_own(tool: &str, kind: ProviderKind) -> bool {
    match kind {
        ProviderKind::Anthropic => tool == "web_search",
        ProviderKind::Gemini => {
            ["googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"].contains(&tool)
        }
        _ => false,
    }
}

fn assistant(
    content: &str,
    tool_calls: &[ToolCall],
    leading: Vec<ContentPart>,
    signatures: Vec<Vec<String>>,
) -> ChatMessage {
    let mut signatures = signatures.into_iter();
    let text = (!content.is_empty() || tool_calls.is_empty()).then(|| ContentPart::from_text(content));
    let calls = tool_calls.iter().map(|call| {
        ContentPart::ToolCall(LibraryCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: sendable(&call.arguments),
            thought_signatures: signatures.next().filter(|signatures| !signatures.is_empty()),
        })
    });
    let parts: Vec<ContentPart> = leading.into_iter().chain(text).chain(calls).collect();
    ChatMessage::assistant(MessageContent::from_parts(parts))
}

/// Providers refuse a conversation in which a call's arguments are no object, even where the model
/// itself wrote them so. The model sees its own text again, wrapped.
fn sendable(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        malformed => json!({ "malformed_arguments": malformed }),
    }
}

/// Everything else that decides the answer.
///
/// # Errors
/// A reasoning effort that is none.
pub(crate) fn options(
    request: &ModelRequest,
    kind: ProviderKind,
) -> Result<ChatOptions, Box<AttemptFailure>> {
    let sampling = &request.sampling;
    let mut options = ChatOptions {
        temperature: sampling.temperature,
        max_tokens: sampling.max_tokens,
        top_p: sampling.top_p,
        seed: sampling.seed,
        stop_sequences: sampling.stop.clone(),
        capture_usage: Some(true),
        capture_content: Some(true),
        capture_tool_calls: Some(true),
        capture_raw_body: Some(true),
        ..ChatOptions::default()
    };
    options.reasoning_effort = match &sampling.reasoning_effort {
        Some(effort) => Some(effort.parse().map_err(|_| {
            Box::new(failure::plain(
                FailureKind::BadRequest,
                "the reasoning effort is none of minimal, low, medium and high",
            ))
        })?),
        None => no_effort(&request.model.model, kind),
    };
    // Gemini refuses to show thoughts where the model does not think.
    options.capture_reasoning_content =
        Some(kind != ProviderKind::Gemini || sampling.reasoning_effort.is_some());
    if !request.tools.is_empty() {
        options.tool_choice = match request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some(LibraryChoice::None),
            ToolChoice::Required => Some(LibraryChoice::Required),
        };
    }
    if let Some(schema) = &request.response_schema {
        options.response_format = Some(JsonSpec::new(&schema.name, schema.schema.clone()).into());
    }
    Ok(options)
}

/// The library reads a name such as `qwen-max` as the model `qwen` at the highest effort. An explicit
/// budget, which chat completions cannot spell and so never carry, keeps the name whole.
fn no_effort(model: &str, kind: ProviderKind) -> Option<ReasoningEffort> {
    let chat_completions =
        !matches!(kind, ProviderKind::Anthropic | ProviderKind::Gemini | ProviderKind::Deepseek);
    (chat_completions && ReasoningEffort::from_model_name(model).0.is_some())
        .then_some(ReasoningEffort::Budget(0))
}
