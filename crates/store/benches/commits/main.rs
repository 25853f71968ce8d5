//! Durable appends per second, acknowledged after fsync, next to what the bare database reaches: the very same
//! rows, in the same schema with the same indexes, one transaction per append.
//!
//! `make bench BENCH=commits`, `make bench BENCH=actions` and `make bench BENCH=postgres`.

mod actions;
mod appends;
mod pgbench;
mod raw;

use appends::{Append, Desk, Pace, paced};
use papertape_store::DatabaseTarget;
use papertape_testkit::bench::{Bench, BenchTarget, ROUNDS, Series, Table, Unit, main as run, median_fsync};
use papertape_testkit::postgres;
use std::time::Duration;

/// Duration of each measurement in a round: long enough that the full text index's remaining backlog at the end
/// is negligible.
const FOR: Duration = Duration::from_secs(3);
/// The same for PostgreSQL, where 64 clients take a while to prepare their statements.
const FOR_POSTGRES: Duration = Duration::from_secs(3);
/// Number of concurrent writers.
const MANY: usize = 64;
/// Target for one writer, as a fraction of the bare database.
const ONE_WRITER: f64 = 0.75;
/// Target for many writers of one job on PostgreSQL, as a multiple of one client of pgbench.
const ONE_JOB: f64 = 2.0;

fn main() {
    run(&[
        Bench { name: "commits", run: sqlite },
        Bench { name: "actions", run: action_log },
        Bench { name: "postgres", run: on_postgres },
    ]);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("starts")
}

/// Target for the gain from group commit: the slower the disk, the higher.
fn aim_of_many(fsync_ms: f64) -> f64 {
    if fsync_ms > 1.0 { 20.0 } else { 3.0 }
}

fn sqlite() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("makes a directory");
    let fsync = median_fsync(dir.path());
    let runtime = runtime();
    let mut table = Table::default();
    for append in [Append::Intent, Append::Message] {
        let (mut rates, mut cpu): ([Series; 3], [Series; 3]) = Default::default();
        for round in 0..ROUNDS {
            let at = |name: &str| dir.path().join(format!("{append:?}-{name}-{round}.db"));
            let mut keep = |which: usize, pace: Pace| {
                rates[which].push(pace.rate);
                cpu[which].push(pace.cpu);
            };
            keep(0, raw::paced(&runtime, &at("raw"), append, FOR));
            for (which, writers) in [(1, 1), (2, MANY)] {
                let target = DatabaseTarget::Sqlite(at(&writers.to_string()));
                let pace = runtime
                    .block_on(async { paced(Desk::new(target, writers).await, writers, append, FOR).await });
                keep(which, pace);
            }
        }
        let raw = Some(("bare SQLite, the same rows", &rates[0]));
        let name = append.name();
        table.add(
            format!("{name}, 1 writer"),
            Unit::PerSecond,
            &rates[1],
            raw,
            BenchTarget::RatioFrom(ONE_WRITER),
        );
        let aim = BenchTarget::RatioFrom(aim_of_many(fsync));
        table.add(format!("{name}, {MANY} writers"), Unit::PerSecond, &rates[2], raw, aim);
        let raw = Some(("bare SQLite, the same rows", &cpu[0]));
        let of = format!("processor time, {name}");
        table.add(format!("{of}, 1 writer"), Unit::Micros, &cpu[1], raw, BenchTarget::Shown);
        table.add(format!("{of}, {MANY} writers"), Unit::Micros, &cpu[2], raw, BenchTarget::Shown);
    }
    table.print();
}

fn action_log() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("makes a directory");
    let fsync = median_fsync(dir.path());
    let runtime = runtime();
    let mut table = Table::default();
    let (mut rates, mut cpu): ([Series; 3], [Series; 3]) = Default::default();
    for round in 0..ROUNDS {
        let at = |name: &str| dir.path().join(format!("actions-{name}-{round}.db"));
        let mut keep = |which: usize, pace: Pace| {
            rates[which].push(pace.rate);
            cpu[which].push(pace.cpu);
        };
        keep(0, actions::raw(&runtime, &at("raw"), FOR));
        for (which, jobs) in [(1, 1), (2, MANY)] {
            let target = DatabaseTarget::Sqlite(at(&jobs.to_string()));
            keep(which, runtime.block_on(actions::paced(target, jobs, FOR)));
        }
    }
    let raw = Some(("bare SQLite, the same rows", &rates[0]));
    table.add(
        "row of the action log, 1 job",
        Unit::PerSecond,
        &rates[1],
        raw,
        BenchTarget::RatioFrom(ONE_WRITER),
    );
    let aim = BenchTarget::RatioFrom(aim_of_many(fsync));
    table.add(format!("row of the action log, {MANY} jobs"), Unit::PerSecond, &rates[2], raw, aim);
    let raw = Some(("bare SQLite, the same rows", &cpu[0]));
    table.add("processor time, 1 job", Unit::Micros, &cpu[1], raw, BenchTarget::Shown);
    table.add(format!("processor time, {MANY} jobs"), Unit::Micros, &cpu[2], raw, BenchTarget::Shown);
    table.print();
}

fn on_postgres() {
    let place = match postgres::place() {
        Ok(place) => place,
        Err(why) => return println!("left out: {why}"),
    };
    let Some(pgbench) = pgbench::program() else {
        return println!("left out: pgbench is not installed");
    };
    let fsync = median_fsync(&std::env::temp_dir());
    let runtime = runtime();
    let mut table = Table::default();
    let append = Append::Intent;
    let names = ["pgbench 1", "pgbench 64", "1 writer", "64 writers, a job each", "64 writers, one job"];
    let mut rates: [Series; 5] = Default::default();
    for round in 0..ROUNDS {
        let target = |name: &str| {
            DatabaseTarget::Postgres(place.url.clone(), format!("{}_{name}_{round}", place.schema))
        };
        for (which, clients) in [(0, 1), (1, MANY)] {
            let name = format!("raw{clients}");
            rates[which].push(runtime.block_on(pgbench::paced(
                &pgbench,
                target(&name),
                clients,
                FOR_POSTGRES,
            )));
        }
        for (which, jobs, writers) in [(2, 1, 1), (3, MANY, MANY), (4, 1, MANY)] {
            let target = target(&format!("j{jobs}w{writers}"));
            let rate = runtime.block_on(async {
                paced(Desk::new(target, jobs).await, writers, append, FOR_POSTGRES).await
            });
            rates[which].push(rate.rate);
        }
    }
    let name = append.name();
    let (one, many) = (Some(("pgbench, 1 client", &rates[0])), Some(("pgbench, 64 clients", &rates[1])));
    table.add(
        format!("{name}, {}", names[2]),
        Unit::PerSecond,
        &rates[2],
        one,
        BenchTarget::RatioFrom(ONE_WRITER),
    );
    let aim = BenchTarget::RatioFrom(aim_of_many(fsync));
    table.add(format!("{name}, {}", names[3]), Unit::PerSecond, &rates[3], one, aim);
    table.add(format!("{name}, {}", names[3]), Unit::PerSecond, &rates[3], many, BenchTarget::Shown);
    let aim = BenchTarget::RatioFrom(ONE_JOB);
    table.add(format!("{name}, {}", names[4]), Unit::PerSecond, &rates[4], one, aim);
    table.add(names[1], Unit::PerSecond, &rates[1], one, BenchTarget::Shown);
    table.print();
}
