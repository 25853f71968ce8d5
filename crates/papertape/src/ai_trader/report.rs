//! What an import found: what would be written, what is left out, what is wrong.

use super::books::Disagreement;
use papertape_core::time::Date;
use papertape_market::import::{Problem as KindOfProblem, Problems};
use rust_decimal::Decimal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// How many of a kind are told one by one; the others are counted.
const TOLD: usize = 10_000;

/// What an import found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The prices.
    pub dataset: DatasetReport,
    /// The agents that can be imported.
    pub agents: Vec<AgentReport>,
    /// Rows that cannot be read: they keep everything from being written.
    pub problems: Tally<Problem>,
    /// Rows of which the books do not add up.
    pub disagreements: Tally<Disagreement>,
    /// Lines of logs that cannot be read and are left out, where that was asked for.
    pub unreadable: Tally<Problem>,
    /// Leave such lines out?
    #[serde(skip)]
    pub skips_unreadable: bool,
    /// What is left out, and why.
    pub skipped: Tally<Skipped>,
    /// What else is worth knowing, with how often.
    pub notes: BTreeMap<String, u64>,
}

/// Some of a kind, and how many there are in all.
#[derive(Clone, Debug, Serialize)]
pub struct Tally<T> {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: Vec<T>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T: Told> Tally<T> {
    /// By kind: one sentence with a count and the first places.
    #[must_use]
    pub fn by_kind(&self) -> Vec<KindOfProblem> {
        let mut kinds = Problems::default();
        for one in &self.first {
            kinds.add(one.place(), &one.reason());
        }
        kinds.into_list()
    }
}

/// What has a place and a reason.
pub trait Told {
    /// Where it stands.
    fn place(&self) -> String;
    /// What is wrong there.
    fn reason(&self) -> String;
}

impl Told for Problem {
    fn place(&self) -> String {
        self.at.to_string()
    }

    fn reason(&self) -> String {
        self.reason.clone()
    }
}

impl Told for Skipped {
    fn place(&self) -> String {
        self.what.clone()
    }

    fn reason(&self) -> String {
        self.why.clone()
    }
}

impl<T> Tally<T> {
    /// One more.
    pub fn add(&mut self, one: T) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(one);
        }
    }
}

/// Where a row stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where it stands.
    #[serde(flatten)]
    pub at: Place,
    /// What is wrong with it.
    pub reason: String,
}

/// What is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// A file, a row, an agent.
    pub what: String,
    /// Why.
    pub why: String,
}

/// The prices that agents traded on.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DatasetReport {
    /// Its name.
    pub name: String,
    /// Its content hash.
    pub hash: String,
    /// How many symbols it has.
    pub symbols: usize,
    /// How many trading days.
    pub days: usize,
    /// How many daily bars.
    pub bars: usize,
    /// Is it at hand already?
    pub is_there: bool,
    /// How many files it is made of; 0 where it is a dataset that was there.
    pub files: usize,
}

/// An agent that can be imported.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AgentReport {
    /// Its name.
    pub agent: String,
    /// The first day on which it said or did something.
    pub first_day: Option<Date>,
    /// The last.
    pub last_day: Option<Date>,
    /// Rows of its position.jsonl.
    pub rows: u64,
    /// Of these, trades.
    pub trades: u64,
    /// Trades of an amount of 0: they go to the record as refused orders.
    pub trades_of_nothing: u64,
    /// Rows that say that nothing was done.
    pub no_trades: u64,
    /// Messages.
    pub messages: u64,
    /// Days that have any.
    pub days_with_messages: u64,
    /// What it started with.
    pub initial_cash: Decimal,
    /// The cash of its last row.
    pub recorded_cash: Decimal,
    /// Sessions that the import writes: the trading days of the job.
    pub sessions: u64,
    /// Positions that close, and so are reflected on where the memory is on.
    pub closings: u64,
    /// Cash at the end, from actions and prices; `None` for an agent that is rejected.
    pub computed_cash: Option<Decimal>,
    /// The value at the last close, from actions and prices; `None` for an agent that is rejected.
    pub portfolio_value: Option<Decimal>,
    /// Why it is not imported: rows of it cannot be read, or its books do not add up.
    pub rejected: Option<String>,
}

impl AgentReport {
    /// Of an agent of which nothing is read yet.
    #[must_use]
    pub fn of(agent: &str) -> Self {
        Self { agent: agent.to_owned(), ..Self::default() }
    }

    /// What it made of its cash, as a fraction.
    #[must_use]
    pub fn return_of_all(&self) -> Option<Decimal> {
        self.portfolio_value?.checked_div(self.initial_cash)?.checked_sub(Decimal::ONE)
    }
}

impl Report {
    /// A row that cannot be read.
    pub fn problem(&mut self, at: Place, reason: impl Into<String>) {
        self.problems.add(Problem { at, reason: reason.into() });
    }

    /// A line of a log that cannot be read: it is left out where that was asked for, and keeps everything from
    /// being written where it was not.
    pub fn unreadable(&mut self, at: Place, reason: impl Into<String>) {
        let of = if self.skips_unreadable { &mut self.unreadable } else { &mut self.problems };
        of.add(Problem { at, reason: reason.into() });
    }

    /// Something is left out.
    pub fn skip(&mut self, what: &str, why: &str) {
        self.skipped.add(Skipped { what: what.to_owned(), why: why.to_owned() });
    }

    /// Takes the figures away from agents that are not imported: a return of books that do not add up is none.
    pub fn reject(&mut self, accepts_disagreements: bool) {
        for agent in &mut self.agents {
            let own = format!("/{}/", agent.agent);
            let unreadable = self.problems.first.iter().filter(|one| one.at.file.contains(&own)).count();
            let odd = self.disagreements.first.iter().filter(|one| one.agent == agent.agent).count();
            agent.rejected = match (unreadable, odd) {
                (0, 0) => None,
                (0, _) if accepts_disagreements => None,
                (0, _) => Some("its books do not add up".to_owned()),
                _ => Some("rows of it cannot be read".to_owned()),
            };
            if agent.rejected.is_some() {
                (agent.computed_cash, agent.portfolio_value) = (None, None);
            }
        }
    }

    /// Something worth knowing.
    pub fn note(&mut self, what: impl Into<String>) {
        *self.notes.entry(what.into()).or_default() += 1;
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.reason)
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}
