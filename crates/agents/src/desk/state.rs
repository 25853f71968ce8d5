//! The state of one symbol's analysis, with TradingAgents' field names. Every text is a string, empty until
//! its role has spoken; structured answers are rendered to text. The debates' strings are authoritative;
//! provenance only explains them.

use crate::config::Analyst;
use crate::roles::{Side, Stance};
use papertape_core::provenance::Research;
use serde::{Deserialize, Serialize};

/// One symbol's state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeskState {
    /// The symbol.
    pub company_of_interest: String,
    /// The trading day, `YYYY-MM-DD`.
    pub trade_date: String,
    /// The Market Analyst's report.
    pub market_report: String,
    /// The Sentiment Analyst's.
    pub sentiment_report: String,
    /// The News Analyst's.
    pub news_report: String,
    /// The Fundamentals Analyst's.
    pub fundamentals_report: String,
    /// The debate of Bull and Bear, with its provenance.
    pub investment_debate_state: InvestmentDebate,
    /// The Research Manager's plan.
    pub investment_plan: String,
    /// The Trader's proposal.
    pub trader_investment_plan: String,
    /// The risk debate.
    pub risk_debate_state: RiskDebate,
    /// The Portfolio Manager's decision.
    pub final_trade_decision: String,
    /// The Trader's memory; no other role reads it.
    pub past_context: String,
}

/// The debate of Bull and Bear.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InvestmentDebate {
    /// Bull's arguments.
    pub bull_history: String,
    /// Bear's arguments.
    pub bear_history: String,
    /// Both sides' arguments, in order.
    pub history: String,
    /// The latest argument.
    pub current_response: String,
    /// The Research Manager's decision.
    pub judge_decision: String,
    /// The number of arguments.
    pub count: u32,
    /// The six fields of provenance.
    #[serde(flatten)]
    pub research: Research,
}

/// The risk debate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RiskDebate {
    /// The Aggressive Analyst's arguments.
    pub aggressive_history: String,
    /// The Conservative Analyst's arguments.
    pub conservative_history: String,
    /// The Neutral Analyst's arguments.
    pub neutral_history: String,
    /// All arguments, in order.
    pub history: String,
    /// Who spoke last: `Aggressive`, `Conservative`, `Neutral`, `Judge`.
    pub latest_speaker: String,
    /// The Aggressive Analyst's latest argument.
    pub current_aggressive_response: String,
    /// The Conservative Analyst's latest argument.
    pub current_conservative_response: String,
    /// The Neutral Analyst's latest argument.
    pub current_neutral_response: String,
    /// The Portfolio Manager's decision.
    pub judge_decision: String,
    /// The number of arguments.
    pub count: u32,
}

impl DeskState {
    /// The state before the first node.
    #[must_use]
    pub fn new(symbol: &str, date: &str, past_context: String) -> Self {
        Self {
            company_of_interest: symbol.to_owned(),
            trade_date: date.to_owned(),
            past_context,
            ..Self::default()
        }
    }

    pub(super) fn report(&self, analyst: Analyst) -> &str {
        match analyst {
            Analyst::Market => &self.market_report,
            Analyst::Social => &self.sentiment_report,
            Analyst::News => &self.news_report,
            Analyst::Fundamentals => &self.fundamentals_report,
        }
    }

    pub(super) fn set_report(&mut self, analyst: Analyst, report: String) {
        *match analyst {
            Analyst::Market => &mut self.market_report,
            Analyst::Social => &mut self.sentiment_report,
            Analyst::News => &mut self.news_report,
            Analyst::Fundamentals => &mut self.fundamentals_report,
        } = report;
    }
}

impl InvestmentDebate {
    /// Adds a side's argument.
    pub fn speak(&mut self, side: Side, text: &str) {
        let (own, speaker) = match side {
            Side::Bull => (&mut self.bull_history, "Bull Analyst"),
            Side::Bear => (&mut self.bear_history, "Bear Analyst"),
        };
        let argument = format!("{speaker}: {text}");
        append(own, &argument);
        append(&mut self.history, &argument);
        self.current_response = argument;
        self.count += 1;
    }

    /// Adds the manager's decision.
    pub fn judge(&mut self, decision: &str) {
        decision.clone_into(&mut self.judge_decision);
        decision.clone_into(&mut self.current_response);
    }
}

impl RiskDebate {
    /// Adds a risk analyst's argument.
    pub fn speak(&mut self, stance: Stance, text: &str) {
        let argument = format!("{} Analyst: {text}", stance.as_str());
        let (own, current) = match stance {
            Stance::Aggressive => (&mut self.aggressive_history, &mut self.current_aggressive_response),
            Stance::Conservative => (&mut self.conservative_history, &mut self.current_conservative_response),
            Stance::Neutral => (&mut self.neutral_history, &mut self.current_neutral_response),
        };
        append(own, &argument);
        append(&mut self.history, &argument);
        *current = argument;
        stance.as_str().clone_into(&mut self.latest_speaker);
        self.count += 1;
    }

    pub(super) fn current_response(&self, stance: Stance) -> &str {
        match stance {
            Stance::Aggressive => &self.current_aggressive_response,
            Stance::Conservative => &self.current_conservative_response,
            Stance::Neutral => &self.current_neutral_response,
        }
    }

    /// Adds the Portfolio Manager's decision.
    pub fn judge(&mut self, decision: &str) {
        decision.clone_into(&mut self.judge_decision);
        "Judge".clone_into(&mut self.latest_speaker);
    }
}

fn append(history: &mut String, argument: &str) {
    if !history.is_empty() {
        history.push('\n');
    }
    history.push_str(argument);
}
