//! The assistant, played by rules: a documented list of requests in English and Chinese, see `docs/assistant.md`.
//!
//! The first line of the system prompt names its part, and one line of the question comes before the request. An unknown
//! word stops it: it names the word and does nothing. Texts that others wrote are quoted and never read for what to do.

mod days;
mod request;
mod tokens;
mod turn;

use super::Draft;
use super::language::Language;
use super::phrases::label;
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::Templates;
use regex::Regex;
use request::{ParsedMessage, RUN, Request};
use serde_json::{Value, json};
use std::sync::LazyLock;
use tokens::pattern;
use turn::{Action, Results};

/// An earlier message as long as this was cut: what is missing may have changed what it requests.
const PAST_CHARS: usize = 4_000;
static ROLE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("{role}"));
static QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("{question}"));
static SEPARATOR: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("{separator}"));
static TEXTS: LazyLock<Option<Templates>> = LazyLock::new(|| {
    let files = [("en", include_str!("texts/reply.en.md")), ("zh", include_str!("texts/reply.zh.md"))];
    Templates::new(&files, &Default::default()).ok()
});

/// The next turn; `None` where the system prompt names none of the assistant's parts.
pub(super) fn draft(request: &ModelRequest) -> Option<Draft> {
    let role = ROLE.as_ref()?.captures(request.instructions.as_deref()?)?;
    let has_part = |part: &str| role.name(part).is_some();
    let language = if has_part("english") { Language::En } else { Language::Zh };
    let mut messages = request.messages.iter().enumerate().rev();
    let (at, question) = messages.find_map(|(at, message)| match message {
        Message::User { content } => Some((at, QUESTION.as_ref()?.captures(content)?)),
        _ => None,
    })?;
    let capture = |group: &str| question.name(group).map_or("", |text| text.as_str());
    let agents = capture("agents").split(", ").map(|name| ("who", name));
    let is_symbol = |word: &&str| word.chars().all(|c| c.is_ascii_uppercase() || ".-".contains(c));
    let symbols = capture("datasets").split([',', ';', ' ']).filter(is_symbol).map(|name| ("symbols", name));
    let names: Vec<_> = agents.chain(symbols).filter(|(_, name)| !name.is_empty()).collect();
    let read = |text: &str, earlier: Option<&_>| ParsedMessage::read(text, &names, has_part("chat"), earlier);
    if has_part("planner") {
        return Some(Draft::text(children(capture("words"), |part| read(part, None), language)));
    }
    let mut earlier = None;
    for message in &request.messages[..at] {
        let Message::User { content } = message else { continue };
        let next = read(content, earlier.as_ref());
        let is_whole = next.left.is_empty() && content.chars().count() < PAST_CHARS;
        // A courtesy is answered with help, and changes nothing.
        earlier = if next.has("help") { earlier } else { is_whole.then_some(next) };
    }
    let results = Results::read(&request.messages[at + 1..], capture("before"));
    let is_new = results.confirmed.is_empty();
    let parsed = if is_new { read(capture("words"), earlier.as_ref()) } else { ParsedMessage::default() };
    let (mode, done, actions) = match parsed.is_whole().then(|| results.step(&parsed)) {
        Some(Ok(done)) => ("answer", done, Vec::new()),
        Some(Err(actions)) => ("do", Vec::new(), actions),
        None => ("ask", Vec::new(), Vec::new()),
    };
    let values = json!({
        "mode": mode, "is_worker": has_part("worker"), "left": parsed.left, "missing": parsed.missing(), "done": done,
        "requests": parsed.requests.iter().map(Request::facts).collect::<Value>(),
    });
    let end =
        if actions.is_empty() { format!("\n{}", label(language, &request.model)) } else { String::new() };
    let message = text(language, &values) + &end;
    if !request.tools.is_empty() {
        let calls = actions.into_iter().map(|(form, parameters)| (form.name, parameters)).collect();
        return Some(Draft { text: message, calls });
    }
    let action = |(order, (form, parameters)): (u32, Action)| {
        json!({ "kind": form.kind, "name": form.name, "parameters": parameters, "order": order,
            "blocking": true, "retry_policy": { "max_retries": 0, "backoff_sec": 1 } })
    };
    let actions: Value = (1..).zip(actions).map(action).collect();
    Some(Draft::text(json!({ "llm_reply": { "message": message }, "actions": actions }).to_string()))
}

/// A goal as a planner's children: one for each request, where there are several and all is understood.
fn children(goal: &str, read: impl Fn(&str) -> ParsedMessage, language: Language) -> String {
    let parts = SEPARATOR.iter().flat_map(|separator| separator.split(goal));
    let parts: Vec<_> = parts.filter(|part| !part.trim().is_empty()).map(read).collect();
    let is_whole = parts.iter().all(|part| part.is_whole() && !part.has("help"));
    let all: Vec<Value> = parts.iter().flat_map(|part| &part.requests).map(Request::facts).collect();
    let all = if is_whole && all.len() > 1 { all } else { Vec::new() };
    let runs: Vec<usize> = (0..all.len()).filter(|at| all[*at]["form"] == RUN).collect();
    let child = |facts: &Value| {
        let say = |mode| text(language, &json!({ "mode": mode, "requests": [facts] }));
        let needs_runs = facts["form"] != RUN && facts["form"] != "web_search";
        json!({ "name": say("name"), "instruction": say("instruction"),
            "dependencies": if needs_runs { &*runs } else { &[] } })
    };
    json!({ "children": all.iter().map(child).collect::<Value>() }).to_string()
}

fn text(language: Language, values: &Value) -> String {
    let file = if language == Language::En { "en" } else { "zh" };
    let found = TEXTS.as_ref().map(|texts| texts.render(file, values));
    found.map_or_else(String::new, |found| found.unwrap_or_else(|error| error.to_string()))
}
