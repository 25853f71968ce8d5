//! Responses in the protocol's format, whole and streamed.

use super::generated_id;
use super::types::{ReplyPart, Response, Usage as Used};
use crate::bounds::Trees;
use crate::provider_state::ProviderPart;
use crate::reply::{RawReply, Stop};
use crate::wire::lenient::{self, Count};
use crate::wire::sse::{Event, Flow};
use crate::wire::{WireError, parse, reported, tool_call};
use papertape_core::message::Usage;

pub(in crate::wire) fn read_whole(body: &[u8]) -> Result<RawReply, WireError> {
    let mut answer = Stream::default();
    answer.add(parse(body)?, &mut |_| {})?;
    answer.finish()
}

/// A partial response. A whole response has the format of one event.
#[derive(Debug, Default)]
pub(in crate::wire) struct Stream {
    reply: RawReply,
    trees: Trees,
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
        self.add(parse(event.data.as_bytes())?, delta)?;
        // A finish reason is the only end mark.
        Ok(if self.reply.stop.is_some() { Flow::Done } else { Flow::Continue })
    }

    fn add(&mut self, response: Response, delta: &mut dyn FnMut(&str)) -> Result<(), WireError> {
        if let Some(error) = &response.error {
            return Err(reported(error));
        }
        // Each event has cumulative usage; the last one counts.
        if let Some(used) = &response.usage_metadata {
            self.reply.usage = usage(used);
        }
        let is_blocked = response.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some());
        if is_blocked {
            self.reply.stop = Some(Stop::Filter);
        }
        let Some(candidates) = response.candidates else {
            let says_something = is_blocked || response.usage_metadata.is_some();
            return if says_something { Ok(()) } else { Err(WireError::Unreadable) };
        };
        let Some(candidate) = candidates.into_iter().next() else { return Ok(()) };
        for part in candidate.content.unwrap_or_default().parts {
            self.add_part(part, delta)?;
        }
        if let Some(reason) = &candidate.finish_reason {
            self.reply.stop = Some(Stop::read(reason));
        }
        Ok(())
    }

    fn add_part(&mut self, part: ReplyPart, delta: &mut dyn FnMut(&str)) -> Result<(), WireError> {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty());
        if let Some(call) = part.function_call {
            let at = self.reply.tool_calls.len();
            let name = call.name.unwrap_or_default();
            let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| generated_id(&name, at));
            let call = tool_call((Some(id), at), Some(name), call.args.as_deref(), &mut self.trees)?;
            self.reply.tool_calls.push(call);
            self.reply.note.calls.push(signature.into_iter().collect());
            return Ok(());
        }
        self.reply.note.parts.extend(signature.map(ProviderPart::Signature));
        match part.text {
            Some(thought) if part.thought => self.reply.reasoning.get_or_insert_default().push_str(&thought),
            Some(text) if !text.is_empty() => {
                delta(&text);
                self.reply.text.push_str(&text);
            }
            _ => {}
        }
        Ok(())
    }

    pub(in crate::wire) fn finish(self) -> Result<RawReply, WireError> {
        Ok(self.reply)
    }
}

/// Gemini counts thoughts and its own tools' input separately.
fn usage(used: &Used) -> Option<Usage> {
    lenient::usage(
        Count::sum(&[used.prompt_token_count, used.tool_use_prompt_token_count]),
        used.cached_content_token_count,
        Count::sum(&[used.candidates_token_count, used.thoughts_token_count]),
    )
}
