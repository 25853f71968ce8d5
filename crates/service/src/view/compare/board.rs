//! A board of a leaderboard: comparable runs by configuration, ranked as one family of all pairs.

use super::board_entry::{About, entry, notes};
use super::board_run::{BoardBaseline, BoardRun, RunRecord};
use super::items::Item;
use super::judge::{Family, JudgedFamily};
use super::select::Varied;
use crate::view::cutoff::over_days;
use papertape_core::time::Date;
use papertape_evidence::{DEFAULT_TARGET, MIN_VERDICT_DAYS, RankSet, Verdict};
use papertape_protocol::leaderboard::{AgainstOthers, EntryQuality, LeaderboardEntry, MAX_TRIALS};
use std::collections::{BTreeMap, BTreeSet};

/// The number of digits of a configuration's hash in a label.
const LABEL_DIGITS: usize = 6;

/// The entries of a board.
pub(crate) struct EvaluatedBoard {
    pub(crate) entries: Vec<LeaderboardEntry>,
    pub(crate) ranked: usize,
    pub(crate) tests: usize,
    pub(crate) notes: Vec<String>,
}

/// The trials of one configuration.
struct Configuration {
    item: Item,
    about: About,
}

/// Ranks the configurations of a board. `runs` are of one board, newest first; `omitted` counts runs of a configuration
/// that are not among them.
pub(crate) fn evaluate(
    runs: Vec<BoardRun>,
    baseline: Option<BoardBaseline>,
    omitted: &BTreeMap<String, usize>,
) -> EvaluatedBoard {
    let has_baseline = baseline.is_some();
    let mut all = configurations(runs);
    for Configuration { about, .. } in &mut all {
        about.omitted += about.configuration.as_ref().and_then(|of| omitted.get(of)).copied().unwrap_or(0);
    }
    all.extend(baseline.map(|BoardBaseline(item)| Configuration::of(item, None, RunRecord::default())));
    label(&mut all);
    for Configuration { item, about } in &mut all {
        let days: BTreeSet<Date> =
            item.trials.iter().flat_map(|trial| trial.actual.days().iter().copied()).collect();
        let cutoffs = std::mem::take(&mut item.training_cutoffs);
        item.training_cutoffs = cutoffs.into_iter().map(|cutoff| over_days(cutoff, &days)).collect();
        about.unranked = unranked(item);
    }
    // Entries that cannot be ranked are in no test: they would only widen the ranks of the others.
    let (mut ranked, mut rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|one| one.about.unranked.is_none());
    if let [_] = ranked.as_slice() {
        rest.extend(ranked.drain(..).map(|one| {
            let about = About { unranked: Some("only_entry"), ..one.about };
            Configuration { about, ..one }
        }));
    }
    let (items, about): (Vec<Item>, Vec<About>) = ranked.into_iter().map(|one| (one.item, one.about)).unzip();
    let (ranks, against, tests) = rank(&items);
    let of_item = items.iter().zip(about).zip(ranks.into_iter().zip(against));
    let mut entries: Vec<LeaderboardEntry> =
        of_item.map(|((item, about), (rank, against))| entry(item, about, Some(rank), against)).collect();
    entries.sort_by(by_rank);
    rest.sort_by(|a, b| a.item.label.cmp(&b.item.label));
    let unranked = rest.into_iter().map(|one| entry(&one.item, one.about, None, AgainstOthers::default()));
    entries.extend(unranked);
    let notes = notes(&entries, has_baseline);
    EvaluatedBoard { ranked: items.len(), tests, entries, notes }
}

/// Ranks, verdicts by item, and the number of tests.
fn rank(items: &[Item]) -> (Vec<RankSet>, Vec<AgainstOthers>, usize) {
    let family = JudgedFamily::of(items, Family::AllPairs, &Varied::default(), DEFAULT_TARGET);
    let mut against = vec![AgainstOthers::default(); items.len()];
    let mut tests = 0;
    for ((a, b), verdict) in family.verdicts() {
        tests += 1;
        let count = |of: &mut AgainstOthers, is_ahead: bool| match verdict {
            Verdict::Better | Verdict::Worse if is_ahead => of.better += 1,
            Verdict::Better | Verdict::Worse => of.worse += 1,
            Verdict::NotDistinguishable(_) | Verdict::Identical => of.not_distinguishable += 1,
            Verdict::NotComparable { .. }
            | Verdict::Insolvent { .. }
            | Verdict::Interim
            | Verdict::TooFewDays { .. } => of.not_compared += 1,
        };
        count(&mut against[a], *verdict == Verdict::Better);
        count(&mut against[b], *verdict == Verdict::Worse);
    }
    (family.ranks().unwrap_or_default(), against, tests)
}

/// By rank; entries with the same ranks by their return, which says nothing about which is better.
fn by_rank(a: &LeaderboardEntry, b: &LeaderboardEntry) -> std::cmp::Ordering {
    let key = |entry: &LeaderboardEntry| entry.rank.map(|rank| (rank.best, rank.worst));
    let value = |entry: &LeaderboardEntry| entry.total_return.unwrap_or(f64::NEG_INFINITY);
    key(a).cmp(&key(b)).then(value(b).total_cmp(&value(a))).then(a.label.cmp(&b.label))
}

impl Configuration {
    fn of(item: Item, configuration: Option<String>, record: RunRecord) -> Self {
        let experiments = item.experiment.iter().cloned().collect();
        let record = RunRecord { quality: EntryQuality::default().and(record.quality), ..record };
        let about = About { configuration, record, experiments, omitted: 0, unranked: None };
        Self { item, about }
    }

    /// Adds a run as a trial, unless it repeats days of one that counts.
    fn add(&mut self, run: BoardRun) {
        let repeats = !self.about.record.sessions.is_disjoint(&run.record.sessions);
        // Runs of rules only differ in their seed, so another one is not another observation.
        if repeats || self.item.is_deterministic || self.item.trials.len() >= MAX_TRIALS {
            self.about.omitted += 1;
            return;
        }
        let BoardRun { item, record, .. } = run;
        self.about.experiments.extend(item.experiment);
        self.item.interim = self.item.interim.take().or(item.interim);
        self.item.trials.extend(item.trials);
        for cutoff in item.training_cutoffs {
            if self.item.training_cutoffs.iter().all(|known| known.model != cutoff.model) {
                self.item.training_cutoffs.push(cutoff);
            }
        }
        let own = &mut self.about.record;
        own.quality = own.quality.and(record.quality);
        own.is_unverified |= record.is_unverified;
        own.unverified = own.unverified.take().or(record.unverified);
        own.imported_from = own.imported_from.take().or(record.imported_from);
        own.sessions.extend(record.sessions);
    }
}

/// By configuration, in the order of their newest runs.
fn configurations(runs: Vec<BoardRun>) -> Vec<Configuration> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Configuration> = Vec::new();
    for run in runs {
        match places.get(&run.configuration) {
            Some(at) => all[*at].add(run),
            None => {
                places.insert(run.configuration.clone(), all.len());
                all.push(Configuration::of(run.item, Some(run.configuration), run.record));
            }
        }
    }
    all
}

/// An agent's name, with a part of the configuration's hash if several configurations have it.
fn label(all: &mut [Configuration]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for Configuration { item, .. } in all.iter_mut() {
        if let Some(agent) = &item.agent {
            item.label = agent.to_string();
        }
        *count.entry(item.label.clone()).or_default() += 1;
    }
    for Configuration { item, about } in all {
        if let Some(hash) = about.configuration.as_ref().filter(|_| count.get(&item.label) > Some(&1)) {
            item.label = format!("{} ({})", item.label, hash.get(..LABEL_DIGITS).unwrap_or(hash));
        }
    }
}

/// Why an item is not ranked.
fn unranked(item: &Item) -> Option<&'static str> {
    let days = item.trials.iter().map(|trial| trial.actual.days().len()).min().unwrap_or(0);
    if item.insolvent_on().is_some() {
        Some("insolvent")
    } else if item.interim.is_some() {
        Some("interim")
    } else if days < MIN_VERDICT_DAYS {
        Some("too_few_days")
    } else if item.trials.len() == 2 {
        Some("two_trials")
    } else {
        None
    }
}
