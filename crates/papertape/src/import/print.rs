//! Prints an import's report.

use anyhow::Result;
use papertape_cli::Common;
use papertape_cli::output::{count, json, money, note, percent, say, table, text_of};
use papertape_integrations::imports::{CappedList, ReportLine, RunReport};
use papertape_protocol::number::number;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Value, json};

/// Prints the data to stdout, and problems and skipped items to stderr.
pub(super) fn print_report(common: &Common, report: &RunReport, jobs: &[Value]) -> Result<()> {
    if common.json {
        json(&json!({ "written": false, "jobs": jobs, "report": report }))?;
    } else {
        show(report)?;
    }
    print_kinds("skipped", &report.skipped);
    print_kinds("skipped, unreadable", &report.unreadable);
    for (text, times) in &report.notes {
        note!(
            "note: {text}{}",
            if *times > 1 { format!(" ({} times)", count(*times)) } else { String::new() }
        );
    }
    print_kinds("unreadable", &report.problems);
    print_kinds("does not add up", &report.disagreements);
    for job in jobs {
        note!("job {} already has these days ({})", text(&job["job_id"]), text(&job["status"]));
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// One line per kind.
fn print_kinds<T: ReportLine>(label: &str, all: &CappedList<T>) {
    for kind in all.by_kind() {
        note!("{label}: {kind}");
    }
    let more = all.count.saturating_sub(all.first.len() as u64);
    if more > 0 {
        note!("{label}: {} more", count(more));
    }
}

/// An amount; `-` for a rejected agent.
fn amount(amount: Option<Decimal>) -> String {
    amount.map_or_else(|| "-".to_owned(), |amount| money(number(amount)))
}

fn show(report: &RunReport) -> Result<()> {
    let dataset = &report.dataset;
    if !dataset.hash.is_empty() {
        say(format_args!(
            "prices  {} {}: {} symbols, {} days, {} daily bars{}",
            dataset.name,
            &dataset.hash[..12],
            count(dataset.symbols as u64),
            count(dataset.days as u64),
            count(dataset.bars as u64),
            if dataset.is_there { "; already imported" } else { "" },
        ))?;
    }
    if report.agents.is_empty() {
        return Ok(());
    }
    let mut rows = table([
        "agent",
        "days",
        "sessions",
        "messages",
        "trades",
        "zero trades",
        "closings",
        "initial cash",
        "cash",
        "value",
        "return",
    ]);
    for agent in &report.agents {
        let span = match (agent.first_day, agent.last_day) {
            (Some(first), Some(last)) => format!("{first} to {last}"),
            _ => "-".to_owned(),
        };
        rows.add_row([
            agent.agent.clone(),
            span,
            count(agent.sessions),
            count(agent.messages),
            count(agent.trades),
            count(agent.trades_of_nothing),
            count(agent.closings),
            money(number(agent.initial_cash)),
            amount(agent.computed_cash),
            amount(agent.portfolio_value),
            percent(agent.return_of_all().and_then(|fraction| fraction.to_f64())),
        ]);
    }
    say(text_of(&rows))?;
    for agent in &report.agents {
        if let Some(reason) = &agent.rejected {
            note!("{} rejected: {reason}", agent.agent);
        }
    }
    Ok(())
}
