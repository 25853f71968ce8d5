//! What a model is told of what was done for it.

use crate::talk::Done;
use papertape_core::fence::{Author, fence};
use papertape_core::message::{Message, ModelReply};
use serde_json::{Value, json};

/// How much of one result a model is shown.
const RESULT_CHARS: usize = 16_000;

/// The limit on a round's results in a prompt, in characters; each is cut by itself before.
const MAX_RESULTS_CHARS: usize = 400_000;

/// A round's results as the model is told of them: answers to its calls, or one JSON text. All of them are
/// fenced: the web, traders and tools wrote what stands in them.
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
    data("the results of actions", results)
}

fn data(source: &str, value: &Value) -> String {
    fence(Author::Outside, source, &value.to_string(), MAX_RESULTS_CHARS)
}

/// The key under which results are told.
pub const RESULTS: &str = "action_results";

impl Done {
    /// Has it brought text that others wrote?
    #[must_use]
    pub fn brings_text(&self) -> bool {
        let brings = self.asked.spec.is_some_and(|spec| spec.brings_text);
        self.result.as_ref().is_ok_and(|reply| brings || carries(&reply.data))
    }

    /// What the model is told of it.
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

/// A result as a model is shown it: whole, or its first characters with a note.
fn bounded(data: &Value) -> Value {
    let text = data.to_string();
    let count = text.chars().count();
    if count <= RESULT_CHARS {
        return data.clone();
    }
    let shown: String = text.chars().take(RESULT_CHARS).collect();
    json!({ "cut": format!("the first {RESULT_CHARS} of {count} characters; ask for less"), "text": shown })
}

/// Is there a task's result among this that was made of text that others wrote?
fn carries(data: &Value) -> bool {
    match data {
        Value::Object(map) => {
            map.get("read_text_of_others") == Some(&Value::Bool(true)) || map.values().any(carries)
        }
        Value::Array(items) => items.iter().any(carries),
        _ => false,
    }
}
