//! The Aggressive Analyst: argues for taking risk that pays.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, chars, debate};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Stance;
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Argues for taking risk that pays.
#[derive(Clone, Copy, Debug)]
pub struct AggressiveAnalyst;

static SEAT: RoleSpec = RoleSpec {
    node: "Aggressive Analyst",
    prompt: "desk/aggressive-analyst",
    phase: Phase::Risk,
    llm: LlmKind::Quick,
    duty: ProvenanceEffect::Other,
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for AggressiveAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt {
        debate::discuss(room, case, Stance::Aggressive)
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, String> {
        talk.prose().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, argument: String, _: Language) {
        case.state.risk_debate_state.speak(Stance::Aggressive, &argument);
        case.discussed.insert(Stance::Aggressive, argument);
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        case.state.risk_debate_state.speak(Stance::Aggressive, absence);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        let debate = &case.state.risk_debate_state;
        (chars(&debate.history), chars(&debate.current_aggressive_response))
    }
}
