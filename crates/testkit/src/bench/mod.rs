//! What benchmarks share: rounds taken in turn, medians with their spread, tables that name what they
//! compare with, what the disk and the processes take, and a model server that costs next to nothing.
//!
//! A benchmark is no test: it passes no judgement by time. It does check that what it has timed was
//! really done, and panics where it was not.

mod measure;
mod report;
pub mod server;

pub use measure::{Timed, cpu_time, cpu_time_of, fsync_time, median_fsync, peak_memory, reset_peak};
pub use report::{Aim, Line, Series, Table, Unit, percentile};

/// How many rounds are taken of everything.
pub const ROUNDS: usize = 5;

/// A benchmark by its name.
#[derive(Clone, Copy)]
pub struct Bench {
    /// Its name, as `make bench BENCH=name` has it.
    pub name: &'static str,
    /// Runs it and prints its tables.
    pub run: fn(),
}

/// Runs the benchmarks that the command line names, or all of them where it names none.
pub fn main(benches: &[Bench]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A test runner lists the tests: there are none.
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    for bench in benches {
        if wanted.is_empty() || wanted.iter().any(|name| *name == bench.name) {
            let started = std::time::Instant::now();
            println!("\n## {}\n", bench.name);
            (bench.run)();
            println!("\n({} took {:.0} s)", bench.name, started.elapsed().as_secs_f64());
        }
    }
}
