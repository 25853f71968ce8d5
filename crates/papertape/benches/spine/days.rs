//! A solo agent's days against a model that responds immediately: the product's own CPU time, next to a bare
//! loop that makes the same calls and commits each message.

use crate::product::{self, Talk};
use papertape_core::time::Date;
use papertape_testkit::bench::server::{MODEL_CALLS, ServerProcess, TOOL_CALLS};
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync};
use rusqlite::{Connection, params};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const START: Date = jiff::civil::date(2012, 1, 3);
const END: Date = jiff::civil::date(2012, 5, 24);
/// The maximum CPU seconds per model-day.
const AIM: f64 = 0.002;

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let server = ServerProcess::start(Duration::ZERO);
    let runtime = product::runtime();
    let talk = runtime.block_on(Talk::record());
    let app = runtime.block_on(product::open(dir.path(), server.url(), 8));
    let client = product::client();

    let (mut cpu, mut wall): ([Series; 3], [Series; 3]) = Default::default();
    let mut days = 0;
    let mut all = 0;
    let served = server.cpu_time();
    // The first round is a warm-up.
    for round in 0..=ROUNDS {
        let mut times = Vec::new();
        for provider in ["streamed", "whole"] {
            let agents = [format!("{provider}-{round}")];
            let (job, queued) =
                runtime.block_on(product::queue(&app, product::request(provider, &agents, START, END)));
            days = queued;
            let timed = Timed::start();
            runtime.block_on(product::work(&app, &job));
            times.push(timed.end());
            all += days;
            runtime.block_on(product::check(&app, all));
        }
        let timed = Timed::start();
        let path = dir.path().join(format!("bare-{round}.db"));
        runtime.block_on(bare(&path, &talk, &client, server.url(), days));
        times.push(timed.end());
        for (which, (time, processor)) in times.into_iter().enumerate().filter(|_| round > 0) {
            wall[which].push(time.as_secs_f64() / days as f64);
            cpu[which].push(processor.as_secs_f64() / days as f64);
        }
    }
    let served = (server.cpu_time() - served).as_secs_f64() / (3 * (ROUNDS + 1) * days) as f64;
    println!("{days} model-days a round, of {MODEL_CALLS} model calls and {TOOL_CALLS} tool calls each;");
    println!("the model server's own {:.2} ms of a day are in no figure\n", served * 1e3);
    let mut table = Table::default();
    let with = |series| Some(("bare loop, a FULL transaction a message", series));
    for (which, how) in ["streamed answers (the default)", "whole answers"].into_iter().enumerate() {
        let what = format!("processor time of a model-day, {how}");
        table.add(what, Unit::Millis, &cpu[which], with(&cpu[2]), BenchTarget::To(AIM));
    }
    for (which, how) in ["streamed answers", "whole answers"].into_iter().enumerate() {
        let what = format!("wall time of a model-day, {how}");
        table.add(what, Unit::Millis, &wall[which], with(&wall[2]), BenchTarget::Shown);
    }
    table.print();
}

/// The same days without the product: one connection, one table, one transaction per message.
async fn bare(path: &Path, talk: &Talk, client: &reqwest::Client, url: &str, days: usize) {
    let connection = Connection::open(path).expect("opens");
    let schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE messages (id INTEGER PRIMARY KEY, day INTEGER, role TEXT, content TEXT, calls TEXT);
        CREATE INDEX messages_by_day ON messages (day);";
    connection.execute_batch(schema).expect("sets up");
    for day in 0..days as i64 {
        let keep = |message: &Value| {
            let insert = "INSERT INTO messages (day, role, content, calls) VALUES (?1, ?2, ?3, ?4)";
            let calls = message["tool_calls"].as_array().map(|_| message["tool_calls"].to_string());
            let row = params![day, message["role"].as_str(), message["content"].as_str(), calls];
            let insert = connection.prepare_cached(insert);
            insert.and_then(|mut insert| insert.execute(row)).expect("writes");
        };
        talk.hold(client, url, keep).await;
    }
    let count: i64 =
        connection.query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).expect("counts");
    assert_eq!(count, days as i64 * i64::from(MODEL_CALLS + TOOL_CALLS), "every message is there");
}
