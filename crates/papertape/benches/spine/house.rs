//! Runs of house models, which need no provider: model-days per second with everything durable, with memory and
//! summaries as `papertape run` has them.

use crate::product;
use papertape_agents::config::AgentConfig;
use papertape_core::id::AgentName;
use papertape_core::time::Date;
use papertape_service::trigger::Request;
use papertape_testkit::bench::{BenchTarget, ROUNDS, Series, Table, Timed, Unit, median_fsync};

const START: Date = jiff::civil::date(2012, 1, 3);
/// Half a year.
const END: Date = jiff::civil::date(2012, 6, 29);
const SYMBOLS: [&str; 3] = ["AAPL", "IBM", "MSFT"];
const MODEL: &str = "house::momentum";

/// How many agents run, and whether they are desks.
const CASES: [(&str, usize, bool); 3] =
    [("1 solo agent", 1, false), ("10 solo agents", 10, false), ("1 desk", 1, true)];

pub(crate) fn run() {
    let dir = product::directory();
    let _ = median_fsync(dir.path());
    let runtime = product::runtime();
    let mut rates: [Series; CASES.len()] = Default::default();
    let mut cpu: [Series; CASES.len()] = Default::default();
    for _ in 0..ROUNDS {
        for (which, (_, agents, is_desk)) in CASES.into_iter().enumerate() {
            let dir = product::directory();
            let app = runtime.block_on(product::open(dir.path(), "http://127.0.0.1:9/", 8));
            let kind = if is_desk { AgentConfig::desk } else { AgentConfig::solo };
            let agent =
                |number| kind(AgentName::new(format!("agent-{number}")), MODEL.parse().expect("a model"));
            let request = Request {
                summaries: None,
                memory: None,
                ..product::simulation((0..agents).map(agent).collect(), &SYMBOLS, START, END)
            };
            let (job, days) = runtime.block_on(product::queue(&app, request));
            let timed = Timed::start();
            runtime.block_on(product::work(&app, &job));
            let (time, processor) = timed.end();
            let counts = runtime.block_on(app.store.counts()).expect("counts");
            assert_eq!(counts.rows["trading_sessions"], days as u64, "every day is there");
            rates[which].push(days as f64 / time.as_secs_f64());
            cpu[which].push(processor.as_secs_f64() / days as f64);
        }
    }
    let mut table = Table::default();
    for (which, (what, ..)) in CASES.into_iter().enumerate() {
        let rate = format!("model-days of {what}, {} symbols", SYMBOLS.len());
        table.add(rate, Unit::PerSecond, &rates[which], None, BenchTarget::Shown);
        let time = format!("processor time of a model-day, {what}");
        table.add(time, Unit::Millis, &cpu[which], None, BenchTarget::Shown);
    }
    table.print();
}
