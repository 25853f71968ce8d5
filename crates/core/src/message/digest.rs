//! The digest of a request, computed incrementally: each turn hashes only the messages that it adds.

use super::{Message, ModelName, ModelRequest};
use crate::id::ContentHash;
use crate::json;
use serde_json::Value;
use std::collections::BTreeMap;

/// A request digest that can be extended by messages.
#[derive(Clone, Debug)]
pub(crate) struct RequestHasher {
    model: ModelName,
    /// Has hashed everything before the messages, and the messages added so far.
    state: blake3::Hasher,
    /// The canonical JSON that follows the messages.
    tail: Vec<u8>,
    /// The numbers that replace call IDs.
    numbers: BTreeMap<String, usize>,
    is_empty: bool,
}

impl RequestHasher {
    /// The digest of the request without its messages.
    pub(crate) fn new(request: &ModelRequest) -> Self {
        const MESSAGES: &str = "messages";
        let head = request.head();
        let mut state = blake3::Hasher::new();
        let mut tail = Vec::new();
        // Canonical JSON sorts keys by bytes; the key of the messages has parts before and after it.
        let parts = |is_part: &dyn Fn(&str) -> bool| {
            let map = head.as_object().into_iter().flatten();
            let part = map.filter(|(key, _)| is_part(key)).map(|(key, value)| (key.clone(), value.clone()));
            let mut json = Vec::new();
            json::object(&part.collect(), &mut json, json::write);
            json
        };
        let (before, after) = (parts(&|key| key < MESSAGES), parts(&|key| key > MESSAGES));
        state.update(&before[..before.len() - 1]);
        state.update(if before.len() > 2 { b"," } else { b"" });
        state.update(b"\"messages\":[");
        tail.push(b']');
        tail.extend_from_slice(if after.len() > 2 { b"," } else { b"" });
        tail.extend_from_slice(&after[1..]);
        Self { model: request.model.clone(), state, tail, numbers: BTreeMap::new(), is_empty: true }
    }

    /// Adds the next message, given with its value and the value's canonical JSON.
    pub(crate) fn add(&mut self, message: &Message, mut value: Value, json: &[u8]) {
        if !std::mem::take(&mut self.is_empty) {
            self.state.update(b",");
        }
        match message {
            Message::User { .. } => drop(self.state.update(json)),
            Message::Assistant { tool_calls, provider, .. } => {
                let is_sent = provider.as_ref().is_some_and(|note| note.model == self.model);
                if let (false, Some(map)) = (is_sent, value.as_object_mut()) {
                    map.remove("provider");
                }
                for (at, call) in tool_calls.iter().enumerate() {
                    value["tool_calls"][at]["id"] = self.number(&call.id).into();
                }
                self.state.update(json::canonical(&value).as_bytes());
            }
            Message::Tool { call_id, .. } => {
                // The ID is the first member; what follows it is hashed as it is.
                let start = |id: &str| {
                    let mut start = b"{\"call_id\":".to_vec();
                    json::string_into(id, &mut start);
                    start
                };
                let number = self.number(call_id);
                self.state.update(&start(&number));
                self.state.update(&json[start(call_id).len()..]);
            }
        }
    }

    /// The digest of everything added so far.
    pub(crate) fn digest(&self) -> ContentHash {
        let mut whole = self.state.clone();
        whole.update(&self.tail);
        ContentHash::from_bytes(*whole.finalize().as_bytes())
    }

    /// The number of a call ID, as text; IDs are numbered in the order of their first appearance.
    fn number(&mut self, id: &str) -> String {
        let next = self.numbers.len() + 1;
        self.numbers.entry(id.to_owned()).or_insert(next).to_string()
    }
}
