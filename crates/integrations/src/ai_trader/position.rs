//! `position.jsonl`: one action per line, with the books after it.

use super::layout::AgentFolder;
use crate::imports::{AgentReport, RowPlace, RunReport};
use papertape_agents::recorded::RecordedBooks;
use papertape_core::broker::{Side, parse_amount};
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::money::{Money, Price, Quantity};
use papertape_core::time::{Date, parse_date};
use papertape_market::import::{Source, each_line};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The key of a row's cash.
const CASH: &str = "CASH";

/// A row.
#[derive(Clone, Debug)]
pub(super) struct PositionLogRow {
    /// Its file and line.
    pub(super) at: RowPlace,
    /// Its number.
    pub(super) id: i64,
    /// Its day.
    pub(super) date: Date,
    /// What was done.
    pub(super) action: ImportAction,
    /// The agent's books after it.
    pub(super) books: RecordedBooks,
    /// Symbols that the row names and no earlier row does.
    pub(super) new_symbols: Vec<Symbol>,
}

/// The action of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ImportAction {
    /// No action.
    Nothing,
    /// A trade.
    Trade {
        /// The instrument.
        symbol: Symbol,
        /// The side.
        side: Side,
        /// The quantity; 0 in rows of trades that did not happen.
        quantity: Quantity,
        /// The price, if the row contains one.
        price: Option<Price>,
    },
}

/// Reads an agent's rows in the order of their numbers. Unreadable and duplicate rows go into the report.
pub(super) fn read(
    folder: &AgentFolder,
    agent_report: &mut AgentReport,
    report: &mut RunReport,
) -> io::Result<Vec<PositionLogRow>> {
    let source = Source::file(&folder.positions);
    let mut rows: Vec<PositionLogRow> = Vec::new();
    let mut seen: BTreeMap<ContentHash, u64> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let read = each_line(&source, &mut |line, text| {
        agent_report.rows += 1;
        let at = RowPlace { file: source.name().to_owned(), line };
        let parsed = text.and_then(|text| {
            let hash = ContentHash::of(text.as_bytes());
            match seen.insert(hash, line) {
                Some(first) => Ok(Err(first)),
                None => row(text, at.clone(), &mut known).map(Ok),
            }
        });
        match parsed {
            Ok(Ok(row)) => rows.push(row),
            Ok(Err(first)) => report.skip(&at.to_string(), &format!("it repeats line {first}")),
            Err(reason) => report.problem(at, reason),
        }
        Ok(())
    });
    read.map_err(|halt| io::Error::other(format!("{}: {halt}", source.name())))?;
    in_order(&mut rows, &folder.name, report);
    Ok(rows)
}

/// Sorts rows by their numbers. A row dated before its predecessor is a problem.
fn in_order(rows: &mut [PositionLogRow], agent: &str, report: &mut RunReport) {
    if !rows.is_sorted_by_key(|row| row.id) {
        report.note(format!("{agent}: rows are not sorted by ID; they are read in the order of their IDs"));
        rows.sort_by_key(|row| row.id);
    }
    for pair in rows.windows(2) {
        let [before, after] = pair else { continue };
        if after.date < before.date {
            report.problem(
                after.at.clone(),
                format!("it is dated {}, before row {} of {}", after.date, before.id, before.date),
            );
        }
        if after.id == before.id {
            report.note(format!("{agent}: two different rows have the same ID; both are read"));
        } else if after.id.checked_sub(1) != Some(before.id) {
            report.note(format!("{agent}: no rows between ID {} and ID {}", before.id, after.id));
        }
    }
}

fn row(text: &str, at: RowPlace, known: &mut BTreeSet<Symbol>) -> Result<PositionLogRow, String> {
    let line: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))?;
    let date = text_of(&line, "date").and_then(day)?;
    let id = line.get("id").ok_or("there is no `id`")?;
    // Tables write integers as 18.0.
    let whole = parse_amount(id).ok().filter(|id| id.is_integer()).and_then(|id| id.to_i64());
    let id = whole.ok_or_else(|| format!("`id`: {id} is not a whole number"))?;
    let action = match line.get("this_action") {
        None | Some(Value::Null) => ImportAction::Nothing,
        Some(Value::Object(action)) => {
            parse_action(action).map_err(|reason| format!("`this_action`: {reason}"))?
        }
        Some(other) => return Err(format!("`this_action`: {other} is not an object")),
    };
    let Some(Value::Object(positions)) = line.get("positions") else {
        return Err("there is no object `positions`".to_owned());
    };
    let mut cash = None;
    let (mut holdings, mut new_symbols) = (BTreeMap::new(), Vec::new());
    for (name, value) in positions {
        let amount = parse_amount(value).map_err(|reason| format!("`positions`, `{name}`: {reason}"))?;
        if name == CASH {
            cash = Some(Money(amount));
            continue;
        }
        let symbol = symbol(name)?;
        if known.insert(symbol.clone()) {
            new_symbols.push(symbol.clone());
        }
        if amount != Decimal::ZERO {
            holdings.insert(symbol, Quantity(amount));
        }
    }
    let cash = cash.ok_or("`positions` has no `CASH`")?;
    Ok(PositionLogRow { at, id, date, action, books: RecordedBooks { cash, holdings }, new_symbols })
}

/// Parses a day; one with a time comes from an hourly run.
fn day(text: &str) -> Result<Date, String> {
    match text.split_once([' ', 'T']) {
        Some((date, _)) if parse_date(date).is_ok() => Err(format!(
            "`{text}` has a time: hourly runs have several sessions per day and are not supported"
        )),
        _ => parse_date(text),
    }
}

fn parse_action(action: &Map<String, Value>) -> Result<ImportAction, String> {
    let side = match text_of(action, "action")? {
        "no_trade" => return Ok(ImportAction::Nothing),
        "buy" | "buy_crypto" => Side::Buy,
        "sell" | "sell_crypto" => Side::Sell,
        "short" => Side::Short,
        "cover" => Side::Cover,
        other => {
            return Err(format!(
                "unknown action `{other}`; expected one of buy, sell, short, cover, no_trade"
            ));
        }
    };
    let symbol = symbol(text_of(action, "symbol")?)?;
    let amount = action.get("amount").ok_or("there is no `amount`")?;
    let amount = parse_amount(amount).map_err(|reason| format!("`amount`: {reason}"))?;
    if amount < Decimal::ZERO {
        return Err(format!("`amount`: {amount} is below 0"));
    }
    let price = match action.get("price") {
        None | Some(Value::Null) => None,
        Some(price) => Some(Price(parse_amount(price).map_err(|reason| format!("`price`: {reason}"))?)),
    };
    Ok(ImportAction::Trade { symbol, side, quantity: Quantity(amount), price })
}

fn symbol(name: &str) -> Result<Symbol, String> {
    let is_valid = !name.trim().is_empty() && name.len() <= 64 && !name.chars().any(char::is_control);
    is_valid.then(|| Symbol::new(name)).ok_or_else(|| format!("`{}` is not a symbol", name.escape_default()))
}

fn text_of<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    match object.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{name}`: {other} is not a string")),
        None => Err(format!("there is no `{name}`")),
    }
}
