//! Shared code of benchmarks: interleaved rounds, medians with their spread, tables that name the reference, disk
//! and process costs, and a model server with minimal overhead.
//!
//! A benchmark is not a test: it does not fail on timing. It does verify that the timed work was really done, and
//! panics if not.

mod measure;
mod report;
pub mod server;

pub use measure::{Timed, cpu_time, cpu_time_of, fsync_time, median_fsync, peak_memory, reset_peak};
pub use report::{BenchTarget, Line, Series, Table, Unit, percentile};

/// Number of rounds of every measurement.
pub const ROUNDS: usize = 5;

/// A named benchmark.
#[derive(Clone, Copy)]
pub struct Bench {
    /// Its name, as in `make bench BENCH=name`.
    pub name: &'static str,
    /// Runs it and prints its tables.
    pub run: fn(),
}

/// Runs the benchmarks named on the command line, or all of them if none is named.
pub fn main(benches: &[Bench]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A test runner lists the tests: there are none.
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let selected: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    for bench in benches {
        if selected.is_empty() || selected.iter().any(|name| *name == bench.name) {
            let started = std::time::Instant::now();
            println!("\n## {}\n", bench.name);
            (bench.run)();
            println!("\n({} took {:.0} s)", bench.name, started.elapsed().as_secs_f64());
        }
    }
}
