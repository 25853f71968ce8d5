//! Bodies of each protocol in our own types.

use papertape_core::message::{
    Message, ModelName, ModelRequest, ResponseSchema, Sampling, ToolCall, ToolChoice, ToolSpec,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type Fields = Map<String, Value>;

pub(super) fn chat(body: &Fields) -> Result<ModelRequest, String> {
    let mut conversation = Conversation::default();
    for message in list(body, "messages")? {
        let content = message.get("content").map(text).transpose()?.unwrap_or_default();
        match string(message, "role")? {
            "system" | "developer" => conversation.instruct(&content),
            "user" => conversation.push(Message::user(content)),
            "assistant" => {
                let calls = message.get("tool_calls").and_then(Value::as_array);
                let calls = calls.into_iter().flatten().map(|call| {
                    let function = call.get("function").ok_or("a tool call has no `function`")?;
                    let (id, name) = (string(call, "id")?, string(function, "name")?);
                    Ok(tool_call(id, name, function.get("arguments").unwrap_or(&Value::Null)))
                });
                let calls = calls.collect::<Result<_, String>>()?;
                conversation.answer(content, calls);
            }
            "tool" => conversation.result(string(message, "tool_call_id")?, content),
            role => return Err(format!("messages: unknown role `{role}`")),
        }
    }
    let tools = tools(body, Some("function"))?;
    let schema = body.get("response_format").and_then(|format| format.get("json_schema"));
    Ok(conversation.request(tools, tool_choice(body.get("tool_choice")), schema))
}

pub(super) fn responses(body: &Fields) -> Result<ModelRequest, String> {
    let mut conversation = Conversation::default();
    if let Some(instructions) = body.get("instructions").and_then(Value::as_str) {
        conversation.instruct(instructions);
    }
    if let Some(input) = body.get("input").and_then(Value::as_str) {
        conversation.push(Message::user(input));
    } else {
        for item in list(body, "input")? {
            match item.get("type").and_then(Value::as_str).unwrap_or("message") {
                "message" => {
                    let content = item.get("content").map(text).transpose()?.unwrap_or_default();
                    match string(item, "role")? {
                        "system" | "developer" => conversation.instruct(&content),
                        "user" => conversation.push(Message::user(content)),
                        "assistant" => conversation.answer(content, Vec::new()),
                        role => return Err(format!("input: unknown role `{role}`")),
                    }
                }
                "function_call" => {
                    let arguments = item.get("arguments").unwrap_or(&Value::Null);
                    conversation.call(tool_call(string(item, "call_id")?, string(item, "name")?, arguments));
                }
                "function_call_output" => {
                    let output = item.get("output").map(text).transpose()?.unwrap_or_default();
                    conversation.result(string(item, "call_id")?, output);
                }
                "reasoning" => {}
                kind => return Err(format!("input: a house model does not read items of the type `{kind}`")),
            }
        }
    }
    let tools = tools(body, None)?;
    let schema = body.get("text").and_then(|text| text.get("format"));
    let schema = schema.filter(|format| format.get("type").and_then(Value::as_str) == Some("json_schema"));
    Ok(conversation.request(tools, tool_choice(body.get("tool_choice")), schema))
}

pub(super) fn messages(body: &Fields) -> Result<ModelRequest, String> {
    let mut conversation = Conversation::default();
    if let Some(system) = body.get("system").filter(|system| !system.is_null()) {
        conversation.instruct(&text(system)?);
    }
    for message in list(body, "messages")? {
        let is_answer = match string(message, "role")? {
            "assistant" => true,
            "user" => false,
            role => return Err(format!("messages: unknown role `{role}`")),
        };
        let (mut words, mut calls) = (String::new(), Vec::new());
        match message.get("content") {
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    match string(block, "type")? {
                        "text" => words.push_str(string(block, "text")?),
                        "tool_use" => {
                            let arguments = block.get("input").unwrap_or(&Value::Null);
                            calls.push(tool_call(string(block, "id")?, string(block, "name")?, arguments));
                        }
                        "tool_result" => {
                            let content = block.get("content").map(text).transpose()?.unwrap_or_default();
                            conversation.result(string(block, "tool_use_id")?, content);
                        }
                        "thinking" | "redacted_thinking" => {}
                        kind => return Err(format!("messages: a house model does not read `{kind}` blocks")),
                    }
                }
            }
            content => words = content.map(text).transpose()?.unwrap_or_default(),
        }
        if is_answer {
            conversation.answer(words, calls);
        } else if !words.is_empty() {
            conversation.push(Message::user(words));
        }
    }
    let tools = tools(body, None)?;
    let schema = body.get("output_config").and_then(|config| config.get("format"));
    let schema = schema.map(|format| json!({ "name": "answer", "schema": format.get("schema") }));
    Ok(conversation.request(tools, tool_choice(body.get("tool_choice")), schema.as_ref()))
}

/// A conversation as it is read.
#[derive(Default)]
struct Conversation {
    instructions: String,
    messages: Vec<Message>,
    /// The tools' names by call.
    names: BTreeMap<String, String>,
}

impl Conversation {
    fn instruct(&mut self, text: &str) {
        if !self.instructions.is_empty() {
            self.instructions.push_str("\n\n");
        }
        self.instructions.push_str(text);
    }

    fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    fn answer(&mut self, content: String, tool_calls: Vec<ToolCall>) {
        for call in &tool_calls {
            self.names.insert(call.id.clone(), call.name.clone());
        }
        self.push(Message::Assistant { content, tool_calls, provider: None });
    }

    /// A call that is an item of its own belongs to the answer before it.
    fn call(&mut self, call: ToolCall) {
        self.names.insert(call.id.clone(), call.name.clone());
        match self.messages.last_mut() {
            Some(Message::Assistant { tool_calls, .. }) => tool_calls.push(call),
            _ => self.answer(String::new(), vec![call]),
        }
    }

    fn result(&mut self, call_id: &str, content: String) {
        let name = self.names.get(call_id).cloned().unwrap_or_default();
        self.push(Message::Tool { call_id: call_id.to_owned(), name, content });
    }

    fn request(self, tools: Vec<ToolSpec>, tool_choice: ToolChoice, schema: Option<&Value>) -> ModelRequest {
        ModelRequest {
            model: ModelName { provider: String::new(), model: String::new() },
            house_version: None,
            instructions: Some(self.instructions).filter(|text| !text.is_empty()),
            messages: self.messages,
            tools,
            tool_choice,
            response_schema: schema.map(|schema| ResponseSchema {
                name: schema.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                schema: schema.get("schema").cloned().unwrap_or_default(),
            }),
            // A house model does not sample.
            sampling: Sampling::default(),
        }
    }
}

fn list<'a>(body: &'a Fields, name: &str) -> Result<&'a Vec<Value>, String> {
    body.get(name).and_then(Value::as_array).ok_or_else(|| format!("`{name}` is not a list"))
}

fn string<'a>(of: &'a Value, name: &str) -> Result<&'a str, String> {
    of.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` is not a text"))
}

/// The text of a content, which is a text or a list of parts.
fn text(content: &Value) -> Result<String, String> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => parts
            .iter()
            .map(|part| {
                let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
                text.ok_or_else(|| "a house model reads texts only".to_owned())
            })
            .collect(),
        _ => Err("`content` is neither a text nor a list of parts".to_owned()),
    }
}

/// A call. Its arguments are an object, or a text that should contain one.
fn tool_call(id: &str, name: &str, arguments: &Value) -> ToolCall {
    let arguments = match arguments {
        Value::String(text) if text.trim().is_empty() => json!({}),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::String(text.clone()),
        },
        Value::Null => json!({}),
        object => object.clone(),
    };
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

/// The tools, each in a field of its own if `within` names one.
fn tools(body: &Fields, within: Option<&str>) -> Result<Vec<ToolSpec>, String> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let read = |tool: &Value| {
        let tool = within.map_or(Some(tool), |field| tool.get(field));
        let tool = tool.ok_or("a house model takes tools of the type `function` only")?;
        let parameters = tool.get("parameters").or_else(|| tool.get("input_schema"));
        Ok(ToolSpec {
            name: string(tool, "name")?.to_owned(),
            description: tool.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            parameters: parameters.cloned().unwrap_or_else(|| json!({ "type": "object" })),
        })
    };
    tools.map(read).collect()
}

/// `auto`, `none`, or a choice that demands a tool, in any protocol.
fn tool_choice(choice: Option<&Value>) -> ToolChoice {
    let kind = choice.and_then(|choice| choice.as_str().or_else(|| choice.get("type")?.as_str()));
    match kind {
        None | Some("auto") => ToolChoice::Auto,
        Some("none") => ToolChoice::None,
        Some(_) => ToolChoice::Required,
    }
}
