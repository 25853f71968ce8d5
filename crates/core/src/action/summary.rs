//! Summaries of the actions behind a reply.

use super::{ACTION_KEY, ActionDraft, ActionKind, ActionStatus, CHAT_TURN};
use crate::language::Language;
use serde::Serialize;
use serde_json::Value;

/// One action in a reply's summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionSummary {
    /// 1-based position of the action in its job.
    pub order: usize,
    /// What it acts on.
    pub kind: ActionKind,
    /// Its name.
    pub name: String,
    /// Display text: `plan_operation/create_plan → 成功`.
    pub display: String,
    /// Whether it succeeded; `None` while it has not ended.
    pub success: Option<bool>,
    /// The result, or the reason for the failure.
    pub message: Option<String>,
    /// What it created, started or acted on, for links.
    pub refs: Vec<ActionRef>,
}

/// Something that an action created, started or acted on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionRef {
    /// `job` or `plan`.
    #[serde(rename = "type")]
    pub what: &'static str,
    /// Its ID.
    pub id: String,
}

/// Summarizes a job's rows, given in order: one entry per action, in its last state. Rows of one action share
/// an [`ACTION_KEY`] in their details; a row without one closes the open row of the same kind and name. A
/// chat turn's own rows are left out.
#[must_use]
pub fn summarize<'a>(
    rows: impl IntoIterator<Item = &'a ActionDraft>,
    language: Language,
) -> Vec<ActionSummary> {
    let mut actions: Vec<(Option<Value>, &ActionDraft)> = Vec::new();
    let is_turn = |row: &&ActionDraft| row.kind == ActionKind::SystemOperation && row.name == CHAT_TURN;
    for row in rows.into_iter().filter(|row| !is_turn(row)) {
        let key =
            row.details.as_ref().map(|details| details[ACTION_KEY].clone()).filter(|key| !key.is_null());
        let same = |(other_key, other): &&mut (Option<Value>, &ActionDraft)| {
            let is_open = matches!(other.status, ActionStatus::Queued | ActionStatus::Running);
            let is_same_action = other.kind == row.kind && other.name == row.name && *other_key == key;
            is_same_action && (key.is_some() || is_open)
        };
        match actions.iter_mut().find(same) {
            Some((_, state)) => *state = row,
            None => actions.push((key, row)),
        }
    }
    let numbered = actions.into_iter().zip(1..);
    numbered.map(|((_, row), order)| summary(row, order, language)).collect()
}

fn summary(row: &ActionDraft, order: usize, language: Language) -> ActionSummary {
    use ActionStatus::{Completed, Failed, Queued, Running};
    let state = match (language, row.status) {
        (Language::Zh, Queued) => "等待中",
        (Language::Zh, Running) => "进行中",
        (Language::Zh, Completed) => "成功",
        (Language::Zh, Failed) => "失败",
        (Language::En, Queued) => "queued",
        (Language::En, Running) => "running",
        (Language::En, Completed) => "succeeded",
        (Language::En, Failed) => "failed",
    };
    ActionSummary {
        order,
        kind: row.kind,
        name: row.name.clone(),
        display: format!("{}/{} → {state}", row.kind, row.name),
        success: row.status.success(),
        message: row.message.clone(),
        refs: refs(row),
    }
}

/// The IDs in an action's result.
fn refs(row: &ActionDraft) -> Vec<ActionRef> {
    let null = Value::Null;
    let result = row.details.as_ref().map_or(&null, |details| &details["result"]);
    let job = result["job_id"].as_str().map(|id| ActionRef { what: "job", id: id.to_owned() });
    let plan = result["plan_id"].as_i64().or_else(|| result["plan"]["plan_id"].as_i64());
    // A deleted plan cannot be opened, so it gets no link.
    let plan = plan.filter(|_| row.name != "delete_plan");
    let plan = plan.map(|id| ActionRef { what: "plan", id: id.to_string() });
    job.into_iter().chain(plan).collect()
}
