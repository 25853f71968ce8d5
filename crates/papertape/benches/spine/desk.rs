//! A desk's ticker-days. Against a model that responds immediately: the product's own CPU time, next to a
//! bare loop that sends the same requests and commits each response. Against a model that takes 200 ms: how
//! close one desk, and 256 concurrent desks, get to their longest chain of calls.

use crate::product;
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_core::time::Date;
use papertape_house as house;
use papertape_service::trigger::Request;
use papertape_testkit::bench::server::{Roles, ServerProcess};
use papertape_testkit::bench::{
    BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync, peak_memory, percentile, reset_peak,
};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer, read_request};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const DESKS: usize = 256;
const LATENCY: Duration = Duration::from_millis(200);
const SYMBOL: [&str; 1] = ["AAPL"];
const START: Date = jiff::civil::date(2012, 1, 3);
/// About fifty trading days.
const END: Date = jiff::civil::date(2012, 3, 15);
/// One week.
const FRIDAY: Date = jiff::civil::date(2012, 1, 9);
/// The maximum CPU seconds per ticker-day.
const AIM: f64 = 0.005;
/// The maximum memory per desk, in bytes.
const MEMORY: f64 = 0.5e6;

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let runtime = product::runtime();
    let day = runtime.block_on(Day::record(dir.path()));
    println!(
        "a ticker-day of all four analysts: {} model calls, {} of them in the longest chain; {} tool calls\n",
        day.requests.len(),
        day.chain,
        day.tools
    );
    let mut table = Table::default();
    at_once(&runtime, dir.path(), &day, &mut table);
    one(&runtime, dir.path(), &day, &mut table);
    many(&runtime, &day, &mut table);
    table.print();
}

/// Fifty days of one desk against a model that responds immediately.
fn at_once(runtime: &tokio::runtime::Runtime, dir: &Path, day: &Day, table: &mut Table) {
    let server = ServerProcess::start_desk(Duration::ZERO, &day.roles);
    let app = runtime.block_on(product::open(dir, server.url(), 8));
    let client = product::client();
    let (mut cpu, mut wall): ([Series; 2], [Series; 2]) = Default::default();
    // The first round is a warm-up.
    for round in 0..=ROUNDS {
        let name = format!("desk-{round}");
        let (job, days) = runtime.block_on(product::queue(&app, simulation(&[name], START, END)));
        let timed = Timed::start();
        runtime.block_on(product::work(&app, &job));
        let ours = timed.end();
        check(dir, job.as_str(), days, day.requests.len());
        let timed = Timed::start();
        let path = dir.join(format!("bare-{round}.db"));
        runtime.block_on(bare(&path, day, &client, server.url(), days));
        let theirs = timed.end();
        for (which, (time, processor)) in [ours, theirs].into_iter().enumerate().filter(|_| round > 0) {
            wall[which].push(time.as_secs_f64() / days as f64);
            cpu[which].push(processor.as_secs_f64() / days as f64);
        }
    }
    let with = |series| Some(("bare loop, a FULL transaction an answer", series));
    table.add("processor time of a ticker-day", Unit::Millis, &cpu[0], with(&cpu[1]), BenchTarget::To(AIM));
    table.add("wall time of a ticker-day", Unit::Millis, &wall[0], with(&wall[1]), BenchTarget::Shown);
}

/// A week of one desk against a slow model.
fn one(runtime: &tokio::runtime::Runtime, dir: &Path, day: &Day, table: &mut Table) {
    let server = ServerProcess::start_desk(LATENCY, &day.roles);
    let app = runtime.block_on(product::open(dir, server.url(), 8));
    let (mut wall, mut ideal) = (Series::default(), Series::default());
    for round in 0..ROUNDS {
        let name = format!("slow-{round}");
        let (job, days) = runtime.block_on(product::queue(&app, simulation(&[name], START, FRIDAY)));
        let timed = Timed::start();
        runtime.block_on(product::work(&app, &job));
        wall.push(timed.end().0.as_secs_f64() / days as f64);
        ideal.push(day.ideal());
        check(dir, job.as_str(), days, day.requests.len());
    }
    let with = Some(("longest chain of calls", &ideal));
    table.add("wall time of a ticker-day at 200 ms", Unit::Millis, &wall, with, BenchTarget::RatioTo(1.1));
}

/// A day of many concurrent desks against a slow model.
fn many(runtime: &tokio::runtime::Runtime, day: &Day, table: &mut Table) {
    let server = ServerProcess::start_desk(LATENCY, &day.roles);
    let [mut median, mut slowest, mut memory, mut ideal]: [Series; 4] = Default::default();
    for round in 0..ROUNDS {
        // Each has its own data directory and client, so that connections are opened anew.
        let dir = product::directory();
        let app = runtime.block_on(product::open(dir.path(), server.url(), DESKS * 4));
        let names: Vec<String> = (0..DESKS).map(|number| format!("desk-{round}-{number}")).collect();
        let (job, days) = runtime.block_on(product::queue(&app, simulation(&names, START, START)));
        reset_peak();
        let before = peak_memory().unwrap_or_default();
        runtime.block_on(product::work(&app, &job));
        let peak = peak_memory().unwrap_or_default();
        memory.push(peak.saturating_sub(before) as f64 / DESKS as f64);
        let times = check(dir.path(), job.as_str(), days, day.requests.len());
        median.push(percentile(&times, 0.5));
        slowest.push(percentile(&times, 0.99));
        ideal.push(day.ideal());
    }
    let with = Some(("longest chain of calls", &ideal));
    let what = |part: &str| format!("wall time of a ticker-day at 200 ms, {DESKS} desks, {part}");
    table.add(what("p50"), Unit::Millis, &median, with, BenchTarget::RatioTo(1.15));
    table.add(what("p99"), Unit::Millis, &slowest, with, BenchTarget::Shown);
    table.add("peak memory of a desk beside 255", Unit::Bytes, &memory, None, BenchTarget::To(MEMORY));
}

/// A simulation of these desks.
fn simulation(names: &[String], start: Date, end: Date) -> Request {
    let model = || "streamed::scripted".parse().expect("a model");
    let agents = names.iter().map(|name| AgentConfig::desk(AgentName::new(name), model())).collect();
    product::simulation(agents, &SYMBOL, start, end)
}

/// Checks that every day completed with all its calls, and returns how long each took, in seconds.
fn check(dir: &Path, job: &str, days: usize, calls: usize) -> Vec<f64> {
    let path = dir.join("papertape.db");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("opens");
    let sessions = "SELECT completed_at - started_at FROM trading_sessions
        WHERE job_id = ?1 AND status = 'completed' AND metadata LIKE '%\"full\"%'";
    let mut statement = database.prepare(sessions).expect("is SQL");
    let times = statement.query_map([job], |row| row.get::<_, f64>(0)).expect("asks");
    let times: Vec<f64> = times.map(|time| time.expect("reads") / 1e6).collect();
    assert_eq!(times.len(), days, "every day was researched in full");
    let done = "SELECT count(*) FROM steps JOIN trading_sessions AS s ON s.id = steps.session_id
        WHERE s.job_id = ?1 AND steps.kind = 'model' AND steps.state = 'done'";
    let done: i64 = database.query_row(done, [job], |row| row.get(0)).expect("counts");
    assert_eq!(done, (days * calls) as i64, "every call was made");
    times
}

/// A recorded day of a desk.
struct Day {
    /// The file with each role's answers.
    roles: PathBuf,
    /// The requests, in order of arrival.
    requests: Vec<Value>,
    /// Model calls that depend on one another: the longest analyst conversation, and all later nodes.
    chain: usize,
    /// The number of tool calls.
    tools: usize,
}

impl Day {
    /// Records a day on which the house model plays the desk.
    async fn record(dir: &Path) -> Self {
        let kept: Arc<Mutex<Roles>> = Arc::default();
        let writing = Arc::clone(&kept);
        let server = ModelServer::answering(move |body| {
            let request = read_request(body, "house::momentum".parse().expect("a model")).expect("our own");
            let reply = house::answer(&request).expect("the house model knows it").reply;
            let calls: Vec<(String, Value)> =
                reply.tool_calls.into_iter().map(|call| (call.name, call.arguments)).collect();
            let body = serde_json::to_vec(body).expect("is JSON");
            let mut roles = writing.lock().unwrap_or_else(PoisonError::into_inner);
            roles.record(&body, &reply.text, &calls);
            let turns = body.windows(18).filter(|window| window == br#""role":"assistant""#).count();
            let answer = roles.answer(&body, u32::try_from(turns).expect("few"));
            ScriptedAnswer::raw("application/json", answer.to_string())
        });
        let server = server.await;
        let place = product::directory();
        let app = product::open(place.path(), &server.url(), 8).await;
        let mut request = simulation(&["recorded".to_owned()], START, START);
        request.agents[0].model = "whole::scripted".parse().expect("a model");
        let (job, _) = product::queue(&app, request).await;
        product::work(&app, &job).await;
        let requests: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
        let mut calls: BTreeMap<String, usize> = BTreeMap::new();
        let mut tools = 0;
        for request in &requests {
            let system = request["messages"][0]["content"].as_str().and_then(|text| text.lines().next());
            *calls.entry(system.unwrap_or_default().to_owned()).or_default() += 1;
        }
        let last = |role: &&Value| role["messages"].as_array().map_or(0, Vec::len);
        for name in calls.keys() {
            let of_role = requests.iter().filter(|request| {
                request["messages"][0]["content"].as_str().is_some_and(|text| text.starts_with(name))
            });
            let turns = of_role.max_by_key(last).and_then(|request| request["messages"].as_array());
            tools += turns.into_iter().flatten().filter(|turn| turn["role"] == "tool").count();
        }
        // The roles of the risk debate, which speak in turn, are called analysts as well.
        let beside = ["Market", "Sentiment", "News", "Fundamentals"].map(|name| format!("{name} Analyst"));
        let is_beside = |role: &str| beside.iter().any(|name| role.ends_with(name));
        let (analysts, others): (Vec<_>, Vec<_>) = calls.iter().partition(|(name, _)| is_beside(name));
        let longest = analysts.into_iter().map(|(_, calls)| *calls).max().unwrap_or_default();
        let chain = longest + others.into_iter().map(|(_, calls)| *calls).sum::<usize>();
        let roles = dir.join("roles.json");
        kept.lock().unwrap_or_else(PoisonError::into_inner).write(&roles);
        Self { roles, requests, chain, tools }
    }

    /// The duration of the longest chain, in seconds.
    fn ideal(&self) -> f64 {
        LATENCY.as_secs_f64() * self.chain as f64
    }
}

/// The same days without the product: the recorded requests in sequence, one connection, one table, one
/// transaction per response. No tool runs and no order is placed.
async fn bare(path: &Path, day: &Day, client: &reqwest::Client, url: &str, days: usize) {
    let connection = Connection::open(path).expect("opens");
    let schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE answers (id INTEGER PRIMARY KEY, day INTEGER, content TEXT, calls TEXT);
        CREATE INDEX answers_by_day ON answers (day);";
    connection.execute_batch(schema).expect("sets up");
    let url = format!("{url}chat/completions");
    for number in 0..days as i64 {
        for request in &day.requests {
            let body = serde_json::to_vec(request).expect("is JSON");
            let post = client.post(&url).header("content-type", "application/json").body(body);
            let bytes = post.send().await.expect("is sent").bytes().await.expect("is answered");
            let answer: Value = serde_json::from_slice(&bytes).expect("is JSON");
            let message = &answer["choices"][0]["message"];
            assert!(message.is_object(), "an answer");
            let calls = message["tool_calls"].as_array().map(|calls| json!(calls).to_string());
            let insert = "INSERT INTO answers (day, content, calls) VALUES (?1, ?2, ?3)";
            let row = params![number, message["content"].as_str(), calls];
            let insert = connection.prepare_cached(insert);
            insert.and_then(|mut insert| insert.execute(row)).expect("writes");
        }
    }
}
