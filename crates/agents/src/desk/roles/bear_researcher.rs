//! The Bear Researcher: argues against owning the instrument.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, debate};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Side;
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Argues against owning the instrument.
#[derive(Clone, Copy, Debug)]
pub struct BearResearcher;

static SEAT: RoleSpec = RoleSpec {
    node: "Bear Researcher",
    prompt: "desk/bear-researcher",
    phase: Phase::Research,
    llm: LlmKind::Quick,
    duty: ProvenanceEffect::Argue(Side::Bear),
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for BearResearcher {
    type Answer = String;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt {
        debate::argue(room, case, Side::Bear)
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, String> {
        talk.prose().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, argument: String, _: Language) {
        case.state.investment_debate_state.speak(Side::Bear, &argument);
        case.argued.insert(Side::Bear, argument);
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        case.state.investment_debate_state.speak(Side::Bear, absence);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        debate::research_lengths(case)
    }
}
