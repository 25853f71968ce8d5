//! The prompt of each role, with its values and the rows for the market data in it.

use super::DeskContext;
use super::analysis::SymbolAnalysis;
use crate::roles::{RoleKind, Side, Stance};
use papertape_core::record::DerivedRow;
use serde_json::{Map, Value};

pub(super) struct RolePrompt {
    pub(super) prompt: &'static str,
    pub(super) values: Map<String, Value>,
    /// The rows for the market data in the values.
    pub(super) shown: Vec<DerivedRow>,
}

impl RolePrompt {
    pub(super) fn of(desk: &DeskContext<'_>, analysis: &SymbolAnalysis, kind: RoleKind) -> Self {
        match kind {
            RoleKind::Analyst(_) => Self::plain(desk, "desk/analyst-task"),
            RoleKind::Researcher(side) => Self::argument(desk, analysis, side),
            RoleKind::ResearchManager => {
                Self::with_prices(desk, "desk/research-manager-task").materials(analysis.debate())
            }
            RoleKind::Trader => Self::with_account(desk, "desk/trader-task")
                .value("past_context", analysis.memory.as_str())
                .materials(analysis.research_plan()),
            RoleKind::RiskAnalyst(stance) => Self::risk_argument(desk, analysis, stance),
            RoleKind::PortfolioManager => {
                let plans = analysis.research_plan().into_iter().chain(analysis.trader_proposal());
                Self::with_account(desk, "desk/portfolio-manager-task")
                    .materials(plans.chain(analysis.risk_debate()))
            }
        }
    }

    /// An opening when the other side has not argued yet, otherwise a reply.
    fn argument(desk: &DeskContext<'_>, analysis: &SymbolAnalysis, side: Side) -> Self {
        let other = analysis.argument(side.opposite());
        let prompt = if other.is_some() { "desk/debate-reply" } else { "desk/debate-opening" };
        let materials = analysis.reports().into_iter().chain(analysis.debate()).chain(other);
        Self::plain(desk, prompt).materials(materials)
    }

    /// An opening when no other risk analyst has argued yet, otherwise a reply.
    fn risk_argument(desk: &DeskContext<'_>, analysis: &SymbolAnalysis, stance: Stance) -> Self {
        let others = analysis.other_stances(stance);
        let prompt = if others.is_empty() { "desk/risk-opening" } else { "desk/risk-reply" };
        let plans = analysis.research_plan().into_iter().chain(analysis.trader_proposal());
        let debate = plans.chain(analysis.risk_debate()).chain(others);
        Self::with_prices(desk, prompt).materials(analysis.reports().into_iter().chain(debate))
    }

    /// A prompt with only the symbol and the day; no market data is recorded as read.
    fn plain(desk: &DeskContext<'_>, prompt: &'static str) -> Self {
        Self { shown: Vec::new(), ..Self::with_prices(desk, prompt) }
    }

    fn with_prices(desk: &DeskContext<'_>, prompt: &'static str) -> Self {
        let (values, shown) = desk.facts.prices();
        Self { prompt, values, shown }
    }

    /// A prompt with the symbol's prices, the account and its limits.
    fn with_account(desk: &DeskContext<'_>, prompt: &'static str) -> Self {
        let (values, shown) = desk.facts.account();
        Self { prompt, values, shown }
    }

    /// Adds the texts of other roles.
    fn materials(self, materials: impl IntoIterator<Item = String>) -> Self {
        let materials: Vec<String> = materials.into_iter().collect();
        self.value("materials", materials.join("\n\n"))
    }

    fn value(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.to_owned(), value.into());
        self
    }
}
