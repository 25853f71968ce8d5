//! Exact search over 100,000 vectors of 384 numbers, top 10, alternating with numpy's product of the same matrix
//! and vector on one thread. Run with `cargo bench -p papertape-embed --bench search`; Python is
//! `PAPERTAPE_BENCH_PYTHON` or `python3`, and is skipped if it has no numpy.

use papertape_embed::Matrix;
use papertape_embed::vector::normalize;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

const ROWS: usize = 100_000;
const DIMENSION: usize = 384;
const TIMES: usize = 15;
const ROUNDS: usize = 12;

const NUMPY: &str = "
import time, numpy as np
r = np.random.default_rng(1)
m = r.standard_normal((100000, 384), dtype=np.float32)
q = r.standard_normal(384, dtype=np.float32)
m @ q
t = []
for _ in range(15):
    a = time.perf_counter(); m @ q; t.append(time.perf_counter() - a)
print(sorted(t)[0] * 1e3, sorted(t)[7] * 1e3)
";

fn main() {
    // A test runner lists the tests: there are none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut vector = || {
        let mut vector: Vec<f32> =
            (0..DIMENSION).map(|_| random.next_u32() as f32 / u32::MAX as f32 - 0.5).collect();
        assert!(normalize(&mut vector), "random numbers have a direction");
        vector
    };
    let mut matrix = Matrix::new(DIMENSION);
    for _ in 0..ROWS {
        matrix.push(&vector());
    }
    let query = vector();
    println!("{ROWS} vectors of {DIMENSION}, top 10; best and median of {TIMES}, in ms");
    let (mut best, mut medians) = ((f64::MAX, f64::MAX), Vec::new());
    for round in 1..=ROUNDS {
        let mut times: Vec<f64> = (0..TIMES)
            .map(|_| {
                let begun = Instant::now();
                black_box(matrix.nearest(black_box(&query), 10));
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let ours = (times[0], times[TIMES / 2]);
        match numpy() {
            Some(numpy) => {
                best = (best.0.min(ours.0), best.1.min(numpy.0));
                medians.push(ours.1 / numpy.1);
                println!(
                    "round {round}: search {:.2} {:.2}, numpy {:.2} {:.2}, ratio {:.2} {:.2}",
                    ours.0,
                    ours.1,
                    numpy.0,
                    numpy.1,
                    ours.0 / numpy.0,
                    ours.1 / numpy.1
                );
            }
            None => println!("round {round}: search {:.2} {:.2}", ours.0, ours.1),
        }
    }
    if !medians.is_empty() {
        medians.sort_by(f64::total_cmp);
        println!(
            "over all: best {:.2} and {:.2}, ratio {:.2}; median of the rounds' ratios of medians {:.2}",
            best.0,
            best.1,
            best.0 / best.1,
            medians[medians.len() / 2]
        );
    }
}

/// Best and median, in ms.
fn numpy() -> Option<(f64, f64)> {
    let python = std::env::var("PAPERTAPE_BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = Command::new(python).args(["-c", NUMPY]).env("OPENBLAS_NUM_THREADS", "1").output().ok()?;
    let text = String::from_utf8(run.stdout).ok()?;
    let (best, median) = text.trim().split_once(' ')?;
    Some((best.parse().ok()?, median.parse().ok()?))
}
