//! `log.jsonl`: one batch of messages per line.

use super::layout::LogFile;
use crate::imports::{AgentReport, RowPlace, RunReport};
use papertape_agents::recorded::{RecordedDay, RecordedMessage};
use papertape_core::message::Role;
use papertape_market::import::{Source, each_line};
use serde_json::{Map, Value};
use std::io;

/// Fields of a message that are imported.
const IMPORTED_FIELDS: [&str; 6] = ["role", "content", "name", "tool_name", "tool_input", "args"];

/// Reads a day's messages. Unreadable lines go into the report.
pub(super) fn read(
    file: &LogFile,
    agent: &str,
    agent_report: &mut AgentReport,
    report: &mut RunReport,
) -> io::Result<RecordedDay> {
    let source = Source::file(&file.path);
    let mut day = RecordedDay::default();
    let read = each_line(&source, &mut |line, text| {
        let at = RowPlace { file: file.name.clone(), line };
        if let Err(reason) = text.and_then(|text| batch(text, agent, &mut day, agent_report, report)) {
            report.unreadable(at, reason);
        }
        Ok(())
    });
    read.map_err(|halt| io::Error::other(format!("{}: {halt}", file.name)))?;
    Ok(day)
}

fn batch(
    text: &str,
    agent: &str,
    day: &mut RecordedDay,
    agent_report: &AgentReport,
    report: &mut RunReport,
) -> Result<(), String> {
    let line: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))?;
    match line.get("signature") {
        None | Some(Value::Null) => {}
        Some(Value::String(signature)) if signature == agent => {}
        Some(signature) => report.note(format!("{}: a line's signature is {signature}", agent_report.agent)),
    }
    let messages = match line.get("new_messages") {
        Some(Value::Array(messages)) => messages.as_slice(),
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        Some(other) => {
            return Err(format!("`new_messages`: {} is neither a list nor an object", kind(other)));
        }
        None => return Err("there are no `new_messages`".to_owned()),
    };
    // A line's messages are imported together or not at all.
    let mut read = Vec::new();
    for message in messages {
        let Value::Object(message) = message else {
            return Err(format!("`new_messages`: {} is not a message", kind(message)));
        };
        for field in message.keys().filter(|field| !IMPORTED_FIELDS.contains(&field.as_str())) {
            report.note(format!("{}: the field `{field}` of a message is not imported", agent_report.agent));
        }
        read.push(one(message)?);
    }
    for (role, message) in read {
        match role {
            Some(role) => day.messages.push(RecordedMessage { role, ..message }),
            None if day.instructions.is_none() => day.instructions = Some(message.content),
            None => {
                report.note(format!("{}: another system prompt of a day is not imported", agent_report.agent))
            }
        }
    }
    Ok(())
}

/// A message with its role; `None`: the system prompt.
fn one(message: &Map<String, Value>) -> Result<(Option<Role>, RecordedMessage), String> {
    let role = match message.get("role") {
        Some(Value::String(role)) => match role.to_ascii_lowercase().as_str() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "tool" => Some(Role::Tool),
            "system" => None,
            other => {
                return Err(format!(
                    "unknown `role` `{other}`; expected one of user, assistant, tool, system"
                ));
            }
        },
        _ => return Err("a message has no `role`".to_owned()),
    };
    let content = content(message.get("content").unwrap_or(&Value::Null))?;
    let name = message.get("tool_name").or_else(|| message.get("name"));
    let is_tool = role == Some(Role::Tool);
    let tool_name = match name {
        Some(Value::String(name)) if is_tool => Some(name.clone()),
        _ if is_tool => Some("unknown".to_owned()),
        _ => None,
    };
    let tool_input = message.get("tool_input").or_else(|| message.get("args")).filter(|_| is_tool).cloned();
    Ok((role, RecordedMessage { role: role.unwrap_or(Role::User), content, tool_name, tool_input }))
}

/// A string; `null` for a turn with tool calls only; or blocks, of which the texts count.
fn content(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(blocks) => {
            let text = |block: &Value| match block {
                Value::String(text) => Some(text.clone()),
                Value::Object(block) => block.get("text").and_then(Value::as_str).map(str::to_owned),
                _ => None,
            };
            let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
            texts.map(|texts| texts.join("\n")).ok_or_else(|| "`content`: a block has no text".to_owned())
        }
        other => Err(format!("`content`: {} is not a string", kind(other))),
    }
}

/// Describes the type of a value, because the value itself may be long.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
