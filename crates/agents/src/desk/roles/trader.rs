//! The Trader: turns the research plan into a proposal for the account. It sees the plan, the account, exact
//! prices and its memory, and never a report or news.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, chars};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::answer::{Structured as _, TraderProposal};
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Turns the research plan into a proposal for the account.
#[derive(Clone, Copy, Debug)]
pub struct Trader;

static SEAT: RoleSpec = RoleSpec {
    node: "Trader",
    prompt: "desk/trader",
    phase: Phase::Trading,
    llm: LlmKind::Quick,
    duty: ProvenanceEffect::Other,
    styled: false,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for Trader {
    type Answer = TraderProposal;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt {
        RolePrompt::with_account(room, "desk/trader-task")
            .value("past_context", case.memory.as_str())
            .materials(case.research_plan())
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, TraderProposal> {
        talk.structured().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, proposal: TraderProposal, language: Language) {
        case.state.trader_investment_plan = proposal.render(language);
        case.proposal = Some(proposal);
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        absence.clone_into(&mut case.state.trader_investment_plan);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        let history = &case.state.investment_debate_state.history;
        (chars(history), chars(&case.state.trader_investment_plan))
    }
}
