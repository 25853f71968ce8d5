//! Provider state to send back with the next request, such as signed thinking: stored as a [`ProviderNote`]
//! and restored to its place in the conversation.
//!
//! Anthropic returns `thinking` blocks with signatures and `redacted_thinking`, Gemini signatures on texts
//! and calls, OpenRouter `reasoning_details`; all of these are parts of a response. DeepSeek and Moonshot
//! expect their plain reasoning back within a turn of tool calls, and nowhere else.

use crate::config::ProviderKind;
use papertape_core::message::{ModelName, ProviderNote};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The stored form of the state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NoteParts {
    /// The parts that are neither text nor calls, in the response's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<ProviderPart>,
    /// Each call's signatures, in the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderPart {
    /// The signature of the reasoning, text or call that follows it.
    Signature(String),
    /// Reasoning as text.
    Reasoning(String),
    /// A block, unchanged.
    Custom(Value),
}

/// The provider state of a response; `None` when its provider expects nothing back.
pub(crate) fn from_response(
    mut note: NoteParts,
    (reasoning, has_calls): (Option<&str>, bool),
    kind: ProviderKind,
    model: &ModelName,
) -> Option<ProviderNote> {
    if note.calls.iter().all(Vec::is_empty) {
        note.calls.clear();
    }
    let is_signed = !note.calls.is_empty()
        || note.parts.iter().any(|part| matches!(part, ProviderPart::Signature(_) | ProviderPart::Custom(_)));
    if !is_signed {
        note.parts.clear();
        let wants_reasoning = matches!(kind, ProviderKind::Deepseek | ProviderKind::Moonshot);
        let text = reasoning.filter(|text| has_calls && wants_reasoning && !text.trim().is_empty())?;
        note.parts.push(ProviderPart::Reasoning(text.to_owned()));
    }
    let content = serde_json::to_value(&note).ok()?;
    Some(ProviderNote { model: model.clone(), content })
}

/// What to send back with a turn: nothing if another model returned it or it cannot be read.
pub(crate) fn to_send(note: Option<&ProviderNote>, to: &ModelName) -> NoteParts {
    let own = note.filter(|note| note.model == *to);
    own.and_then(|note| NoteParts::deserialize(&note.content).ok()).unwrap_or_default()
}
