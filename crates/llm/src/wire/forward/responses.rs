//! Answers of `OpenAI`'s responses, whole and streamed.

use super::{event_object, reported};
use crate::bounds::{self, Bound, MAX_ARGUMENT_BYTES, MAX_ENTRIES, MAX_TOOL_CALLS, Trees};
use crate::failure;
use crate::reply::{RawReply, Stop};
use crate::wire::lenient::{self, Count};
use crate::wire::sse::{Event, Flow};
use crate::wire::{WireError, parse, spelled_call};
use papertape_core::message::FailureKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A whole answer.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    #[serde(deserialize_with = "lenient::text")]
    status: Option<String>,
    /// `None`: this is not a response.
    #[serde(deserialize_with = "bounds::some_entries")]
    output: Option<Vec<Item>>,
    usage: Option<Usage>,
    error: Option<Box<RawValue>>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete {
    #[serde(deserialize_with = "lenient::text")]
    reason: Option<String>,
}

/// An item of the output: a message, a call, reasoning.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    kind: Option<String>,
    /// The parts of a message. Those of reasoning do not count.
    #[serde(deserialize_with = "bounds::entries")]
    content: Vec<Part>,
    #[serde(deserialize_with = "lenient::text")]
    call_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    name: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    arguments: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    input: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    kind: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    text: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Count,
    input_tokens_details: Option<Details>,
    output_tokens: Count,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
}

pub(super) fn read_whole(body: &[u8]) -> Result<RawReply, WireError> {
    let response: Response = parse(body)?;
    if let Some(error) = response.error.filter(|error| error.get() != "null") {
        return Err(super::super::reported(&error));
    }
    let items = response.output.ok_or(WireError::Unreadable)?;
    let reason = response.incomplete_details.and_then(|details| details.reason);
    let stop = match (response.status.as_deref(), reason.as_deref()) {
        (None | Some("completed"), _) => None,
        (Some("incomplete"), Some("content_filter")) => Some(Stop::Filter),
        (Some("incomplete"), _) => Some(Stop::Length),
        _ => {
            let message = "the provider's answer is not finished";
            return Err(WireError::Reported(Box::new(failure::plain(FailureKind::BadAnswer, message))));
        }
    };
    let mut answer = RawReply { stop, ..RawReply::default() };
    let mut trees = Trees::default();
    for item in items {
        match item.kind.as_deref() {
            Some("message") => {
                let texts =
                    item.content.into_iter().filter(|part| part.kind.as_deref() == Some("output_text"));
                texts.filter_map(|part| part.text).for_each(|text| answer.text.push_str(&text));
            }
            Some("function_call" | "custom_tool_call") => {
                let at = answer.tool_calls.len();
                let arguments = item.arguments.or(item.input).unwrap_or_default();
                answer.tool_calls.push(spelled_call((item.call_id, at), item.name, &arguments, &mut trees)?);
            }
            _ => {}
        }
    }
    answer.usage = response.usage.and_then(|used| {
        let cached = used.input_tokens_details.unwrap_or_default().cached_tokens;
        lenient::usage(used.input_tokens, cached, used.output_tokens)
    });
    Ok(answer)
}

/// A partial answer. Its last event has the whole response.
#[derive(Default)]
pub(super) struct Assembler {
    response: Option<Map<String, Value>>,
    /// Finished items by index, for servers whose last event leaves them out.
    items: BTreeMap<u64, Value>,
    /// Bytes of arguments so far by item.
    arguments: BTreeMap<u64, usize>,
}

impl Assembler {
    pub(super) fn take(&mut self, event: Event<'_>, delta: &mut dyn FnMut(&str)) -> Result<Flow, WireError> {
        if event.data.trim() == "[DONE]" {
            return Ok(if self.response.is_some() { Flow::Done } else { Flow::Continue });
        }
        let Some(mut fields) = event_object(event.data)? else { return Ok(Flow::Continue) };
        let index = fields.get("output_index").and_then(Value::as_u64);
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or(event.name).to_owned();
        match kind.as_str() {
            "response.completed" | "response.incomplete" => {
                let Some(Value::Object(response)) = fields.remove("response") else {
                    return Err(WireError::Unreadable);
                };
                self.response = Some(response);
                return Ok(Flow::Done);
            }
            "response.failed" => {
                let error = fields.get("response").and_then(|response| response.get("error"));
                return Err(reported(error.unwrap_or(&Value::Null)));
            }
            "error" => return Err(reported(&Value::Object(fields))),
            "response.output_text.delta" => {
                if let Some(text) =
                    fields.get("delta").and_then(Value::as_str).filter(|text| !text.is_empty())
                {
                    delta(text);
                }
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let calls = self.arguments.len();
                let so_far = self.arguments.entry(index.unwrap_or(0)).or_default();
                *so_far += fields.get("delta").and_then(Value::as_str).map_or(0, str::len);
                if *so_far > MAX_ARGUMENT_BYTES {
                    return Err(Bound::Arguments.into());
                }
                if calls > MAX_TOOL_CALLS {
                    return Err(Bound::ToolCalls.into());
                }
            }
            "response.output_item.done" => {
                if let Some((index, item)) = index.zip(fields.remove("item")) {
                    self.items.insert(index, item);
                }
                if self.items.len() > MAX_ENTRIES {
                    return Err(Bound::Entries.into());
                }
            }
            _ => {}
        }
        Ok(Flow::Continue)
    }

    pub(super) fn finish(self) -> Result<Value, WireError> {
        let mut response = self.response.ok_or(WireError::Unreadable)?;
        let is_empty = response.get("output").and_then(Value::as_array).is_none_or(Vec::is_empty);
        if is_empty {
            response.insert("output".to_owned(), self.items.into_values().collect());
        }
        Ok(Value::Object(response))
    }
}
