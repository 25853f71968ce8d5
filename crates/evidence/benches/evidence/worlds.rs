//! Worlds whose truth is known, and how often the method is right about them. The benchmark runs it all, a test a part.

use flate2::read::GzDecoder;
use papertape_core::time::Date;
use papertape_evidence::{
    Contrast, Interval, MeanEstimate, Random, TrialPanel, Verdict, VerdictInput, holm, sharpe_difference,
    sharpe_estimate, two_way, verdict,
};
use std::collections::BTreeMap;
use std::io::Read as _;

/// Days before a path counts.
const BURN_IN: usize = 200;
/// Mean daily return of every agent: without one, Sharpe ratios would be zero.
const DRIFT: f64 = 0.0005;
/// Daily deviation of every agent.
const SCALE: f64 = 0.01;
/// In the market on 40% of days, in spells of ten.
const IN_MARKET: f64 = 0.4;
const SPELL_DAYS: f64 = 10.0;
/// A crash on 2% of days, of 3% with a deviation of 2%.
const JUMP: (f64, f64, f64) = (0.02, -0.03, 0.02);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    Independent,
    Ar2,
    Garch,
    T4,
    GarchT5,
    ZeroInflated,
    Crash,
    Ar4,
}

impl World {
    pub(crate) const ALL: [Self; 8] = [
        Self::Independent,
        Self::Ar2,
        Self::Garch,
        Self::T4,
        Self::GarchT5,
        Self::ZeroInflated,
        Self::Crash,
        Self::Ar4,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent, normal",
            Self::Ar2 => "AR(0.2)",
            Self::Garch => "GARCH(1,1)",
            Self::T4 => "t(4)",
            Self::GarchT5 => "GARCH(1,1), t(5)",
            Self::ZeroInflated => "in the market on 40% of days",
            Self::Crash => "crashes, beta 1.3 against 0.4",
            Self::Ar4 => "AR(0.4)",
        }
    }

    /// Unit variance, mean zero.
    fn shocks(self, random: &mut Random, n: usize) -> Vec<f64> {
        let (mut last, mut variance) = (0.0_f64, 1.0_f64);
        let path = (0..n + BURN_IN).map(|_| {
            let z = match self {
                Self::T4 => student(random, 4),
                Self::GarchT5 => student(random, 5),
                _ => normal(random),
            };
            last = match self {
                Self::Ar2 => 0.2 * last + (1.0_f64 - 0.04).sqrt() * z,
                Self::Ar4 => 0.4 * last + (1.0_f64 - 0.16).sqrt() * z,
                Self::Garch | Self::GarchT5 => {
                    variance = 0.05 + 0.1 * last * last + 0.85 * variance;
                    variance.sqrt() * z
                }
                _ => z,
            };
            last
        });
        path.skip(BURN_IN).collect()
    }

    /// Daily returns of two agents, with the true mean and deviation of each.
    pub(crate) fn agents(self, random: &mut Random, n: usize) -> [Agent; 2] {
        let market = self.shocks(random, n);
        if self == Self::Crash {
            return crash(random, &market);
        }
        [(); 2].map(|()| {
            if self == Self::ZeroInflated {
                let held = spells(random, n);
                let returns = (0..n).map(|t| if held[t] { DRIFT + SCALE * market[t] } else { 0.0 }).collect();
                let p = IN_MARKET;
                let variance = p * (SCALE * SCALE + DRIFT * DRIFT) - p * p * DRIFT * DRIFT;
                return Agent { returns, mean: p * DRIFT, deviation: variance.sqrt() };
            }
            let own = self.shocks(random, n);
            let mixed = market.iter().zip(&own);
            let returns = mixed.map(|(m, e)| DRIFT + SCALE * (0.7 * m + 0.51_f64.sqrt() * e)).collect();
            Agent { returns, mean: DRIFT, deviation: SCALE }
        })
    }
}

pub(crate) struct Agent {
    pub(crate) returns: Vec<f64>,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

/// Two betas of one market with jumps, and noise of their own.
fn crash(random: &mut Random, shocks: &[f64]) -> [Agent; 2] {
    let (rate, size, spread) = JUMP;
    let mut market = Vec::with_capacity(shocks.len());
    for z in shocks {
        let jump = if random.uniform() < rate { size + spread * normal(random) } else { 0.0 };
        market.push(2.0 * DRIFT + SCALE * z + jump);
    }
    let mean = 2.0 * DRIFT + rate * size;
    let variance = SCALE * SCALE + rate * (spread * spread + size * size) - (rate * size).powi(2);
    let own = 0.5 * SCALE;
    [1.3_f64, 0.4].map(|beta| Agent {
        returns: market.iter().map(|m| beta * m + own * normal(random)).collect(),
        mean: beta * mean,
        deviation: (beta * beta * variance + own * own).sqrt(),
    })
}

pub(crate) fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.uniform()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random.uniform()).cos()
}

/// Student's t with unit variance.
fn student(random: &mut Random, freedom: u32) -> f64 {
    let squares: f64 = (0..freedom).map(|_| normal(random).powi(2)).sum();
    let (t, nu) = (normal(random) / (squares / f64::from(freedom)).sqrt(), f64::from(freedom));
    t * ((nu - 2.0) / nu).sqrt()
}

fn spells(random: &mut Random, n: usize) -> Vec<bool> {
    let (leave, enter) = (1.0 / SPELL_DAYS, IN_MARKET / (1.0 - IN_MARKET) / SPELL_DAYS);
    let mut is_in = random.uniform() < IN_MARKET;
    let days = (0..n).map(|_| {
        let is_today = is_in;
        is_in = if is_in { random.uniform() >= leave } else { random.uniform() < enter };
        is_today
    });
    days.collect()
}

/// How often something was true, of the cases that count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub(crate) hits: usize,
    pub(crate) cases: usize,
}

impl Rate {
    pub(crate) fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.cases += 1;
    }

    pub(crate) fn percent(self) -> f64 {
        100.0 * self.hits as f64 / self.cases as f64
    }
}

fn holds(interval: Interval, truth: f64) -> bool {
    (interval.low..=interval.high).contains(&truth)
}

/// One world and length: coverage of the intervals, and false verdicts.
#[derive(Default)]
pub(crate) struct Cell {
    pub(crate) mean: Rate,
    pub(crate) verdict: Rate,
    pub(crate) sharpe: Rate,
    pub(crate) sharpe_difference: Rate,
}

pub(crate) fn cell(random: &mut Random, world: World, n: usize, worlds: usize) -> Cell {
    let mut cell = Cell::default();
    for _ in 0..worlds {
        let [a, b] = world.agents(random, n);
        let truth = a.mean - b.mean;
        let d: Vec<f64> = a.returns.iter().zip(&b.returns).map(|(a, b)| a - b).collect();
        if let Some(estimate) = MeanEstimate::of(&d) {
            cell.mean.add(holds(estimate.interval(), truth));
            // Without the true difference, any verdict would be false. Days without one stay without one.
            let null: Vec<f64> = d.iter().map(|d| if d.abs() > 0.0 { d - truth } else { 0.0 }).collect();
            cell.verdict.add(is_decided(&null));
        }
        for agent in [&a, &b] {
            if let Some(estimate) = sharpe_estimate(&agent.returns) {
                cell.sharpe.add(holds(estimate.interval(), agent.mean / agent.deviation));
            }
        }
        if let Some(estimate) = sharpe_difference(&a.returns, &b.returns) {
            let truth = a.mean / a.deviation - b.mean / b.deviation;
            cell.sharpe_difference.add(holds(estimate.interval(), truth));
        }
    }
    cell
}

/// Whether the verdict is `better` or `worse`.
fn is_decided(differences: &[f64]) -> bool {
    let Some(estimate) = MeanEstimate::of(differences) else { return false };
    let contrast = Contrast { difference: estimate.mean, holm_p: estimate.p_value() };
    let found = verdict(&VerdictInput {
        mismatches: &[],
        insolvent: [false, false],
        differences,
        is_interim: false,
        contrast,
        refilled: contrast,
        net_of_cost: contrast,
        noise: Some(estimate.long_run_variance.into()),
        trading_days_per_year: 252.0,
        target: 0.1,
    });
    matches!(found, Verdict::Better | Verdict::Worse)
}

/// Two configurations of one law with `trials` trials each: false rejections. With `lasting`, each trial has a skill of its own
/// that lasts; a comparison of single runs is then about the two runs, and their skills are its truth.
pub(crate) fn trials(random: &mut Random, n: usize, trials: usize, lasting: f64, worlds: usize) -> Rate {
    let first: Date = "2020-01-01".parse().expect("a date");
    let days: Vec<Date> = first.series(jiff::Span::new().days(1)).take(n).collect();
    let mut rate = Rate::default();
    for _ in 0..worlds {
        let market: Vec<f64> = (0..n).map(|_| SCALE * normal(random)).collect();
        let mut truth = 0.0;
        let mut side = |sign: f64, random: &mut Random| -> Vec<Vec<f64>> {
            let own: Vec<f64> = market.iter().map(|m| m + 0.005 * normal(random)).collect();
            (0..trials)
                .map(|_| {
                    let skill = lasting * normal(random);
                    if trials == 1 {
                        truth += sign * skill;
                    }
                    own.iter().map(|g| g + skill + 0.007 * normal(random)).collect()
                })
                .collect()
        };
        let (a, b) = (side(1.0, random), side(-1.0, random));
        let compared = two_way(&[TrialPanel { days: days.clone(), a, b }]).expect("enough days");
        rate.add(!holds(compared.interval(), truth));
    }
    rate
}

/// Six agents of one law, all 15 pairs, Holm: how often any pair is called different.
pub(crate) fn family(random: &mut Random, n: usize, worlds: usize) -> Rate {
    let mut rate = Rate::default();
    for _ in 0..worlds {
        let market: Vec<f64> = (0..n).map(|_| SCALE * normal(random)).collect();
        let agents: Vec<Vec<f64>> =
            (0..6).map(|_| market.iter().map(|m| m + 0.007 * normal(random)).collect()).collect();
        let mut p_values = Vec::new();
        for a in 0..6 {
            for b in a + 1..6 {
                let d: Vec<f64> = agents[a].iter().zip(&agents[b]).map(|(a, b)| a - b).collect();
                p_values.push(MeanEstimate::of(&d).expect("enough days").p_value());
            }
        }
        rate.add(holm(&p_values).iter().any(|p| *p <= 0.05));
    }
    rate
}

/// How often a true difference of `points` per year is seen, at a daily deviation of 1%.
pub(crate) fn power(random: &mut Random, n: usize, points: f64, worlds: usize) -> Rate {
    let mut rate = Rate::default();
    for _ in 0..worlds {
        let d: Vec<f64> = (0..n).map(|_| points / 100.0 / 252.0 + 0.01 * normal(random)).collect();
        rate.add(is_decided(&d));
    }
    rate
}

/// Daily returns of the bundled symbols from the first day that all the old ones and GOOG have, split days adjusted.
pub(crate) fn bundled_returns() -> Vec<[f64; 4]> {
    const SYMBOLS: [&str; 4] = ["AAPL", "GOOG", "IBM", "MSFT"];
    let packed: &[u8] = include_bytes!("../../../market/data/us-daily-2000-2013.csv.gz");
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).expect("the bundled bars");
    let mut closes: BTreeMap<&str, [Option<f64>; 4]> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        if let Some(at) = SYMBOLS.iter().position(|symbol| *symbol == fields[0]) {
            closes.entry(fields[1]).or_default()[at] = fields[5].parse().ok();
        }
    }
    let days: Vec<[f64; 4]> = closes
        .values()
        .filter(|day| day.iter().all(Option::is_some))
        .map(|day| day.map(|close| close.expect("is some")))
        .collect();
    let ratio = |now: f64, before: f64| {
        // The only such falls are splits of two for one.
        let split = if now / before < 0.6 { 2.0 } else { 1.0 };
        (split * now / before).ln()
    };
    days.windows(2).map(|pair| std::array::from_fn(|at| ratio(pair[1][at], pair[0][at]))).collect()
}

/// Two agents of one random rule on a random window of real bars: a random symbol for a spell of ten days on average, then
/// cash or another one.
pub(crate) fn placebo(random: &mut Random, bars: &[[f64; 4]], n: usize, worlds: usize) -> Rate {
    let mut rate = Rate::default();
    for _ in 0..worlds {
        let start = random.below(bars.len() - n);
        let agent = |random: &mut Random| -> Vec<f64> {
            let mut held = random.below(5);
            let days = bars[start..start + n].iter().map(|day| {
                if random.uniform() < 1.0 / SPELL_DAYS {
                    held = random.below(5);
                }
                day.get(held).copied().unwrap_or(0.0)
            });
            days.collect()
        };
        let (a, b) = (agent(random), agent(random));
        let d: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        let estimate = MeanEstimate::of(&d).expect("enough days");
        rate.add(!holds(estimate.interval(), 0.0));
    }
    rate
}
