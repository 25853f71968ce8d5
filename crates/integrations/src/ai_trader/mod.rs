//! Runs recorded by AI-Trader, read from the folder that it leaves behind.
//!
//! Three kinds of files are read: `AGENT/position/position.jsonl`, one action per line, with the books after
//! it; `AGENT/log/DATE/log.jsonl`, one batch of messages per line; and prices, `merged.jsonl` or the vendor's
//! `daily_prices_SYMBOL.json`. Reading decides nothing: unreadable rows are reported by file and line, books
//! that do not add up are reported but not corrected, and [`dry_run`](crate::imports::dry_run) runs the days without
//! storing them.

pub mod tidy;

mod books;
mod layout;
mod log;
mod position;

use crate::imports::{AgentReport, RunReport};
pub use layout::{Layout, find};

use papertape_agents::recorded::{RecordedBooks, RecordedDay, RecordedOrder};
use papertape_core::id::AgentName;
use papertape_core::market::Dataset;
use papertape_core::time::Date;
use papertape_service::trigger::RecordedAgent;
use position::{ImportAction, PositionLogRow};
use std::collections::{BTreeMap, BTreeSet};

/// The name of these logs in a job's config.
pub const FORMAT: &str = "ai-trader";

/// Reads the agents of a folder against the prices that they traded on. Whatever is unreadable, left out or
/// does not add up goes into the report.
///
/// # Errors
/// A file or folder that cannot be read.
pub fn read(
    layout: &Layout,
    dataset: &Dataset,
    only: &[String],
    report: &mut RunReport,
) -> std::io::Result<Vec<RecordedAgent>> {
    let mut agents = Vec::new();
    for folder in &layout.agents {
        let is_requested = only.is_empty() || only.contains(&folder.name);
        if !is_requested {
            report.skip(&folder.name, "not among the requested agents");
            continue;
        }
        if let Some(agent) = read_agent(folder, dataset, report)? {
            agents.push(agent);
        }
    }
    Ok(agents)
}

fn read_agent(
    folder: &layout::AgentFolder,
    dataset: &Dataset,
    report: &mut RunReport,
) -> std::io::Result<Option<RecordedAgent>> {
    let mut agent_report = AgentReport::of(&folder.name);
    let problems = report.problems.count;
    let rows = position::read(folder, &mut agent_report, report)?;
    let mut days: BTreeMap<Date, RecordedDay> = BTreeMap::new();
    for file in &folder.logs {
        let day = log::read(file, &folder.name, &mut agent_report, report)?;
        if dataset.day(file.date).is_none() {
            report.skip(&file.name, "not a trading day of the prices");
        } else if day.messages.is_empty() && day.instructions.is_none() {
            report.skip(&file.name, "it has no messages");
        } else {
            agent_report.messages += day.messages.len() as u64;
            agent_report.days_with_messages += 1;
            days.insert(file.date, day);
        }
    }
    let Some((start, actions)) = rows.split_first() else {
        if report.problems.count == problems {
            report.skip(&folder.name, "its position.jsonl has no row");
        }
        return Ok(None);
    };
    if !can_open_account(start, report) {
        return Ok(None);
    }
    books::check(&folder.name, &rows, dataset, report);
    let mut symbols = BTreeSet::new();
    for row in &rows {
        symbols.extend(row.new_symbols.iter().cloned());
    }
    for row in actions {
        add_action(row, dataset, &mut days, &mut agent_report, report);
    }
    agent_report.first_day = days.keys().next().copied();
    agent_report.last_day = days.keys().next_back().copied();
    agent_report.initial_cash = start.books.cash.0;
    let ends = rows.last().map(|row| row.books.cash.0);
    agent_report.recorded_cash = ends.unwrap_or_default();
    if days.is_empty() {
        report.skip(&folder.name, "it has no messages or actions on a trading day");
        return Ok(None);
    }
    report.agents.push(agent_report);
    let name = AgentName::new(&folder.name);
    Ok(Some(RecordedAgent { name, initial_cash: start.books.cash, days, symbols, desk: None }))
}

/// Whether the first row can open an account.
fn can_open_account(start: &PositionLogRow, report: &mut RunReport) -> bool {
    let reason = if matches!(start.action, ImportAction::Trade { .. }) {
        "the first row is a trade; it must be the starting cash"
    } else if !start.books.holdings.is_empty() {
        "the first row has positions; only runs that start with cash only can be imported"
    } else if !start.books.cash.is_positive() {
        "the first row has no cash"
    } else {
        return true;
    };
    report.problem(start.at.clone(), reason);
    false
}

/// Adds an action to its day.
fn add_action(
    row: &PositionLogRow,
    dataset: &Dataset,
    days: &mut BTreeMap<Date, RecordedDay>,
    agent_report: &mut AgentReport,
    report: &mut RunReport,
) {
    let is_trading_day = dataset.day(row.date).is_some();
    match &row.action {
        ImportAction::Nothing => {
            agent_report.no_trades += 1;
            if !is_trading_day {
                report.skip(&row.at.to_string(), "no action, on a day without prices");
                return;
            }
        }
        ImportAction::Trade { symbol, side, quantity, .. } => {
            agent_report.trades += u64::from(!quantity.is_zero());
            agent_report.trades_of_nothing += u64::from(quantity.is_zero());
            if !is_trading_day {
                // The check of the books has already reported the effect of this.
                report.skip(&row.at.to_string(), "a trade on a day without prices");
                return;
            }
            let order = RecordedOrder { symbol: symbol.clone(), side: *side, quantity: *quantity };
            days.entry(row.date).or_default().orders.push(order);
        }
    }
    let RecordedBooks { cash, holdings } = row.books.clone();
    days.entry(row.date).or_default().books = Some(RecordedBooks { cash, holdings });
}
