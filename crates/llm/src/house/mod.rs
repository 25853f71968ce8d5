//! The house models: rule-based stand-ins that speak the same chat protocol as a language model, read
//! the real tool results in the conversation, and give their reasons in plain words.
//!
//! They make the whole product work without a key or a network, and are the baseline that a real
//! model has to beat. An answer is a pure function of the request: no state, no randomness, no clock.
//!
//! Each file below is one thing that they can do; [`answer`] asks them in turn. What changes
//! what an answer decides counts [`VERSION`] up, which is part of a step's digest. Better words for the same
//! do not: records of before are resumed and replayed with the words that they hold.

mod assistant;
mod day;
mod desk;
mod indicators;
mod market;
mod memory;
mod number;
mod plan;
mod solo;
mod strategy;
mod summary;
mod words;

use papertape_core::message::{FinishReason, ModelReply, ModelRequest, ToolCall, Usage};
use papertape_core::ports::Answer;
use serde_json::Value;
use strategy::Strategy;

/// The version of their rules and words.
pub const VERSION: u32 = 2;

/// Their names, after `house::`.
pub const NAMES: [&str; 3] = ["buy_and_hold", "contrarian", "momentum"];

/// The house's assistant, after `house::`: it answers a person and trades nothing. Every house model can
/// play its part; this name has no other.
pub const ASSISTANT: &str = "assistant";

/// Is there such a house model?
///
/// # Errors
/// A sentence that lists those that there are.
pub fn check(model: &str) -> Result<(), String> {
    if model == ASSISTANT { Ok(()) } else { strategy(model).map(|_| ()) }
}

/// What the model answers. Its usage is an estimate: a token for every four characters, rounded up.
///
/// # Errors
/// An unknown model, as in [`check`].
pub fn answer(request: &ModelRequest) -> Result<Answer, String> {
    let strategy = match request.model.model.as_str() {
        ASSISTANT => None,
        name => Some(strategy(name)?),
    };
    let draft = assistant::draft(request)
        .or_else(|| desk::draft(request, strategy?))
        .or_else(|| summary::draft(request))
        .or_else(|| memory::draft(request, strategy?))
        .or_else(|| solo::draft(request, strategy?))
        .unwrap_or_else(|| Draft::text(words::nothing_to_do(&request.model)));
    let reply = draft.into_reply(request.messages.len());
    let usage = usage(request, &reply);
    Ok(Answer { reply, usage: Some(usage) })
}

fn strategy(model: &str) -> Result<Strategy, String> {
    Strategy::named(model).ok_or_else(|| {
        let known: Vec<String> = NAMES.iter().map(|name| format!("house::{name}")).collect();
        format!("there is no house model `house::{model}`; there are {}", known.join(", "))
    })
}

/// An answer of a tool as JSON, fenced or not; `None` where it is none.
fn data(content: &str) -> Option<Value> {
    let text = papertape_core::fence::unfenced(content);
    let text = text.as_deref().unwrap_or(content);
    // JSON breaks no line of its own; where the fence broke one inside a string, a space does as well.
    serde_json::from_str(text.replace('\n', " ").trim()).ok()
}

/// A text without the fences in it: what is fenced, one after the other, or the text where nothing is.
fn material(text: &str) -> String {
    let fenced = papertape_core::fence::parts(text).fenced;
    if fenced.is_empty() {
        return text.to_owned();
    }
    fenced.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n")
}

/// A turn in the making.
#[derive(Debug)]
struct Draft {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

impl Draft {
    fn text(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    /// The turn that follows `turns` earlier ones; the ids of its calls are unique in a conversation.
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
    let call = |call: &ToolCall| call.name.chars().count() + call.arguments.to_string().chars().count();
    let message = |message: &papertape_core::message::Message| {
        let calls = match message {
            papertape_core::message::Message::Assistant { tool_calls, .. } => {
                tool_calls.iter().map(call).sum()
            }
            _ => 0,
        };
        message.content().chars().count() + calls
    };
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| {
            tool.name.chars().count()
                + tool.description.chars().count()
                + tool.parameters.to_string().chars().count()
        })
        .sum();
    let instructions = request.instructions.as_deref().unwrap_or_default().chars().count();
    let read = instructions + tools + request.messages.iter().map(message).sum::<usize>();
    let written = reply.text.chars().count() + reply.tool_calls.iter().map(call).sum::<usize>();
    Usage { input_tokens: tokens(read), cached_tokens: 0, output_tokens: tokens(written) }
}
