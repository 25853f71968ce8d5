//! What a model answers, read: a message and the actions that it asks for.
//!
//! The form is `{"llm_reply": {"message"}, "actions": [{"kind", "name", "parameters", "blocking", "order",
//! "retry_policy": {"max_retries", "backoff_sec"}, "metadata"}]}`, as text (fenced or with words around
//! it), or native tool calls, one an action. Reading is tolerant of the writing and strict on the sense:
//! what is not understood is kept as an action with a [fault](Asked::fault), to be recorded as failed and
//! told to the model.

use crate::parameters;
use crate::table::{ActionSpec, action};
use papertape_core::action::ActionKind;
use papertape_core::message::{ModelReply, ToolCall};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The most actions of one answer.
pub const MOST_ACTIONS: usize = 16;
/// The most that `max_retries` can ask for.
pub const MOST_RETRIES: u32 = 5;
/// The longest pause that `backoff_sec` can ask for.
pub const LONGEST_BACKOFF: Duration = Duration::from_secs(60);
/// How much of a wrong name is kept.
const NAME_CHARS: usize = 80;
/// The name of an answer that cannot be read, as an action.
pub const UNREADABLE: &str = "unreadable_answer";

/// An answer, read.
#[derive(Debug)]
pub struct Reply {
    /// What is said to the person.
    pub message: String,
    /// What is to be done, in its order.
    pub actions: Vec<Asked>,
}

/// An action as a model asked for it.
#[derive(Debug)]
pub struct Asked {
    /// What it is about, as far as that can be told.
    pub kind: ActionKind,
    /// Its name, as it was given where it is unknown.
    pub name: String,
    /// The action; `None` where there is none of the name.
    pub spec: Option<&'static ActionSpec>,
    /// Its parameters, in the forms that the action reads; as given where there is a fault.
    pub parameters: Map<String, Value>,
    /// Does what follows wait for it?
    pub blocking: bool,
    /// How often and after which pause it is tried again.
    pub retry: RetryPolicy,
    /// The id of the native call that it came as.
    pub call_id: Option<String>,
    /// Why it cannot be done.
    pub fault: Option<String>,
}

/// How often and after which pause an action is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// So many further attempts are made.
    pub max_retries: u32,
    /// Before each, this pause.
    pub backoff: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: 0, backoff: Duration::from_secs(1) }
    }
}

/// Reads an answer. Text that is no answer of the form is a message without actions.
#[must_use]
pub fn read(reply: &ModelReply) -> Reply {
    let text = reply.text.trim();
    let mut read = match object(text) {
        Found::Answer(answer) => of_json(&answer),
        Found::Broken(why) => Reply {
            message: String::new(),
            actions: vec![Asked::unreadable(format!("the answer is no JSON: {why}"))],
        },
        Found::Text => Reply { message: text.to_owned(), actions: Vec::new() },
    };
    if !reply.tool_calls.is_empty() {
        // Text beside native calls is what is said; actions in both would be done twice.
        read.actions = reply.tool_calls.iter().map(of_call).collect();
    }
    for late in read.actions.iter_mut().skip(MOST_ACTIONS) {
        late.fault =
            Some(format!("an answer has at most {MOST_ACTIONS} actions; ask for it in the next one"));
    }
    read
}

/// The JSON schema of an answer, for providers that take one.
#[must_use]
pub fn schema() -> Value {
    let names: Vec<&str> = crate::table::ACTIONS.iter().map(|spec| spec.name).collect();
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

enum Found {
    Answer(Map<String, Value>),
    Broken(String),
    Text,
}

/// The object of the form in a text: the whole, what a code fence holds, or from the first brace to the
/// last.
fn object(text: &str) -> Found {
    let fenced = text.split_once("```").and_then(|(_, rest)| {
        let rest = rest.strip_prefix("json").unwrap_or(rest);
        rest.rsplit_once("```").map(|(inside, _)| inside.trim())
    });
    let braces = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let mut error = None;
    for candidate in [Some(text), fenced, braces].into_iter().flatten() {
        match serde_json::from_str::<Value>(candidate) {
            Ok(Value::Object(map)) if map.contains_key("llm_reply") || map.contains_key("actions") => {
                return Found::Answer(map);
            }
            Ok(_) => {}
            Err(why) => error = error.or(Some(why.to_string())),
        }
    }
    let meant = text.contains("\"llm_reply\"") || text.contains("\"actions\"");
    match error {
        Some(why) if meant => Found::Broken(why),
        _ => Found::Text,
    }
}

fn of_json(answer: &Map<String, Value>) -> Reply {
    let message = match &answer.get("llm_reply") {
        Some(Value::String(text)) => text.clone(),
        Some(reply) => reply["message"].as_str().unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let mut actions = match answer.get("actions") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(actions)) => {
            actions.iter().enumerate().map(|(at, one)| (order(one, at), of_value(one))).collect()
        }
        Some(one @ Value::Object(_)) => vec![(0.0, of_value(one))],
        Some(_) => vec![(0.0, Asked::unreadable("`actions` must be a list".to_owned()))],
    };
    // Those of the same order stay as they came.
    actions.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    Reply {
        message: message.trim().to_owned(),
        actions: actions.into_iter().map(|(_, action)| action).collect(),
    }
}

/// Where an action stands; its place in the list where it does not say.
fn order(action: &Value, at: usize) -> f64 {
    let given = &action["order"];
    let number = given.as_f64().or_else(|| given.as_str().and_then(|text| text.trim().parse().ok()));
    number
        .filter(|number: &f64| number.is_finite())
        .unwrap_or(f64::from(u32::try_from(at).unwrap_or(u32::MAX)) + 1.0)
}

fn of_value(value: &Value) -> Asked {
    let Value::Object(map) = value else {
        return Asked::unreadable("an action must be an object".to_owned());
    };
    let kind = map.get("kind").and_then(Value::as_str).unwrap_or_default();
    // `plan_operation/create_plan` in place of a name is understood.
    let name = map.get("name").and_then(Value::as_str).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default().trim();
    let parameters = map.get("parameters").or_else(|| map.get("arguments")).unwrap_or(&Value::Null);
    let mut asked = Asked::new(kind, name, parameters);
    asked.blocking = map.get("blocking").and_then(Value::as_bool).unwrap_or(true);
    asked.retry = retry(map.get("retry_policy").unwrap_or(&Value::Null));
    asked
}

fn of_call(call: &ToolCall) -> Asked {
    let mut asked = match &call.arguments {
        Value::String(raw) => {
            let mut asked = Asked::new("", &call.name, &Value::Null);
            let raw: String = raw.chars().take(NAME_CHARS).collect();
            asked.fault = Some(format!("its arguments are no JSON object: {raw}"));
            asked
        }
        arguments => Asked::new("", &call.name, arguments),
    };
    asked.call_id = Some(call.id.clone());
    asked
}

fn retry(policy: &Value) -> RetryPolicy {
    let usual = RetryPolicy::default();
    let retries = policy["max_retries"]
        .as_u64()
        .map_or(usual.max_retries, |retries| u32::try_from(retries).unwrap_or(u32::MAX).min(MOST_RETRIES));
    let backoff = policy["backoff_sec"].as_f64().filter(|secs| secs.is_finite() && *secs >= 0.0);
    let backoff = backoff.map_or(usual.backoff, |secs| {
        Duration::try_from_secs_f64(secs).unwrap_or(LONGEST_BACKOFF).min(LONGEST_BACKOFF)
    });
    RetryPolicy { max_retries: retries, backoff }
}

impl Asked {
    fn new(kind: &str, name: &str, parameters: &Value) -> Self {
        let spec = action(name);
        let said: Option<ActionKind> = kind.parse().ok();
        let given = match parameters {
            Value::Null => Ok(Map::new()),
            Value::Object(map) => Ok(map.clone()),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(map)) => Ok(map),
                _ => Err("`parameters` must be an object".to_owned()),
            },
            _ => Err("`parameters` must be an object".to_owned()),
        };
        let (parameters, fault) = match (spec, given) {
            (Some(spec), Ok(given)) => match parameters::read(spec.parameters, given.clone()) {
                Ok(read) => (read, None),
                Err(fault) => (given, Some(fault)),
            },
            (Some(_), Err(fault)) => (Map::new(), Some(fault)),
            (None, given) => {
                let shown: String = name.chars().take(NAME_CHARS).collect();
                let fault = if name.is_empty() {
                    "the action has no name".to_owned()
                } else {
                    format!("there is no action `{shown}`")
                };
                (given.unwrap_or_default(), Some(fault))
            }
        };
        let name = if name.is_empty() { "unnamed" } else { name };
        Self {
            kind: spec.map(|spec| spec.kind).or(said).unwrap_or(ActionKind::SystemOperation),
            name: name.chars().take(NAME_CHARS).collect(),
            spec,
            parameters,
            blocking: true,
            retry: RetryPolicy::default(),
            call_id: None,
            fault,
        }
    }

    /// No action at all, under a name.
    pub(crate) fn none(name: &str) -> Self {
        Self::new("", name, &Value::Null)
    }

    /// Something that cannot be read as an action.
    fn unreadable(fault: String) -> Self {
        Self { fault: Some(fault), ..Self::new("system_operation", UNREADABLE, &Value::Null) }
    }
}
