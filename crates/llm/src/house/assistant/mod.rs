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
use super::words::{is_label, label};
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::Templates;
use request::{Clause, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tokens::Names;
use turn::Results;

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
    let (part, language) = match role {
        "Role: Papertape assistant" => ("chat", "en"),
        "角色：Papertape 助手" => ("chat", "zh"),
        "Role: Papertape task worker" => ("worker", "en"),
        "角色：Papertape 任务执行者" => ("worker", "zh"),
        "Role: Papertape planner" => ("planner", "en"),
        "角色：Papertape 规划者" => ("planner", "zh"),
        _ => return None,
    };
    let (at, words, before) = question(&request.messages)?;
    let list = |marks: [&str; 2]| {
        before.lines().find_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)))
    };
    let agents = list(["Configured agents: ", "已配置的交易员："]).unwrap_or_default();
    let symbols = list(["Datasets: ", "数据集："]).unwrap_or_default();
    let is_symbol =
        |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || ".-".contains(c));
    let names = Names {
        agents: agents.split(", ").filter(|name| !name.is_empty()).collect(),
        symbols: symbols.split([',', ';', ' ']).filter(is_symbol).collect(),
    };
    let read = |text: &str| Request::read(text, &names, part == "chat");
    let mut earlier: Option<Request> = None;
    for message in &request.messages[..at] {
        if let Message::User { content } = message {
            let mut next = read(content);
            if content.chars().nth(PAST_CHARS - 1).is_some() {
                next.left.push(content.clone());
            }
            if !next.is_empty() {
                let next = next.after(earlier.as_ref());
                earlier = Some(next).filter(|next| next.left.is_empty() && !next.clauses.is_empty());
            }
        }
    }
    let mut asked = read(words).after(earlier.as_ref());
    let plan = list(["The conversation's plan: ", "本对话的计划："]).and_then(|id| id.trim().parse().ok());
    let results = Results::read(&request.messages[at + 1..], before, plan);
    if part == "planner" {
        return Some(Draft::text(children(&asked, language)));
    }
    if !results.confirmed.is_empty() {
        asked = Request::default();
    } else if asked.is_empty() {
        asked = read("help");
    }
    let understood: Vec<String> = asked.clauses.iter().map(|clause| said(clause, &asked, language)).collect();
    let mut values = json!({ "mode": "ask", "is_worker": part == "worker", "understood": understood,
        "left": asked.left, "missing": asked.missing(), "actions": [], "done": [], "rest": [], "failed": false, "form": "" });
    let mut actions = Vec::new();
    if !results.confirmed.is_empty() {
        (values["mode"], values["understood"]) = (json!("answer"), json!([]));
        values["done"] =
            json!([{ "form": "", "results": results.confirmed.iter().map(shown).collect::<Vec<_>>() }]);
    } else if asked.left.is_empty() && asked.missing().is_empty() {
        match results.step(&asked) {
            Err(next) => {
                values["mode"] = "do".into();
                actions = next;
            }
            Ok(done) => {
                let is_failed =
                    |result: &Value| result["success"] == false || result["data"]["still_running"] == true;
                values["failed"] = done.iter().any(|(_, results)| results.iter().any(is_failed)).into();
                values["mode"] = "answer".into();
                let rest = understood.iter().skip(done.len());
                values["rest"] = rest.cloned().collect();
                let part = |(clause, results): &(Clause, Vec<Value>)| json!({ "form": clause.form, "results": results.iter().map(shown).collect::<Vec<_>>() });
                values["done"] = done.iter().map(part).collect();
            }
        }
    }
    let mut message = text("reply", language, &values);
    if actions.is_empty() {
        let of = if language == "en" { super::day::Language::English } else { super::day::Language::Chinese };
        message = format!("{message}\n{}", label(of, &request.model));
    }
    if !request.tools.is_empty() {
        let calls = actions.into_iter().map(|action| (action.name, action.parameters)).collect();
        return Some(Draft { text: message, calls });
    }
    let actions = (1..).zip(actions).map(|(order, action)| {
        json!({ "kind": action.kind, "name": action.name, "parameters": action.parameters, "order": order,
            "blocking": true, "retry_policy": { "max_retries": 0, "backoff_sec": 1 } })
    });
    let actions: Vec<Value> = actions.collect();
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
    let period = clause.period();
    let (name, goal) = turn::named(clause.given.last().map_or("", String::as_str));
    let value = |slot: &str| clause.slot(slot).to_vec();
    text(
        "clause",
        language,
        &json!({
            "form": clause.form, "given": clause.given, "who": value("who"), "symbols": value("symbols"),
            "cash": value("cash").first().map(|cash| grouped(cash)), "jobs": value("jobs"), "latest": !value("latest").is_empty(), "won": !value("won").is_empty(),
            "from": period.map(|period| period.0.to_string()), "to": period.map(|period| period.1.to_string()),
            "words": clause.days.as_ref().map(|days| &days.words), "name": name, "goal": goal,
            "makes_plan": request.clauses.iter().any(|one| one.form == "create_plan"),
        "runs": request.clauses.iter().filter(|one| one.form == "run_simulation").count(),
        }),
    )
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
    let all: Vec<&Clause> = request.clauses.iter().collect();
    let can = request.left.is_empty() && request.missing().is_empty() && all.len() > 1;
    let runs: Vec<usize> = (0..all.len()).filter(|at| is_run(all[*at])).collect();
    let child = |clause: &&Clause| {
        // Alone it is about the run that the task before tells of.
        let words = said(clause, &Request::default(), language);
        let values = json!({ "mode": "task", "form": clause.form, "left": [], "missing": [] });
        let needs_run = !is_run(clause) && clause.form != "web_search";
        json!({ "name": text("reply", language, &values), "instruction": words,
            "dependencies": if needs_run { runs.clone() } else { Vec::new() } })
    };
    let children: Vec<Value> = all.iter().filter(|_| can).map(child).collect();
    json!({ "children": children }).to_string()
}
