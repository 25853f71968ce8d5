//! Actions that require a user's confirmation.
//!
//! Two rules, enforced here and not by the model. Deleting and stopping a job always require confirmation.
//! Incurring cost requires confirmation once untrusted text (from the web, a tool or a trader) has entered a
//! turn, because such a text may pretend to speak for the user; so does allowing a plan's tasks to incur cost
//! after reading such text. Pending actions are stored with the reply; the user's next message confirms them, by
//! a word of [`is_yes`] or by ID, or drops them.

use crate::actions::ActionSpec;
use crate::protocol::RetryPolicy;
use papertape_core::json;
use papertape_core::language::Language;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An action awaiting confirmation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Map<String, Value>,
    /// How it is retried once it is confirmed.
    #[serde(default, skip_serializing_if = "RetryPolicy::is_default")]
    pub retry_policy: RetryPolicy,
    /// The question to the user.
    pub question: String,
    /// Identifies it, derived from name and parameters. Short, so that it is not mistaken for a key.
    pub id: String,
}

impl Pending {
    /// An action with its question; `what` names what a deletion would remove.
    #[must_use]
    pub fn new(
        spec: &ActionSpec,
        parameters: &Map<String, Value>,
        retry_policy: RetryPolicy,
        language: Language,
        what: Option<&str>,
    ) -> Self {
        Self {
            name: spec.name.to_owned(),
            parameters: parameters.clone(),
            retry_policy,
            question: question(spec, parameters, language, what),
            id: json::hash(&json!({ "name": spec.name, "parameters": parameters })).to_hex()[..12].to_owned(),
        }
    }
}

/// Whether the action requires confirmation. `tainted`: untrusted text is in the turn.
#[must_use]
pub fn requires_confirmation(spec: &ActionSpec, parameters: &Map<String, Value>, tainted: bool) -> bool {
    spec.deletes || spec.stops || (spec.incurs_cost && (tainted || trusts(parameters)))
}

/// Whether its tasks would be allowed to incur cost after reading untrusted text.
fn trusts(parameters: &Map<String, Value>) -> bool {
    parameters.get("trusted") == Some(&Value::Bool(true))
}

/// The pending actions that a message confirms: all of them if it is a yes, otherwise those in `ids`.
#[must_use]
pub fn confirmed(pending: Vec<Pending>, message: &str, ids: &[String]) -> Vec<Pending> {
    let yes = is_yes(message);
    pending.into_iter().filter(|one| yes || ids.contains(&one.id)).collect()
}

/// Words that confirm, if they are the whole message.
const YES: &[&str] = &[
    "yes",
    "y",
    "yes please",
    "ok",
    "okay",
    "sure",
    "confirm",
    "confirmed",
    "go ahead",
    "do it",
    "yes do it",
    "yes delete it",
    "delete it",
    "是",
    "是的",
    "好",
    "好的",
    "确认",
    "同意",
    "可以",
    "执行",
    "删除",
    "删除吧",
    "确认删除",
    "确认执行",
];

/// Whether the message is a plain yes. Anything beyond that is left to the model.
#[must_use]
pub fn is_yes(message: &str) -> bool {
    let is_mark = |c: char| c.is_ascii_punctuation() || matches!(c, '。' | '！' | '，' | '、' | '～');
    let words: String = message.to_lowercase().chars().map(|c| if is_mark(c) { ' ' } else { c }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    YES.contains(&words.as_str())
}

fn question(
    spec: &ActionSpec,
    parameters: &Map<String, Value>,
    language: Language,
    what: Option<&str>,
) -> String {
    let of = Value::Object(parameters.clone());
    let named = |colon: &str| what.map(|what| format!("{colon}{what}")).unwrap_or_default();
    match (language, spec.deletes) {
        (Language::En, true) => {
            format!(
                "{}/{} {of} permanently deletes{}. Shall I do it? Answer yes to confirm.",
                spec.kind,
                spec.name,
                named(": ")
            )
        }
        (Language::En, false) if spec.stops => format!(
            "{}/{} stops a job{}. Shall I do it? Answer yes to confirm.",
            spec.kind,
            spec.name,
            named(": ")
        ),
        (Language::Zh, false) if spec.stops => {
            format!("{}/{} 将停止任务{}。是否执行？请回复“是”确认。", spec.kind, spec.name, named("："))
        }
        (Language::En, false) if trusts(parameters) => format!(
            "{}/{} {of} lets the plan's tasks start work that may cost money after they have read text \
             written by others. Shall I do it? Answer yes to confirm.",
            spec.kind, spec.name
        ),
        (Language::Zh, false) if trusts(parameters) => format!(
            "{}/{} {of} 将允许计划的任务在读入他人撰写的文字之后执行可能产生费用的操作。是否执行？请回复“是”确认。",
            spec.kind, spec.name
        ),
        (Language::En, false) => format!(
            "{}/{} {of} starts work that may cost money, and text written by others has been read in this turn. \
             Shall I do it? Answer yes to confirm.",
            spec.kind, spec.name
        ),
        (Language::Zh, true) => {
            let what = named("：");
            format!("{}/{} {of} 将永久删除{what}。是否执行？请回复“是”确认。", spec.kind, spec.name)
        }
        (Language::Zh, false) => format!(
            "{}/{} {of} 可能产生费用，且本轮已读入他人撰写的文字。是否执行？请回复“是”确认。",
            spec.kind, spec.name
        ),
    }
}
