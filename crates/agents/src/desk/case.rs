//! One symbol's work in progress: its state, and what the strings of the state do not say.

use super::answer::{PortfolioDecision, ResearchPlan, TraderProposal};
use super::state::{DeskState, Side, Stance};
use papertape_core::fence::{Author, fence};
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::point_in_time::Unverified;
use papertape_core::provenance::Degradation;
use std::collections::BTreeMap;

/// The most characters of one report, plan or argument in a prompt.
const TEXT_CHARS: usize = 20_000;
/// The most characters of a debate in a prompt.
const DEBATE_CHARS: usize = 60_000;

/// One symbol on its way through the graph.
#[derive(Debug)]
pub(crate) struct Case {
    /// The symbol.
    pub(crate) symbol: Symbol,
    /// What everybody has come to.
    pub(crate) state: DeskState,
    /// Where the state is kept, once it is.
    pub(crate) state_ref: Option<ContentHash>,
    /// Nodes that gave nothing, in the order of the graph.
    pub(crate) degradations: Vec<Degradation>,
    /// Sources that were asked and are not there, each with the reason.
    pub(crate) sources_missing: BTreeMap<String, String>,
    /// The mark of the memory that its Trader was told.
    pub(crate) unverified_memory: Option<Unverified>,
    /// The last argument that each side really made.
    pub(crate) argued: BTreeMap<Side, String>,
    /// The last argument that each stance really made.
    pub(crate) discussed: BTreeMap<Stance, String>,
    /// The Trader's memory as its prompt has it: each memory fenced.
    pub(crate) memory: String,
    /// What of structured answers could not be read and was left out, each with its node.
    pub(crate) notes: Vec<(&'static str, String)>,
    /// The Research Manager's plan, where there is one.
    pub(crate) plan: Option<ResearchPlan>,
    /// The Trader's proposal, where there is one.
    pub(crate) proposal: Option<TraderProposal>,
    /// The Portfolio Manager's decision, where there is one.
    pub(crate) decision: Option<PortfolioDecision>,
}

impl Case {
    /// Nobody has spoken yet.
    pub(crate) fn new(symbol: &Symbol, date: &str) -> Self {
        Self {
            symbol: symbol.clone(),
            state: DeskState::new(symbol.as_str(), date, String::new()),
            state_ref: None,
            degradations: Vec::new(),
            sources_missing: BTreeMap::new(),
            unverified_memory: None,
            argued: BTreeMap::new(),
            discussed: BTreeMap::new(),
            memory: String::new(),
            notes: Vec::new(),
            plan: None,
            proposal: None,
            decision: None,
        }
    }

    /// The degradation of a node, where it gave nothing.
    pub(crate) fn gone(&self, node: &str) -> Option<&Degradation> {
        self.degradations.iter().find(|degradation| degradation.node == node)
    }

    /// The analysts' reports, fenced.
    pub(crate) fn reports(&self) -> Vec<String> {
        let state = &self.state;
        let reports = [
            ("Market Analyst report", &state.market_report),
            ("Sentiment Analyst report", &state.sentiment_report),
            ("News Analyst report", &state.news_report),
            ("Fundamentals Analyst report", &state.fundamentals_report),
        ];
        reports.iter().filter_map(|(source, text)| shown(source, text, TEXT_CHARS)).collect()
    }

    /// The debate of Bull and Bear so far.
    pub(crate) fn debate(&self) -> Option<String> {
        shown("Debate so far", &self.state.investment_debate_state.history, DEBATE_CHARS)
    }

    /// The debate about risk so far.
    pub(crate) fn risk_debate(&self) -> Option<String> {
        shown("Risk debate so far", &self.state.risk_debate_state.history, DEBATE_CHARS)
    }

    /// The research plan.
    pub(crate) fn research_plan(&self) -> Option<String> {
        shown("Research plan", &self.state.investment_plan, TEXT_CHARS)
    }

    /// The Trader's proposal.
    pub(crate) fn trader_proposal(&self) -> Option<String> {
        shown("Trader proposal", &self.state.trader_investment_plan, TEXT_CHARS)
    }

    /// What a side has argued last, where it has.
    pub(crate) fn argument(&self, side: Side, node: &str) -> Option<String> {
        self.argued.get(&side).and_then(|text| shown(&format!("{node} argument"), text, TEXT_CHARS))
    }

    /// What the other stances have argued last, in the order in which they speak.
    pub(crate) fn others(&self, own: Stance) -> Vec<String> {
        let others = self.discussed.iter().filter(|(stance, _)| **stance != own);
        let fenced = others.filter_map(|(stance, text)| {
            shown(&format!("{} Analyst argument", stance.as_str()), text, TEXT_CHARS)
        });
        fenced.collect()
    }
}

/// A colleague's text under its name; `None` where there is none.
fn shown(source: &str, text: &str, cap: usize) -> Option<String> {
    (!text.is_empty()).then(|| fence(Author::Colleague, source, text, cap))
}
