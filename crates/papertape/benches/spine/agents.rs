//! A thousand concurrent agents in one process, against a model that takes 200 ms, then one that takes 2 s: the
//! ideal is the time of one agent's calls in sequence.

use crate::product::{self, Talk};
use papertape_core::time::Date;
use papertape_testkit::bench::server::{Conversation, ServerProcess};
use papertape_testkit::bench::{
    BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync, peak_memory, reset_peak,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const AGENTS: usize = 1_000;
const START: Date = jiff::civil::date(2012, 10, 1);
const END: Date = jiff::civil::date(2012, 10, 3);
const DAYS: usize = 3;
const CALLS: u32 = Conversation::Short.model_calls();
/// How fast models answer.
const LATENCY: Duration = Duration::from_millis(200);
const LONG_LATENCY: Duration = Duration::from_secs(2);
/// The maximum ratio of the wall time to the ideal, at each latency.
const RATIO: f64 = 1.7;
const LONG_RATIO: f64 = 1.05;
/// The maximum peak memory in bytes.
const MEMORY: f64 = 500e6;

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let runtime = product::runtime();
    let calls = DAYS * CALLS as usize;
    println!("{AGENTS} agents, {DAYS} days each: {calls} calls of an agent, one after the other\n");
    let mut table = Table::default();
    short(&runtime, &mut table);
    long(&runtime, &mut table);
    table.print();
}

/// Against a model that takes 200 ms, next to the bare calls.
fn short(runtime: &Runtime, table: &mut Table) {
    let server = ServerProcess::start(LATENCY, Conversation::Short);
    let talk = Arc::new(runtime.block_on(Talk::record(Conversation::Short)));
    let ideal = ideal(LATENCY);
    let mut wall: [Series; 2] = Default::default();
    let (mut cpu, mut memory) = (Series::default(), Series::default());
    for round in 0..ROUNDS {
        let measured = measure(runtime, &server, round);
        wall[0].push(measured.wall);
        cpu.push(measured.cpu);
        memory.push(measured.memory);
        let timed = Timed::start();
        runtime.block_on(bare(&talk, server.url()));
        wall[1].push(timed.end().0.as_secs_f64());
    }
    let with = Some(("ideal", &ideal));
    table.add("wall time at 200 ms", Unit::Millis, &wall[0], with, BenchTarget::RatioTo(RATIO));
    table.add("the bare calls at 200 ms, nothing kept", Unit::Millis, &wall[1], with, BenchTarget::Shown);
    let with = Some(("bare calls", &wall[1]));
    table.add("wall time at 200 ms, again", Unit::Millis, &wall[0], with, BenchTarget::Shown);
    table.add("peak memory", Unit::Megabytes, &memory, None, BenchTarget::To(MEMORY));
    table.add("processor time of a model-day", Unit::Millis, &cpu, None, BenchTarget::Shown);
}

/// Against a model that takes 2 s, as most do.
fn long(runtime: &Runtime, table: &mut Table) {
    let server = ServerProcess::start(LONG_LATENCY, Conversation::Short);
    let wall: Series = (0..ROUNDS).map(|round| measure(runtime, &server, round).wall).collect();
    let ideal = ideal(LONG_LATENCY);
    let with = Some(("ideal", &ideal));
    table.add("wall time at 2 s", Unit::Millis, &wall, with, BenchTarget::RatioTo(LONG_RATIO));
}

/// The time of one agent's calls in sequence, in seconds, for each round.
fn ideal(latency: Duration) -> Series {
    [latency.as_secs_f64() * f64::from(CALLS) * DAYS as f64; ROUNDS].into_iter().collect()
}

struct Measured {
    /// Seconds.
    wall: f64,
    /// CPU seconds per model-day.
    cpu: f64,
    /// Peak memory in bytes.
    memory: f64,
}

/// All agents once. Each round has its own data directory and client, so that connections are opened anew.
fn measure(runtime: &Runtime, server: &ServerProcess, round: usize) -> Measured {
    let dir = product::directory();
    let app = runtime.block_on(product::open(dir.path(), server.url(), AGENTS));
    let names: Vec<String> = (0..AGENTS).map(|number| format!("agent-{round}-{number}")).collect();
    let (job, days) =
        runtime.block_on(product::queue(&app, product::request("streamed", &names, START, END)));
    assert_eq!(days, AGENTS * DAYS);
    reset_peak();
    let timed = Timed::start();
    runtime.block_on(product::work(&app, &job));
    let (time, processor) = timed.end();
    let memory = peak_memory().unwrap_or_default() as f64;
    runtime.block_on(product::check(&app, Conversation::Short, days));
    Measured { wall: time.as_secs_f64(), cpu: processor.as_secs_f64() / days as f64, memory }
}

/// The calls only.
async fn bare(talk: &Arc<Talk>, url: &str) {
    let client = product::client();
    let tasks: Vec<_> = (0..AGENTS)
        .map(|_| {
            let (talk, client, url) = (Arc::clone(talk), client.clone(), url.to_owned());
            tokio::spawn(async move {
                for _ in 0..DAYS {
                    talk.hold(&client, &url, |_| {}).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("ends");
    }
}
