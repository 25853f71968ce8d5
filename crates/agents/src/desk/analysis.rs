//! The analysis of one symbol in progress: its state, and data that the state's strings do not contain.

use super::answer::{PortfolioDecision, ResearchPlan, Structured as _, TraderProposal};
use super::state::DeskState;
use crate::config::Analyst;
use crate::roles::{RoleKind, RoleSpec, Side, Stance};
use papertape_core::fence::{Author, fence};
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::language::Language;
use papertape_core::point_in_time::Unverified;
use papertape_core::prompt::lines;
use papertape_core::provenance::{Degradation, Research};
use std::collections::BTreeMap;

/// Maximum characters of a report, plan or argument in a prompt.
const TEXT_CHARS: usize = 20_000;
/// Maximum characters of a debate in a prompt.
const DEBATE_CHARS: usize = 60_000;

/// A role's answer, with the part of the state that it belongs to.
#[derive(Debug)]
pub(super) enum RoleResponse {
    Report(Analyst, String),
    Argument(Side, String),
    Plan(ResearchPlan),
    Proposal(TraderProposal),
    RiskArgument(Stance, String),
    Decision(PortfolioDecision),
}

#[derive(Debug)]
pub(crate) struct SymbolAnalysis {
    pub(crate) symbol: Symbol,
    /// The contributions of all roles.
    pub(crate) state: DeskState,
    /// The hash under which the state is stored, once it is.
    pub(crate) state_ref: Option<ContentHash>,
    /// Degraded nodes, in graph order.
    pub(crate) degradations: Vec<Degradation>,
    /// Requested sources that were not available, each with the reason.
    pub(crate) sources_missing: BTreeMap<String, String>,
    /// The mark of the memory in its Trader's prompt.
    pub(crate) unverified_memory: Option<Unverified>,
    /// The analysts' reports as in the prompts of the other roles: each is fenced once.
    reports: BTreeMap<Analyst, String>,
    /// The latest actual argument of each side; a fallback text is none.
    argued: BTreeMap<Side, String>,
    /// The same of each stance.
    discussed: BTreeMap<Stance, String>,
    /// The Trader's memory as in its prompt: each memory fenced.
    pub(crate) memory: String,
    /// Fields of structured answers that could not be parsed and were left out, each with its node.
    pub(crate) notes: Vec<(&'static str, String)>,
    pub(crate) plan: Option<ResearchPlan>,
    pub(crate) proposal: Option<TraderProposal>,
    pub(crate) decision: Option<PortfolioDecision>,
}

impl SymbolAnalysis {
    pub(crate) fn new(symbol: &Symbol, date: &str) -> Self {
        Self {
            symbol: symbol.clone(),
            state: DeskState::new(symbol.as_str(), date, String::new()),
            state_ref: None,
            degradations: Vec::new(),
            sources_missing: BTreeMap::new(),
            unverified_memory: None,
            reports: BTreeMap::new(),
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
        Analyst::ALL.iter().filter_map(|analyst| self.reports.get(analyst)).cloned().collect()
    }

    fn set_report(&mut self, analyst: Analyst, report: String) {
        let node = RoleSpec::of(RoleKind::Analyst(analyst)).node;
        if let Some(fenced) = render_source(&format!("{node} report"), &report, TEXT_CHARS) {
            self.reports.insert(analyst, fenced);
        }
        self.state.set_report(analyst, report);
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
    pub(super) fn argument(&self, side: Side) -> Option<String> {
        let node = RoleSpec::of(RoleKind::Researcher(side)).node;
        self.argued
            .get(&side)
            .and_then(|text| render_source(&format!("{node} {}", lines::ARGUMENT), text, TEXT_CHARS))
    }

    /// The latest arguments of the other stances, in speaking order.
    pub(super) fn other_stances(&self, own: Stance) -> Vec<String> {
        let others = self.discussed.iter().filter(|(stance, _)| **stance != own);
        let fenced = others.filter_map(|(stance, text)| {
            render_source(&format!("{} Analyst {}", stance.as_str(), lines::ARGUMENT), text, TEXT_CHARS)
        });
        fenced.collect()
    }

    /// The provenance of the symbol's research.
    pub(super) fn research(&self) -> &Research {
        &self.state.investment_debate_state.research
    }

    /// Writes a role's answer to the state, as text, and its effect on the provenance of the research.
    pub(super) fn apply_answer(&mut self, answer: RoleResponse, language: Language) {
        let state = &mut self.state;
        match answer {
            RoleResponse::Report(analyst, report) => self.set_report(analyst, report),
            RoleResponse::Argument(side, argument) => {
                state.investment_debate_state.speak(side, &argument);
                state.investment_debate_state.research.cover(side.dimension());
                self.argued.insert(side, argument);
            }
            RoleResponse::Plan(plan) => {
                state.investment_plan = plan.render(language);
                state.investment_debate_state.judge(&state.investment_plan);
                state.investment_debate_state.research.judge();
                self.plan = Some(plan);
            }
            RoleResponse::Proposal(proposal) => {
                state.trader_investment_plan = proposal.render(language);
                self.proposal = Some(proposal);
            }
            RoleResponse::RiskArgument(stance, argument) => {
                state.risk_debate_state.speak(stance, &argument);
                self.discussed.insert(stance, argument);
            }
            RoleResponse::Decision(decision) => {
                state.final_trade_decision = decision.render(language);
                state.risk_debate_state.judge(&state.final_trade_decision);
                self.decision = Some(decision);
            }
        }
    }

    /// Writes the fallback text of a role without an answer, and the degradation of the research that it causes.
    pub(super) fn apply_fallback(&mut self, kind: RoleKind, text: &str, degradation: &Degradation) {
        let state = &mut self.state;
        match kind {
            RoleKind::Analyst(analyst) => self.set_report(analyst, text.to_owned()),
            RoleKind::Researcher(side) => {
                state.investment_debate_state.speak(side, text);
                state.investment_debate_state.research.degrade(degradation);
            }
            RoleKind::ResearchManager => {
                text.clone_into(&mut state.investment_plan);
                state.investment_debate_state.judge(text);
                state.investment_debate_state.research.leave_unjudged(degradation);
            }
            RoleKind::Trader => text.clone_into(&mut state.trader_investment_plan),
            RoleKind::RiskAnalyst(stance) => state.risk_debate_state.speak(stance, text),
            RoleKind::PortfolioManager => {
                text.clone_into(&mut state.final_trade_decision);
                state.risk_debate_state.judge(text);
            }
        }
    }

    /// The lengths of a role's debate and of its own text in the state, in characters.
    pub(super) fn transcript_lengths(&self, kind: RoleKind) -> (usize, usize) {
        let state = &self.state;
        let (debate, risk) = (&state.investment_debate_state, &state.risk_debate_state);
        let (history, text) = match kind {
            RoleKind::Analyst(analyst) => ("", state.report(analyst)),
            RoleKind::Researcher(_) | RoleKind::ResearchManager => {
                (debate.history.as_str(), debate.current_response.as_str())
            }
            RoleKind::Trader => (debate.history.as_str(), state.trader_investment_plan.as_str()),
            RoleKind::RiskAnalyst(stance) => (risk.history.as_str(), risk.current_response(stance)),
            RoleKind::PortfolioManager => (risk.history.as_str(), state.final_trade_decision.as_str()),
        };
        (history.chars().count(), text.chars().count())
    }
}

/// Another role's text under its name; `None` when there is none.
fn render_source(source: &str, text: &str, cap: usize) -> Option<String> {
    (!text.is_empty()).then(|| fence(Author::Colleague, source, text, cap))
}
