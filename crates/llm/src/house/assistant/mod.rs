//! The assistant, played by rules: a documented list of requests in English and Chinese, see `docs/assistant.md`.
//!
//! Which part it has stands in the first line of the system prompt. What it is asked stands behind the one line of
//! the question that says so; what was done since, in the results that follow. A word that is part of no request
//! stops it: it names the word and does nothing. Texts that others wrote are quoted and never read for what to do.

mod days;
mod request;
mod tokens;
mod turn;

use super::Draft;
use super::day::Language;
use super::words::{is_label, label};
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::Templates;
use request::{Clause, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use turn::{Action, Results};

/// The first lines of system prompts: which part, in which language.
const ROLES: [(&str, &str, &str); 6] = [
    ("Role: Papertape assistant", "chat", "en"),
    ("角色：Papertape 助手", "chat", "zh"),
    ("Role: Papertape task worker", "worker", "en"),
    ("角色：Papertape 任务执行者", "worker", "zh"),
    ("Role: Papertape planner", "planner", "en"),
    ("角色：Papertape 规划者", "planner", "zh"),
];
/// The lines behind which the words stand that ask; some have a name in the middle.
const MARKS: [&str; 6] =
    ["The person writes:", "用户说：", "Your task, ", "你的任务 ", "To be broken up", "待分解"];
/// An earlier message as long as this was cut: what was left out may have changed what it requests.
const PAST_CHARS: usize = 4_000;
/// How much of a text of others is quoted.
const QUOTED_CHARS: usize = 300;

/// What it says, as templates.
static TEXTS: LazyLock<Option<Templates>> = LazyLock::new(|| {
    let files = [
        ("clause.en", include_str!("texts/clause.en.md")),
        ("clause.zh", include_str!("texts/clause.zh.md")),
        ("reply.en", include_str!("texts/reply.en.md")),
        ("reply.zh", include_str!("texts/reply.zh.md")),
    ];
    Templates::new(&files, &BTreeMap::new()).ok()
});

/// The next turn; `None` where the system prompt names no part of the assistant's.
pub(super) fn draft(request: &ModelRequest) -> Option<Draft> {
    let role = request.instructions.as_deref()?.trim_start().lines().next()?.trim();
    let (_, part, language) = ROLES.into_iter().find(|(name, ..)| *name == role)?;
    let (at, words, before) = question(&request.messages)?;
    let list = |marks: [&str; 2]| {
        before.lines().find_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)))
    };
    let agents = list(["Configured agents: ", "已配置的交易员："]).unwrap_or_default().split(", ");
    let symbols = list(["Datasets: ", "数据集："]).unwrap_or_default().split([',', ';', ' ']);
    let symbols = symbols.filter(|word| word.chars().all(|c| c.is_ascii_uppercase() || ".-".contains(c)));
    let names = agents.map(|name| ("who", name)).chain(symbols.map(|name| ("symbols", name)));
    let names = names.filter(|(_, name)| !name.is_empty()).collect();
    let mut earlier: Option<Request> = None;
    for message in &request.messages[..at] {
        if let Message::User { content } = message {
            let next = Request::read(content, &names, part == "chat");
            if !next.is_empty() {
                let is_cut = content.chars().nth(PAST_CHARS - 1).is_some();
                let next = next.after(earlier.as_ref());
                earlier =
                    Some(next).filter(|next| !is_cut && next.left.is_empty() && !next.clauses.is_empty());
            }
        }
    }
    let plan = list(["The conversation's plan: ", "本对话的计划："]).and_then(|id| id.trim().parse().ok());
    let results = Results::read(&request.messages[at + 1..], before, plan);
    let mut asked = Request::read(words, &names, part == "chat").after(earlier.as_ref());
    if part == "planner" {
        return Some(Draft::text(children(&asked, language)));
    }
    let (mut mode, mut done, mut actions) = ("ask", Vec::new(), Vec::new());
    if !results.confirmed.is_empty() {
        asked = Request::default();
        (mode, done) = ("answer", vec![(Clause::default(), results.confirmed)]);
    } else {
        if asked.is_empty() {
            asked = Request::read("help", &names, true);
        }
        if asked.is_whole() {
            match results.step(&asked) {
                Ok(all) => (mode, done) = ("answer", all),
                Err(next) => (mode, actions) = ("do", next),
            }
        }
    }
    let understood: Vec<String> = asked.clauses.iter().map(|clause| said(clause, &asked, language)).collect();
    let is_failed = |result: &Value| result["success"] == false || turn::is_open(result);
    let shown = |(clause, results): &(Clause, Vec<Value>)| json!({ "form": clause.form, "results": results.iter().map(shown).collect::<Vec<_>>() });
    let mut message = text(
        "reply",
        language,
        &json!({
            "mode": mode, "is_worker": part == "worker", "left": asked.left, "missing": asked.missing(), "form": "",
            "rest": understood.iter().skip(done.len()).collect::<Vec<_>>(), "understood": understood,
            "failed": done.iter().flat_map(|(_, results)| results).any(is_failed),
            "done": done.iter().map(shown).collect::<Vec<_>>(),
        }),
    );
    if actions.is_empty() {
        let of = if language == "en" { Language::English } else { Language::Chinese };
        message = format!("{message}\n{}", label(of, &request.model));
    }
    if !request.tools.is_empty() {
        let calls = actions.into_iter().map(|action| (action.name, action.parameters)).collect();
        return Some(Draft { text: message, calls });
    }
    let action = |(order, action): (u32, Action)| {
        json!({ "kind": action.kind, "name": action.name, "parameters": action.parameters, "order": order,
            "blocking": true, "retry_policy": { "max_retries": 0, "backoff_sec": 1 } })
    };
    let actions: Vec<Value> = (1..).zip(actions).map(action).collect();
    Some(Draft::text(json!({ "llm_reply": { "message": message }, "actions": actions }).to_string()))
}

/// The last question: where it stands, its words, and what stands before them.
fn question(messages: &[Message]) -> Option<(usize, &str, &str)> {
    messages.iter().enumerate().rev().find_map(|(at, message)| {
        let Message::User { content } = message else { return None };
        let mut from = 0;
        for line in content.split_inclusive('\n') {
            let text = line.trim_end();
            if text.ends_with([':', '：']) && MARKS.iter().any(|mark| text.starts_with(mark)) {
                return Some((at, content[from + line.len()..].trim(), &content[..from]));
            }
            from += line.len();
        }
        None
    })
}

fn text(file: &str, language: &str, values: &Value) -> String {
    let found = TEXTS.as_ref().map(|texts| texts.render(&format!("{file}.{language}"), values));
    found.map_or_else(String::new, |found| found.unwrap_or_else(|error| error.to_string()))
}

/// A clause in words that are read as the same.
fn said(clause: &Clause, request: &Request, language: &str) -> String {
    let mut facts = clause.facts();
    facts["cash"] = clause.slot("cash").first().map(|cash| grouped(cash)).into();
    facts["makes_plan"] = request.has(&["create_plan"]).into();
    facts["runs"] = request.clauses.iter().filter(|one| one.form == "run_simulation").count().into();
    text("clause", language, &facts)
}

/// A number with its thousands marked.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let digit = |(at, c): (usize, char)| {
        if at > 0 && (whole.len() - at).is_multiple_of(3) { format!(",{c}") } else { c.to_string() }
    };
    whole.chars().enumerate().map(digit).collect::<String>() + rest
}

/// A result as it is shown: numbers with two decimals, texts of others in short.
fn shown(result: &Value) -> Value {
    fn short(value: &Value) -> Value {
        match value {
            Value::Number(number) if number.is_f64() => {
                format!("{:.2}", number.as_f64().unwrap_or_default()).into()
            }
            Value::String(text) => {
                let lines = text.lines().filter(|line| !is_label(line)).flat_map(str::split_whitespace);
                let line = lines.collect::<Vec<_>>().join(" ");
                let end = line.char_indices().nth(QUOTED_CHARS).map(|(at, _)| format!("{}…", &line[..at]));
                end.unwrap_or(line).into()
            }
            Value::Array(items) => items.iter().map(short).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), short(value))).collect(),
            other => other.clone(),
        }
    }
    let of = |key: &str| result[key].as_str().unwrap_or_default();
    let data = if result["data"].is_object() { short(&result["data"]) } else { json!({}) };
    json!({ "name": of("name"), "message": of("message"), "success": result["success"] == true, "data": data })
}

/// A goal as a planner's children: one for each clause, in words that are read as the same. One is a leaf.
fn children(request: &Request, language: &str) -> String {
    let is_run = |clause: &Clause| clause.form == "run_simulation";
    let all = if request.is_whole() && request.clauses.len() > 1 { &*request.clauses } else { &[] };
    let runs: Vec<usize> = (0..all.len()).filter(|at| is_run(&all[*at])).collect();
    let child = |clause: &Clause| {
        let values = json!({ "mode": "task", "form": clause.form });
        let needs_run = !is_run(clause) && clause.form != "web_search";
        // Alone it is about the run that the task before tells of.
        json!({ "name": text("reply", language, &values),
            "instruction": said(clause, &Request::default(), language),
            "dependencies": if needs_run { runs.as_slice() } else { &[] } })
    };
    json!({ "children": all.iter().map(child).collect::<Vec<_>>() }).to_string()
}
