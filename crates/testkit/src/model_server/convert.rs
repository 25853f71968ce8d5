//! Parses a request in the wire format back into our own types, so that a test can serve our own logic over HTTP.

use papertape_core::message::{
    Message, ModelName, ModelRequest, ResponseSchema, Sampling, ToolCall, ToolChoice, ToolSpec,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// The request in a chat-completions body, addressed to `model`.
///
/// # Errors
/// Returns which part of the body is invalid.
pub fn read_request(body: &Value, model: ModelName) -> Result<ModelRequest, String> {
    let turns = body["messages"].as_array().ok_or("the body has no messages")?;
    let mut names = BTreeMap::new();
    let mut instructions = None;
    let mut messages = Vec::new();
    for turn in turns {
        let content = turn["content"].as_str().unwrap_or_default().to_owned();
        match turn["role"].as_str() {
            Some("system") => instructions = Some(content),
            Some("user") => messages.push(Message::User { content }),
            Some("assistant") => {
                let tool_calls = calls(turn)?;
                for call in &tool_calls {
                    names.insert(call.id.clone(), call.name.clone());
                }
                messages.push(Message::Assistant { content, tool_calls, provider: None });
            }
            Some("tool") => {
                let call_id = text(&turn["tool_call_id"])?;
                let name = names.get(&call_id).cloned().unwrap_or_default();
                messages.push(Message::Tool { call_id, name, content });
            }
            other => return Err(format!("the role {other:?} is unknown")),
        }
    }
    Ok(ModelRequest {
        model,
        house_version: None,
        instructions,
        messages,
        tools: body["tools"].as_array().into_iter().flatten().map(tool).collect::<Result<_, _>>()?,
        tool_choice: match body["tool_choice"].as_str() {
            Some("none") => ToolChoice::None,
            Some("required") => ToolChoice::Required,
            _ => ToolChoice::Auto,
        },
        response_schema: body.pointer("/response_format/json_schema").map(|schema| ResponseSchema {
            name: schema["name"].as_str().unwrap_or_default().to_owned(),
            schema: schema["schema"].clone(),
        }),
        sampling: Sampling::default(),
    })
}

fn calls(turn: &Value) -> Result<Vec<ToolCall>, String> {
    let read = |call: &Value| {
        let raw = text(&call["function"]["arguments"])?;
        let arguments = serde_json::from_str::<Value>(&raw).ok().filter(Value::is_object);
        Ok(ToolCall {
            id: text(&call["id"])?,
            name: text(&call["function"]["name"])?,
            arguments: arguments.unwrap_or(Value::String(raw)),
        })
    };
    turn["tool_calls"].as_array().into_iter().flatten().map(read).collect()
}

fn tool(tool: &Value) -> Result<ToolSpec, String> {
    Ok(ToolSpec {
        name: text(&tool["function"]["name"])?,
        description: tool["function"]["description"].as_str().unwrap_or_default().to_owned(),
        parameters: tool["function"]["parameters"].clone(),
    })
}

fn text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{value} should be a text"))
}
