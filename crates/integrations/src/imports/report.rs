//! The result of reading an import: what would be written, what is left out, what is wrong.

use papertape_agents::recorded::Difference;
use papertape_core::time::Date;
use papertape_market::import::{Problem as KindOfProblem, Problems};
use rust_decimal::Decimal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The maximum number of items listed per kind; the others are only counted.
const MAX_ITEMS: usize = 10_000;

/// The result of reading an import.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// The prices.
    pub dataset: DatasetReport,
    /// The agents that can be imported.
    pub agents: Vec<AgentReport>,
    /// Unreadable rows: they prevent the whole import.
    pub problems: CappedList<Problem>,
    /// Rows whose books do not add up.
    pub disagreements: CappedList<Disagreement>,
    /// Unreadable log lines that are left out, if requested.
    pub unreadable: CappedList<Problem>,
    /// Whether to leave such lines out.
    #[serde(skip)]
    pub skips_unreadable: bool,
    /// What is left out, and why.
    pub skipped: CappedList<Skipped>,
    /// Other notes, with their counts.
    pub notes: BTreeMap<String, u64>,
}

/// The first items of a kind, and the total count.
#[derive(Clone, Debug, Serialize)]
pub struct CappedList<T> {
    /// The total.
    pub count: u64,
    /// The first items.
    pub first: Vec<T>,
}

impl<T> Default for CappedList<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T: ReportLine> CappedList<T> {
    /// Groups the items by kind: one sentence with a count and the first places.
    #[must_use]
    pub fn by_kind(&self) -> Vec<KindOfProblem> {
        let mut kinds = Problems::default();
        for one in &self.first {
            kinds.add(one.place(), &one.reason());
        }
        kinds.into_list()
    }
}

/// An item with a place and a reason.
pub trait ReportLine {
    /// Its file and line, or its agent and day.
    fn place(&self) -> String;
    /// What is wrong there.
    fn reason(&self) -> String;
}

impl ReportLine for Problem {
    fn place(&self) -> String {
        self.at.to_string()
    }

    fn reason(&self) -> String {
        self.reason.clone()
    }
}

impl ReportLine for Skipped {
    fn place(&self) -> String {
        self.what.clone()
    }

    fn reason(&self) -> String {
        self.why.clone()
    }
}

/// A point on which an agent's log, its prices and its books disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The agent.
    pub agent: String,
    /// The day.
    pub date: Date,
    /// The row; `None` if no single row is at fault.
    #[serde(flatten)]
    pub at: Option<RowPlace>,
    /// What is wrong, as text.
    pub what: String,
    /// The amounts, if any.
    #[serde(flatten)]
    pub amounts: Option<Difference>,
}

impl ReportLine for Disagreement {
    fn place(&self) -> String {
        self.at.as_ref().map_or_else(|| format!("{} on {}", self.agent, self.date), RowPlace::to_string)
    }

    fn reason(&self) -> String {
        self.description()
    }
}

impl Disagreement {
    fn description(&self) -> String {
        match &self.amounts {
            None => self.what.clone(),
            Some(Difference { what, recorded, computed }) => format!(
                "{}: {what} is {} in the log, but {} by actions and prices",
                self.what,
                recorded.normalize(),
                computed.normalize()
            ),
        }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: ")?,
            None => write!(f, "{} on {}: ", self.agent, self.date)?,
        }
        f.write_str(&self.description())
    }
}

impl<T> CappedList<T> {
    /// Adds an item.
    pub fn add(&mut self, one: T) {
        self.count += 1;
        if self.first.len() < MAX_ITEMS {
            self.first.push(one);
        }
    }
}

/// The position of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowPlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// An unreadable row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its file and line.
    #[serde(flatten)]
    pub at: RowPlace,
    /// What is wrong with it.
    pub reason: String,
}

/// Something left out.
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
    /// The number of symbols.
    pub symbols: usize,
    /// The number of trading days.
    pub days: usize,
    /// The number of daily bars.
    pub bars: usize,
    /// Whether the dataset already exists.
    pub is_there: bool,
    /// The number of source files; 0 if the dataset already existed.
    pub files: usize,
}

/// An agent that can be imported.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AgentReport {
    /// Its name.
    pub agent: String,
    /// The first day with a message or an action.
    pub first_day: Option<Date>,
    /// The last such day.
    pub last_day: Option<Date>,
    /// The rows of its `position.jsonl`.
    pub rows: u64,
    /// Rows that are trades.
    pub trades: u64,
    /// Trades of 0 shares: they are recorded as rejected orders.
    pub trades_of_nothing: u64,
    /// Rows without an action.
    pub no_trades: u64,
    /// Messages.
    pub messages: u64,
    /// Days with messages.
    pub days_with_messages: u64,
    /// The starting cash.
    pub initial_cash: Decimal,
    /// The cash of its last row.
    pub recorded_cash: Decimal,
    /// Sessions that the import writes: the trading days of the job.
    pub sessions: u64,
    /// Reflections of the log.
    #[serde(skip_serializing_if = "is_zero")]
    pub reflections: u64,
    /// Positions that close, each of which gets a reflection if memory is on.
    pub closings: u64,
    /// Cash at the end, from actions and prices; `None` for an agent that is rejected.
    pub computed_cash: Option<Decimal>,
    /// The value at the last close, from actions and prices; `None` for an agent that is rejected.
    pub portfolio_value: Option<Decimal>,
    /// Why it is not imported: it has unreadable rows, or its books do not add up.
    pub rejected: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AgentReport {
    /// An agent that has not been read yet.
    #[must_use]
    pub fn of(agent: &str) -> Self {
        Self { agent: agent.to_owned(), ..Self::default() }
    }

    /// The total return, as a fraction.
    #[must_use]
    pub fn return_of_all(&self) -> Option<Decimal> {
        self.portfolio_value?.checked_div(self.initial_cash)?.checked_sub(Decimal::ONE)
    }
}

impl RunReport {
    /// Adds an unreadable row.
    pub fn problem(&mut self, at: RowPlace, reason: impl Into<String>) {
        self.problems.add(Problem { at, reason: reason.into() });
    }

    /// Adds an unreadable log line: it is left out if requested, else it prevents the whole import.
    pub fn unreadable(&mut self, at: RowPlace, reason: impl Into<String>) {
        let of = if self.skips_unreadable { &mut self.unreadable } else { &mut self.problems };
        of.add(Problem { at, reason: reason.into() });
    }

    /// Adds something left out.
    pub fn skip(&mut self, what: &str, why: &str) {
        self.skipped.add(Skipped { what: what.to_owned(), why: why.to_owned() });
    }

    /// Clears the metrics of agents that are not imported: books that do not add up have no return.
    pub fn reject(&mut self, accepts_disagreements: bool) {
        for agent in &mut self.agents {
            let own = format!("/{}/", agent.agent);
            let unreadable = self.problems.first.iter().filter(|one| one.at.file.contains(&own)).count();
            let disagreeing = self.disagreements.first.iter().filter(|one| one.agent == agent.agent).count();
            agent.rejected = match (unreadable, disagreeing) {
                (0, 0) => None,
                (0, _) if accepts_disagreements => None,
                (0, _) => Some("its books do not add up".to_owned()),
                _ => Some("it has unreadable rows".to_owned()),
            };
            if agent.rejected.is_some() {
                (agent.computed_cash, agent.portfolio_value) = (None, None);
            }
        }
    }

    /// Adds a note.
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
