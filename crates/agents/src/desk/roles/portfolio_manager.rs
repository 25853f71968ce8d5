//! The Portfolio Manager: makes the final decision.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, chars};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::answer::{PortfolioDecision, Structured as _};
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Makes the final decision.
#[derive(Clone, Copy, Debug)]
pub struct PortfolioManager;

static SEAT: RoleSpec = RoleSpec {
    node: "Portfolio Manager",
    prompt: "desk/portfolio-manager",
    phase: Phase::Portfolio,
    llm: LlmKind::Deep,
    duty: ProvenanceEffect::Other,
    styled: false,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for PortfolioManager {
    type Answer = PortfolioDecision;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt {
        let materials =
            case.research_plan().into_iter().chain(case.trader_proposal()).chain(case.risk_debate());
        RolePrompt::with_account(room, "desk/portfolio-manager-task").materials(materials)
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, PortfolioDecision> {
        talk.structured().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, decision: PortfolioDecision, language: Language) {
        case.state.final_trade_decision = decision.render(language);
        case.state.risk_debate_state.judge(&case.state.final_trade_decision);
        case.decision = Some(decision);
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        absence.clone_into(&mut case.state.final_trade_decision);
        case.state.risk_debate_state.judge(absence);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        let history = &case.state.risk_debate_state.history;
        (chars(history), chars(&case.state.final_trade_decision))
    }
}
