//! A desk's day, recorded once: what each role answers, and the requests.

use crate::product;
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_core::time::Date;
use papertape_house as house;
use papertape_testkit::bench::server::{LONG_TEXT, Roles, lengthen};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer, read_request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const DATE: Date = jiff::civil::date(2012, 1, 3);
const SYMBOL: &str = "AAPL";

/// A recorded day of a desk.
pub(crate) struct Day {
    /// The file with each role's answers.
    pub(crate) roles: PathBuf,
    /// The requests, in order of arrival.
    pub(crate) requests: Vec<Value>,
    /// Model calls that depend on one another: the longest analyst conversation, and all later nodes.
    pub(crate) chain: usize,
    /// The number of tool calls.
    pub(crate) tools: usize,
    /// The mean length of the answers' texts, in bytes.
    pub(crate) mean_answer: usize,
}

/// The answers while they are recorded.
#[derive(Default)]
struct Recording {
    roles: Roles,
    bytes: usize,
}

impl Day {
    /// Records a day on which the house model plays the desk: it reads what it needs, and writes a paragraph.
    pub(crate) async fn record_short(dir: &Path) -> Self {
        Self::record(&dir.join("short.json"), false).await
    }

    /// Records a day on which the analysts read more, several tools in a turn, and everything that is written has 3 kB.
    pub(crate) async fn record_long(dir: &Path) -> Self {
        let day = Self::record(&dir.join("long.json"), true).await;
        assert_eq!((day.requests.len(), day.tools), (23, 22), "model calls and tool calls");
        assert!(day.mean_answer.abs_diff(LONG_TEXT) < 200, "{} bytes", day.mean_answer);
        day
    }

    async fn record(roles: &Path, is_long: bool) -> Self {
        let kept: Arc<Mutex<Recording>> = Arc::default();
        let writing = Arc::clone(&kept);
        let server = ModelServer::answering(move |body| {
            let turns = body["messages"].as_array().into_iter().flatten();
            let turns = turns.filter(|turn| turn["role"] == "assistant").count();
            let (text, calls) = if is_long { long(body, turns) } else { of_house(body) };
            let body = serde_json::to_vec(body).expect("is JSON");
            let mut recording = writing.lock().unwrap_or_else(PoisonError::into_inner);
            recording.roles.record(&body, &text, &calls);
            let answer = recording.roles.answer(&body, u32::try_from(turns).expect("few"));
            let said = answer["choices"][0]["message"]["content"].as_str();
            recording.bytes += said.expect("a text").len();
            ScriptedAnswer::raw("application/json", answer.to_string())
        });
        let server = server.await;
        let place = product::directory();
        let app = product::open(place.path(), &server.url(), 8).await;
        let desk = AgentConfig::desk(AgentName::new("recorded"), "whole::scripted".parse().expect("a model"));
        let (job, _) = product::queue(&app, product::simulation(vec![desk], &[SYMBOL], DATE, DATE)).await;
        product::work(&app, &job).await;
        let requests: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
        let recording = kept.lock().unwrap_or_else(PoisonError::into_inner);
        recording.roles.write(roles);
        let (chain, tools) = measure(&requests);
        let mean_answer = recording.bytes / requests.len();
        Self { roles: roles.to_owned(), requests, chain, tools, mean_answer }
    }
}

/// The house model's answer: its text, and its tool calls, each with name and arguments.
fn of_house(body: &Value) -> (String, Vec<(String, Value)>) {
    let request = read_request(body, "house::momentum".parse().expect("a model")).expect("our own");
    let reply = house::answer(&request).expect("the house model knows it").reply;
    (reply.text, reply.tool_calls.into_iter().map(|call| (call.name, call.arguments)).collect())
}

/// The same at length: an analyst reads all its sources before the house model reports on them.
fn long(body: &Value, turns: usize) -> (String, Vec<(String, Value)>) {
    let role = role(body);
    let (text, calls) = match reads(role).into_iter().nth(turns) {
        Some(calls) => {
            let text = "I read the sources before I report on them.".to_owned();
            (text, calls.into_iter().map(|(name, arguments)| (name.to_owned(), arguments)).collect())
        }
        None => of_house(body),
    };
    let seed = role.bytes().fold(turns as u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    (lengthen(&text, seed, LONG_TEXT), calls)
}

/// The tool calls of an analyst's turns; none of another role.
fn reads(role: &str) -> Vec<Vec<(&'static str, Value)>> {
    let of = || json!({ "symbol": SYMBOL });
    let bars = |limit: u32| ("get_bars", json!({ "symbol": SYMBOL, "limit": limit }));
    let indicators = |names: &[&str]| ("get_indicators", json!({ "symbol": SYMBOL, "indicators": names }));
    let calculate = |expression: &str| ("calculate", json!({ "expression": expression }));
    match role {
        "Market Analyst" => vec![
            vec![("get_snapshot", of()), ("get_price", of())],
            vec![bars(60), indicators(&["sma_20", "sma_50", "rsi_14", "atr_14"])],
            vec![indicators(&["macd", "sma_200"]), indicators(&["bollinger", "rsi_7"])],
            vec![indicators(&["ema_12", "ema_26"]), indicators(&["vwma_20", "mfi_14"]), bars(20)],
            vec![indicators(&["ema_50", "atr_7"]), bars(120), ("get_price", of())],
        ],
        "Sentiment Analyst" => vec![vec![("get_news", of()), ("get_news", json!({}))]],
        "News Analyst" => {
            vec![vec![("get_news", of()), ("get_news", json!({}))], vec![("get_macro", json!({}))]]
        }
        "Fundamentals Analyst" => vec![
            vec![("get_profile", of()), ("get_statements", of())],
            vec![("get_price", of()), calculate("411.23 / 27.68")],
            vec![calculate("(13.87 - 6.43) / 6.43 * 100")],
        ],
        _ => Vec::new(),
    }
}

/// The role that a request's system prompt names.
fn role(body: &Value) -> &str {
    let system = body["messages"][0]["content"].as_str().and_then(|text| text.lines().next());
    system.and_then(|line| line.strip_prefix("Role: ")).expect("names a role")
}

/// The calls in the longest chain, and the number of tool calls.
fn measure(requests: &[Value]) -> (usize, usize) {
    let mut calls: BTreeMap<&str, usize> = BTreeMap::new();
    for request in requests {
        *calls.entry(role(request)).or_default() += 1;
    }
    let length = |request: &&Value| request["messages"].as_array().map_or(0, Vec::len);
    let mut tools = 0;
    for name in calls.keys() {
        // A role's last request has all its tool results.
        let last = requests.iter().filter(|request| role(request) == *name).max_by_key(length);
        let turns = last.and_then(|request| request["messages"].as_array());
        tools += turns.into_iter().flatten().filter(|turn| turn["role"] == "tool").count();
    }
    // The roles of the risk debate, which speak in turn, are called analysts as well.
    let beside = ["Market", "Sentiment", "News", "Fundamentals"].map(|name| format!("{name} Analyst"));
    let (analysts, others): (Vec<_>, Vec<_>) =
        calls.into_iter().partition(|(name, _)| beside.iter().any(|analyst| analyst == name));
    let longest = analysts.into_iter().map(|(_, calls)| calls).max().unwrap_or_default();
    (longest + others.into_iter().map(|(_, calls)| calls).sum::<usize>(), tools)
}
