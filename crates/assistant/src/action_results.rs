//! Action results in the form for the model.

use crate::conversation::Done;
use papertape_core::fence::{Author, fence};
use papertape_core::message::{Message, ModelReply};
use papertape_core::prompt::lines::ACTION_RESULTS;
use serde_json::{Value, json};

/// Max characters of one result in a prompt.
const RESULT_CHARS: usize = 16_000;

/// Max characters of a round's results in a prompt; each result is truncated on its own first.
const MAX_RESULTS_CHARS: usize = 400_000;

/// A round's results as messages to the model: responses to its tool calls, or one JSON text. All are fenced,
/// because they contain text from the web, traders and tools.
pub(crate) fn told(reply: &ModelReply, done: &[Done], from: usize) -> Vec<Message> {
    if reply.tool_calls.is_empty() {
        let results: Vec<Value> = done.iter().zip(from + 1..).map(|(one, order)| one.told(order)).collect();
        return vec![Message::user(results_as_data(&json!({ RESULTS: results })))];
    }
    let answer = |(one, order): (&Done, usize)| Message::Tool {
        call_id: one.asked.call_id.clone().unwrap_or_default(),
        name: one.asked.name.clone(),
        content: data(&format!("{}/{}", one.asked.kind, one.asked.name), &one.told(order)),
    };
    done.iter().zip(from + 1..).map(answer).collect()
}

/// Several results as one text for a prompt.
pub(crate) fn results_as_data(results: &Value) -> String {
    data(ACTION_RESULTS, results)
}

fn data(source: &str, value: &Value) -> String {
    fence(Author::Outside, source, &value.to_string(), MAX_RESULTS_CHARS)
}

/// The key of the results.
pub const RESULTS: &str = "action_results";

impl Done {
    /// Whether its result contains untrusted text.
    #[must_use]
    pub fn brings_text(&self) -> bool {
        let brings = self.asked.spec.is_some_and(|spec| spec.brings_text);
        self.result.as_ref().is_ok_and(|reply| brings || carries(&reply.data))
    }

    /// The result in the form for the model.
    #[must_use]
    pub fn told(&self, order: usize) -> Value {
        let mut told = json!({ "order": order, "kind": self.asked.kind, "name": self.asked.name });
        match &self.result {
            Ok(reply) => {
                told["success"] = true.into();
                told["message"] = reply.message.clone().into();
                told["data"] = bounded(&reply.data);
            }
            Err(failure) => {
                told["success"] = false.into();
                told["message"] = failure.message.clone().into();
                if self.waits.is_some() {
                    told["waits_for_confirmation"] = true.into();
                }
            }
        }
        told
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
    json!({ "cut": format!("the first {RESULT_CHARS} of {count} characters; ask for less"), "text": shown })
}

/// Whether it contains a task's result that was derived from untrusted text.
fn carries(data: &Value) -> bool {
    match data {
        Value::Object(map) => {
            map.get("read_text_of_others") == Some(&Value::Bool(true)) || map.values().any(carries)
        }
        Value::Array(items) => items.iter().any(carries),
        _ => false,
    }
}
