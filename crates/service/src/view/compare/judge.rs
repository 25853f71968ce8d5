//! Pairs, their family, and their verdicts.

use super::estimate::{Estimate, Which, interval, panels, with_full_research};
use super::items::{Item, Kind};
use super::judged::{Check, Judged};
use super::select::Varied;
use super::words::{reasons, words};
use papertape_evidence::{
    Contrast, Estimand, MIN_VERDICT_DAYS, MeanEstimate, Mismatch, PairDecision, RankSet, Verdict,
    VerdictInput, compare_trials, cone, days_needed, holm, holm_levels, min_detectable_effect, rank_sets,
    sharpe_difference, verdict,
};
use papertape_protocol::compare::pair::{
    ComparedPair, ConePoint, MismatchResponse, SharpeResponse, TrialSpreadResponse, VarianceResponse,
    WindowsAhead,
};
use papertape_protocol::number::figure;

/// Which pairs are tested together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    AllPairs,
    /// All items against the one at this position.
    Against(usize),
}

impl Family {
    /// The positions of each pair. Two baselines are not a pair: no agent is in it.
    pub(super) fn pairs(self, items: &[Item]) -> Vec<(usize, usize)> {
        let is_pair = |a: usize, b: usize| items[a].kind == Kind::Agent || items[b].kind == Kind::Agent;
        match self {
            Self::AllPairs => {
                let all = (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b)));
                all.filter(|(a, b)| is_pair(*a, *b)).collect()
            }
            Self::Against(b) => {
                (0..items.len()).filter(|a| *a != b && is_pair(*a, b)).map(|a| (a, b)).collect()
            }
        }
    }
}

/// A judged family: its pairs with their verdicts.
pub(super) struct JudgedFamily<'a> {
    family: Family,
    items: usize,
    /// The positions of each pair.
    positions: Vec<(usize, usize)>,
    judged: Vec<Judged<'a>>,
    verdicts: Vec<Verdict>,
    target: f64,
}

/// Judges a family, and returns the pairs with the ranks that a family of all pairs allows.
pub(super) fn judge(
    items: &[Item],
    family: Family,
    varied: &Varied,
    target: f64,
) -> (Vec<ComparedPair>, Option<Vec<RankSet>>) {
    let found = JudgedFamily::of(items, family, varied, target);
    (found.responses(), found.ranks())
}

impl<'a> JudgedFamily<'a> {
    pub(super) fn of(items: &'a [Item], family: Family, varied: &Varied, target: f64) -> Self {
        let positions = family.pairs(items);
        let mut judged: Vec<Judged<'_>> =
            positions.iter().map(|(a, b)| estimated(&items[*a], &items[*b], varied)).collect();
        let own: Vec<f64> = judged
            .iter()
            .map(|one| one.actual.as_ref().and_then(Estimate::p_value).unwrap_or(f64::NAN))
            .collect();
        let refilled = holm(&judged.iter().map(|one| one.refilled.p_value()).collect::<Vec<_>>());
        let net = holm(&judged.iter().map(|one| one.net.p_value()).collect::<Vec<_>>());
        for (at, (holm_p, level)) in holm(&own).into_iter().zip(holm_levels(&own)).enumerate() {
            (judged[at].holm_p, judged[at].level) = (holm_p, level);
            (judged[at].refilled.holm_p, judged[at].net.holm_p) = (refilled[at], net[at]);
        }
        let verdicts = judged.iter().map(|one| decide(one, target)).collect();
        Self { family, items: items.len(), positions, judged, verdicts, target }
    }

    /// The positions of each pair, with its verdict.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = ((usize, usize), &Verdict)> {
        self.positions.iter().copied().zip(&self.verdicts)
    }

    /// By item; `None` unless the family is all pairs.
    pub(super) fn ranks(&self) -> Option<Vec<RankSet>> {
        let decided = self.positions.iter().zip(&self.judged).zip(&self.verdicts).filter_map(
            |(((a, b), one), verdict)| {
                // Only pairs with a verdict affect ranks.
                let is_decided = matches!(verdict, Verdict::Better | Verdict::Worse);
                let difference = one.actual.as_ref()?.mean();
                is_decided.then_some(PairDecision { a: *a, b: *b, difference, holm_p: one.holm_p })
            },
        );
        (self.family == Family::AllPairs).then(|| rank_sets(self.items, &decided.collect::<Vec<_>>()))
    }

    fn responses(&self) -> Vec<ComparedPair> {
        let pairs = self.judged.iter().zip(&self.verdicts);
        pairs.map(|(one, verdict)| response(one, verdict, self.target)).collect()
    }
}

fn estimated<'a>(a: &'a Item, b: &'a Item, varied: &Varied) -> Judged<'a> {
    let (mut mismatches, mut described) = a.ground.mismatches(&b.ground, &varied.conditions);
    let has_same_windows = a.windows == b.windows;
    if !has_same_windows && !mismatches.contains(&Mismatch::Days) {
        mismatches.push(Mismatch::Days);
        let of = |item: &Item| {
            let days: usize = item.windows.iter().map(|window| window.days).sum();
            format!("{} windows of {days} days in all", item.windows.len())
        };
        described.push(MismatchResponse { what: "days".to_owned(), a: of(a), b: of(b) });
    }
    if let (true, Some(of_a), Some(of_b)) = (varied.is_strict(), &a.settings, &b.settings) {
        described.extend(of_a.mismatches(of_b, (varied.model, varied.prompt)));
    }
    let estimand = estimand(a, b);
    if estimand.is_none() {
        described.push(MismatchResponse {
            what: "trials".to_owned(),
            a: a.trials_per_window().to_string(),
            b: b.trials_per_window().to_string(),
        });
    }
    let is_comparable = described.is_empty() && a.insolvent_on().or(b.insolvent_on()).is_none();
    // Never subtract values of runs under different conditions, or of an insolvent account.
    let panels = match is_comparable {
        true => panels(a, b, Which::Actual).unwrap_or_default(),
        false => Vec::new(),
    };
    let check = |which| match is_comparable {
        true => Check::of(a, b, which),
        false => Check { estimate: Ok(None), holm_p: 1.0 },
    };
    Judged {
        a,
        b,
        mismatches,
        described,
        estimand,
        actual: Estimate::of(&panels),
        panels,
        refilled: check(Which::Refilled),
        net: check(Which::NetOfCost),
        holm_p: 1.0,
        level: papertape_evidence::FAMILY_LEVEL,
    }
}

/// The claim that the trials of two items support. Next to trials, an item without trial noise counts as a baseline.
fn estimand(a: &Item, b: &Item) -> Option<Estimand> {
    let windows = a.windows.len().min(b.windows.len()).max(1);
    let (of_a, of_b) = (a.trials_per_window(), b.trials_per_window());
    let is_fixed = |item: &Item, other: usize| {
        item.kind != Kind::Agent || (item.is_deterministic && item.trials_per_window() == 1 && other > 1)
    };
    match (is_fixed(a, of_b), is_fixed(b, of_a)) {
        (_, true) => Estimand::of(of_a, None, windows),
        (true, false) => Estimand::of(of_b, None, windows),
        (false, false) => Estimand::of(of_a, Some(of_b), windows),
    }
}

fn decide(one: &Judged<'_>, target: f64) -> Verdict {
    if !one.described.is_empty() {
        return Verdict::NotComparable { mismatches: one.mismatches.clone() };
    }
    let differences = one.actual.as_ref().map(Estimate::differences).unwrap_or_default();
    let contrast =
        Contrast { difference: one.actual.as_ref().map_or(0.0, Estimate::mean), holm_p: one.holm_p };
    let two_way = one.actual.as_ref().and_then(|estimate| estimate.two_way.as_ref());
    verdict(&VerdictInput {
        mismatches: &[],
        insolvent: [one.a.insolvent_on().is_some(), one.b.insolvent_on().is_some()],
        differences: &differences,
        is_interim: one.a.interim.is_some() || one.b.interim.is_some(),
        contrast,
        refilled: one.refilled.contrast(contrast),
        net_of_cost: one.net.contrast(contrast),
        noise: two_way.map(papertape_evidence::TwoWay::noise),
        trading_days_per_year: one.a.trading_days_per_year,
        target,
    })
}

fn response(one: &Judged<'_>, verdict: &Verdict, target: f64) -> ComparedPair {
    let year = one.a.trading_days_per_year;
    let estimate = one.actual.as_ref();
    let days = estimate.map_or(0, |estimate| estimate.days.len());
    let differences = estimate.map(Estimate::differences).unwrap_or_default();
    let two_way = estimate.and_then(|estimate| estimate.two_way.as_ref());
    let noise = two_way.map(papertape_evidence::TwoWay::noise).filter(|_| days >= MIN_VERDICT_DAYS);
    let grown = |g: &[f64]| figure(g.iter().sum::<f64>().exp_m1());
    let is_single = one.a.trials_per_window() == 1 && one.b.trials_per_window() == 1;
    let full = with_full_research(&one.panels, one.a, one.b);
    ComparedPair {
        a: one.a.id.clone(),
        b: one.b.id.clone(),
        verdict: super::words::code(verdict).to_owned(),
        words: words(verdict),
        estimand: one.estimand.map(|estimand| super::words::estimand(estimand).to_owned()),
        claim: one.estimand.map(|estimand| estimand.claim().to_owned()),
        reasons: reasons(one, verdict, target),
        mismatches: one.described.clone(),
        days,
        different_days: differences.iter().filter(|d| d.abs() > 1e-12).count(),
        return_a: estimate.map(|estimate| grown(&estimate.a)),
        return_b: estimate.map(|estimate| grown(&estimate.b)),
        difference: estimate.map(|estimate| estimate.response(year)),
        holm_p: two_way.map(|_| figure(one.holm_p)),
        min_detectable_points: noise.map(|noise| figure(100.0 * min_detectable_effect(noise, days, year))),
        days_needed: noise.and_then(|noise| days_needed(noise, year, target)),
        refilled: one.refilled.response(year),
        net_of_model_cost: one.net.response(year),
        full_research: Estimate::of(&full).map(|estimate| estimate.response(year)),
        trial_spread: spread(one),
        variance: two_way.filter(|_| !is_single).map(|found| VarianceResponse {
            days: figure(found.day_variance),
            trials: figure(found.trial_variance),
        }),
        windows_ahead: two_way
            .filter(|found| found.sides.len() > 1)
            .map(|found| WindowsAhead { ahead: found.windows_ahead, of: found.sides.len() }),
        sharpe: estimate.filter(|_| is_single && one.panels.len() == 1).and_then(|estimate| {
            let returns = |g: &[f64]| g.iter().map(|g| g.exp_m1()).collect::<Vec<_>>();
            let found = sharpe_difference(&returns(&estimate.a), &returns(&estimate.b))?;
            let (annualized, bounds) = found.annualized(year);
            Some(SharpeResponse { days, annualized: figure(annualized), interval: interval(bounds, 1.0) })
        }),
        cone: cone_points(one),
    }
}

/// Welch's t over the trials of a single window.
fn spread(one: &Judged<'_>) -> Option<TrialSpreadResponse> {
    let [panel] = one.panels.as_slice() else { return None };
    let (found, sign) = match compare_trials(&panel.a, &panel.b) {
        Some(found) => (found, 1.0),
        // A baseline comes second.
        None => (compare_trials(&panel.b, &panel.a).filter(|_| panel.a.len() == 1)?, -1.0),
    };
    let bounds = found.interval();
    let (low, high) = if sign > 0.0 { (bounds.low, bounds.high) } else { (-bounds.high, -bounds.low) };
    let (spread_a, spread_b) =
        if sign > 0.0 { (found.spread_a, found.spread_b) } else { (0.0, Some(found.spread_a)) };
    Some(TrialSpreadResponse {
        difference: figure(sign * found.difference),
        interval: interval(papertape_evidence::Interval { low, high }, 1.0),
        p_value: figure(found.p_value),
        degrees_of_freedom: figure(found.degrees_of_freedom),
        spread_a: figure(spread_a),
        spread_b: spread_b.map(figure),
    })
}

/// The cumulative difference, with the cone at this pair's level in the family.
fn cone_points(one: &Judged<'_>) -> Vec<ConePoint> {
    let Some(estimate) = &one.actual else { return Vec::new() };
    let (Some(two_way), Some(critical)) = (&estimate.two_way, estimate.critical(one.level)) else {
        return Vec::new();
    };
    let of = MeanEstimate {
        days: estimate.days.len(),
        mean: two_way.difference,
        long_run_variance: two_way.long_run_variance(),
        cosines: papertape_evidence::cosine_count(estimate.days.len()),
    };
    let mut cumulated = 0.0;
    let points = estimate.days.iter().zip(estimate.differences()).zip(cone(&of, critical));
    let point = |((date, d), half_width): ((&papertape_core::time::Date, f64), f64)| {
        cumulated += d;
        ConePoint { date: *date, cumulated: figure(cumulated), half_width: figure(half_width) }
    };
    points.map(point).collect()
}
