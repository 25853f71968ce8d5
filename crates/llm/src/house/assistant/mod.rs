//! The assistant, played by rules: a documented set of requests in English and Chinese, see
//! `docs/assistant.md`.
//!
//! Which part it has stands in the first line of the system prompt. What it is asked stands behind the one
//! line of the question that says so; what was done since, in the results that follow. Nothing else of the
//! conversation is read for what to do: texts that others wrote stand in results alone, and of those only
//! fixed fields are read.

mod ask;
mod next;
mod period;
mod planner;
mod results;
mod say;
mod several;

use super::Draft;
use super::day::Language;
use ask::Wanted;
use next::Step;
use papertape_core::message::{Message, ModelRequest};
use results::Results;
use serde_json::json;

/// Which part is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Chat,
    Worker,
    Planner,
}

/// What a question says.
struct Question<'a> {
    /// The words that ask.
    words: &'a str,
    /// What stands before them: agents, earlier results.
    before: &'a str,
}

/// The lines behind which the words stand that ask.
const MARKS: [&str; 2] = ["The person writes:", "用户说："];
/// The same, with something between.
const TASK_MARKS: [&str; 4] = ["Your task, ", "你的任务 ", "To be broken up", "待分解"];

/// The next turn; `None` where the system prompt names no part of the assistant's.
pub(super) fn draft(request: &ModelRequest) -> Option<Draft> {
    let first = request.instructions.as_deref()?.trim_start().lines().next()?.trim();
    let part = match first {
        "Role: Papertape assistant" | "角色：Papertape 助手" => Part::Chat,
        "Role: Papertape task worker" | "角色：Papertape 任务执行者" => Part::Worker,
        "Role: Papertape planner" | "角色：Papertape 规划者" => Part::Planner,
        _ => return None,
    };
    let language = if first.starts_with("Role:") { Language::English } else { Language::Chinese };
    let (at, mut question) = question(&request.messages)?;
    let whole = days_that_were_asked_for(&request.messages[..at], &question);
    if let Some(whole) = &whole {
        question.words = whole;
    }
    if part == Part::Planner {
        return Some(Draft::text(planner::children(question.words, language)));
    }
    let wanted = Wanted::read(&question, part == Part::Chat);
    let results = Results::read(&request.messages[at + 1..], question.before);
    let step = next::step(&wanted, &results, language, part == Part::Worker);
    Some(spoken(request, step, language))
}

/// The earlier request with these words, where it was asked over which days and they are nothing else.
fn days_that_were_asked_for(earlier: &[Message], question: &Question<'_>) -> Option<String> {
    let mut back = earlier.iter().rev();
    let Message::Assistant { content: asked, .. } = back.next()? else { return None };
    let Message::User { content: request } = back.next()? else { return None };
    let was_asked = say::OVER_WHICH_DAYS.iter().any(|question| asked.contains(question));
    let is_days = period::period(question.words, None).is_some();
    (was_asked && is_days && Wanted::read(question, true).is_nothing())
        .then(|| format!("{request} {}", question.words))
}

/// The last question, and where it stands.
fn question(messages: &[Message]) -> Option<(usize, Question<'_>)> {
    messages.iter().enumerate().rev().find_map(|(at, message)| {
        let Message::User { content } = message else { return None };
        let mut from = 0;
        for line in content.split_inclusive('\n') {
            let text = line.trim_end();
            let is_mark = MARKS.contains(&text)
                || (TASK_MARKS.iter().any(|mark| text.starts_with(mark)) && text.ends_with([':', '：']));
            if is_mark {
                let words = content[from + line.len()..].trim();
                return Some((at, Question { words, before: &content[..from] }));
            }
            from += line.len();
        }
        None
    })
}

/// A step in the form that the request asks for: native calls, or the protocol's JSON.
fn spoken(request: &ModelRequest, step: Step, language: Language) -> Draft {
    let message = match step.actions.is_empty() {
        true => format!("{}\n{}", step.message, super::words::label(language, &request.model)),
        false => step.message,
    };
    if !request.tools.is_empty() {
        let calls = step.actions.into_iter().map(|action| (action.name, action.parameters)).collect();
        return Draft { text: message, calls };
    }
    let action = |(at, action): (usize, next::Action)| {
        json!({
            "kind": action.kind,
            "name": action.name,
            "parameters": action.parameters,
            "order": at + 1,
            "blocking": action.blocking,
            "retry_policy": { "max_retries": 0, "backoff_sec": 1 },
        })
    };
    let actions: Vec<_> = step.actions.into_iter().enumerate().map(action).collect();
    Draft::text(json!({ "llm_reply": { "message": message }, "actions": actions }).to_string())
}
