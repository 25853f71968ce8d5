//! A desk's ticker-days. Against a model that responds immediately: the product's own CPU time, next to a
//! bare loop that sends the same requests and commits each response. Against a model that takes 200 ms: how
//! close one desk, and 256 concurrent desks, get to their longest chain of calls.
//!
//! There are two days: a long one, as a real model works, with answers of 3 kB, and a short one, on which the house
//! model reads only what it needs. The slow model answers the short one.

use crate::desk_day::Day;
use crate::product;
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_core::time::Date;
use papertape_service::trigger::Request;
use papertape_testkit::bench::server::ServerProcess;
use papertape_testkit::bench::{
    BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync, peak_memory, percentile, reset_peak,
};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const DESKS: usize = 256;
const LATENCY: Duration = Duration::from_millis(200);
/// How answers arrive, as the providers are called.
const WAYS: [&str; 2] = ["whole", "streamed"];
const SYMBOL: [&str; 1] = ["AAPL"];
const START: Date = jiff::civil::date(2012, 1, 3);
/// About fifty trading days.
const END: Date = jiff::civil::date(2012, 3, 15);
/// One week.
const FRIDAY: Date = jiff::civil::date(2012, 1, 9);
/// The maximum CPU seconds per long ticker-day; 0.020 is better.
const AIM: f64 = 0.025;
/// The maximum ratio of the same to its bare loop.
const RATIO: f64 = 4.0;
/// The maximum CPU seconds that streamed answers add to it.
const STREAMING: f64 = 0.005;
/// The maximum ratio of the wall time to the longest chain of calls: of one desk, and of the median desk of many.
const ONE: f64 = 1.1;
const MANY: f64 = 1.2;
/// The maximum memory per desk, in bytes.
const MEMORY: f64 = 0.5e6;

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let runtime = product::runtime();
    let long = runtime.block_on(Day::record_long(dir.path()));
    let short = runtime.block_on(Day::record_short(dir.path()));
    for day in [&long, &short] {
        println!(
            "a ticker-day of all four analysts: {} model calls, {} of them in the longest chain; {} tool calls; \
             answers of {} bytes on average",
            day.requests.len(),
            day.chain,
            day.tools,
            day.mean_answer
        );
    }
    println!();
    let mut table = Table::default();
    at_once(&runtime, &long, true, &mut table);
    at_once(&runtime, &short, false, &mut table);
    one(&runtime, dir.path(), &short, &mut table);
    many(&runtime, &short, &mut table);
    table.print();
}

/// Fifty days of one desk against a model that responds immediately: with whole and with streamed answers, of the
/// product and of the bare loop.
fn at_once(runtime: &Runtime, day: &Day, has_aims: bool, table: &mut Table) {
    let dir = product::directory();
    let server = ServerProcess::start_desk(Duration::ZERO, &day.roles);
    let app = runtime.block_on(product::open(dir.path(), server.url(), 8));
    let client = product::client();
    let streamed = day.requests.iter().map(product::streamed).collect();
    let requests: [&Vec<Value>; 2] = [&day.requests, &streamed];
    let (mut cpu, mut wall): ([Series; 4], [Series; 4]) = Default::default();
    // The first round is a warm-up.
    for round in 0..=ROUNDS {
        let mut times = Vec::new();
        let mut days = 0;
        for provider in WAYS {
            let name = format!("{provider}-{round}");
            let queued = product::queue(&app, simulation(provider, &[name], START, END));
            let (job, queued) = runtime.block_on(queued);
            days = queued;
            let timed = Timed::start();
            runtime.block_on(product::work(&app, &job));
            times.push(timed.end());
            check(dir.path(), job.as_str(), days, day);
        }
        for (provider, requests) in WAYS.into_iter().zip(requests) {
            let path = dir.path().join(format!("bare-{provider}-{round}.db"));
            let timed = Timed::start();
            runtime.block_on(bare(&path, requests, &client, server.url(), days));
            times.push(timed.end());
        }
        for (which, (time, processor)) in times.into_iter().enumerate().filter(|_| round > 0) {
            wall[which].push(time.as_secs_f64() / days as f64);
            cpu[which].push(processor.as_secs_f64() / days as f64);
        }
    }
    let aim = |aim: BenchTarget| if has_aims { aim } else { BenchTarget::Shown };
    let with = |series| Some(("bare loop, a FULL transaction an answer", series));
    let of = format!("a ticker-day of {} calls", day.requests.len());
    for (which, how) in WAYS.into_iter().enumerate() {
        let (what, bare) = (format!("processor time of {of}, {how}"), &cpu[which + 2]);
        table.add(&what, Unit::Millis, &cpu[which], with(bare), aim(BenchTarget::To(AIM)));
        if has_aims {
            let what = format!("{what}, again");
            table.add(what, Unit::Millis, &cpu[which], with(bare), BenchTarget::RatioTo(RATIO));
        }
    }
    let (what, added) = (format!("processor time of {of}, streamed - whole"), cpu[1].minus(&cpu[0]));
    table.add(what, Unit::Millis, &added, None, aim(BenchTarget::To(STREAMING)));
    for (which, how) in WAYS.into_iter().enumerate() {
        let what = format!("wall time of {of}, {how}");
        table.add(what, Unit::Millis, &wall[which], with(&wall[which + 2]), BenchTarget::Shown);
    }
}

/// A week of one desk against a slow model.
fn one(runtime: &Runtime, dir: &Path, day: &Day, table: &mut Table) {
    let server = ServerProcess::start_desk(LATENCY, &day.roles);
    let app = runtime.block_on(product::open(dir, server.url(), 8));
    let (mut wall, mut ideal) = (Series::default(), Series::default());
    for round in 0..ROUNDS {
        let name = format!("slow-{round}");
        let (job, days) =
            runtime.block_on(product::queue(&app, simulation("streamed", &[name], START, FRIDAY)));
        let timed = Timed::start();
        runtime.block_on(product::work(&app, &job));
        wall.push(timed.end().0.as_secs_f64() / days as f64);
        ideal.push(LATENCY.as_secs_f64() * day.chain as f64);
        check(dir, job.as_str(), days, day);
    }
    let with = Some(("longest chain of calls", &ideal));
    table.add("wall time of a ticker-day at 200 ms", Unit::Millis, &wall, with, BenchTarget::RatioTo(ONE));
}

/// A day of many concurrent desks against a slow model.
fn many(runtime: &Runtime, day: &Day, table: &mut Table) {
    let server = ServerProcess::start_desk(LATENCY, &day.roles);
    let [mut median, mut slowest, mut memory, mut ideal]: [Series; 4] = Default::default();
    for round in 0..ROUNDS {
        // Each has its own data directory and client, so that connections are opened anew.
        let dir = product::directory();
        let app = runtime.block_on(product::open(dir.path(), server.url(), DESKS * 4));
        let names: Vec<String> = (0..DESKS).map(|number| format!("desk-{round}-{number}")).collect();
        let (job, days) =
            runtime.block_on(product::queue(&app, simulation("streamed", &names, START, START)));
        reset_peak();
        let before = peak_memory().unwrap_or_default();
        runtime.block_on(product::work(&app, &job));
        let peak = peak_memory().unwrap_or_default();
        memory.push(peak.saturating_sub(before) as f64 / DESKS as f64);
        let times = check(dir.path(), job.as_str(), days, day);
        median.push(percentile(&times, 0.5));
        slowest.push(percentile(&times, 0.99));
        ideal.push(LATENCY.as_secs_f64() * day.chain as f64);
    }
    let with = Some(("longest chain of calls", &ideal));
    let what = |part: &str| format!("wall time of a ticker-day at 200 ms, {DESKS} desks, {part}");
    table.add(what("p50"), Unit::Millis, &median, with, BenchTarget::RatioTo(MANY));
    table.add(what("p99"), Unit::Millis, &slowest, with, BenchTarget::Shown);
    table.add("peak memory of a desk beside 255", Unit::Bytes, &memory, None, BenchTarget::To(MEMORY));
}

/// A simulation of these desks, whose model is one of the provider's.
fn simulation(provider: &str, names: &[String], start: Date, end: Date) -> Request {
    let model = || format!("{provider}::scripted").parse().expect("a model");
    let agents = names.iter().map(|name| AgentConfig::desk(AgentName::new(name), model())).collect();
    product::simulation(agents, &SYMBOL, start, end)
}

/// Checks that every day completed with all its calls, and that the answers are as long as recorded. Returns how
/// long each day took, in seconds.
fn check(dir: &Path, job: &str, days: usize, day: &Day) -> Vec<f64> {
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
    assert_eq!(done, (days * day.requests.len()) as i64, "every call was made");
    let messages = "SELECT count(*), CAST(avg(octet_length(content)) AS INTEGER) FROM reasoning_logs AS m
        JOIN trading_sessions AS s ON s.id = m.session_id WHERE s.job_id = ?1 AND m.role = ?2";
    let messages = |role: &str| -> (i64, i64) {
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        database.query_row(messages, [job, role], row).expect("counts")
    };
    assert_eq!(messages("tool").0, (days * day.tools) as i64, "every tool was called");
    let (answers, bytes) = messages("assistant");
    assert_eq!(answers, done, "every answer is there");
    assert!((bytes - day.mean_answer as i64).abs() < 50, "{bytes} bytes, not {}", day.mean_answer);
    times
}

/// The same days without the product: the recorded requests in sequence, one connection, one table, one
/// transaction per response. No tool runs and no order is placed.
async fn bare(path: &Path, requests: &[Value], client: &reqwest::Client, url: &str, days: usize) {
    let connection = Connection::open(path).expect("opens");
    let schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE answers (id INTEGER PRIMARY KEY, day INTEGER, content TEXT, calls TEXT);
        CREATE INDEX answers_by_day ON answers (day);";
    connection.execute_batch(schema).expect("sets up");
    let url = format!("{url}chat/completions");
    for number in 0..days as i64 {
        for request in requests {
            let message = product::send(client.post(&url), request).await;
            assert!(message.is_object(), "an answer");
            let calls = message["tool_calls"].as_array().map(|calls| json!(calls).to_string());
            let insert = "INSERT INTO answers (day, content, calls) VALUES (?1, ?2, ?3)";
            let row = params![number, message["content"].as_str(), calls];
            let insert = connection.prepare_cached(insert);
            insert.and_then(|mut insert| insert.execute(row)).expect("writes");
        }
    }
}
