//! The memory log, `trading_memory.md`: decisions, and the reflections on them once their outcome was known.

use super::{Runs, check_rating, symbol};
use crate::imports::{AgentReport, RowPlace, RunReport, files};
use papertape_agents::recorded::{RecordedDay, RecordedReflection};
use papertape_core::id::Symbol;
use papertape_core::market::Dataset;
use papertape_core::time::{Date, parse_date};
use std::collections::BTreeMap;
use std::path::Path;

/// Separates the entries.
const SEPARATOR: &str = "<!-- ENTRY_END -->";

/// A reflection, and the number of trading days after which its outcome was known.
pub(super) struct Resolved {
    reflection: RecordedReflection,
    holding_days: usize,
}

/// Reads a log: its decisions go to the analyses, its reflections are returned.
pub(super) fn read(path: &Path, runs: &mut Runs, report: &mut RunReport) -> Vec<(Resolved, RowPlace)> {
    let file = path.display().to_string();
    let text = match files::text(path) {
        Ok(text) => text.replace("\r\n", "\n"),
        Err((line, reason)) => {
            report.problem(RowPlace { file, line }, reason);
            return Vec::new();
        }
    };
    let mut resolved = Vec::new();
    let (mut line, mut seen) = (1, BTreeMap::new());
    for block in text.split(SEPARATOR) {
        let lead = block.len() - block.trim_start().len();
        let breaks = |text: &str| text.matches('\n').count() as u64;
        let at = RowPlace { file: file.clone(), line: line + breaks(&block[..lead]) };
        line += breaks(block);
        let block = block.trim();
        if block.is_empty() {
            continue;
        }
        match Entry::read(block) {
            Err(reason) => report.problem(at, reason),
            Ok(entry) => {
                let Ok(date) = parse_date(&entry.date) else {
                    report.skip(&at.to_string(), "it is undated; an undated memory is never shown");
                    continue;
                };
                if let Some(first) = seen.insert((date, entry.symbol.clone()), at.line) {
                    let reason = format!("another entry of {} on {date} is on line {first}", entry.symbol);
                    report.problem(at, reason);
                    continue;
                }
                resolved.extend(entry.import(date, &at, runs, report).map(|one| (one, at)));
            }
        }
    }
    resolved
}

/// An entry.
struct Entry {
    date: String,
    symbol: Symbol,
    rating: String,
    /// The return, the return over the benchmark and the holding period; `None` while they are pending.
    outcome: Option<[String; 3]>,
    decision: String,
    reflection: String,
}

impl Entry {
    fn read(block: &str) -> Result<Self, String> {
        let (tag, body) = block.split_once('\n').unwrap_or((block, ""));
        let tag = tag.trim();
        let inside = tag.strip_prefix('[').and_then(|tag| tag.strip_suffix(']'));
        let fields: Vec<&str> = inside.map(|tag| tag.split('|').map(str::trim).collect()).unwrap_or_default();
        let outcome = match fields.as_slice() {
            [_, _, _, "pending"] => None,
            [_, _, _, raw, alpha, holding] => {
                Some([(*raw).to_owned(), (*alpha).to_owned(), (*holding).to_owned()])
            }
            _ => {
                let shown: String = tag.chars().take(60).collect();
                return Err(format!(
                    "`{shown}` is not `[DATE | TICKER | RATING | pending]` or \
                     `[DATE | TICKER | RATING | RETURN | ALPHA | DAYS]`"
                ));
            }
        };
        let body = body.trim();
        let body = body.strip_prefix("DECISION:").ok_or("it has no `DECISION:`")?;
        let (decision, reflection) = body.split_once("\nREFLECTION:").unwrap_or((body, ""));
        Ok(Self {
            date: fields[0].to_owned(),
            symbol: symbol(fields[1])?,
            rating: fields[2].to_owned(),
            outcome,
            decision: decision.trim().to_owned(),
            reflection: reflection.trim().to_owned(),
        })
    }

    /// Adds its decision to the analyses. Returns its reflection, if it has one that is dated.
    fn import(self, date: Date, at: &RowPlace, runs: &mut Runs, report: &mut RunReport) -> Option<Resolved> {
        let Self { symbol, rating, .. } = self;
        check_rating((&symbol, date), (&rating, &self.decision), at, report);
        runs.decision((date, symbol.clone()), &self.decision, at, report);
        let Some([raw, alpha, holding]) = self.outcome else {
            report.note(format!("{}: entries whose outcome is pending have no reflection", at.file));
            return None;
        };
        let days = holding.strip_suffix('d').and_then(|days| days.parse::<usize>().ok());
        let Some(holding_days) = days else {
            let why = format!(
                "its holding period `{holding}` is not a number of days, so its outcome is undated; an undated memory is never shown"
            );
            report.skip(&at.to_string(), &why);
            return None;
        };
        if self.reflection.is_empty() {
            report.skip(&at.to_string(), "it has an outcome, but no reflection");
            return None;
        }
        let outcome = format!("{rating}, {raw} return, {alpha} against the benchmark, after {holding}");
        let reflection = RecordedReflection { symbol, date, outcome, text: self.reflection };
        Some(Resolved { reflection, holding_days })
    }
}

/// Adds a reflection to the day at whose close its outcome was known: as many trading days after the decision as the
/// holding period has.
pub(super) fn place(
    (resolved, at): (Resolved, &RowPlace),
    dataset: &Dataset,
    days: &mut BTreeMap<Date, RecordedDay>,
    (agent_report, report): (&mut AgentReport, &mut RunReport),
) {
    let Resolved { reflection, holding_days } = resolved;
    let trading = dataset.days();
    let first = trading.partition_point(|day| day.date < reflection.date);
    let known = first.checked_add(holding_days).and_then(|at| trading.get(at));
    let Some(known) = known.filter(|_| trading.first().is_some_and(|day| day.date <= reflection.date)) else {
        let why = "the dataset does not have the day on which its outcome was known; an undated memory is never shown";
        report.skip(&at.to_string(), why);
        return;
    };
    agent_report.reflections += 1;
    days.entry(known.date).or_default().reflections.push(reflection);
}
