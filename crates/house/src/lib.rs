//! The house models: rule-based stand-ins that use the same chat protocol as an LLM, read the real tool
//! results in the conversation, and explain their reasons in plain words.
//!
//! They make the whole product work without a key or a network, and they are the baseline that a real model
//! has to beat. A response is a pure function of the request: no state, no randomness, no clock.
//!
//! It must never know a provider, the record or the market: core alone, and no I/O.
//!
//! Each file below implements one capability; [`answer`] tries them in turn. A change to what a response
//! decides increments [`VERSION`], which is part of a step's digest. Better wording for the same decision
//! does not: existing records resume and replay with the recorded text.

mod assistant;
mod day;
mod desk;
mod indicators;
mod language;
mod market;
mod memory;
mod number;
mod phrases;
mod plan;
mod quiz;
mod solo;
mod strategy;
mod summary;

use papertape_core::message::{FinishReason, Message, ModelReply, ModelRequest, ToolCall, ToolSpec, Usage};
use papertape_core::ports::{BuiltInModels, ModelResponse};
use serde_json::Value;
use strategy::Strategy;

/// The version of their rules and texts.
pub const VERSION: u32 = 2;

/// Their names, without the prefix `house::`.
pub const NAMES: [&str; 3] = ["buy_and_hold", "contrarian", "momentum"];

/// The name of the house assistant, without the prefix `house::`: it answers users and never trades. Every
/// house model can act as the assistant; this name can do nothing else.
pub const ASSISTANT: &str = "assistant";

/// The house models behind core's port.
#[derive(Clone, Copy, Debug, Default)]
pub struct HouseModels;

impl BuiltInModels for HouseModels {
    fn check(&self, name: &str) -> Result<(), String> {
        check(name)
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn respond(&self, request: &ModelRequest) -> Result<ModelResponse, String> {
        answer(request)
    }
}

/// Checks that the house model exists.
///
/// # Errors
/// A sentence that lists the existing ones.
pub fn check(model: &str) -> Result<(), String> {
    if model == ASSISTANT { Ok(()) } else { strategy(model).map(|_| ()) }
}

/// The model's response. Its usage is an estimate: one token per four characters, rounded up.
///
/// # Errors
/// An unknown model, as for [`check`].
pub fn answer(request: &ModelRequest) -> Result<ModelResponse, String> {
    let strategy = match request.model.model.as_str() {
        ASSISTANT => None,
        name => Some(strategy(name)?),
    };
    let draft = assistant::draft(request)
        .or_else(|| quiz::draft(request))
        .or_else(|| desk::draft(request, strategy?))
        .or_else(|| summary::draft(request))
        .or_else(|| memory::draft(request, strategy?))
        .or_else(|| solo::draft(request, strategy?))
        .unwrap_or_else(|| Draft::text(phrases::nothing_to_do(&request.model)));
    let reply = draft.into_reply(request.messages.len());
    let usage = usage(request, &reply);
    Ok(ModelResponse { reply, usage: Some(usage) })
}

fn strategy(model: &str) -> Result<Strategy, String> {
    Strategy::named(model).ok_or_else(|| {
        let known: Vec<String> = NAMES.iter().map(|name| format!("house::{name}")).collect();
        format!("unknown house model `house::{model}`; expected one of {}", known.join(", "))
    })
}

/// A tool's result as JSON, fenced or not; `None` when it is invalid.
fn data(content: &str) -> Option<Value> {
    let text = papertape_core::fence::unfenced(content);
    let text = text.as_deref().unwrap_or(content);
    // JSON has no line breaks in strings; where the fence inserted one, a space will do.
    serde_json::from_str(text.replace('\n', " ").trim()).ok()
}

/// The fenced texts, concatenated, or the whole text when nothing is fenced.
fn material(text: &str) -> String {
    let fenced = papertape_core::fence::parts(text).fenced;
    if fenced.is_empty() {
        return text.to_owned();
    }
    fenced.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n")
}

/// A turn under construction.
#[derive(Debug)]
struct Draft {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

impl Draft {
    fn text(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    /// The turn that follows `turns` earlier ones; its call IDs are unique within the conversation.
    fn into_reply(self, turns: usize) -> ModelReply {
        let call = |(at, (name, arguments)): (usize, (&str, Value))| ToolCall {
            id: format!("house_{turns}_{at}"),
            name: name.to_owned(),
            arguments,
        };
        let tool_calls: Vec<ToolCall> = self.calls.into_iter().enumerate().map(call).collect();
        let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        ModelReply { text: self.text, tool_calls, finish, ..ModelReply::default() }
    }
}

fn usage(request: &ModelRequest, reply: &ModelReply) -> Usage {
    let tokens = |characters: usize| u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX);
    let characters = |texts: &[&str]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
    let calls = |calls: &[ToolCall]| -> usize {
        calls.iter().map(|call| characters(&[&call.name, &call.arguments.to_string()])).sum()
    };
    let message = |message: &Message| {
        let made = if let Message::Assistant { tool_calls, .. } = message { calls(tool_calls) } else { 0 };
        characters(&[message.content()]) + made
    };
    let tool = |tool: &ToolSpec| characters(&[&tool.name, &tool.description, &tool.parameters.to_string()]);
    let read = characters(&[request.instructions.as_deref().unwrap_or_default()])
        + request.tools.iter().map(tool).sum::<usize>()
        + request.messages.iter().map(message).sum::<usize>();
    let written = characters(&[&reply.text]) + calls(&reply.tool_calls);
    Usage { input_tokens: tokens(read), cached_tokens: 0, output_tokens: tokens(written) }
}
