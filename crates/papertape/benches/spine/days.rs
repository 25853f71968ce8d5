//! A solo agent's days against a model that responds immediately, with short answers and with answers of 3 kB: the
//! product's own CPU time, next to a bare loop that makes the same calls and commits each message.

use crate::product::{self, Talk};
use papertape_core::time::Date;
use papertape_testkit::bench::server::{Conversation, ServerProcess};
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync};
use rusqlite::{Connection, params};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

const START: Date = jiff::civil::date(2012, 1, 3);
const END: Date = jiff::civil::date(2012, 5, 24);
/// The maximum CPU seconds per model-day of seven calls.
const AIM: f64 = 0.002;
/// The maximum CPU seconds per model-day of nine calls with answers of 3 kB.
const LONG_AIM: f64 = 0.008;
/// How answers arrive: the provider's name, and its description.
const WAYS: [(&str, &str); 2] = [("streamed", "streamed answers (the default)"), ("whole", "whole answers")];

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let runtime = product::runtime();
    let mut table = Table::default();
    measure(&runtime, Conversation::Short, AIM, &mut table);
    measure(&runtime, Conversation::Long, LONG_AIM, &mut table);
    table.print();
}

fn measure(runtime: &Runtime, conversation: Conversation, aim: f64, table: &mut Table) {
    let dir = product::directory();
    let server = ServerProcess::start(Duration::ZERO, conversation);
    let whole = runtime.block_on(Talk::record(conversation));
    let talks = [whole.streamed(), whole];
    let app = runtime.block_on(product::open(dir.path(), server.url(), 8));
    let client = product::client();

    // The product's, then the bare loop's, each in both ways.
    let (mut cpu, mut wall): ([Series; 4], [Series; 4]) = Default::default();
    let mut days = 0;
    let mut all = 0;
    let served = server.cpu_time();
    // The first round is a warm-up.
    for round in 0..=ROUNDS {
        let mut times = Vec::new();
        for (provider, _) in WAYS {
            let agents = [format!("{provider}-{round}")];
            let (job, queued) =
                runtime.block_on(product::queue(&app, product::request(provider, &agents, START, END)));
            days = queued;
            let timed = Timed::start();
            runtime.block_on(product::work(&app, &job));
            times.push(timed.end());
            all += days;
            runtime.block_on(product::check(&app, conversation, all));
        }
        for ((provider, _), talk) in WAYS.into_iter().zip(&talks) {
            let timed = Timed::start();
            let path = dir.path().join(format!("bare-{provider}-{round}.db"));
            runtime.block_on(bare(&path, talk, &client, server.url(), days));
            times.push(timed.end());
        }
        for (which, (time, processor)) in times.into_iter().enumerate().filter(|_| round > 0) {
            wall[which].push(time.as_secs_f64() / days as f64);
            cpu[which].push(processor.as_secs_f64() / days as f64);
        }
    }
    let served = (server.cpu_time() - served).as_secs_f64() / (4 * (ROUNDS + 1) * days) as f64;
    let (calls, tools) = (conversation.model_calls(), conversation.tool_calls());
    println!("{days} model-days a round, of {calls} model calls and {tools} tool calls each;");
    println!("the model server's own {:.2} ms of a day are in no figure\n", served * 1e3);
    let with = |series| Some(("bare loop, a FULL transaction a message", series));
    for (which, (_, how)) in WAYS.into_iter().enumerate() {
        let what = format!("processor time of a model-day of {calls} calls, {how}");
        table.add(what, Unit::Millis, &cpu[which], with(&cpu[which + 2]), BenchTarget::To(aim));
    }
    for (which, (_, how)) in WAYS.into_iter().enumerate() {
        let what = format!("wall time of a model-day of {calls} calls, {how}");
        table.add(what, Unit::Millis, &wall[which], with(&wall[which + 2]), BenchTarget::Shown);
    }
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
    // A response more than there are tool results.
    assert_eq!(count, (days * (2 * talk.tools.len() + 1)) as i64, "every message is there");
}
