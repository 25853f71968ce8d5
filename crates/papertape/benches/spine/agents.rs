//! A thousand concurrent agents in one process, against a model that takes 200 ms: the ideal is the time of
//! one agent's calls in sequence.

use crate::product::{self, Talk};
use papertape_core::time::Date;
use papertape_testkit::bench::server::{MODEL_CALLS, ServerProcess};
use papertape_testkit::bench::{
    BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync, peak_memory, reset_peak,
};
use std::sync::Arc;
use std::time::Duration;

const AGENTS: usize = 1_000;
const LATENCY: Duration = Duration::from_millis(200);
const START: Date = jiff::civil::date(2012, 10, 1);
const END: Date = jiff::civil::date(2012, 10, 3);
const DAYS: usize = 3;

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let server = ServerProcess::start(LATENCY);
    let runtime = product::runtime();
    let talk = Arc::new(runtime.block_on(Talk::record()));
    let ideal = LATENCY.as_secs_f64() * f64::from(MODEL_CALLS) * DAYS as f64;
    let mut wall: [Series; 2] = Default::default();
    let (mut cpu, mut memory) = (Series::default(), Series::default());
    for round in 0..ROUNDS {
        // Each has its own data directory and client, so that connections are opened anew.
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
        wall[0].push(time.as_secs_f64());
        cpu.push(processor.as_secs_f64() / days as f64);
        memory.push(peak_memory().unwrap_or_default() as f64);
        runtime.block_on(product::check(&app, days));
        drop(app);

        let timed = Timed::start();
        runtime.block_on(bare(&talk, server.url()));
        wall[1].push(timed.end().0.as_secs_f64());
    }
    println!(
        "{AGENTS} agents, {DAYS} days each, {} calls of {} ms one after the other: {ideal:.1} s\n",
        DAYS * MODEL_CALLS as usize,
        LATENCY.as_millis()
    );
    let ideal: Series = [ideal; ROUNDS].into_iter().collect();
    let mut table = Table::default();
    table.add("wall time", Unit::Millis, &wall[0], Some(("ideal", &ideal)), BenchTarget::RatioTo(1.15));
    table.add(
        "wall time of the bare calls, nothing kept",
        Unit::Millis,
        &wall[1],
        Some(("ideal", &ideal)),
        BenchTarget::Shown,
    );
    table.add("wall time, again", Unit::Millis, &wall[0], Some(("bare calls", &wall[1])), BenchTarget::Shown);
    table.add("peak memory", Unit::Megabytes, &memory, None, BenchTarget::To(500e6));
    table.add("processor time of a model-day", Unit::Millis, &cpu, None, BenchTarget::Shown);
    table.print();
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
