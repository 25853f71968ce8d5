//! Runs recorded by TradingAgents: its full state logs, its memory log, and the output of its backtest.
//!
//! Each analysis of a symbol on a day becomes the part of a desk's session with the same roles. Reading decides nothing:
//! what cannot be read is reported by file and line, ratings that contradict each other are reported, and nothing is
//! corrected. The files have no account and no trades, so the sessions have none either.

mod backtest;
mod debate;
mod memory_log;
mod state_log;

use crate::imports::{AgentReport, Disagreement, RowPlace, RunReport, files};
use papertape_agents::config::{Analyst, DeskConfig, MAX_ROUNDS};
use papertape_agents::imported::recorded_rating;
use papertape_agents::recorded::{RecordedAnalysis, RecordedDay, RoleMessage};
use papertape_core::id::{AgentName, Symbol};
use papertape_core::market::Dataset;
use papertape_core::money::Money;
use papertape_core::time::Date;
use papertape_service::trigger::RecordedAgent;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The name of these logs in a job's config.
pub const FORMAT: &str = "tradingagents";

/// The files of a folder.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// `full_states_log_DATE.json`.
    states: Vec<PathBuf>,
    /// `trading_memory.md`, or the logs of a backtest in a folder `memory`.
    memory_logs: Vec<PathBuf>,
    /// A backtest's `*.jsonl`.
    decisions: Vec<PathBuf>,
    /// A backtest's `equity.csv`.
    equity: Vec<PathBuf>,
    /// A backtest's `scorecard.json`.
    scorecards: Vec<PathBuf>,
}

impl Layout {
    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let all = [&self.states, &self.memory_logs, &self.decisions, &self.equity, &self.scorecards];
        all.iter().all(|files| files.is_empty())
    }
}

/// Finds the files below a folder, such as TradingAgents' results or `~/.tradingagents`.
///
/// # Errors
/// An I/O error.
pub fn find(dir: &Path, report: &mut RunReport) -> io::Result<Layout> {
    let mut layout = Layout::default();
    for path in files::find(dir, |path| kind(path).is_some(), report)? {
        let list = match kind(&path) {
            Some(Kind::State) => &mut layout.states,
            Some(Kind::MemoryLog) => &mut layout.memory_logs,
            Some(Kind::Decisions) => &mut layout.decisions,
            Some(Kind::Equity) => &mut layout.equity,
            Some(Kind::Scorecard) => &mut layout.scorecards,
            None => continue,
        };
        list.push(path);
    }
    Ok(layout)
}

enum Kind {
    State,
    MemoryLog,
    Decisions,
    Equity,
    Scorecard,
}

fn kind(path: &Path) -> Option<Kind> {
    let name = files::name(path);
    let parent = path.parent().map(files::name).unwrap_or_default();
    Some(match name {
        "equity.csv" => Kind::Equity,
        "scorecard.json" => Kind::Scorecard,
        "trading_memory.md" => Kind::MemoryLog,
        _ if name.starts_with("full_states_log_") && name.ends_with(".json") => Kind::State,
        _ if name.ends_with(".md") && parent == "memory" => Kind::MemoryLog,
        _ if name.ends_with(".jsonl") => Kind::Decisions,
        _ => return None,
    })
}

/// The analysis of a symbol on a day, and the file that it comes from.
struct Found {
    analysis: RecordedAnalysis,
    at: RowPlace,
}

/// Everything that was read, before it is checked against the dataset.
#[derive(Default)]
struct Runs {
    analyses: BTreeMap<(Date, Symbol), Found>,
}

impl Runs {
    /// Adds an analysis that has only a final decision, if there is none yet; else compares the texts.
    fn decision(
        &mut self,
        (date, symbol): (Date, Symbol),
        text: &str,
        at: &RowPlace,
        report: &mut RunReport,
    ) {
        match self.analyses.get(&(date, symbol.clone())) {
            None => {
                let analysis = state_log::only_decision(&symbol, date, text);
                self.analyses.insert((date, symbol), Found { analysis, at: at.clone() });
            }
            Some(found) => {
                let known = found.analysis.state["final_trade_decision"].as_str().unwrap_or_default();
                if !text.trim().is_empty() && known.trim() != text.trim() {
                    let what = format!("its decision on {symbol} differs from that of {}", found.at);
                    report.disagreements.add(disagreement(&symbol, date, at, what));
                }
            }
        }
    }
}

fn disagreement(symbol: &Symbol, date: Date, at: &RowPlace, what: String) -> Disagreement {
    Disagreement { agent: symbol.to_string(), date, at: Some(at.clone()), what, amounts: None }
}

/// Compares the rating that a file states with the one that its decision states. TradingAgents writes `Hold` for a
/// decision without a rating.
fn check_rating(
    (symbol, date): (&Symbol, Date),
    (stated, text): (&str, &str),
    at: &RowPlace,
    report: &mut RunReport,
) {
    let parsed = recorded_rating(text);
    match parsed {
        Some(rating) if rating.as_str().eq_ignore_ascii_case(stated) => {}
        Some(rating) => {
            let what = format!("the rating is {stated} in the log, but {rating} in its decision on {symbol}");
            report.disagreements.add(disagreement(symbol, date, at, what));
        }
        None if text.trim().is_empty() => {}
        None => report.note(format!(
            "{}: the rating is {stated}, but the decision states none, or several; it is imported as unparseable",
            at.file
        )),
    }
}

/// A ticker as a symbol.
fn symbol(text: &str) -> Result<Symbol, String> {
    let is_valid = !text.trim().is_empty()
        && text.chars().count() <= 32
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-^=".contains(c))
        && text.chars().any(|c| c != '.');
    is_valid.then(|| Symbol::new(text)).ok_or_else(|| {
        format!("`{}` is not a ticker", text.chars().take(60).collect::<String>().escape_default())
    })
}

/// Reads the files as one agent with this name. `None`: nothing can be imported, for the reasons in the report.
pub fn read(
    layout: &Layout,
    dataset: &Dataset,
    (name, initial_cash): (&str, Money),
    report: &mut RunReport,
) -> Option<RecordedAgent> {
    let mut runs = Runs::default();
    let mut agent_report = AgentReport::of(name);
    agent_report.initial_cash = initial_cash.0;
    for path in &layout.states {
        state_log::read(path, &mut runs, report);
    }
    for path in &layout.decisions {
        backtest::read_decisions(path, &mut runs, report);
    }
    let mut reflections = Vec::new();
    for path in &layout.memory_logs {
        reflections.extend(memory_log::read(path, &mut runs, report));
    }
    let curve = backtest::read_equity(&layout.equity, &layout.scorecards, report);

    let mut days: BTreeMap<Date, RecordedDay> = BTreeMap::new();
    let mut symbols = BTreeSet::new();
    let known: BTreeSet<&Symbol> = dataset.tradable_symbols().collect();
    let mut config = DeskConfig { selected_analysts: BTreeSet::new(), ..DeskConfig::default() };
    for ((date, symbol), found) in runs.analyses {
        if dataset.day(date).is_none() {
            report.skip(&found.at.to_string(), "not a trading day of the dataset");
            continue;
        }
        if !known.contains(&symbol) {
            report.note(format!("{symbol} has no prices in the dataset; its sessions have only messages"));
        }
        note_roles(&found.analysis.messages, &mut config);
        agent_report.messages += found.analysis.messages.len() as u64;
        agent_report.rows += 1;
        symbols.insert(symbol);
        days.entry(date).or_default().analyses.push(found.analysis);
    }
    agent_report.days_with_messages = days.len() as u64;
    for (reflection, at) in reflections {
        memory_log::place((reflection, &at), dataset, &mut days, (&mut agent_report, report));
    }
    backtest::place(&curve, dataset, &mut days, report);
    if config.selected_analysts.is_empty() {
        config.selected_analysts = Analyst::ALL.into();
    }
    if days.is_empty() {
        report.skip(name, "nothing in its files is on a trading day of the dataset");
        return None;
    }
    agent_report.first_day = days.keys().next().copied();
    agent_report.last_day = days.keys().next_back().copied();
    report.agents.push(agent_report);
    Some(RecordedAgent { name: AgentName::new(name), initial_cash, days, symbols, desk: Some(config) })
}

/// Extends the desk's settings by the roles and rounds of these messages.
fn note_roles(messages: &[RoleMessage], config: &mut DeskConfig) {
    for RoleMessage { node, round, .. } in messages {
        if let Some((_, analyst)) = state_log::ANALYSTS.iter().find(|(known, _)| known == node) {
            config.selected_analysts.insert(*analyst);
        } else if node.ends_with("Researcher") {
            config.max_debate_rounds = config.max_debate_rounds.max(*round).min(MAX_ROUNDS);
        } else if node.ends_with("Analyst") {
            config.max_risk_discuss_rounds = config.max_risk_discuss_rounds.max(*round).min(MAX_ROUNDS);
        }
    }
}
