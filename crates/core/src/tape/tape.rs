//! The recorded steps of one session, looked up by path.

use super::{Class, OutcomeKind, State, Step, StepPath};
use crate::id::ContentHash;
use crate::record::{ReusedFrom, ReusedSession, TapeRow};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The steps that a session has recorded, and which of them this run has read.
#[derive(Debug, Default)]
pub struct Tape {
    rows: HashMap<StepPath, TapeRow>,
    read: HashSet<StepPath>,
    sealed: bool,
    other_data: bool,
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

/// What the tape says about a step.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Nothing: perform it.
    Absent,
    /// It was sent, and its outcome never came.
    Open {
        /// How many attempts were sent.
        attempts: u32,
        /// How many of them a crash has cut off, the last one left out.
        interrupted: u32,
        /// Has the last of them ended? Then the session stopped on how it did.
        has_ended: bool,
    },
    /// Here is its outcome.
    Done { kind: OutcomeKind, outcome_ref: Option<ContentHash>, outcome: Option<Value> },
    /// A branch's parent has its outcome.
    Inherited { kind: OutcomeKind, outcome: Value, origin: ReusedFrom },
    /// Something else stands there.
    Differs { request_ref: Option<ContentHash> },
    /// A replay needs it, and it is not there.
    Missing,
}

impl Tape {
    /// A tape of these rows, whose outcomes are expanded. A session that runs on it goes on where it
    /// ends.
    #[must_use]
    pub fn new(rows: Vec<TapeRow>) -> Self {
        Self { rows: by_path(rows), ..Self::default() }
    }

    /// Ends the tape for good: a step that it does not have is an error (replay).
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.sealed = true;
        self
    }

    /// For an audit over other data: local and order steps, whose digests name the data, are compared
    /// by their outcomes alone.
    #[must_use]
    pub fn over_other_data(mut self) -> Self {
        self.other_data = true;
        self
    }

    /// Lets a branch copy outcomes of external steps from its parent, wherever digests are equal.
    /// `origin` names the parent's session.
    #[must_use]
    pub fn inheriting(mut self, origin: ReusedSession, rows: Vec<TapeRow>) -> Self {
        let order = rows.iter().map(|row| row.path.clone()).collect();
        self.inherited = Some(Inherited { origin, rows: by_path(rows), order });
        self
    }

    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Has it none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Is it a replay's?
    pub(super) fn is_sealed(&self) -> bool {
        self.sealed
    }

    pub(super) fn look_up(&mut self, step: &Step) -> Lookup {
        let Some(row) = self.rows.get(&step.path) else {
            return self.look_up_inherited(step);
        };
        self.read.insert(step.path.clone());
        let by_outcome = self.other_data && matches!(step.class, Class::Local | Class::Order);
        if row.class != step.class || (row.digest != step.digest && !by_outcome) {
            return Lookup::Differs { request_ref: row.request_ref };
        }
        match row.state {
            State::Intent if self.sealed => Lookup::Missing,
            State::Intent => Lookup::Open {
                attempts: row.attempts,
                interrupted: row.interrupted,
                has_ended: row.has_ended,
            },
            // Only a guard that closed abandons, and it is looked up before its body: this row's
            // guard is gone from the tape.
            State::Abandoned => Lookup::Differs { request_ref: row.request_ref },
            State::Done(kind) => {
                Lookup::Done { kind, outcome_ref: row.outcome_ref, outcome: row.outcome.clone() }
            }
        }
    }

    /// The verdict of a guard that closed, with everything below its scope marked as read.
    pub(super) fn verdict(&mut self, step: &Step, scope: &str) -> Lookup {
        let found = self.look_up(step);
        if matches!(found, Lookup::Done { .. }) {
            let below = self.rows.keys().filter(|path| path.is_within(scope)).cloned();
            self.read.extend(below.collect::<Vec<_>>());
        }
        match found {
            // No row is a guard that never closed: its body is run on the tape.
            Lookup::Missing => Lookup::Absent,
            found => found,
        }
    }

    /// The parent's steps below the scope of a verdict that is copied, in their recorded order, each with
    /// its origin. The body does not run again, so nobody else copies them.
    pub(super) fn inherited_below(&self, scope: &str, verdict: &StepPath) -> Vec<(TapeRow, ReusedFrom)> {
        let Some(inherited) = &self.inherited else { return Vec::new() };
        let below = inherited.order.iter().filter(|path| path.is_within(scope) && *path != verdict);
        below
            .filter_map(|path| inherited.rows.get(path))
            .map(|row| (row.clone(), inherited.origin.step(row)))
            .collect()
    }

    /// Steps that nobody asked for, in path order.
    pub(super) fn unread(&self) -> Vec<StepPath> {
        let mut unread: Vec<StepPath> =
            self.rows.keys().filter(|path| !self.read.contains(*path)).cloned().collect();
        unread.sort();
        unread
    }

    fn look_up_inherited(&self, step: &Step) -> Lookup {
        if self.sealed {
            return Lookup::Missing;
        }
        let reusable = matches!(step.class, Class::External | Class::Guard);
        let found = self.inherited.as_ref().filter(|_| reusable).and_then(|inherited| {
            let row = inherited.rows.get(&step.path)?;
            let State::Done(kind) = row.state else {
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
