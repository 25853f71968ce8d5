//! Keeps a session's token out of what its agent says: out of the record, where it would differ in each run, and away from
//! model providers.

use papertape_core::external::{AgentRequest, ModelDoorCall};
use papertape_core::json::to_value;
use papertape_core::message::CallFailure;
use serde_json::Value;

/// Stands where the token was.
const PLACEHOLDER: &str = "[redacted:session_token]";

/// The token of a session whose agent has been started.
#[derive(Clone, Debug)]
pub(super) struct SessionToken(String);

impl SessionToken {
    pub(super) fn new(token: &str) -> Self {
        Self(token.to_owned())
    }

    /// The request without the token. It is returned as it is if nothing has to be removed.
    pub(super) fn remove_from_request(&self, request: AgentRequest) -> AgentRequest {
        let mut value = to_value(&request);
        if !self.remove(&mut value) {
            return request;
        }
        serde_json::from_value(value).unwrap_or(request)
    }

    /// The call without the token, which neither the record nor the provider gets.
    pub(super) fn remove_from_call(&self, mut call: ModelDoorCall) -> ModelDoorCall {
        self.remove(&mut call.request.body);
        if let Some(key) = &mut call.request.key {
            *key = key.replace(&self.0, PLACEHOLDER);
        }
        call
    }

    /// The failure without the token: it may quote what a program has printed.
    pub(super) fn remove_from_failure(&self, mut failure: CallFailure) -> CallFailure {
        failure.message = failure.message.replace(&self.0, PLACEHOLDER);
        failure
    }

    /// Removes the token from all texts and names of fields. Returns whether there was any.
    fn remove(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if text.contains(&self.0) => {
                *text = text.replace(&self.0, PLACEHOLDER);
                true
            }
            Value::Array(items) => self.remove_from_all(items.iter_mut()),
            Value::Object(fields) => {
                let named = fields.keys().any(|name| name.contains(&self.0));
                if named {
                    let renamed = std::mem::take(fields).into_iter();
                    *fields =
                        renamed.map(|(name, field)| (name.replace(&self.0, PLACEHOLDER), field)).collect();
                }
                self.remove_from_all(fields.values_mut()) || named
            }
            _ => false,
        }
    }

    /// Like [`Self::remove`]; none is skipped once there was one.
    fn remove_from_all<'v>(&self, values: impl Iterator<Item = &'v mut Value>) -> bool {
        values.map(|value| self.remove(value)).filter(|found| *found).count() > 0
    }
}
