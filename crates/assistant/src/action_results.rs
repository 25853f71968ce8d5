//! Action results in the form for the model.

use crate::calls::CallResult;
use crate::confirm::Pending;
use crate::protocol::ActionCall;
use crate::tree::READ_TEXT_OF_OTHERS;
use papertape_core::action::ActionDraft;
use papertape_core::fence::{Author, fence};
use papertape_core::message::{Message, ModelReply};
use papertape_core::prompt::lines::ACTION_RESULTS;
use papertape_core::tape::ActionReply;
use serde_json::{Value, json};

/// Max characters of one result in a prompt.
const RESULT_CHARS: usize = 16_000;

/// Max characters of a round's results in a prompt; each result is truncated on its own first.
const MAX_RESULTS_CHARS: usize = 400_000;

/// An executed action, or why it was not executed.
#[derive(Debug)]
pub(crate) struct ExecutedAction {
    pub(crate) call: ActionCall,
    pub(crate) result: CallResult<ActionReply>,
    /// Set if it awaits confirmation.
    pub(crate) pending: Option<Pending>,
    /// Whether it is blocked from incurring cost: untrusted text was read, and no user is present to confirm.
    pub(crate) held_back: bool,
    /// Its final row in the action log.
    pub(crate) row: ActionDraft,
}

/// A round's results as messages to the model: responses to its tool calls, or one JSON text. All are fenced,
/// because they contain text from the web, traders and tools.
pub(crate) fn result_messages(reply: &ModelReply, actions: &[ExecutedAction], from: usize) -> Vec<Message> {
    if reply.tool_calls.is_empty() {
        let results: Vec<Value> =
            actions.iter().zip(from + 1..).map(|(one, order)| one.result_json(order)).collect();
        return vec![Message::user(results_as_data(&json!({ RESULTS: results })))];
    }
    let answer = |(one, order): (&ExecutedAction, usize)| Message::Tool {
        call_id: one.call.call_id.clone().unwrap_or_default(),
        name: one.call.name.clone(),
        content: data(&format!("{}/{}", one.call.kind, one.call.name), &one.result_json(order)),
    };
    actions.iter().zip(from + 1..).map(answer).collect()
}

/// Several results as one text for a prompt.
pub(crate) fn results_as_data(results: &Value) -> String {
    data(ACTION_RESULTS, results)
}

fn data(source: &str, value: &Value) -> String {
    fence(Author::Outside, source, &value.to_string(), MAX_RESULTS_CHARS)
}

/// The key of the results.
const RESULTS: &str = "action_results";

impl ExecutedAction {
    /// Whether its result contains untrusted text.
    pub(crate) fn has_untrusted_text(&self) -> bool {
        let untrusted = self.call.spec.is_some_and(|spec| spec.returns_untrusted_text);
        self.result.as_ref().is_ok_and(|reply| untrusted || is_marked_untrusted(&reply.data))
    }

    /// The result in the form for the model.
    pub(crate) fn result_json(&self, order: usize) -> Value {
        let mut result = json!({ "order": order, "kind": self.call.kind, "name": self.call.name });
        match &self.result {
            Ok(reply) => {
                result["success"] = true.into();
                result["message"] = reply.message.clone().into();
                result["data"] = bounded(&reply.data);
            }
            Err(failure) => {
                result["success"] = false.into();
                result["message"] = failure.message.clone().into();
                if self.pending.is_some() {
                    result["waits_for_confirmation"] = true.into();
                }
            }
        }
        result
    }
}

/// A result in a prompt: complete, or its first characters with a note.
fn bounded(data: &Value) -> Value {
    let text = data.to_string();
    let count = text.chars().count();
    if count <= RESULT_CHARS {
        return data.clone();
    }
    let shown: String = text.chars().take(RESULT_CHARS).collect();
    json!({ "cut": format!("the first {RESULT_CHARS} of {count} characters; request less"), "text": shown })
}

/// Whether it contains a task's result that was derived from untrusted text.
fn is_marked_untrusted(data: &Value) -> bool {
    match data {
        Value::Object(map) => {
            map.get(READ_TEXT_OF_OTHERS) == Some(&Value::Bool(true)) || map.values().any(is_marked_untrusted)
        }
        Value::Array(items) => items.iter().any(is_marked_untrusted),
        _ => false,
    }
}
