//! The redacted requests of the model endpoint. A client sends its whole conversation with each request, so an item that was
//! in the request before is not redacted again.

use crate::external::CONVERSATIONS;
use papertape_redact::Redactor;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The conversation of the last request in each field that has one.
#[derive(Default)]
pub(super) struct RedactedRequests(BTreeMap<&'static str, Vec<Item>>);

struct Item {
    sent: Value,
    redacted: Value,
}

impl RedactedRequests {
    /// A request with its `body`, redacted: the same as [`Redactor::redact_value`] of all of it.
    pub(super) fn redact(&mut self, redactor: &Redactor, mut request: Value) -> Value {
        let mut conversations = Vec::new();
        for name in CONVERSATIONS {
            let sent = body(&mut request).and_then(|body| body.get_mut(name)?.as_array_mut());
            // What stands in an object does not depend on its place in the list; for texts it can.
            if let Some(sent) = sent.filter(|sent| sent.iter().all(Value::is_object)) {
                conversations.push((name, self.redact_items(redactor, name, std::mem::take(sent))));
            }
        }
        let mut redacted = redactor.redact_value(request).value;
        for (name, items) in conversations {
            if let Some(fields) = body(&mut redacted) {
                fields.insert(name.to_owned(), Value::Array(items));
            }
        }
        redacted
    }

    fn redact_items(&mut self, redactor: &Redactor, name: &'static str, sent: Vec<Value>) -> Vec<Value> {
        let known = self.0.entry(name).or_default();
        let same = known.iter().zip(&sent).take_while(|(item, sent)| item.sent == **sent).count();
        known.truncate(same);
        for sent in sent.into_iter().skip(same) {
            let redacted = redactor.redact_value(sent.clone()).value;
            known.push(Item { sent, redacted });
        }
        known.iter().map(|item| item.redacted.clone()).collect()
    }
}

fn body(request: &mut Value) -> Option<&mut Map<String, Value>> {
    request.get_mut("body")?.as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const SECRET: &str = "sk-live-4f9aQ27hXw81LmZt03bRcYpV";

    fn redactor() -> Redactor {
        Redactor::new(vec![("LAB_KEY".to_owned(), SECRET.to_owned())]).expect("it is made")
    }

    /// Items of a conversation: with secrets, in the forms in which redaction depends on the fields around a text.
    fn item() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            Just("Buy ten shares.".to_owned()),
            Just(format!("the key is {SECRET}")),
            Just("password: hunter2-Xy81!".to_owned()),
            Just("AKIAIOSFODNN7EXAMPLE".to_owned()),
        ];
        (text, 0..6).prop_map(|(text, form)| match form {
            0 => json!({ "role": "user", "content": text }),
            1 => json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
            2 => json!({ "name": "Authorization", "value": text }),
            3 => json!({ "api_key": text, "type": "string" }),
            4 => json!({ "headers": [["X-Api-Key", text]], SECRET: text }),
            _ => json!(text),
        })
    }

    proptest! {
        // Goal: whatever a client sends after whatever it has sent, a request is redacted as if it were the first: what
        // was known of an earlier conversation hides no secret and changes no text.
        #[test]
        fn a_request_is_redacted_as_if_it_were_the_first(
            requests in prop::collection::vec((prop::collection::vec(item(), 0..5), any::<bool>(), any::<bool>()), 1..5),
        ) {
            let redactor = redactor();
            let mut known = RedactedRequests::default();
            let mut earlier: Vec<Value> = Vec::new();
            for (new, continues, is_input) in requests {
                let items: Vec<Value> = if continues { earlier.iter().cloned().chain(new).collect() } else { new };
                let field = if is_input { "input" } else { "messages" };
                let request = json!({
                    "protocol": "chat_completions", "model": "lab::one", "key": SECRET,
                    "body": { field: items, "tools": [{ "name": "look" }], "password": "hunter2-Xy81!" },
                });
                let whole = redactor.redact_value(request.clone()).value;
                prop_assert!(!whole.to_string().contains(SECRET));
                prop_assert_eq!(known.redact(&redactor, request), whole);
                earlier = items;
            }
        }
    }
}
