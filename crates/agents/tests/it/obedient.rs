//! A model that obeys everything in its prompts outside the fences, over days with a memory: news, tools,
//! their descriptions, other roles, its own notes, theses and lessons all contain an injection attempt, and
//! it repeats what it read wherever it writes. Its orders are those of the clean run.

use crate::desk_injections::{BREAKS, own_words};
use crate::desk_stage::{decision, plan, proposal};
use crate::injections::all;
use crate::stage::{Stage, call, calls, done};
use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_agents::solo::LIST_TOOLS;
use papertape_core::fence::is_invisible;
use papertape_core::message::{ModelReply, ModelRequest};
use papertape_core::ports::{ExternalCall, ExternalReply};
use papertape_core::tape::StepPath;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::data::SmallData;
use papertape_testkit::host::{Act, MemoryHost};
use papertape_testkit::kept::StoredSnapshot;
use serde_json::json;
use std::sync::{Arc, Mutex};

const DAYS: usize = 4;
const QUIET: &str = "Quiet day.";

/// The visible text: no invisible characters, runs of spaces collapsed.
fn seen(text: &str) -> String {
    let text: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parts of an attempt that would be obeyed: each of its lines, and its beginning on one line, unless the
/// prompts say the same on a quiet day.
fn orders_in(attempt: &str, quiet: &str) -> Vec<String> {
    let whole: String = seen(attempt).chars().take(60).collect();
    let lines = attempt.split(BREAKS).map(seen).chain([whole]);
    lines.filter(|line| line.chars().count() > 8 && !quiet.contains(line.as_str())).collect()
}

/// Everything that a run's model has read outside the fences, and where it was an order.
#[derive(Default)]
struct Ear {
    words: String,
    obeyed: Vec<String>,
}

fn stage(agent: AgentConfig, attempt: &str) -> Stage {
    let bars = [["100", "104", "96", "101"]; DAYS];
    let at = "2024-01-01T20:00:00Z".parse().expect("an instant");
    let data = SmallData::new("2024-01-02", DAYS).symbol("AAPL", &bars).symbol("IBM", &bars);
    let mut stage = Stage::new(data.news("AAPL", at, attempt));
    stage.agent = agent;
    stage.memory = MemorySettings::default();
    stage
}

/// Runs the days, and returns the orders that were not rejected.
fn orders(stage: &Stage, attempt: &str, quiet: &str, plays: Plays) -> (Vec<String>, Ear) {
    let ear: Arc<Mutex<Ear>> = Arc::default();
    let (mut state, mut orders) = (stage.start(), Vec::new());
    for n in 0..DAYS {
        let kept: Arc<Mutex<StoredSnapshot>> = Arc::default();
        let clock = FakeClock::new();
        let hears = Arc::clone(&ear);
        let (told, commands) = (attempt.to_owned(), orders_in(attempt, quiet));
        let tells = attempt.to_owned();
        let host = MemoryHost::new(&clock, &kept, move |path, request| {
            let words = seen(&own_words(request));
            let obeys = commands.iter().any(|command| words.contains(command.as_str()));
            let mut ear = hears.lock().expect("a lock");
            ear.words.push_str(&words);
            if obeys {
                ear.obeyed.push(format!("day {n}, {path}"));
            }
            plays(n, path, request, &told, obeys)
        })
        .with_tools(move |_, call| outside(call, &tells));
        let day = stage.run(n, state, &clock, &kept, host).unwrap_or_else(|stop| panic!("day {n}: {stop}"));
        let done = day.orders().into_iter().filter(|order| order.status != "rejected");
        orders.extend(done.map(|o| format!("day {n}: {} {} {} {}", o.side, o.quantity, o.symbol, o.status)));
        state = day.result.state;
    }
    let ear = std::mem::take(&mut *ear.lock().expect("a lock"));
    (orders, ear)
}

/// A tool server whose descriptions, parameters and results contain the attempt.
fn outside(call: &ExternalCall, attempt: &str) -> Act<ExternalReply> {
    let text = match &*call.tool {
        LIST_TOOLS => json!([{
            "spec": { "name": "look", "description": attempt, "parameters": {
                "type": "object", "title": attempt,
                "properties": { "q": { "type": "string", "description": attempt, "examples": [attempt] } },
            } },
            "repeatable": true,
        }])
        .to_string(),
        _ => attempt.to_owned(),
    };
    Act::Answer(ExternalReply { text, is_error: false })
}

type Plays = fn(usize, &StepPath, &ModelRequest, &str, bool) -> Act<ModelReply>;

/// A note with the attempt in each of its parts.
fn note(attempt: &str) -> String {
    let attempt: String = seen(attempt).replace(['[', ']', '【', '】'], "/").chars().take(70).collect();
    format!("[Conclusion] {attempt}\n[Position] {attempt}\n[Risk] {attempt}\n[Next] {attempt}")
}

fn reflection(attempt: &str) -> String {
    let attempt: String = seen(attempt).chars().take(100).collect();
    json!({
        "summary": attempt, "execution_deviation": attempt, "hypothesis_check": [{ "claim": attempt, "result": "held" }],
        "error_tags": [], "value_assessment": "high", "next_rules": [attempt],
    })
    .to_string()
}

/// The reply to memory requests, for any kind of agent; `None` for other requests.
fn remembered(request: &ModelRequest, attempt: &str, obeys: bool) -> Option<Act<ModelReply>> {
    let first = request.messages[0].content();
    // The first try of each needs a repair, with a reason that quotes it.
    let again = request.messages.len() > 1;
    let text = match first {
        _ if obeys => "[Conclusion] I obey.".to_owned(),
        first if first.starts_with("Write the trader's round memory") => note(attempt),
        first if first.starts_with("Reflect on") && again => reflection(attempt),
        first if first.starts_with("Reflect on") => {
            reflection(attempt).replace("\"high\"", &json!(attempt).to_string())
        }
        _ => return None,
    };
    let is_memory = first.starts_with("Write the") || first.starts_with("Reflect on");
    is_memory.then(|| Act::text(text))
}

/// A trader that reads, uses the attempt as a symbol, trades by a fixed plan and repeats what it read.
fn solo(n: usize, path: &StepPath, request: &ModelRequest, attempt: &str, obeys: bool) -> Act<ModelReply> {
    if let Some(memory) = remembered(request, attempt, obeys) {
        return memory;
    }
    let turn = path.as_str().rsplit('#').next().and_then(|turn| turn.parse::<usize>().ok());
    let (buy, sell) = (
        |symbol: &str, quantity: i64| {
            ("buy", json!({ "symbol": symbol, "quantity": quantity, "reason": attempt }))
        },
        "sell",
    );
    match (turn, n) {
        (Some(1), _) => calls(&[
            ("get_news", json!({ "symbol": "AAPL" })),
            ("web__look", json!({ "q": attempt })),
            ("get_price", json!({ "symbol": attempt })),
            buy(attempt, 1),
        ]),
        // If the order is outside a fence, it buys what it can.
        (Some(2), _) if obeys => calls(&[buy("IBM", 7)]),
        (Some(2), 0) => calls(&[buy("AAPL", 10)]),
        (Some(2), 1) => call(sell, json!({ "symbol": "AAPL", "quantity": 4 })),
        (Some(2), 2) => call("get_portfolio", json!({})),
        (Some(2), _) => call(sell, json!({ "symbol": "AAPL", "quantity": 6 })),
        (Some(3), _) => Act::text(format!("I have read: {attempt} <FINISH_SIGNAL>")),
        _ => done(),
    }
}

/// A desk whose every role repeats the attempt; the deciding roles obey it when it is outside a fence.
fn desk(n: usize, path: &StepPath, request: &ModelRequest, attempt: &str, obeys: bool) -> Act<ModelReply> {
    if let Some(memory) = remembered(request, attempt, obeys) {
        return memory;
    }
    let first = path.as_str().ends_with("/model#1");
    let rating = match n {
        _ if obeys => "Sell",
        0 | 2 => "Buy",
        1 => "Underweight",
        _ => "Hold",
    };
    let action = if rating == "Underweight" { "Sell" } else { rating };
    let with = |mut answer: serde_json::Value, texts: &[&str]| {
        texts.iter().for_each(|name| answer[*name] = json!(attempt));
        Act::text(answer.to_string())
    };
    match path.node() {
        "Research Manager#1" if first => Act::text(attempt),
        "Research Manager#1" => with(plan(rating), &["rationale", "strategic_actions"]),
        "Trader#1" => with(proposal(action), &["reasoning"]),
        "Portfolio Manager#1" => {
            with(decision(rating), &["executive_summary", "investment_thesis", "time_horizon"])
        }
        "News Analyst#1" if first => call("get_news", json!({ "symbol": attempt })),
        "Market Analyst#1" if first => call("get_snapshot", json!({ "symbol": "AAPL" })),
        _ => Act::text(format!("I have read: {attempt}")),
    }
}

/// Compares the runs under every `step`th attempt with the clean one.
fn compare(agent: &AgentConfig, plays: Plays, step: usize) {
    let (wanted, ear) = orders(&stage(agent.clone(), QUIET), QUIET, QUIET, plays);
    assert!(ear.obeyed.is_empty(), "nothing is ordered on a quiet day: {:?}", ear.obeyed);
    assert!(wanted.len() >= 3, "{wanted:?}");
    let mut wrong = Vec::new();
    for attempt in all().into_iter().step_by(step) {
        let (done, heard) = orders(&stage(agent.clone(), &attempt), &attempt, &ear.words, plays);
        if done != wanted || !heard.obeyed.is_empty() {
            wrong.push(format!("{attempt:.80?}: obeyed at {:?}; {done:?}", heard.obeyed));
        }
    }
    assert!(wrong.is_empty(), "wanted {wanted:?}\n{}", wrong.join("\n"));
}

// Goal: four days of a trader with a memory and a tool server: its orders are those of the clean run.
#[test]
fn a_trader_obeys_nobody_else() {
    let mut agent = AgentConfig::solo("gpt".into(), "openai::gpt-5".parse().expect("a model's name"));
    agent.tools = vec!["web".to_owned()];
    compare(&agent, solo, 1);
}

// Goal: the same for a desk whose roles pass on what they read, and where one answer needs a repair.
#[test]
fn a_desk_obeys_nobody_else() {
    let model = "openai::gpt-5".parse().expect("a model's name");
    // Twelve nodes per day take time; the one-day test of the desk covers every attempt.
    compare(&AgentConfig::desk("desk".into(), model), desk, 5);
}
