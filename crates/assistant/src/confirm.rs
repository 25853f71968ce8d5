//! What a person is asked before it is done.
//!
//! Two rules, held here and not by the model: deleting and stopping a job ask first, always; and once text that others wrote
//! (the web's, a tool's, a trader's) has entered a turn, spending asks too, for such a text may pretend to
//! speak for the person; and so does letting a plan's tasks spend after they have read such text. What waits is kept with the answer; the person's next message confirms it, by a
//! word of [`is_yes`] or by naming it, or lets it go.

use crate::protocol::RetryPolicy;
use crate::table::ActionSpec;
use papertape_core::action::Language;
use papertape_core::json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An action that waits for a person's word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Map<String, Value>,
    /// How often it is tried again once it is confirmed.
    #[serde(default, skip_serializing_if = "RetryPolicy::is_usual")]
    pub retry_policy: RetryPolicy,
    /// What the person is asked.
    pub question: String,
    /// Names it, of its name and parameters. Short, so that nobody takes it for a key.
    pub id: String,
}

impl Pending {
    /// An action with its question; `what` is what a deletion would take away, by name.
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

/// Must a person be asked before this is done? `tainted`: text that others wrote is in the turn.
#[must_use]
pub fn asks_first(spec: &ActionSpec, parameters: &Map<String, Value>, tainted: bool) -> bool {
    spec.deletes || spec.stops || (spec.spends && (tainted || trusts(parameters)))
}

/// Would its tasks be let spend after they have read text of others?
fn trusts(parameters: &Map<String, Value>) -> bool {
    parameters.get("trusted") == Some(&Value::Bool(true))
}

/// Which of what waits a message confirms: all of it by a yes, those that `ids` name otherwise.
#[must_use]
pub fn confirmed(pending: Vec<Pending>, message: &str, ids: &[String]) -> Vec<Pending> {
    let yes = is_yes(message);
    pending.into_iter().filter(|one| yes || ids.contains(&one.id)).collect()
}

/// Words that confirm, alone in a message.
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

/// Is the message a plain yes? Anything more than that is read by the model.
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
                "{}/{} {of} deletes for good{}. Shall I do it? Answer yes to confirm.",
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
            "{}/{} {of} lets the plan's tasks start work that may cost money after they have read text that \
             others wrote. Shall I do it? Answer yes to confirm.",
            spec.kind, spec.name
        ),
        (Language::Zh, false) if trusts(parameters) => format!(
            "{}/{} {of} 将允许计划的任务在读入他人撰写的文字之后执行可能产生费用的操作。是否执行？请回复“是”确认。",
            spec.kind, spec.name
        ),
        (Language::En, false) => format!(
            "{}/{} {of} starts work that may cost money, and text that others wrote has been read in this turn. \
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
