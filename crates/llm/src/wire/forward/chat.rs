//! Puts a streamed chat completion together.

use super::{append, event_object, reported, set_known};
use crate::bounds::{Bound, MAX_ARGUMENT_BYTES, MAX_TOOL_CALLS};
use crate::wire::WireError;
use crate::wire::sse::{Event, Flow};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Texts that every chunk repeats or sends once.
const WHOLE: [&str; 6] = ["role", "id", "type", "name", "format", "signature"];

/// A partial answer.
#[derive(Default)]
pub(super) struct Assembler {
    body: Map<String, Value>,
    choices: BTreeMap<u64, Choice>,
}

#[derive(Default)]
struct Choice {
    /// Everything but the message.
    fields: Map<String, Value>,
    message: Map<String, Value>,
    calls: BTreeMap<usize, Map<String, Value>>,
}

impl Assembler {
    pub(super) fn take(&mut self, event: Event<'_>, delta: &mut dyn FnMut(&str)) -> Result<Flow, WireError> {
        if event.data.trim() == "[DONE]" {
            return Ok(Flow::Done);
        }
        let Some(mut chunk) = event_object(event.data)? else { return Ok(Flow::Continue) };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(reported(error));
        }
        let choices = chunk.remove("choices");
        set_known(&mut self.body, chunk);
        let Some(Value::Array(choices)) = choices else { return Ok(Flow::Continue) };
        for choice in choices {
            let Value::Object(choice) = choice else { return Err(WireError::Unreadable) };
            self.add(choice, delta)?;
        }
        Ok(Flow::Continue)
    }

    fn add(&mut self, mut more: Map<String, Value>, delta: &mut dyn FnMut(&str)) -> Result<(), WireError> {
        let index = more.remove("index").and_then(|index| index.as_u64()).unwrap_or(0);
        if index >= MAX_TOOL_CALLS as u64 {
            return Err(Bound::Entries.into());
        }
        let choice = self.choices.entry(index).or_default();
        let piece = more.remove("delta").filter(Value::is_object).or_else(|| more.remove("message"));
        more.remove("message");
        if let Some(Value::Object(log)) = more.remove("logprobs") {
            let so_far = choice.fields.entry("logprobs").or_insert_with(|| json!({}));
            if let Value::Object(so_far) = so_far {
                log.into_iter()
                    .filter(|(_, list)| !list.is_null())
                    .for_each(|(key, list)| append(so_far, &key, list));
            }
        }
        set_known(&mut choice.fields, more);
        let Some(Value::Object(piece)) = piece else { return Ok(()) };
        if let Some(Value::String(text)) = piece.get("content").filter(|_| index == 0)
            && !text.is_empty()
        {
            delta(text);
        }
        for (key, value) in piece {
            match (key.as_str(), value) {
                (_, Value::Null) => {}
                ("tool_calls", Value::Array(calls)) => {
                    for call in calls {
                        choice.add_call(call)?;
                    }
                }
                (key, value) if WHOLE.contains(&key) => drop(choice.message.insert(key.to_owned(), value)),
                (key, Value::Array(items)) => add_items(&mut choice.message, key, items),
                (key, Value::Object(more)) => add_object(&mut choice.message, key, more),
                (key, value) => append(&mut choice.message, key, value),
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Value {
        self.body.insert("object".to_owned(), "chat.completion".into());
        let choices = self.choices.into_iter().map(|(index, choice)| choice.finish(index));
        self.body.insert("choices".to_owned(), choices.collect());
        Value::Object(self.body)
    }
}

impl Choice {
    fn add_call(&mut self, call: Value) -> Result<(), WireError> {
        let Value::Object(mut call) = call else { return Err(WireError::Unreadable) };
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let index = match call.get("index").filter(|index| !index.is_null()) {
            Some(index) => {
                let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                index.filter(|index| *index < MAX_TOOL_CALLS).ok_or(Bound::ToolCallIndex)?
            }
            None => self.unindexed(id),
        };
        if index >= MAX_TOOL_CALLS {
            return Err(Bound::ToolCalls.into());
        }
        call.remove("index");
        let so_far = self.calls.entry(index).or_default();
        for (key, value) in call {
            match value {
                Value::Null => {}
                Value::String(text) if text.is_empty() && so_far.contains_key(&key) => {}
                Value::Object(mut more) => {
                    // A string that should contain an object; some servers send the object itself.
                    if let Some(arguments @ Value::Object(_)) = more.get_mut("arguments") {
                        *arguments = Value::String(arguments.to_string());
                    }
                    add_object(so_far, &key, more);
                }
                value => drop(so_far.insert(key, value)),
            }
        }
        let length = |part: &str, field: &str| {
            so_far.get(part).and_then(|part| part.get(field)?.as_str()).map_or(0, str::len)
        };
        if length("function", "arguments").max(length("custom", "input")) > MAX_ARGUMENT_BYTES {
            return Err(Bound::Arguments.into());
        }
        Ok(())
    }

    /// The index of a chunk that has none: a new ID starts a new call.
    fn unindexed(&self, id: Option<&str>) -> usize {
        let Some((last, call)) = self.calls.last_key_value() else { return 0 };
        match id {
            Some(id) if call.get("id").and_then(Value::as_str) != Some(id) => last + 1,
            _ => *last,
        }
    }

    fn finish(mut self, index: u64) -> Value {
        self.message.entry("role").or_insert_with(|| "assistant".into());
        self.message.entry("content").or_insert(Value::Null);
        if !self.calls.is_empty() {
            let calls = self.calls.into_values().enumerate().map(|(at, mut call)| {
                call.entry("id").or_insert_with(|| format!("call_{at}").into());
                call.entry("type").or_insert_with(|| "function".into());
                Value::Object(call)
            });
            self.message.insert("tool_calls".to_owned(), calls.collect());
        }
        let mut choice = Map::new();
        choice.insert("index".to_owned(), index.into());
        choice.insert("message".to_owned(), Value::Object(self.message));
        choice.insert("logprobs".to_owned(), Value::Null);
        choice.insert("finish_reason".to_owned(), Value::Null);
        choice.extend(self.fields);
        Value::Object(choice)
    }
}

/// Adds to an object in a field: its texts continue, except those that are sent whole.
fn add_object(fields: &mut Map<String, Value>, name: &str, more: Map<String, Value>) {
    let so_far = fields.entry(name).or_insert_with(|| json!({}));
    let Value::Object(so_far) = so_far else {
        *so_far = Value::Object(more);
        return;
    };
    for (key, value) in more {
        match value {
            Value::Null => {}
            Value::String(text) if WHOLE.contains(&key.as_str()) => {
                if !text.is_empty() || !so_far.contains_key(&key) {
                    so_far.insert(key, text.into());
                }
            }
            value => append(so_far, &key, value),
        }
    }
}

/// Adds to a list. An item with the type and index of the last one continues it, as `OpenRouter` streams its blocks.
fn add_items(fields: &mut Map<String, Value>, name: &str, items: Vec<Value>) {
    let so_far = fields.entry(name).or_insert_with(|| json!([]));
    let Value::Array(so_far) = so_far else {
        *so_far = Value::Array(items);
        return;
    };
    for item in items {
        let continues = |last: &Value| {
            ["type", "index"].iter().all(|key| last.get(key).is_some() && last.get(key) == item.get(key))
        };
        let is_same = so_far.last().is_some_and(continues);
        match (so_far.last_mut().filter(|_| is_same), item) {
            (Some(Value::Object(last)), Value::Object(item)) => {
                for (key, value) in item {
                    match (key.as_str(), value) {
                        (_, Value::Null) => {}
                        ("text" | "summary" | "data", value) => append(last, &key, value),
                        (_, value) => drop(last.insert(key, value)),
                    }
                }
            }
            (_, item) => so_far.push(item),
        }
    }
}
