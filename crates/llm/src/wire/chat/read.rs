//! Responses in the protocol's format, whole and streamed.

use super::types::{Reply, ReplyCall, Response, Usage as WireUsage};
use crate::bounds::{Bound, MAX_ARGUMENT_BYTES, MAX_TOOL_CALLS, Trees};
use crate::config::ProviderKind;
use crate::provider_state::ProviderPart;
use crate::reply::{RawReply, Stop};
use crate::wire::lenient::{self, Count};
use crate::wire::sse::{Event, Flow};
use crate::wire::{Decoder, WireError, parse, reported, spelled_call, tool_call, tree, unquoted};
use papertape_core::message::Usage;
use serde_json::Value;
use std::collections::BTreeMap;

pub(in crate::wire) fn read_whole(kind: ProviderKind, body: &[u8]) -> Result<RawReply, WireError> {
    let response: Response = parse(body)?;
    let usage = response.usage.and_then(|used| usage(&used, kind));
    let Some(mut choices) = response.choices else {
        return Err(response.error.map_or(WireError::Unreadable, |error| reported(&error)));
    };
    let first = if choices.is_empty() { None } else { Some(choices.swap_remove(0)) };
    let Some(choice) = first else {
        // Some gateways return 200 with an error in place of a response.
        return match response.error {
            Some(error) => Err(reported(&error)),
            None => Ok(RawReply { usage, ..RawReply::default() }),
        };
    };
    let message = choice.message.unwrap_or_default();
    let mut trees = Trees::default();
    let mut reply = RawReply { usage, ..RawReply::default() };
    for detail in &message.reasoning_details {
        reply.note.parts.push(ProviderPart::Custom(tree(detail, &mut trees)?));
    }
    for (at, call) in message.tool_calls.into_iter().enumerate() {
        let function = call.function.unwrap_or_default();
        let arguments = function.arguments.as_deref();
        reply.tool_calls.push(tool_call((call.id, at), function.name, arguments, &mut trees)?);
    }
    let refused = message.refusal.is_some_and(|refusal| !refusal.is_empty());
    reply.reasoning = message.reasoning.or(message.reasoning_content).or(message.content.thinking);
    reply.text = message.content.text.unwrap_or_default();
    reply.stop = choice.finish_reason.as_deref().map(Stop::read);
    if refused && reply.text.is_empty() {
        reply.stop = Some(Stop::Filter);
    }
    match response.error {
        Some(error) if reply.text.is_empty() && reply.tool_calls.is_empty() => Err(reported(&error)),
        _ => Ok(reply),
    }
}

/// A partial streamed response.
#[derive(Debug)]
pub(in crate::wire) struct Stream {
    kind: ProviderKind,
    reply: RawReply,
    /// Calls by index.
    calls: BTreeMap<usize, PartialCall>,
    details: Vec<Value>,
    trees: Trees,
    refused: bool,
}

#[derive(Debug, Default)]
struct PartialCall {
    id: Option<String>,
    name: Option<String>,
    arguments: String,
}

impl Stream {
    pub(in crate::wire) fn new(kind: ProviderKind) -> Self {
        Self {
            kind,
            reply: RawReply::default(),
            calls: BTreeMap::new(),
            details: Vec::new(),
            trees: Trees::default(),
            refused: false,
        }
    }

    fn add(&mut self, piece: Reply, delta: &mut dyn FnMut(&str)) -> Result<(), WireError> {
        let reasoning = piece.content.thinking.or(piece.reasoning_content).or(piece.reasoning);
        if let Some(reasoning) = reasoning.filter(|reasoning| !reasoning.is_empty()) {
            self.reply.reasoning.get_or_insert_default().push_str(&reasoning);
        }
        if let Some(text) = piece.content.text.filter(|text| !text.is_empty()) {
            delta(&text);
            self.reply.text.push_str(&text);
        }
        self.refused |= piece.refusal.is_some_and(|refusal| !refusal.is_empty());
        for detail in &piece.reasoning_details {
            let detail = tree(detail, &mut self.trees)?;
            self.add_detail(detail);
        }
        piece.tool_calls.into_iter().try_for_each(|call| self.add_call(call))
    }

    fn add_call(&mut self, piece: ReplyCall) -> Result<(), WireError> {
        let index = match piece.index {
            Some(index) => usize::try_from(index)
                .ok()
                .filter(|index| *index < MAX_TOOL_CALLS)
                .ok_or(Bound::ToolCallIndex)?,
            None => self.unindexed(piece.id.as_deref()),
        };
        if index >= MAX_TOOL_CALLS {
            return Err(Bound::ToolCalls.into());
        }
        let call = self.calls.entry(index).or_default();
        let function = piece.function.unwrap_or_default();
        call.id = call.id.take().filter(|id| !id.is_empty()).or(piece.id);
        call.name = call.name.take().filter(|name| !name.is_empty()).or(function.name);
        if let Some(arguments) = function.arguments {
            let text = unquoted(&arguments)?;
            if call.arguments.len() + text.len() > MAX_ARGUMENT_BYTES {
                return Err(Bound::Arguments.into());
            }
            call.arguments.push_str(&text);
        }
        Ok(())
    }

    /// The index of a chunk that has none: a new ID starts a new call.
    fn unindexed(&self, id: Option<&str>) -> usize {
        let Some((last, call)) = self.calls.last_key_value() else { return 0 };
        match id.filter(|id| !id.is_empty()) {
            Some(id) if call.id.as_deref() != Some(id) => last + 1,
            _ => *last,
        }
    }

    /// OpenRouter streams its blocks in chunks with the block's type and index.
    fn add_detail(&mut self, piece: Value) {
        let same = |last: &Value| {
            ["type", "index"].iter().all(|key| last.get(key).is_some() && last.get(key) == piece.get(key))
        };
        let Some(last) = self.details.last_mut().filter(|last| same(last)) else {
            self.details.push(piece);
            return;
        };
        let (Value::Object(last), Value::Object(piece)) = (last, piece) else { return };
        for (key, value) in piece {
            match (last.get_mut(&key), value) {
                (_, Value::Null) => {}
                (Some(Value::String(text)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(&more);
                }
                (_, value) => drop(last.insert(key, value)),
            }
        }
    }
}

impl Decoder for Stream {
    fn take(&mut self, event: Event<'_>, delta: &mut dyn FnMut(&str)) -> Result<Flow, WireError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(Flow::Done);
        }
        if data.is_empty() {
            return Ok(Flow::Continue);
        }
        let response: Response = parse(data.as_bytes())?;
        if let Some(error) = &response.error {
            return Err(reported(error));
        }
        // Some send cumulative usage with every event; the last one counts, even an implausible one.
        let used = response.usage.or(response.x_groq.and_then(|groq| groq.usage));
        if let Some(used) = used.filter(|used| !used.is_empty()) {
            self.reply.usage = usage(&used, self.kind);
        }
        if let Some(choice) = response.choices.into_iter().flatten().next() {
            if let Some(reason) = &choice.finish_reason {
                self.reply.stop = Some(Stop::read(reason));
            }
            if let Some(piece) = choice.delta.or(choice.message) {
                self.add(piece, delta)?;
            }
        }
        Ok(Flow::Continue)
    }

    fn finish(mut self: Box<Self>) -> Result<RawReply, WireError> {
        let mut reply = self.reply;
        if self.refused && reply.text.is_empty() {
            reply.stop = Some(Stop::Filter);
        }
        for (at, call) in self.calls.into_values().enumerate() {
            reply.tool_calls.push(spelled_call((call.id, at), call.name, &call.arguments, &mut self.trees)?);
        }
        reply.note.parts = self.details.into_iter().map(ProviderPart::Custom).collect();
        Ok(reply)
    }
}

fn usage(used: &WireUsage, kind: ProviderKind) -> Option<Usage> {
    let cached = used.prompt_tokens_details.unwrap_or_default().cached_tokens;
    let reasoning = used.completion_tokens_details.unwrap_or_default().reasoning_tokens;
    let output = match (used.completion_tokens, reasoning) {
        (Count::Absent, reasoning) => reasoning,
        // Some of xAI's models count reasoning only in the total, not in the completion tokens.
        (Count::Known(written), Count::Known(thought)) if kind == ProviderKind::Xai => {
            let both = Count::sum(&[used.prompt_tokens, Count::Known(written), Count::Known(thought)]);
            match (used.total_tokens, both) {
                (Count::Known(total), Count::Known(both)) if total < both => Count::Known(written),
                _ => Count::sum(&[Count::Known(written), Count::Known(thought)]),
            }
        }
        (output, _) => output,
    };
    lenient::usage(used.prompt_tokens, cached, output)
}
