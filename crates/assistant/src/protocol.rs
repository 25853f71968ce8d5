//! Parses a model's response: a message and the requested actions.
//!
//! The format is `{"llm_reply": {"message"}, "actions": [{"kind", "name", "parameters", "blocking", "order",
//! "retry_policy": {"max_retries", "backoff_sec"}, "metadata"}]}`, as text (fenced or surrounded by prose), or
//! native tool calls, one per action, whose arguments may include `blocking`, `order` and `retry_policy` next to
//! the action's own parameters. Parsing is lenient in syntax and strict in meaning: what is not understood is
//! returned as an action with a [fault](ActionCall::fault), to be recorded as failed and reported to the model.

use crate::actions::{ActionSpec, COMMON_PARAMETERS, action};
use crate::fault::LocalizedMessage;
use crate::parameters::{self, whole};
use papertape_core::action::ActionKind;
use papertape_core::message::{ModelReply, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Max actions per response.
pub const MAX_ACTIONS: usize = 16;
/// Upper limit of `max_retries`.
pub const MAX_RETRIES: u32 = 5;
/// Upper limit of `backoff_sec`.
pub const MAX_BACKOFF: Duration = Duration::from_secs(60);
/// Max characters stored of an unknown name.
const NAME_CHARS: usize = 80;
/// The action name of an unparseable response.
pub const UNREADABLE: &str = "unreadable_answer";

/// A parsed response.
#[derive(Debug)]
pub struct Reply {
    /// The message to the user.
    pub message: String,
    /// The requested actions, in order.
    pub actions: Vec<ActionCall>,
}

/// An action requested by a model.
#[derive(Debug)]
pub struct ActionCall {
    /// Its kind, as far as it is known.
    pub kind: ActionKind,
    /// Its name; if unknown, as given.
    pub name: String,
    /// The action; `None` if the name is unknown.
    pub spec: Option<&'static ActionSpec>,
    /// Its parameters, converted to their types; as given if there is a fault.
    pub parameters: Map<String, Value>,
    /// Whether later actions wait for it.
    pub blocking: bool,
    /// Its retry policy.
    pub retry: RetryPolicy,
    /// The ID of the native tool call.
    pub call_id: Option<String>,
    /// Why it cannot be executed.
    pub fault: Option<LocalizedMessage>,
}

/// How often and after which delay an action is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Number of retries.
    pub max_retries: u32,
    /// Delay before each retry.
    #[serde(rename = "backoff_sec", with = "secs")]
    pub backoff: Duration,
}

/// A duration in the protocol's format.
mod secs {
    use super::{Duration, MAX_BACKOFF};
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(pause: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(pause.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let pause = Duration::try_from_secs_f64(f64::deserialize(deserializer)?);
        Ok(pause.unwrap_or(MAX_BACKOFF).min(MAX_BACKOFF))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: 0, backoff: Duration::from_secs(1) }
    }
}

impl RetryPolicy {
    /// Whether it is the default policy.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Parses a response. Text in another format is a message without actions.
#[must_use]
pub fn read(reply: &ModelReply) -> Reply {
    let text = reply.text.trim();
    let mut read = match object(text) {
        JsonCandidate::Answer(answer) => reply_from_json(&answer),
        JsonCandidate::Broken(why) => Reply {
            message: String::new(),
            actions: vec![ActionCall::unreadable(LocalizedMessage::new(
                format!("the answer is not JSON: {why}"),
                format!("回答不是 JSON：{why}"),
            ))],
        },
        JsonCandidate::Text => Reply { message: text.to_owned(), actions: Vec::new() },
    };
    if !reply.tool_calls.is_empty() {
        // Text next to native calls is the message; actions in both would be executed twice.
        read.actions = in_order(reply.tool_calls.iter().enumerate().map(action_from_call).collect());
    }
    for late in read.actions.iter_mut().skip(MAX_ACTIONS) {
        late.fault = Some(LocalizedMessage::new(
            format!("an answer has at most {MAX_ACTIONS} actions; request it in the next one"),
            format!("一次回答最多 {MAX_ACTIONS} 个动作；请在下一次回答中提出"),
        ));
    }
    read
}

/// The JSON schema of a response, for providers that support one.
#[must_use]
pub fn schema() -> Value {
    let names: Vec<&str> = crate::actions::ACTIONS.iter().map(|spec| spec.name).collect();
    json!({
        "type": "object",
        "properties": {
            "llm_reply": {
                "type": "object",
                "properties": { "message": { "type": "string" } },
                "required": ["message"],
            },
            "actions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "kind": { "type": "string", "enum": [
                            "plan_operation", "task_operation", "tool_operation", "context_request",
                            "system_operation",
                        ] },
                        "name": { "type": "string", "enum": names },
                        "parameters": { "type": "object" },
                        "blocking": { "type": "boolean" },
                        "order": { "type": "integer" },
                        "retry_policy": {
                            "type": "object",
                            "properties": {
                                "max_retries": { "type": "integer" },
                                "backoff_sec": { "type": "number" },
                            },
                        },
                        "metadata": { "type": "object" },
                    },
                    "required": ["kind", "name", "parameters", "order"],
                },
            },
        },
        "required": ["llm_reply", "actions"],
    })
}

enum JsonCandidate {
    Answer(Map<String, Value>),
    Broken(String),
    Text,
}

/// The JSON object in a text: the whole text, the contents of a code fence, or from the first brace to the last.
fn object(text: &str) -> JsonCandidate {
    let fenced = text.split_once("```").and_then(|(_, rest)| {
        let rest = rest.strip_prefix("json").unwrap_or(rest);
        rest.rsplit_once("```").map(|(inside, _)| inside.trim())
    });
    let braces = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let mut error = None;
    for candidate in [Some(text), fenced, braces].into_iter().flatten() {
        match serde_json::from_str::<Value>(candidate) {
            Ok(Value::Object(map)) if map.contains_key("llm_reply") || map.contains_key("actions") => {
                return JsonCandidate::Answer(map);
            }
            Ok(_) => {}
            Err(why) => error = error.or(Some(why.to_string())),
        }
    }
    let meant = text.contains("\"llm_reply\"") || text.contains("\"actions\"");
    match error {
        Some(why) if meant => JsonCandidate::Broken(why),
        _ => JsonCandidate::Text,
    }
}

fn reply_from_json(answer: &Map<String, Value>) -> Reply {
    let message = match &answer.get("llm_reply") {
        Some(Value::String(text)) => text.clone(),
        Some(reply) => reply["message"].as_str().unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let actions = match answer.get("actions") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(actions)) => in_order(actions.iter().enumerate().map(action_from_value).collect()),
        Some(one @ Value::Object(_)) => vec![action_from_value((0, one)).1],
        Some(_) => vec![ActionCall::unreadable(LocalizedMessage::new(
            "`actions` must be a list",
            "`actions` 必须是列表",
        ))],
    };
    Reply { message: message.trim().to_owned(), actions }
}

/// An action with its order.
type OrderedAction = (f64, ActionCall);

/// Sorts actions by order; ties keep their sequence.
fn in_order(mut actions: Vec<OrderedAction>) -> Vec<ActionCall> {
    actions.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    actions.into_iter().map(|(_, action)| action).collect()
}

fn action_from_value((at, value): (usize, &Value)) -> OrderedAction {
    let Value::Object(map) = value else {
        let fault = LocalizedMessage::new("an action must be an object", "动作必须是对象");
        return (default_order(at), ActionCall::unreadable(fault));
    };
    // Accept `plan_operation/create_plan` instead of a name.
    let name = map.get("name").and_then(Value::as_str).unwrap_or_default();
    let (prefix, name) = name.rsplit_once('/').unwrap_or(("", name));
    let kinds: Vec<String> = map.get("kind").map(kind_text).into_iter().chain([prefix.to_owned()]).collect();
    let parameters = map.get("parameters").or_else(|| map.get("arguments")).unwrap_or(&Value::Null);
    let mut action = ActionCall::new(&kinds, name.trim(), parameters);
    let place = action.read_common(at, map);
    (place, action)
}

/// A `kind` as given; empty if there was none.
fn kind_text(kind: &Value) -> String {
    match kind {
        Value::Null => String::new(),
        Value::String(kind) => kind.clone(),
        other => other.to_string(),
    }
}

/// The fault if an action is given a kind other than its own.
fn wrong_kind(spec: &ActionSpec, kinds: &[String]) -> Option<LocalizedMessage> {
    let given = kinds.iter().map(|kind| kind.trim());
    let wrong = given.filter(|kind| !kind.is_empty()).find(|kind| *kind != spec.kind.as_str())?;
    let (wrong, name, right): (String, _, _) =
        (wrong.chars().take(NAME_CHARS).collect(), spec.name, spec.kind);
    Some(LocalizedMessage::new(
        format!("the kind of `{name}` is `{right}`, not `{wrong}`; request it again with that kind"),
        format!("`{name}` 的 kind 是 `{right}`，不是 `{wrong}`；请用正确的 kind 重新提出"),
    ))
}

fn action_from_call((at, call): (usize, &ToolCall)) -> OrderedAction {
    let mut common = Map::new();
    let mut action = match &call.arguments {
        Value::String(raw) => {
            let mut action = ActionCall::new(&[], &call.name, &Value::Null);
            let raw: String = raw.chars().take(NAME_CHARS).collect();
            action.fault = Some(LocalizedMessage::new(
                format!("its arguments are not a JSON object: {raw}"),
                format!("其参数不是 JSON 对象：{raw}"),
            ));
            action
        }
        Value::Object(arguments) => {
            let mut own = arguments.clone();
            common.extend(COMMON_PARAMETERS.iter().filter_map(|one| own.remove_entry(one.name)));
            ActionCall::new(&[], &call.name, &Value::Object(own))
        }
        arguments => ActionCall::new(&[], &call.name, arguments),
    };
    action.call_id = Some(call.id.clone());
    let place = action.read_common(at, &common);
    (place, action)
}

/// The fault for an unknown action name.
pub(crate) fn unknown(name: &str) -> LocalizedMessage {
    let shown: String = name.chars().take(NAME_CHARS).collect();
    LocalizedMessage::new(format!("unknown action `{shown}`"), format!("没有动作 `{shown}`"))
}

/// The default order of an action.
fn default_order(at: usize) -> f64 {
    f64::from(u32::try_from(at).unwrap_or(u32::MAX)) + 1.0
}

fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.filter(|number| number.is_finite())
}

fn flag(value: &Value) -> Option<bool> {
    let word = || value.as_str()?.trim().to_lowercase().parse().ok();
    value.as_bool().or_else(word)
}

fn retry(policy: &Value) -> Result<RetryPolicy, LocalizedMessage> {
    let not_an_object =
        || LocalizedMessage::new("`retry_policy` must be an object", "`retry_policy` 必须是对象");
    let policy = match policy {
        Value::Object(policy) => policy.clone(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(policy)) => policy,
            _ => return Err(not_an_object()),
        },
        _ => return Err(not_an_object()),
    };
    let given = |key: &str| policy.get(key).filter(|value| !value.is_null());
    let mut read = RetryPolicy::default();
    if let Some(retries) = given("max_retries") {
        let retries = whole(retries).ok_or_else(|| {
            LocalizedMessage::new(
                "`retry_policy.max_retries` must be a whole number, 0 or more",
                "`retry_policy.max_retries` 必须是不小于 0 的整数",
            )
        })?;
        read.max_retries = u32::try_from(retries).unwrap_or(u32::MAX).min(MAX_RETRIES);
    }
    if let Some(secs) = given("backoff_sec") {
        let secs = number(secs).filter(|secs| *secs >= 0.0);
        let secs = secs.ok_or_else(|| {
            LocalizedMessage::new(
                "`retry_policy.backoff_sec` must be a number, 0 or more",
                "`retry_policy.backoff_sec` 必须是不小于 0 的数",
            )
        })?;
        read.backoff = Duration::try_from_secs_f64(secs).unwrap_or(MAX_BACKOFF).min(MAX_BACKOFF);
    }
    Ok(read)
}

impl ActionCall {
    /// `kinds`: every place where the response states the kind; empty strings are ignored.
    fn new(kinds: &[String], name: &str, parameters: &Value) -> Self {
        let spec = action(name);
        let stated_kind: Option<ActionKind> = kinds.iter().find_map(|kind| kind.parse().ok());
        let not_an_object =
            || LocalizedMessage::new("`parameters` must be an object", "`parameters` 必须是对象");
        let given = match parameters {
            Value::Null => Ok(Map::new()),
            Value::Object(map) => Ok(map.clone()),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(map)) => Ok(map),
                _ => Err(not_an_object()),
            },
            _ => Err(not_an_object()),
        };
        let (parameters, fault) = match (spec, given) {
            (Some(spec), Ok(given)) => match parameters::read(spec.parameters, given.clone()) {
                Ok(read) => (read, None),
                Err(fault) => (given, Some(fault)),
            },
            (Some(_), Err(fault)) => (Map::new(), Some(fault)),
            (None, given) => {
                let fault = match name.is_empty() {
                    true => LocalizedMessage::new("the action has no name", "动作没有名称"),
                    false => unknown(name),
                };
                (given.unwrap_or_default(), Some(fault))
            }
        };
        let fault = spec.and_then(|spec| wrong_kind(spec, kinds)).or(fault);
        let name = if name.is_empty() { "unnamed" } else { name };
        Self {
            kind: spec.map(|spec| spec.kind).or(stated_kind).unwrap_or(ActionKind::SystemOperation),
            name: name.chars().take(NAME_CHARS).collect(),
            spec,
            parameters,
            blocking: true,
            retry: RetryPolicy::default(),
            call_id: None,
            fault,
        }
    }

    /// Reads how the action is to be executed, and returns its order. An unreadable value is a fault: executing
    /// it differently than intended is worse than not executing it.
    fn read_common(&mut self, at: usize, given: &Map<String, Value>) -> f64 {
        let given = |key: &str| given.get(key).filter(|value| !value.is_null());
        let mut wrong = None;
        match given("blocking").map(flag) {
            Some(Some(blocking)) => self.blocking = blocking,
            Some(None) => {
                wrong = Some(LocalizedMessage::new(
                    "`blocking` must be true or false",
                    "`blocking` 必须是 true 或 false",
                ))
            }
            None => {}
        }
        match given("retry_policy").map(retry) {
            Some(Ok(policy)) => self.retry = policy,
            Some(Err(why)) => wrong = wrong.or(Some(why)),
            None => {}
        }
        let place = given("order").map(number);
        if place == Some(None) {
            wrong =
                wrong.or_else(|| Some(LocalizedMessage::new("`order` must be a number", "`order` 必须是数")));
        }
        self.fault = self.fault.take().or(wrong);
        place.flatten().unwrap_or(default_order(at))
    }

    /// A request under this name, without kind and parameters.
    pub(crate) fn none(name: &str) -> Self {
        Self::new(&[], name, &Value::Null)
    }

    /// Something that cannot be parsed as an action.
    fn unreadable(fault: LocalizedMessage) -> Self {
        Self { fault: Some(fault), ..Self::new(&[], UNREADABLE, &Value::Null) }
    }
}
