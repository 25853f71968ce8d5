//! Puts a streamed message of Anthropic's together.

use super::{append, event_object, reported, set_known};
use crate::bounds::{Bound, MAX_ARGUMENT_BYTES, MAX_ENTRIES, MAX_TOOL_CALLS, Trees};
use crate::wire::sse::{Event, Flow};
use crate::wire::{WireError, read_arguments, sendable};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A partial answer.
#[derive(Default)]
pub(super) struct Assembler {
    body: Option<Map<String, Value>>,
    blocks: BTreeMap<usize, Block>,
}

struct Block {
    fields: Map<String, Value>,
    /// The arguments of a call received so far.
    input: String,
}

impl Block {
    fn is(&self, kind: &str) -> bool {
        self.fields.get("type").and_then(Value::as_str) == Some(kind)
    }
}

impl Assembler {
    pub(super) fn take(&mut self, event: Event<'_>, delta: &mut dyn FnMut(&str)) -> Result<Flow, WireError> {
        let Some(mut fields) = event_object(event.data)? else { return Ok(Flow::Continue) };
        let kind = fields.remove("type");
        match kind.as_ref().and_then(Value::as_str).unwrap_or(event.name) {
            "message_start" => match fields.remove("message") {
                Some(Value::Object(message)) => self.body = Some(message),
                _ => return Err(WireError::Unreadable),
            },
            "content_block_start" => self.start(fields, delta)?,
            "content_block_delta" => self.add(fields, delta)?,
            "message_delta" => self.add_to_message(fields)?,
            "message_stop" => return Ok(Flow::Done),
            "error" => return Err(reported(&Value::Object(fields))),
            // `ping`, `content_block_stop`, and future event types.
            _ => {}
        }
        Ok(Flow::Continue)
    }

    fn start(
        &mut self,
        mut fields: Map<String, Value>,
        delta: &mut dyn FnMut(&str),
    ) -> Result<(), WireError> {
        let next = self.blocks.last_key_value().map_or(0, |(last, _)| last + 1);
        let index = index(&fields).unwrap_or(next);
        let Some(Value::Object(block)) = fields.remove("content_block") else {
            return Err(WireError::Unreadable);
        };
        let block = Block { fields: block, input: String::new() };
        if index >= MAX_TOOL_CALLS && block.is("tool_use") {
            return Err(Bound::ToolCallIndex.into());
        }
        if self.blocks.len() >= MAX_ENTRIES {
            return Err(Bound::Entries.into());
        }
        if let Some(text) = block.fields.get("text").and_then(Value::as_str) {
            early(index, &block, text, delta);
        }
        self.blocks.insert(index, block);
        Ok(())
    }

    fn add(&mut self, mut fields: Map<String, Value>, delta: &mut dyn FnMut(&str)) -> Result<(), WireError> {
        let index = index(&fields).or_else(|| self.blocks.last_key_value().map(|(last, _)| *last));
        let Some((index, block)) = index.and_then(|index| Some((index, self.blocks.get_mut(&index)?))) else {
            return Err(WireError::Unreadable);
        };
        let Some(Value::Object(piece)) = fields.remove("delta") else { return Err(WireError::Unreadable) };
        for (key, value) in piece {
            match (key.as_str(), value) {
                ("type", _) | (_, Value::Null) => {}
                ("partial_json", Value::String(json)) => {
                    if block.input.len() + json.len() > MAX_ARGUMENT_BYTES {
                        return Err(Bound::Arguments.into());
                    }
                    block.input.push_str(&json);
                }
                ("citation", citation) => {
                    let citations = block.fields.entry("citations").or_insert_with(|| json!([]));
                    if !citations.is_array() {
                        *citations = json!([]);
                    }
                    if let Value::Array(citations) = citations {
                        citations.push(citation);
                    }
                }
                (key, value) => {
                    if key == "text"
                        && let Some(text) = value.as_str()
                    {
                        early(index, block, text, delta);
                    }
                    append(&mut block.fields, key, value);
                }
            }
        }
        Ok(())
    }

    fn add_to_message(&mut self, mut fields: Map<String, Value>) -> Result<(), WireError> {
        let body = self.body.as_mut().ok_or(WireError::Unreadable)?;
        let usage = fields.remove("usage");
        if let Some(Value::Object(delta)) = fields.remove("delta") {
            set_known(body, delta);
        }
        set_known(body, fields);
        // Counts are cumulative: a later event includes the earlier ones.
        match (body.get_mut("usage"), usage) {
            (Some(Value::Object(so_far)), Some(Value::Object(usage))) => set_known(so_far, usage),
            (_, Some(usage @ Value::Object(_))) => drop(body.insert("usage".to_owned(), usage)),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Value, WireError> {
        let mut body = self.body.ok_or(WireError::Unreadable)?;
        let mut trees = Trees::default();
        let mut content = Vec::new();
        for Block { mut fields, input } in self.blocks.into_values() {
            if !input.is_empty() {
                let arguments = read_arguments(&input, &mut trees)?;
                fields.insert("input".to_owned(), sendable(&arguments).into_owned());
            }
            content.push(Value::Object(fields));
        }
        body.insert("content".to_owned(), Value::Array(content));
        Ok(Value::Object(body))
    }
}

/// Words are passed on early only if the answer begins with them: a block before them would come too late.
fn early(index: usize, block: &Block, text: &str, delta: &mut dyn FnMut(&str)) {
    if index == 0 && block.is("text") && !text.is_empty() {
        delta(text);
    }
}

fn index(fields: &Map<String, Value>) -> Option<usize> {
    fields.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok())
}
