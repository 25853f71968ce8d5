//! The recorded steps of one session, looked up by path.

use crate::id::ContentHash;
use crate::record::{ReusedFrom, ReusedSession, TapeRow};
use crate::step::{OutcomeKind, Step, StepClass, StepPath, StepState};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The recorded steps of a session, and which of them this run has used.
#[derive(Debug, Default)]
pub struct Tape {
    rows: HashMap<StepPath, TapeRow>,
    read: HashSet<StepPath>,
    sealed: bool,
    inherited: Option<Inherited>,
}

/// The part of a parent's tape that a branch may copy from.
#[derive(Debug)]
struct Inherited {
    origin: ReusedSession,
    rows: HashMap<StepPath, TapeRow>,
    /// The paths in their recorded order.
    order: Vec<StepPath>,
}

/// The result of looking up a step.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Not on the tape: perform it.
    Absent,
    /// It was sent and has no outcome.
    Open {
        /// How many attempts were sent.
        attempts: u32,
        /// How many of them a crash cut off, not counting the last.
        interrupted: u32,
        /// Whether the last one has ended; if so, the session stopped because of how it ended.
        has_ended: bool,
    },
    /// It has an outcome.
    Done { kind: OutcomeKind, outcome_ref: Option<ContentHash>, outcome: Option<Value> },
    /// A branch's parent has its outcome.
    Inherited { kind: OutcomeKind, outcome: Value, origin: ReusedFrom },
    /// A different step is recorded at its path.
    Differs { request_ref: Option<ContentHash> },
    /// A replay needs it, and it is missing.
    Missing,
}

impl Tape {
    /// A tape of these rows, whose outcomes are expanded. A session continues where the tape ends.
    #[must_use]
    pub fn new(rows: Vec<TapeRow>) -> Self {
        Self { rows: by_path(rows), ..Self::default() }
    }

    /// Makes the tape replay-only: a missing step is an error.
    #[must_use]
    pub fn replay_only(mut self) -> Self {
        self.sealed = true;
        self
    }

    /// Lets a branch copy outcomes of external steps from its parent where digests are equal. `origin`
    /// identifies the parent's session.
    #[must_use]
    pub fn with_parent(mut self, origin: ReusedSession, rows: Vec<TapeRow>) -> Self {
        let order = rows.iter().map(|row| row.path.clone()).collect();
        self.inherited = Some(Inherited { origin, rows: by_path(rows), order });
        self
    }

    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the tape is replay-only.
    pub(super) fn is_sealed(&self) -> bool {
        self.sealed
    }

    pub(super) fn look_up(&mut self, step: &Step) -> Lookup {
        let Some(row) = self.rows.get(&step.path) else {
            return self.look_up_inherited(step);
        };
        self.read.insert(step.path.clone());
        if row.class != step.class || row.digest != step.digest {
            return Lookup::Differs { request_ref: row.request_ref };
        }
        match row.state {
            StepState::Intent if self.sealed => Lookup::Missing,
            StepState::Intent => Lookup::Open {
                attempts: row.attempts,
                interrupted: row.interrupted,
                has_ended: row.has_ended,
            },
            // Only a guard that closed abandons steps, and it is looked up before its body: this row's guard
            // is missing from the tape.
            StepState::Abandoned => Lookup::Differs { request_ref: row.request_ref },
            StepState::Done(kind) => {
                Lookup::Done { kind, outcome_ref: row.outcome_ref, outcome: row.outcome.clone() }
            }
        }
    }

    /// The verdict of a guard that closed; marks everything below its scope as used.
    pub(super) fn verdict(&mut self, step: &Step, scope: &str) -> Lookup {
        let found = self.look_up(step);
        if matches!(found, Lookup::Done { .. }) {
            let below = self.rows.keys().filter(|path| path.is_within(scope)).cloned();
            self.read.extend(below.collect::<Vec<_>>());
        }
        match found {
            // Without a row the guard never closed: its body runs on the tape.
            Lookup::Missing => Lookup::Absent,
            found => found,
        }
    }

    /// The parent's steps below the scope of a copied verdict, in their recorded order, each with its origin.
    /// The body does not run again, so this is the only place that copies them.
    pub(super) fn inherited_below(&self, scope: &str, verdict: &StepPath) -> Vec<(TapeRow, ReusedFrom)> {
        let Some(inherited) = &self.inherited else { return Vec::new() };
        let below = inherited.order.iter().filter(|path| path.is_within(scope) && *path != verdict);
        below
            .filter_map(|path| inherited.rows.get(path))
            .map(|row| (row.clone(), inherited.origin.step(row)))
            .collect()
    }

    /// Steps that the session did not use, in path order.
    pub(super) fn unread(&self) -> Vec<StepPath> {
        let mut unread: Vec<StepPath> =
            self.rows.keys().filter(|path| !self.read.contains(*path)).cloned().collect();
        unread.sort();
        unread
    }

    /// Whether the tape, or that of a branch's parent, has a step at this path.
    pub(super) fn has(&self, path: &StepPath) -> bool {
        let inherited = self.inherited.as_ref().is_some_and(|inherited| inherited.rows.contains_key(path));
        inherited || self.rows.contains_key(path)
    }

    /// The steps in a scope that this run has not used, in path order, with their requests.
    pub(super) fn unread_within(&self, scope: &str) -> Vec<(StepPath, Option<ContentHash>)> {
        let unread =
            self.rows.values().filter(|row| row.path.is_within(scope) && !self.read.contains(&row.path));
        let mut unread: Vec<_> = unread.map(|row| (row.path.clone(), row.request_ref)).collect();
        unread.sort();
        unread
    }

    /// The parent's steps in a scope that this session does not have, in their recorded order, each with its origin.
    pub(super) fn inherited_within(&self, scope: &str) -> Vec<(TapeRow, ReusedFrom)> {
        let Some(inherited) = &self.inherited else { return Vec::new() };
        let missing =
            inherited.order.iter().filter(|path| path.is_within(scope) && !self.rows.contains_key(*path));
        let rows = missing.filter_map(|path| inherited.rows.get(path));
        rows.map(|row| (row.clone(), inherited.origin.step(row))).collect()
    }

    /// Marks all steps in a scope as used.
    pub(super) fn consume(&mut self, scope: &str) {
        let within = self.rows.keys().filter(|path| path.is_within(scope)).cloned();
        self.read.extend(within);
    }

    /// Whether any step in a scope is open.
    pub(super) fn has_open_within(&self, scope: &str) -> bool {
        let is_open = |row: &TapeRow| row.state == StepState::Intent && !self.read.contains(&row.path);
        self.rows.values().any(|row| row.path.is_within(scope) && is_open(row))
    }

    fn look_up_inherited(&self, step: &Step) -> Lookup {
        if self.sealed {
            return Lookup::Missing;
        }
        let reusable = matches!(step.class, StepClass::External | StepClass::Guard);
        let found = self.inherited.as_ref().filter(|_| reusable).and_then(|inherited| {
            let row = inherited.rows.get(&step.path)?;
            let StepState::Done(kind) = row.state else {
                return None;
            };
            let outcome =
                row.outcome.clone().filter(|_| row.digest == step.digest && row.class == step.class)?;
            let origin = inherited.origin.step(row);
            Some(Lookup::Inherited { kind, outcome, origin })
        });
        found.unwrap_or(Lookup::Absent)
    }
}

fn by_path(rows: Vec<TapeRow>) -> HashMap<StepPath, TapeRow> {
    rows.into_iter().map(|row| (row.path.clone(), row)).collect()
}
