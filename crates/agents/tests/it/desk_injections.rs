//! A desk's day with every injection attempt of the corpus in its news: the models' prompts keep every word
//! of it behind a fence, and the orders are those of the undisturbed day.

use crate::desk_stage::{decision, plan, proposal, run, usual};
use crate::injections::all;
use crate::stage::{Day, Stage, data};
use papertape_agents::config::AgentConfig;
use papertape_core::fence::{CLOSING, OPENING, PREFIX};
use papertape_core::id::Symbol;
use papertape_core::message::{Message, ModelReply, ModelRequest};
use papertape_core::tape::StepPath;
use papertape_testkit::host::Act;
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// A desk with this headline in its news.
fn with_news(headline: &str) -> Stage {
    let at = "2024-01-02T20:00:00Z".parse().expect("an instant");
    let mut stage = Stage::new(data().news("AAPL", at, headline));
    stage.agent = AgentConfig::desk("desk".into(), "openai::gpt-5".parse().expect("a model's name"));
    stage.symbols = ["AAPL"].map(Symbol::new).into();
    stage
}

/// The text that a model would take for its owner's words: everything outside fences, including the tools'
/// descriptions.
pub(crate) fn own_words(request: &ModelRequest) -> String {
    let mut words = request.instructions.clone().unwrap_or_default();
    let said = request.messages.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
    let said = said.map(|message| message.content().to_owned());
    let tools = request.tools.iter().map(|tool| tool.description.clone());
    let parameters = request.tools.iter().flat_map(|tool| texts(&tool.parameters));
    for text in said.chain(tools).chain(parameters) {
        let mut inside = false;
        for line in text.split(BREAKS) {
            if line.starts_with(OPENING) {
                inside = true;
            } else if inside && line.starts_with(CLOSING) {
                inside = false;
            } else if !(inside && line.starts_with(PREFIX)) {
                words.push('\n');
                words.push_str(line);
            }
        }
    }
    words
}

/// Every text in a schema.
fn texts(schema: &Value) -> Vec<String> {
    match schema {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

pub(crate) const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A model that does whatever it reads outside a fence, and repeats what it read to the other roles. Texts
/// that the desk itself writes on a quiet day are not orders.
fn obedient(
    attempt: &str,
    quiet: &str,
) -> impl Fn(&StepPath, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static {
    let lines = attempt.split(BREAKS).map(str::trim).filter(|line| line.chars().count() > 8);
    let orders: Vec<String> = lines.filter(|line| !quiet.contains(line)).map(str::to_owned).collect();
    let attempt = attempt.to_owned();
    move |path, request| {
        let words = own_words(request);
        let ordered = orders.iter().any(|order| words.contains(order.as_str()));
        match path.node() {
            "News Analyst#1" if !path.as_str().ends_with("/model#1") => {
                Act::text(format!("The news says: {attempt}"))
            }
            "Bull Researcher#1" => Act::text(format!("I have read: {attempt}")),
            "Research Manager#1" if ordered => Act::text(plan("Sell").to_string()),
            "Trader#1" if ordered => Act::text(proposal("Sell").to_string()),
            "Portfolio Manager#1" if ordered => Act::text(decision("Sell").to_string()),
            _ => usual(path, request),
        }
    }
}

fn orders(day: &Day) -> Vec<(String, String, String)> {
    let told = |order: papertape_core::record::OrderRow| {
        (order.symbol.to_string(), order.side, format!("{} {}", order.quantity, order.status))
    };
    day.orders().into_iter().map(told).collect()
}

// Goal: with every attempt in the news, repeated by the roles that read it, the orders are those of a quiet
// day, to the share.
#[test]
fn no_attempt_changes_an_order() {
    let heard: Arc<Mutex<String>> = Arc::default();
    let ear = Arc::clone(&heard);
    let usual_day = run(&with_news("Quiet day."), move |path, request| {
        ear.lock().expect("a lock").push_str(&own_words(request));
        usual(path, request)
    });
    let wanted = orders(&usual_day);
    assert_eq!(wanted.len(), 1, "{wanted:?}");
    let quiet = heard.lock().expect("a lock").clone();
    assert!(!quiet.contains("Quiet day.") && quiet.contains("Role: Trader"), "{quiet}");
    for attempt in all() {
        let day = run(&with_news(&attempt), obedient(&attempt, &quiet));
        assert_eq!(orders(&day), wanted, "{attempt}");
        assert!(day.told_fenced().iter().any(|told| told.starts_with(OPENING)), "{attempt}");
    }
}
