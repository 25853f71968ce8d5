//! Responses in the protocol's format, whole and streamed.

use super::types::{Block, Delta, Event as WireEvent, Response, Usage as Used};
use crate::bounds::{Bound, MAX_ARGUMENT_BYTES, MAX_ENTRIES, MAX_TOOL_CALLS, Trees};
use crate::provider_state::ProviderPart;
use crate::reply::{RawReply, Stop};
use crate::wire::lenient::{self, Count};
use crate::wire::sse::{Event, Flow};
use crate::wire::{WireError, parse, reported, spelled_call, tool_call, tree};
use papertape_core::message::Usage;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub(in crate::wire) fn read_whole(body: &[u8]) -> Result<RawReply, WireError> {
    let response: Response = parse(body)?;
    if let Some(error) = &response.error {
        return Err(reported(error));
    }
    let mut answer = Answer::default();
    for block in response.content.ok_or(WireError::Unreadable)? {
        answer.add(read_block(&block)?, &block)?;
    }
    answer.reply.stop = response.stop_reason.as_deref().map(Stop::read);
    answer.reply.usage = response.usage.as_ref().and_then(usage);
    Ok(answer.reply)
}

fn read_block(block: &RawValue) -> Result<Block, WireError> {
    serde_json::from_str(block.get()).map_err(|_| WireError::Unreadable)
}

/// A response assembled block by block.
#[derive(Debug, Default)]
struct Answer {
    reply: RawReply,
    trees: Trees,
}

impl Answer {
    /// Adds a complete block.
    fn add(&mut self, block: Block, raw: &RawValue) -> Result<(), WireError> {
        match block.kind.as_str() {
            "text" => self.reply.text.push_str(&block.text.unwrap_or_default()),
            "thinking" => {
                self.think(block.thinking.unwrap_or_default(), block.signature.unwrap_or_default());
            }
            "tool_use" => {
                let place = (block.id, self.reply.tool_calls.len());
                let call = tool_call(place, block.name, block.input.as_deref(), &mut self.trees)?;
                self.reply.tool_calls.push(call);
            }
            _ => self.reply.note.parts.push(ProviderPart::Custom(tree(raw, &mut self.trees)?)),
        }
        Ok(())
    }

    fn think(&mut self, thinking: String, signature: String) {
        if !thinking.is_empty() {
            let so_far = self.reply.reasoning.get_or_insert_default();
            if !so_far.is_empty() {
                so_far.push('\n');
            }
            so_far.push_str(&thinking);
        }
        if !signature.is_empty() {
            self.reply
                .note
                .parts
                .extend([ProviderPart::Signature(signature), ProviderPart::Reasoning(thinking)]);
        }
    }
}

/// A partial streamed response.
#[derive(Debug, Default)]
pub(in crate::wire) struct Stream {
    /// Blocks by index.
    blocks: BTreeMap<i128, PartialBlock>,
    stop: Option<Stop>,
    used: Option<Used>,
}

#[derive(Debug)]
struct PartialBlock {
    block: Block,
    raw: Box<RawValue>,
    /// The arguments of a call received so far.
    input: String,
}

impl Stream {
    pub(in crate::wire) fn take(
        &mut self,
        event: Event<'_>,
        delta: &mut dyn FnMut(&str),
    ) -> Result<Flow, WireError> {
        if event.data.trim().is_empty() {
            return Ok(Flow::Continue);
        }
        let read: WireEvent = parse(event.data.as_bytes())?;
        match read.kind.as_deref().unwrap_or(event.name) {
            "message_start" => self.add_usage(read.message.and_then(|message| message.usage)),
            "content_block_start" => self.start(read.index, read.content_block, delta)?,
            "content_block_delta" => self.add(read.index, read.delta.unwrap_or_default(), delta)?,
            "message_delta" => {
                self.add_usage(read.usage);
                if let Some(reason) = read.delta.and_then(|delta| delta.stop_reason) {
                    self.stop = Some(Stop::read(&reason));
                }
            }
            "message_stop" => return Ok(Flow::Done),
            "error" => return Err(read.error.map_or(WireError::Unreadable, |error| reported(&error))),
            // `ping`, `content_block_stop`, and future event types.
            _ => {}
        }
        Ok(Flow::Continue)
    }

    /// Counts are cumulative: a later event includes the earlier ones.
    fn add_usage(&mut self, used: Option<Used>) {
        let Some(used) = used else { return };
        let so_far = self.used.unwrap_or_default();
        self.used = Some(Used {
            input_tokens: so_far.input_tokens.or_greater(used.input_tokens),
            cache_creation_input_tokens: so_far
                .cache_creation_input_tokens
                .or_greater(used.cache_creation_input_tokens),
            cache_read_input_tokens: so_far.cache_read_input_tokens.or_greater(used.cache_read_input_tokens),
            output_tokens: so_far.output_tokens.or_greater(used.output_tokens),
        });
    }

    fn start(
        &mut self,
        index: Option<i128>,
        raw: Option<Box<RawValue>>,
        delta: &mut dyn FnMut(&str),
    ) -> Result<(), WireError> {
        let raw = raw.ok_or(WireError::Unreadable)?;
        let block = read_block(&raw)?;
        let index = index.unwrap_or_else(|| self.blocks.last_key_value().map_or(0, |(last, _)| last + 1));
        let max_index = i128::try_from(MAX_TOOL_CALLS).unwrap_or(i128::MAX);
        if block.kind == "tool_use" && !(0..max_index).contains(&index) {
            return Err(Bound::ToolCallIndex.into());
        }
        if let Some(text) = block.text.as_deref().filter(|text| !text.is_empty()) {
            delta(text);
        }
        self.blocks.insert(index, PartialBlock { block, raw, input: String::new() });
        if self.blocks.len() > MAX_ENTRIES {
            return Err(Bound::Entries.into());
        }
        Ok(())
    }

    fn add(
        &mut self,
        index: Option<i128>,
        piece: Delta,
        delta: &mut dyn FnMut(&str),
    ) -> Result<(), WireError> {
        let index = index.or_else(|| self.blocks.last_key_value().map(|(last, _)| *last));
        let partial = index.and_then(|index| self.blocks.get_mut(&index)).ok_or(WireError::Unreadable)?;
        let add = |to: &mut Option<String>, more: Option<String>| {
            if let Some(more) = more {
                to.get_or_insert_default().push_str(&more);
            }
        };
        if let Some(text) = piece.text.as_deref().filter(|text| !text.is_empty()) {
            delta(text);
        }
        add(&mut partial.block.text, piece.text);
        add(&mut partial.block.thinking, piece.thinking);
        add(&mut partial.block.signature, piece.signature);
        if let Some(json) = piece.partial_json {
            if partial.input.len() + json.len() > MAX_ARGUMENT_BYTES {
                return Err(Bound::Arguments.into());
            }
            partial.input.push_str(&json);
        }
        Ok(())
    }

    pub(in crate::wire) fn finish(self) -> Result<RawReply, WireError> {
        let mut answer = Answer::default();
        for partial in self.blocks.into_values() {
            let PartialBlock { block, raw, input } = partial;
            if block.kind == "tool_use" && !input.is_empty() {
                let place = (block.id, answer.reply.tool_calls.len());
                let call = spelled_call(place, block.name, &input, &mut answer.trees)?;
                answer.reply.tool_calls.push(call);
            } else {
                answer.add(block, &raw)?;
            }
        }
        answer.reply.stop = self.stop;
        answer.reply.usage = self.used.as_ref().and_then(usage);
        Ok(answer.reply)
    }
}

/// Anthropic counts cache reads and cache writes separately.
fn usage(used: &Used) -> Option<Usage> {
    let read = match used.input_tokens {
        Count::Absent => Count::Absent,
        input => Count::sum(&[input, used.cache_creation_input_tokens, used.cache_read_input_tokens]),
    };
    lenient::usage(read, used.cache_read_input_tokens, used.output_tokens)
}
