//! Benchmarks two large datasets: time and memory to import, open and view them. Run with `cargo bench -p
//! papertape-market --bench datasets`; it needs about 2 GB in the working directory.
//!
//! Each step runs in its own process, so that one step's memory does not count toward another's.

use papertape_core::id::Symbol;
use papertape_core::market::{BarRange, Dataset, Indicator, TradingHours};
use papertape_core::time::Date;
use papertape_market::Catalogue;
use papertape_market::import::{ImportOptions, Source, import};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A dataset to generate: its name, how many symbols, how many years, minutes or days.
struct Case {
    name: &'static str,
    symbols: usize,
    years: usize,
    is_minutes: bool,
}

const CASES: [Case; 2] = [
    Case { name: "days", symbols: 500, years: 25, is_minutes: false },
    Case { name: "minutes", symbols: 50, years: 2, is_minutes: true },
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // A test runner lists the tests: there are none.
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    if let [_, step, dir, name] = &arguments[..]
        && let Some(case) = CASES.iter().find(|case| case.name == name)
    {
        let dir = Path::new(dir);
        match step.as_str() {
            "import" => measure_import(dir, case),
            "parquet" => measure_parquet(dir, case),
            "open" => measure_open(dir, case),
            other => println!("there is no step {other}"),
        }
        return;
    }
    let dir = tempfile::tempdir_in(".").expect("makes a directory");
    for case in &CASES {
        let bytes = make_files(&dir.path().join(case.name), case);
        println!("{}: {} symbols, {} years, {} MB of CSV", case.name, case.symbols, case.years, bytes >> 20);
        for step in ["import", "open", "parquet"] {
            let mut command = Command::new(std::env::current_exe().expect("is a program"));
            let status = command.arg(step).arg(dir.path()).arg(case.name).status().expect("runs");
            assert!(status.success(), "{step}");
        }
    }
}

/// A random walk that is the same on every machine.
struct Walk(u64);

impl Walk {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Writes one file per symbol, with Stooq's columns. Returns their total size in bytes.
fn make_files(dir: &Path, case: &Case) -> usize {
    std::fs::create_dir_all(dir).expect("makes a directory");
    let days = weekdays(case.years * 252);
    let mut bytes = 0;
    for symbol in 0..case.symbols {
        let mut walk = Walk(symbol as u64);
        let mut price = 5_000 + walk.next(20_000);
        let mut text = String::from(if case.is_minutes {
            "Date,Time,Open,High,Low,Close,Volume\n"
        } else {
            "Date,Open,High,Low,Close,Volume\n"
        });
        for date in &days {
            for minute in 0..if case.is_minutes { 390 } else { 1 } {
                let open = price;
                let close = (open + walk.next(41)).saturating_sub(20).max(100);
                let (high, low) = (open.max(close) + walk.next(10), open.min(close) - walk.next(10));
                let volume = 100 * (1 + walk.next(if case.is_minutes { 500 } else { 500_000 }));
                let time = if case.is_minutes {
                    let at = 9 * 60 + 30 + minute;
                    format!("{:02}:{:02}:00,", at / 60, at % 60)
                } else {
                    String::new()
                };
                let cents = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
                let (open, high, low, last) = (cents(open), cents(high), cents(low), cents(close));
                writeln!(text, "{date},{time}{open},{high},{low},{last},{volume}").expect("writes");
                price = close;
            }
        }
        bytes += text.len();
        std::fs::write(dir.join(format!("S{symbol:03}.csv")), text).expect("writes");
    }
    bytes
}

fn weekdays(count: usize) -> Vec<Date> {
    let first = Date::constant(2000, 1, 3);
    let days = first.series(jiff::Span::new().days(1));
    days.filter(|date| date.weekday().to_monday_one_offset() < 6).take(count).collect()
}

fn options(case: &Case) -> ImportOptions {
    ImportOptions {
        name: case.name.to_owned(),
        zone: TradingHours::US_ZONE.to_owned(),
        hours: TradingHours::us_equity(),
        currency: "USD".to_owned(),
        format: None,
        symbol: None,
        interval: None,
        basis: None,
    }
}

fn read(files: &Path, case: &Case) -> Dataset {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(files).expect("reads").map(|entry| entry.expect("reads").path()).collect();
    paths.sort();
    let sources: Vec<Source> = paths.into_iter().map(Source::file).collect();
    import(&sources, &options(case), None, &mut |_| {}).expect("imports").dataset
}

fn measure_import(dir: &Path, case: &Case) {
    let begun = Instant::now();
    let dataset = read(&dir.join(case.name), case);
    let made = begun.elapsed();
    Catalogue::at(dir.join("datasets")).store(&dataset, None, false).expect("keeps");
    println!(
        "  import: {:.1} s, of which writing {:.1} s; {} daily bars, {} within days; at most {} MB",
        begun.elapsed().as_secs_f64(),
        (begun.elapsed() - made).as_secs_f64(),
        dataset.bar_count(),
        dataset.intraday_bars(),
        memory("VmHWM:")
    );
}

fn measure_open(dir: &Path, case: &Case) {
    let catalogue = Catalogue::at(dir.join("datasets"));
    let before = memory("VmRSS:");
    let begun = Instant::now();
    let dataset = catalogue.open(case.name).expect("opens");
    let opened = begun.elapsed();
    let bytes = catalogue.find(case.name).expect("is there").bytes;
    println!(
        "  open: {:.2} s from {} MB; {} MB in memory, at most {}",
        opened.as_secs_f64(),
        bytes >> 20,
        memory("VmRSS:") - before,
        memory("VmHWM:")
    );
    let begun = Instant::now();
    assert_eq!(dataset.computed_hash(), dataset.hash());
    println!("  hash: {:.2} s", begun.elapsed().as_secs_f64());
    views(&dataset);
}

/// What a session reads: a view of its open and, for one symbol, the price, thirty bars and ten indicators.
fn views(dataset: &Dataset) {
    let symbols: Vec<&Symbol> = dataset.all_symbols().collect();
    let usual: Vec<Indicator> =
        ["sma(20)", "macd", "rsi(14)"].map(|name| name.parse().expect("an indicator")).into();
    let days = dataset.days();
    let sessions = 200.min(days.len());
    let (mut made, mut asked) = (0.0, 0.0);
    for session in 0..sessions {
        let day = days[days.len() - 1 - session * (days.len() / sessions)];
        let symbol = symbols[session % symbols.len()];
        let begun = Instant::now();
        let view = dataset.view(day.open);
        made += begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let _ = view.price(symbol);
        let _ = view.bars(symbol, BarRange::newest(30));
        let _ = view.indicators(symbol, &usual, 1);
        for interval in view.intervals(symbol).unwrap_or_default() {
            let _ = view.intraday_bars(symbol, interval, BarRange::newest(250));
        }
        asked += begun.elapsed().as_secs_f64();
    }
    let micros = |seconds: f64| seconds * 1e6 / sessions as f64;
    println!(
        "  a session: view {:.0} µs, price, bars and indicators of a symbol {:.0} µs",
        micros(made),
        micros(asked)
    );
}

/// The same rows as Parquet files: their size, and the time to read them.
fn measure_parquet(dir: &Path, case: &Case) {
    let dataset = Catalogue::at(dir.join("datasets")).open(case.name).expect("opens");
    let files = dir.join("parquet").join(case.name);
    papertape_market::export::export(&dataset, &files, papertape_market::export::ExportFormat::Parquet)
        .expect("exports");
    let bytes: u64 = std::fs::read_dir(&files)
        .expect("reads")
        .map(|entry| entry.and_then(|entry| entry.metadata()).map_or(0, |about| about.len()))
        .sum();
    let begun = Instant::now();
    let again = read(&files, case);
    assert_eq!(again.hash(), dataset.hash());
    println!("  Parquet: {} MB, imported in {:.1} s", bytes >> 20, begun.elapsed().as_secs_f64());
}

/// The process's memory in MB, where the operating system reports it.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) >> 10
}
