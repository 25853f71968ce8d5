//! What a provider wants back with the next request: signed thinking and the like, kept as a
//! [`ProviderNote`] and put back where it came from.
//!
//! Anthropic gives `thinking` blocks with signatures and `redacted_thinking`, Gemini signatures on texts
//! and calls, OpenRouter `reasoning_details`; all of these come as parts of an answer. DeepSeek and
//! Moonshot want their plain reasoning back within a turn of tool calls, and nowhere else.

use crate::config::ProviderKind;
use genai::chat::{ContentPart, CustomPart, MessageContent};
use papertape_core::message::{ModelName, ProviderNote};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A note as the record keeps it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    /// The parts that are neither text nor calls, in the answer's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    /// Each call's own signatures, in the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Vec<String>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part {
    Signature(String),
    Reasoning(String),
    Custom(Value),
}

/// The note of an answer; `None` where its provider wants nothing back.
pub(crate) fn of_answer(
    content: &MessageContent,
    reasoning: Option<&str>,
    kind: ProviderKind,
    model: &ModelName,
) -> Option<ProviderNote> {
    let mut note = Note::default();
    for part in content.parts() {
        match part {
            ContentPart::ThoughtSignature(signature) => note.parts.push(Part::Signature(signature.clone())),
            ContentPart::ReasoningContent(text) => note.parts.push(Part::Reasoning(text.clone())),
            ContentPart::Custom(custom) => note.parts.push(Part::Custom(custom.data.clone())),
            ContentPart::ToolCall(call) => {
                note.calls.push(call.thought_signatures.clone().unwrap_or_default())
            }
            _ => {}
        }
    }
    let has_calls = !note.calls.is_empty();
    if note.calls.iter().all(Vec::is_empty) {
        note.calls.clear();
    }
    let is_signed = !note.calls.is_empty()
        || note.parts.iter().any(|part| matches!(part, Part::Signature(_) | Part::Custom(_)));
    if !is_signed {
        note.parts.clear();
        let wants_reasoning = matches!(kind, ProviderKind::Deepseek | ProviderKind::Moonshot);
        let text = reasoning.filter(|text| has_calls && wants_reasoning && !text.trim().is_empty())?;
        note.parts.push(Part::Reasoning(text.to_owned()));
    }
    let content = serde_json::to_value(&note).ok()?;
    Some(ProviderNote { model: model.clone(), content })
}

/// The parts to put before a turn's text, and each call's signatures: nothing of what another model gave,
/// or of what cannot be read.
pub(crate) fn to_parts(note: Option<&ProviderNote>, to: &ModelName) -> (Vec<ContentPart>, Vec<Vec<String>>) {
    let own = note.filter(|note| note.model == *to);
    let note = own.and_then(|note| Note::deserialize(&note.content).ok()).unwrap_or_default();
    let part = |part| match part {
        Part::Signature(signature) => ContentPart::ThoughtSignature(signature),
        Part::Reasoning(text) => ContentPart::ReasoningContent(text),
        Part::Custom(data) => ContentPart::Custom(CustomPart { model_iden: None, data }),
    };
    (note.parts.into_iter().map(part).collect(), note.calls)
}
