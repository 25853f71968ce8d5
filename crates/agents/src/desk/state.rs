//! What a desk has come to about one symbol, under the names that TradingAgents gave it. Every text is
//! a string from the beginning, empty until somebody has spoken; an answer of some form is rendered
//! before it enters. The debates' strings stay authoritative; provenance only explains them.

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
    /// The debate about risk.
    pub risk_debate_state: RiskDebate,
    /// The Portfolio Manager's decision.
    pub final_trade_decision: String,
    /// The Trader's memory; nobody else reads it.
    pub past_context: String,
}

/// The debate of Bull and Bear.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InvestmentDebate {
    /// What Bull has said.
    pub bull_history: String,
    /// What Bear has said.
    pub bear_history: String,
    /// What both have said, in order.
    pub history: String,
    /// What was said last.
    pub current_response: String,
    /// The Research Manager's judgement.
    pub judge_decision: String,
    /// How often somebody has spoken.
    pub count: u32,
    /// The six fields of provenance.
    #[serde(flatten)]
    pub research: Research,
}

/// The debate about risk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RiskDebate {
    /// What the Aggressive Analyst has said.
    pub aggressive_history: String,
    /// What the Conservative Analyst has said.
    pub conservative_history: String,
    /// What the Neutral Analyst has said.
    pub neutral_history: String,
    /// What all have said, in order.
    pub history: String,
    /// Who spoke last: `Aggressive`, `Conservative`, `Neutral`, `Judge`.
    pub latest_speaker: String,
    /// What the Aggressive Analyst said last.
    pub current_aggressive_response: String,
    /// What the Conservative Analyst said last.
    pub current_conservative_response: String,
    /// What the Neutral Analyst said last.
    pub current_neutral_response: String,
    /// The Portfolio Manager's judgement.
    pub judge_decision: String,
    /// How often somebody has spoken.
    pub count: u32,
}

/// A side of the debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// For it.
    Bull,
    /// Against it.
    Bear,
}

/// A stance towards risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stance {
    /// Takes it.
    Aggressive,
    /// Avoids it.
    Conservative,
    /// Weighs it.
    Neutral,
}

impl Side {
    /// Both, in the order in which they speak.
    pub const ALL: [Self; 2] = [Self::Bull, Self::Bear];

    /// The dimension that it covers.
    #[must_use]
    pub const fn dimension(self) -> &'static str {
        match self {
            Self::Bull => "bull",
            Self::Bear => "bear",
        }
    }
}

impl Stance {
    /// All, in the order in which they speak.
    pub const ALL: [Self; 3] = [Self::Aggressive, Self::Conservative, Self::Neutral];

    /// As `latest_speaker` has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aggressive => "Aggressive",
            Self::Conservative => "Conservative",
            Self::Neutral => "Neutral",
        }
    }
}

impl DeskState {
    /// Nobody has spoken yet.
    #[must_use]
    pub fn new(symbol: &str, date: &str, past_context: String) -> Self {
        Self {
            company_of_interest: symbol.to_owned(),
            trade_date: date.to_owned(),
            past_context,
            ..Self::default()
        }
    }
}

impl InvestmentDebate {
    /// A side speaks.
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

    /// The manager judges.
    pub fn judge(&mut self, decision: &str) {
        decision.clone_into(&mut self.judge_decision);
        decision.clone_into(&mut self.current_response);
    }
}

impl RiskDebate {
    /// A risk analyst speaks.
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

    /// The Portfolio Manager judges.
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
