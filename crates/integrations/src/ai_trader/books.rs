//! Checks that a log's books add up: each row must equal the row before it, changed by its own action at the
//! day's open. Rows that do not are reported one by one; none is corrected.

use super::position::{ImportAction, PositionLogRow};
use super::report::{AiTraderReport, ReportLine, RowPlace};
use papertape_agents::recorded::{Difference, NOISE, RecordedBooks};
use papertape_core::ledger::Side;
use papertape_core::market::Dataset;
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::Date;
use serde::Serialize;
use std::fmt;

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
        self.in_words()
    }
}

impl Disagreement {
    fn in_words(&self) -> String {
        match &self.amounts {
            None => self.what.clone(),
            Some(Difference { what, recorded, computed }) => format!(
                "{}: {what} is {} in the log and {} by actions and prices",
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
        f.write_str(&self.in_words())
    }
}

/// Checks each row against the one before it. A row that follows from an earlier one instead starts a fork:
/// the run was restarted from there, and the rows in between belong to the abandoned run.
pub(super) fn check(agent: &str, rows: &[PositionLogRow], dataset: &Dataset, report: &mut AiTraderReport) {
    let mut found = Vec::new();
    let rows = in_file_order(rows);
    for (at, pair) in rows.windows(2).enumerate() {
        let [before, row] = pair else { continue };
        if let Some(from) = fork(&rows[..=at], row, dataset) {
            let what = format!(
                "line {} starts again from row {} (line {}): the log forks here, and what stands between is another run",
                row.at.line, from.id, from.at.line
            );
            let (agent, at) = (agent.to_owned(), Some(row.at.clone()));
            found.push(Disagreement { agent, date: row.date, at, what, amounts: None });
            continue;
        }
        let mut tell = |what: String, amounts: Option<Difference>| {
            let (agent, at) = (agent.to_owned(), Some(row.at.clone()));
            found.push(Disagreement { agent, date: row.date, at, what, amounts });
        };
        match expected(&before.books, row, dataset) {
            Ok((expected, open)) => {
                if let (ImportAction::Trade { price: Some(said), .. }, Some(open)) = (&row.doing, open)
                    && (said.0 - open.0).abs() > NOISE
                {
                    tell(format!("the row says a price of {said}, and the day opened at {open}"), None);
                }
                for difference in row.books.differences(&expected) {
                    tell("it does not follow from the row before it".to_owned(), Some(difference));
                }
            }
            Err(reason) => tell(reason, None),
        }
    }
    found.into_iter().for_each(|one| report.disagreements.add(one));
}

/// The rows in file order if their numbers start again in the middle; else by number.
fn in_file_order(rows: &[PositionLogRow]) -> Vec<&PositionLogRow> {
    let mut by_line: Vec<&PositionLogRow> = rows.iter().collect();
    by_line.sort_by_key(|row| row.at.line);
    let begins_again = rows.windows(2).any(|pair| pair[0].id == pair[1].id);
    if begins_again { by_line } else { rows.iter().collect() }
}

/// The row that this one follows from, if that is not the last of those `before` it.
fn fork<'r>(
    before: &[&'r PositionLogRow],
    row: &PositionLogRow,
    dataset: &Dataset,
) -> Option<&'r PositionLogRow> {
    let follows = |from: &PositionLogRow| {
        let expected = expected(&from.books, row, dataset);
        expected.is_ok_and(|(books, _)| row.books.differences(&books).is_empty())
    };
    let (last, earlier) = before.split_last()?;
    // If nothing has changed since, the earlier row cannot be told apart from the last one.
    let is_elsewhere = |from: &&&PositionLogRow| !from.books.differences(&last.books).is_empty();
    if follows(last) {
        return None;
    }
    earlier.iter().rev().filter(is_elsewhere).find(|from| follows(from)).copied()
}

/// The books that a row should show, and the open price of its trade.
fn expected(
    before: &RecordedBooks,
    row: &PositionLogRow,
    dataset: &Dataset,
) -> Result<(RecordedBooks, Option<Price>), String> {
    let mut books = before.clone();
    let ImportAction::Trade { symbol, side, quantity, .. } = &row.doing else { return Ok((books, None)) };
    if quantity.is_zero() {
        return Ok((books, None));
    }
    let day = dataset.day(row.date);
    let day = day.ok_or_else(|| format!("it trades on {}, a day that the prices do not have", row.date))?;
    let view = dataset.view(day.open);
    let open = view
        .open_price(symbol)
        .map_err(|_| format!("the prices have no open of {symbol} on {}", row.date))?;
    let open = open.value.price;
    let signed = if matches!(side, Side::Buy | Side::Cover) { *quantity } else { -*quantity };
    let too_large = || "its amounts are too large for the books".to_owned();
    let value = open.0.checked_mul(signed.0).ok_or_else(too_large)?;
    books.cash = Money(books.cash.0.checked_sub(value).ok_or_else(too_large)?);
    let held = books.holdings.get(symbol).copied().unwrap_or_default();
    let held = Quantity(held.0.checked_add(signed.0).ok_or_else(too_large)?);
    if held.is_zero() {
        books.holdings.remove(symbol);
    } else {
        books.holdings.insert(symbol.clone(), held);
    }
    Ok((books, Some(open)))
}
