//! Coverage, false verdicts and power of the method, in worlds whose truth is known, next to what must hold.
//! `make bench BENCH=evidence`.

mod worlds;

use papertape_evidence::{Random, Seed};
use std::process::ExitCode;
use worlds::{Cell, Rate, World, bundled_returns, cell, family, placebo, power, trials};

/// Draws per cell.
const WORLDS: usize = 2_000;
/// Under this number of draws with enough active days, a rate says nothing.
const MIN_CASES: usize = 100;

/// Counts what does not hold.
#[derive(Default)]
struct Criteria {
    missed: usize,
}

impl Criteria {
    /// The rate in percent, marked if it is outside the bounds.
    fn show(&mut self, rate: Rate, low: f64, high: f64) -> String {
        if rate.cases < MIN_CASES {
            return "–".to_owned();
        }
        let percent = rate.percent();
        let is_met = (low..=high).contains(&percent);
        self.missed += usize::from(!is_met);
        format!("{percent:.1}{}", if is_met { "" } else { " (missed)" })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark is a program of its own, and test runners list it"
)]
fn main() -> ExitCode {
    // A test runner lists the tests: there are none.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let mut criteria = Criteria::default();
    println!("{WORLDS} worlds per cell, in percent\n");
    cells(&mut criteria);
    println!("\nFalse rejections of two configurations of one law (criterion: at most 7.5)\n");
    println!(
        "| days | lasting skill of a trial, deviation per day | N = 1 | 3 | 5 | 10 |\n|---|---|---|---|---|---|"
    );
    for n in [60, 250] {
        for lasting in [0.0, 0.001] {
            let shown = [1, 3, 5, 10].map(|count| {
                let mut random = random(&format!("trials {n} {lasting} {count}"));
                criteria.show(trials(&mut random, n, count, lasting, WORLDS), 0.0, 7.5)
            });
            println!("| {n} | {:.1}% | {} |", 100.0 * lasting, shown.join(" | "));
        }
    }
    println!(
        "\n| days | placebo on the bundled bars (at most 6.5) | any false verdict of 15 pairs (at most 6) |\n|---|---|---|"
    );
    let bars = bundled_returns();
    for n in [60, 120, 250] {
        let on_bars = placebo(&mut random(&format!("placebo {n}")), &bars, n, WORLDS);
        let in_family = family(&mut random(&format!("family {n}")), n, WORLDS);
        println!("| {n} | {} | {} |", criteria.show(on_bars, 0.0, 6.5), criteria.show(in_family, 0.0, 6.0));
    }
    println!("\nPower at a daily deviation of 1%, no criterion\n");
    println!("| days | 10 points per year | 20 | 46 | 70 |\n|---|---|---|---|---|");
    for n in [60, 250, 1_250, 5_026] {
        let shown = [10.0, 20.0, 46.0, 70.0].map(|points| {
            let rate = power(&mut random(&format!("power {n} {points}")), n, points, WORLDS);
            format!("{:.1}", rate.percent())
        });
        println!("| {n} | {} |", shown.join(" | "));
    }
    println!("\n{} criteria missed", criteria.missed);
    if criteria.missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn random(name: &str) -> Random {
    Random::new(Seed::derive(&[], &[], name))
}

fn cells(criteria: &mut Criteria) {
    println!(
        "| world | days | mean difference | false verdicts | Sharpe ratio | difference of Sharpe ratios |"
    );
    println!("|---|---|---|---|---|---|");
    for world in World::ALL {
        for n in [20, 60, 120, 250] {
            let Cell { mean, verdict, sharpe, sharpe_difference } =
                cell(&mut random(&format!("{world:?} {n}")), world, n, WORLDS);
            // 20 days have an interval and no criterion; of AR(0.4), only the mean's coverage has one.
            let (coverage, decided, ratio) = match (world, n) {
                (_, 20) => ((0.0, 100.0), (0.0, 0.0), (0.0, 100.0)),
                (World::Ar4, _) => ((92.0, 100.0), (0.0, 100.0), (0.0, 100.0)),
                _ => ((93.0, 97.0), (0.0, 7.0), (92.0, 97.0)),
            };
            println!(
                "| {} | {n} | {} | {} | {} | {} |",
                world.name(),
                criteria.show(mean, coverage.0, coverage.1),
                criteria.show(verdict, decided.0, decided.1),
                criteria.show(sharpe, ratio.0, ratio.1),
                criteria.show(sharpe_difference, ratio.0, ratio.1),
            );
        }
    }
}
