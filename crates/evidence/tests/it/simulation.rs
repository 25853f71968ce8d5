//! A seeded part of the simulation that `make bench BENCH=evidence` runs as a whole.

use papertape_evidence::{Random, Seed};
use worlds::{World, bundled_returns, cell, family, placebo, power, trials};

#[path = "../../benches/evidence/worlds.rs"]
mod worlds;

const WORLDS: usize = 400;

fn random(name: &str) -> Random {
    Random::new(Seed::derive(&[], &[], name))
}

// Goal: intervals cover the truth in worlds with autocorrelation, clustered volatility, fat tails, idle days and crashes.
// 400 worlds have a deviation of 1.1 points: the bounds are the criteria of the whole run and twice that.
#[test]
fn intervals_cover_the_truth() {
    for world in World::ALL {
        let cell = cell(&mut random(world.name()), world, 120, WORLDS);
        let low = if world == World::Ar4 { 89.8 } else { 90.8 };
        assert!((low..=99.2).contains(&cell.mean.percent()), "{world:?}: {}", cell.mean.percent());
        let ratios = [cell.sharpe, cell.sharpe_difference].map(|rate| rate.percent());
        // Under 60 active days there is none.
        let covers = |percent: &f64| percent.is_nan() || (low - 1.0..=99.2).contains(percent);
        assert!(ratios.iter().all(covers), "{world:?}: {ratios:?}");
        if world != World::Ar4 {
            assert!(cell.verdict.percent() <= 9.2, "{world:?}: {}", cell.verdict.percent());
        }
    }
}

// Goal: agents of one law are seldom called different: with trials that differ lastingly, on real bars, in a family; and a
// large true difference is seen.
#[test]
fn agents_of_one_law_are_not_called_different() {
    for (count, lasting) in [(1, 0.0), (1, 0.001), (3, 0.0), (3, 0.001), (5, 0.001)] {
        let rate = trials(&mut random("trials"), 60, count, lasting, WORLDS).percent();
        assert!(rate <= 10.1, "{count} trials, {lasting}: {rate}");
    }
    let rate = placebo(&mut random("placebo"), &bundled_returns(), 120, WORLDS).percent();
    assert!(rate <= 9.0, "placebo: {rate}");
    let rate = family(&mut random("family"), 60, WORLDS).percent();
    assert!(rate <= 8.3, "family: {rate}");
    let seen = power(&mut random("power"), 250, 46.06, WORLDS).percent();
    assert!((75.0..85.0).contains(&seen), "power: {seen}");
}
