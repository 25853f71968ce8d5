//! Checks that a log's books add up: each row must equal the row before it, changed by its own action at the
//! day's open. Rows that do not are reported one by one; none is corrected.

use super::position::{ImportAction, PositionLogRow};
use crate::imports::{Disagreement, RunReport};
use papertape_agents::recorded::{Difference, NOISE, RecordedBooks};
use papertape_core::ledger::Side;
use papertape_core::market::Dataset;
use papertape_core::money::{Money, Price, Quantity};

/// Checks each row against the one before it. A row that follows from an earlier one instead starts a fork:
/// the run was restarted from there, and the rows in between belong to the abandoned run.
pub(super) fn check(agent: &str, rows: &[PositionLogRow], dataset: &Dataset, report: &mut RunReport) {
    let mut found = Vec::new();
    let rows = in_file_order(rows);
    for (at, pair) in rows.windows(2).enumerate() {
        let [before, row] = pair else { continue };
        if let Some(from) = fork(&rows[..=at], row, dataset) {
            let what = format!(
                "line {} restarts from row {} (line {}): the log forks here, and the rows in between are another run",
                row.at.line, from.id, from.at.line
            );
            let (agent, at) = (agent.to_owned(), Some(row.at.clone()));
            found.push(Disagreement { agent, date: row.date, at, what, amounts: None });
            continue;
        }
        let mut add = |what: String, amounts: Option<Difference>| {
            let (agent, at) = (agent.to_owned(), Some(row.at.clone()));
            found.push(Disagreement { agent, date: row.date, at, what, amounts });
        };
        match expected(&before.books, row, dataset) {
            Ok((expected, open)) => {
                if let (ImportAction::Trade { price: Some(recorded), .. }, Some(open)) = (&row.action, open)
                    && (recorded.0 - open.0).abs() > NOISE
                {
                    add(format!("the row has a price of {recorded}, but the day opened at {open}"), None);
                }
                for difference in row.books.differences(&expected) {
                    add("it does not follow from the row before it".to_owned(), Some(difference));
                }
            }
            Err(reason) => add(reason, None),
        }
    }
    found.into_iter().for_each(|one| report.disagreements.add(one));
}

/// The rows in file order if their numbers start again in the middle; else by number.
fn in_file_order(rows: &[PositionLogRow]) -> Vec<&PositionLogRow> {
    let mut by_line: Vec<&PositionLogRow> = rows.iter().collect();
    by_line.sort_by_key(|row| row.at.line);
    let restarts = rows.windows(2).any(|pair| pair[0].id == pair[1].id);
    if restarts { by_line } else { rows.iter().collect() }
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
    let ImportAction::Trade { symbol, side, quantity, .. } = &row.action else { return Ok((books, None)) };
    if quantity.is_zero() {
        return Ok((books, None));
    }
    let day = dataset.day(row.date);
    let day = day.ok_or_else(|| format!("it trades on {}, a day without prices", row.date))?;
    let view = dataset.view(day.open);
    let open = view.open_price(symbol).map_err(|_| format!("no open price of {symbol} on {}", row.date))?;
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
