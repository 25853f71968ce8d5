//! The analysis of one symbol in progress: its state, and data that the state's strings do not contain.

use super::answer::{PortfolioDecision, ResearchPlan, TraderProposal};
use super::state::{DeskState, Side, Stance};
use papertape_core::fence::{Author, fence};
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::point_in_time::Unverified;
use papertape_core::prompt::lines;
use papertape_core::provenance::Degradation;
use std::collections::BTreeMap;

/// Maximum characters of a report, plan or argument in a prompt.
const TEXT_CHARS: usize = 20_000;
/// Maximum characters of a debate in a prompt.
const DEBATE_CHARS: usize = 60_000;

/// A symbol on its way through the graph.
#[derive(Debug)]
pub(crate) struct SymbolAnalysis {
    /// The symbol.
    pub(crate) symbol: Symbol,
    /// The contributions of all roles.
    pub(crate) state: DeskState,
    /// The hash under which the state is stored, once it is.
    pub(crate) state_ref: Option<ContentHash>,
    /// Degraded nodes, in graph order.
    pub(crate) degradations: Vec<Degradation>,
    /// Requested sources that were not available, each with the reason.
    pub(crate) sources_missing: BTreeMap<String, String>,
    /// The mark of the memory shown to its Trader.
    pub(crate) unverified_memory: Option<Unverified>,
    /// The latest actual argument of each side.
    pub(crate) argued: BTreeMap<Side, String>,
    /// The latest actual argument of each stance.
    pub(crate) discussed: BTreeMap<Stance, String>,
    /// The Trader's memory as in its prompt: each memory fenced.
    pub(crate) memory: String,
    /// Fields of structured answers that could not be parsed and were left out, each with its node.
    pub(crate) notes: Vec<(&'static str, String)>,
    /// The Research Manager's plan, if any.
    pub(crate) plan: Option<ResearchPlan>,
    /// The Trader's proposal, if any.
    pub(crate) proposal: Option<TraderProposal>,
    /// The Portfolio Manager's decision, if any.
    pub(crate) decision: Option<PortfolioDecision>,
}

impl SymbolAnalysis {
    /// The case before the first node.
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

    /// The degradation of a node, if it returned nothing.
    pub(crate) fn degradation(&self, node: &str) -> Option<&Degradation> {
        self.degradations.iter().find(|degradation| degradation.node == node)
    }

    /// The analysts' reports, fenced.
    pub(crate) fn reports(&self) -> Vec<String> {
        let state = &self.state;
        let reports = [
            (lines::MARKET_REPORT, &state.market_report),
            ("Sentiment Analyst report", &state.sentiment_report),
            ("News Analyst report", &state.news_report),
            ("Fundamentals Analyst report", &state.fundamentals_report),
        ];
        reports.iter().filter_map(|(source, text)| render_source(source, text, TEXT_CHARS)).collect()
    }

    /// The debate of Bull and Bear so far.
    pub(crate) fn debate(&self) -> Option<String> {
        render_source(lines::DEBATE, &self.state.investment_debate_state.history, DEBATE_CHARS)
    }

    /// The risk debate so far.
    pub(crate) fn risk_debate(&self) -> Option<String> {
        render_source("Risk debate so far", &self.state.risk_debate_state.history, DEBATE_CHARS)
    }

    /// The research plan.
    pub(crate) fn research_plan(&self) -> Option<String> {
        render_source(lines::RESEARCH_PLAN, &self.state.investment_plan, TEXT_CHARS)
    }

    /// The Trader's proposal.
    pub(crate) fn trader_proposal(&self) -> Option<String> {
        render_source(lines::TRADER_PROPOSAL, &self.state.trader_investment_plan, TEXT_CHARS)
    }

    /// The latest argument of a side, if it has made one.
    pub(crate) fn argument(&self, side: Side, node: &str) -> Option<String> {
        self.argued
            .get(&side)
            .and_then(|text| render_source(&format!("{node} {}", lines::ARGUMENT), text, TEXT_CHARS))
    }

    /// The latest arguments of the other stances, in speaking order.
    pub(crate) fn others(&self, own: Stance) -> Vec<String> {
        let others = self.discussed.iter().filter(|(stance, _)| **stance != own);
        let fenced = others.filter_map(|(stance, text)| {
            render_source(&format!("{} Analyst {}", stance.as_str(), lines::ARGUMENT), text, TEXT_CHARS)
        });
        fenced.collect()
    }
}

/// Another role's text under its name; `None` when there is none.
fn render_source(source: &str, text: &str, cap: usize) -> Option<String> {
    (!text.is_empty()).then(|| fence(Author::Colleague, source, text, cap))
}
