//! `full_states_log_DATE.json`: the state of one analysis after its last role.

use super::debate::{self, Speaker};
use super::{Found, Runs, symbol};
use crate::imports::{RowPlace, RunReport, files};
use papertape_agents::config::Analyst;
use papertape_agents::desk::state::{DeskState, InvestmentDebate, RiskDebate};
use papertape_agents::recorded::{RecordedAnalysis, RoleMessage};
use papertape_core::id::Symbol;
use papertape_core::json::to_value;
use papertape_core::provenance::Research;
use papertape_core::time::{Date, parse_date};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::path::Path;

/// The analysts' nodes.
pub(super) const ANALYSTS: [(&str, Analyst); 4] = [
    ("Market Analyst", Analyst::Market),
    ("Sentiment Analyst", Analyst::Social),
    ("News Analyst", Analyst::News),
    ("Fundamentals Analyst", Analyst::Fundamentals),
];
const PORTFOLIO_MANAGER: &str = "Portfolio Manager";

/// The log as TradingAgents writes it.
#[derive(Deserialize)]
struct StateLog {
    company_of_interest: String,
    trade_date: String,
    market_report: String,
    sentiment_report: String,
    news_report: String,
    fundamentals_report: String,
    investment_debate_state: Debate,
    trader_investment_decision: String,
    risk_debate_state: Risk,
    investment_plan: String,
    final_trade_decision: String,
}

#[derive(Deserialize)]
struct Debate {
    bull_history: String,
    bear_history: String,
    history: String,
    current_response: String,
    judge_decision: String,
}

/// The names before version 0.2.0 were `risky` and `safe`.
#[derive(Deserialize)]
struct Risk {
    #[serde(alias = "risky_history")]
    aggressive_history: String,
    #[serde(alias = "safe_history")]
    conservative_history: String,
    neutral_history: String,
    history: String,
    judge_decision: String,
}

/// Reads a log. What is wrong with it goes into the report.
pub(super) fn read(path: &Path, runs: &mut Runs, report: &mut RunReport) {
    let file = path.display().to_string();
    match files::text(path).and_then(|text| states(&text)) {
        Ok(logs) => {
            let has_several = logs.len() > 1;
            logs.into_iter().for_each(|log| add(path, (log, has_several), runs, report));
        }
        Err((line, reason)) => report.problem(RowPlace { file, line }, reason),
    }
}

/// The states of a file: one, or, as versions before 0.2.4 write it, one for each day that their process has seen.
fn states(text: &str) -> Result<Vec<StateLog>, (u64, String)> {
    let keys = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).unwrap_or_default();
    if keys.is_empty() || !keys.keys().all(|key| parse_date(key).is_ok()) {
        return files::parse_json(text).map(|log| vec![log]);
    }
    let logs: BTreeMap<String, StateLog> = files::parse_json(text)?;
    match logs.iter().find(|(date, log)| **date != log.trade_date) {
        Some((date, log)) => {
            let line = files::line_of_key(text, date);
            Err((line, format!("its `trade_date` is `{}`, but it is under {date}", log.trade_date)))
        }
        None => Ok(logs.into_values().collect()),
    }
}

fn add(path: &Path, (log, has_several): (StateLog, bool), runs: &mut Runs, report: &mut RunReport) {
    let file = path.display().to_string();
    let at = RowPlace { file: file.clone(), line: 1 };
    let about = match identify(path, &log, has_several) {
        Ok(about) => about,
        Err(reason) => return report.problem(at, reason),
    };
    let (date, ticker) = about.clone();
    let analysis = analysis(&ticker, date, log, &file, report);
    match runs.analyses.get(&about) {
        None => drop(runs.analyses.insert(about, Found { analysis, at })),
        Some(found) if found.analysis == analysis => {
            report.skip(&file, &format!("its analysis of {ticker} on {date} repeats {}", found.at.file));
        }
        Some(found) => {
            let reason = format!("another analysis of {ticker} on {date} is in {}", found.at.file);
            report.problem(at, reason);
        }
    }
}

/// The day and the symbol. The file's name and its folder must confirm them.
fn identify(path: &Path, log: &StateLog, has_several: bool) -> Result<(Date, Symbol), String> {
    let ticker =
        symbol(&log.company_of_interest).map_err(|reason| format!("`company_of_interest`: {reason}"))?;
    let date = parse_date(&log.trade_date).map_err(|reason| format!("`trade_date`: {reason}"))?;
    let name = files::name(path);
    let named = name.strip_prefix("full_states_log_").and_then(|name| name.strip_suffix(".json"));
    let named = named.and_then(|name| parse_date(name).ok());
    if named != Some(date) {
        // The other days of a file of several can be of other tickers.
        return if has_several {
            Ok((date, ticker))
        } else {
            Err(format!("its `trade_date` is {date}, unlike its name"))
        };
    }
    let folder = path.parent().filter(|parent| files::name(parent) == "TradingAgentsStrategy_logs");
    let folder = folder.and_then(Path::parent).map(files::name).unwrap_or_default();
    if !folder.is_empty() && folder != ticker.as_str() {
        return Err(format!("its `company_of_interest` is {ticker}, unlike its folder"));
    }
    Ok((date, ticker))
}

fn analysis(
    ticker: &Symbol,
    date: Date,
    log: StateLog,
    file: &str,
    report: &mut RunReport,
) -> RecordedAnalysis {
    let mut messages = Vec::new();
    let mut say = |node: &str, round: u32, content: &str| {
        if !content.trim().is_empty() {
            let (node, content) = (node.to_owned(), content.to_owned());
            messages.push(RoleMessage { node, round, content });
        }
    };
    let reports = [&log.market_report, &log.sentiment_report, &log.news_report, &log.fundamentals_report];
    for ((node, _), text) in ANALYSTS.iter().zip(reports) {
        say(node, 1, text);
    }
    let (debate, risk) = (log.investment_debate_state, log.risk_debate_state);
    let sides = [("Bull Analyst", debate.bull_history.as_str()), ("Bear Analyst", &debate.bear_history)];
    let nodes = ["Bull Researcher", "Bear Researcher"];
    let (debate_count, _) =
        turns(&debate.history, &sides, &nodes, &mut say).unwrap_or_else(|| unsplit(file, report));
    say("Research Manager", 1, &debate.judge_decision);
    say("Trader", 1, &log.trader_investment_decision);
    let stances = [
        ("Aggressive Analyst", risk.aggressive_history.as_str()),
        ("Conservative Analyst", &risk.conservative_history),
        ("Neutral Analyst", &risk.neutral_history),
    ];
    let nodes = stances.map(|(name, _)| name);
    let (risk_count, risk_last) =
        turns(&risk.history, &stances, &nodes, &mut say).unwrap_or_else(|| unsplit(file, report));
    say(PORTFOLIO_MANAGER, 1, &log.final_trade_decision);
    if log.investment_plan.trim() != debate.judge_decision.trim() {
        report.note(format!("{file}: `investment_plan` differs from the Research Manager's decision"));
    }
    if log.final_trade_decision.trim() != risk.judge_decision.trim() {
        report.note(format!("{file}: `final_trade_decision` differs from the Portfolio Manager's decision"));
    }
    let mut research = Research::default();
    for (text, dimension) in [(&debate.bull_history, "bull"), (&debate.bear_history, "bear")] {
        if !text.trim().is_empty() {
            research.cover(dimension);
        }
    }
    if !debate.judge_decision.trim().is_empty() {
        research.judge();
    }
    let last = |at: usize| risk_last.get(at).cloned().flatten().unwrap_or_default();
    let state = DeskState {
        market_report: log.market_report,
        sentiment_report: log.sentiment_report,
        news_report: log.news_report,
        fundamentals_report: log.fundamentals_report,
        investment_debate_state: InvestmentDebate {
            bull_history: debate.bull_history,
            bear_history: debate.bear_history,
            history: debate.history,
            current_response: debate.current_response,
            judge_decision: debate.judge_decision,
            count: debate_count,
            research,
        },
        investment_plan: log.investment_plan,
        trader_investment_plan: log.trader_investment_decision,
        risk_debate_state: RiskDebate {
            aggressive_history: risk.aggressive_history,
            conservative_history: risk.conservative_history,
            neutral_history: risk.neutral_history,
            history: risk.history,
            latest_speaker: if risk.judge_decision.is_empty() { "" } else { "Judge" }.to_owned(),
            current_aggressive_response: last(0),
            current_conservative_response: last(1),
            current_neutral_response: last(2),
            judge_decision: risk.judge_decision,
            count: risk_count,
        },
        final_trade_decision: log.final_trade_decision,
        ..DeskState::new(ticker.as_str(), &date.to_string(), String::new())
    };
    RecordedAnalysis { symbol: ticker.clone(), messages, state: to_value(&state) }
}

/// The number of turns, and each speaker's last one.
type Turns = (u32, Vec<Option<String>>);

/// Adds the turns of a debate as messages of their nodes. A debate that cannot be split becomes one message of each
/// speaker; then the result is `None`.
fn turns(
    whole: &str,
    speakers: &[Speaker<'_>],
    nodes: &[&str],
    say: &mut impl FnMut(&str, u32, &str),
) -> Option<Turns> {
    let Some(turns) = debate::split(whole, speakers) else {
        for ((_, own), node) in speakers.iter().zip(nodes) {
            say(node, 1, own.trim());
        }
        return None;
    };
    let mut rounds = vec![0_u32; speakers.len()];
    let mut last = vec![None; speakers.len()];
    for (at, argument) in &turns {
        rounds[*at] += 1;
        say(nodes[*at], rounds[*at], argument);
        last[*at] = Some(format!("{}: {argument}", speakers[*at].0));
    }
    Some((u32::try_from(turns.len()).unwrap_or(u32::MAX), last))
}

fn unsplit(file: &str, report: &mut RunReport) -> Turns {
    report.note(format!(
        "{file}: a debate's `history` is not made up of its speakers' turns; each speaker's turns are one message"
    ));
    (0, Vec::new())
}

/// An analysis of which only the final decision is known.
pub(super) fn only_decision(ticker: &Symbol, date: Date, text: &str) -> RecordedAnalysis {
    let mut state = DeskState::new(ticker.as_str(), &date.to_string(), String::new());
    text.trim().clone_into(&mut state.final_trade_decision);
    let content = state.final_trade_decision.clone();
    let message = RoleMessage { node: PORTFOLIO_MANAGER.to_owned(), round: 1, content };
    let messages = if message.content.is_empty() { Vec::new() } else { vec![message] };
    RecordedAnalysis { symbol: ticker.clone(), messages, state: to_value(&state) }
}
