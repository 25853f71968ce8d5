//! What a long history costs: the CPU time of a day after many days of the same job, next to that of a day near its
//! start. The house model trades data that repeat, with its memory on, so both days are the same work.

use crate::{generated, product};
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_core::money::Money;
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use papertape_runtime::simulate::Observer;
use papertape_service::trigger::Request;
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Unit, cpu_time};
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// The maximum ratio of the later days to the earlier ones.
const AIM: f64 = 1.1;
/// The model that trades.
const MODEL: &str = "house::momentum";

/// A job, and the days in it that are compared.
struct Case {
    what: &'static str,
    /// The names of the two measured positions.
    names: [&'static str; 2],
    is_desk: bool,
    symbols: &'static [&'static str],
    /// The days before the first measured one.
    before: [usize; 2],
    /// The days over which the time is averaged.
    days: usize,
}

const CASES: [Case; 2] = [
    Case {
        what: "house agent's day",
        names: ["after 60 days", "after 3,000 days"],
        is_desk: false,
        symbols: &generated::SYMBOLS,
        before: [60, 3_000],
        days: 60,
    },
    Case {
        what: "desk's day",
        names: ["from session 10", "from session 1,000"],
        is_desk: true,
        symbols: &[generated::SYMBOLS[0]],
        before: [9, 999],
        days: 50,
    },
];

pub(crate) fn run() {
    let runtime = product::runtime();
    let mut table = Table::default();
    for case in &CASES {
        let mut cpu: [Series; 2] = Default::default();
        for _ in 0..ROUNDS {
            for (series, time) in cpu.iter_mut().zip(measure(&runtime, case)) {
                series.push(time);
            }
        }
        let what = format!("processor time of a {}, {}", case.what, case.names[1]);
        let with = Some((case.names[0], &cpu[0]));
        table.add(what, Unit::Millis, &cpu[1], with, BenchTarget::RatioTo(AIM));
    }
    println!("each figure is the mean of 60 days of the agent, or of 50 days of the desk\n");
    table.print();
}

/// Notes the process's CPU time after each day.
#[derive(Default)]
struct Clock(Mutex<Vec<Duration>>);

impl Observer for Clock {
    fn day_ended(&self, _: &AgentName, _: Date, status: DayStatus, _: Money) {
        assert_eq!(status, DayStatus::Completed);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(cpu_time());
    }
}

/// CPU seconds per day at both positions of one job.
fn measure(runtime: &Runtime, case: &Case) -> [f64; 2] {
    let dir = product::directory();
    let app = runtime.block_on(product::open(dir.path(), "http://127.0.0.1:9/", 8));
    let total = case.before[1] + case.days;
    let (start, end) = generated::store(&app, total);
    let kind = if case.is_desk { AgentConfig::desk } else { AgentConfig::solo };
    let agent = kind(AgentName::new("trader"), MODEL.parse().expect("a model"));
    let request = Request {
        dataset: Some(generated::NAME.to_owned()),
        memory: None,
        ..product::simulation(vec![agent], case.symbols, start, end)
    };
    let (job, days) = runtime.block_on(product::queue(&app, request));
    assert_eq!(days, total);
    let clock = Clock::default();
    runtime.block_on(product::work_observed(&app, &job, &clock));
    let times = clock.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(times.len(), total, "every day ended");
    let path = papertape_service::app::database_file(dir.path(), app.config.mode);
    let work = case.before.map(|before| work(&path, job.as_str(), before, case.days));
    assert!(work[0] == work[1] && work[0].1 > 0, "both positions are the same work: {work:?}");
    case.before.map(|before| {
        let time = times[before + case.days - 1].saturating_sub(times[before - 1]);
        time.as_secs_f64() / case.days as f64
    })
}

/// The steps and the fills of the days after this many.
fn work(path: &Path, job: &str, before: usize, days: usize) -> (i64, i64) {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("opens");
    let count = |from: &str| -> i64 {
        let sql = format!(
            "SELECT count(*) FROM {from} session_id IN (SELECT id FROM trading_sessions WHERE job_id = ?1
             ORDER BY date LIMIT ?2 OFFSET ?3)"
        );
        let range = params![job, days as i64, before as i64];
        database.query_row(&sql, range, |row| row.get(0)).expect("counts")
    };
    (count("steps WHERE"), count("positions WHERE action_type IN ('buy', 'sell') AND"))
}
