//! The Neutral Analyst: weighs the other two.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, chars, debate};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Stance;
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Weighs the other two.
#[derive(Clone, Copy, Debug)]
pub struct NeutralAnalyst;

static SEAT: RoleSpec = RoleSpec {
    node: "Neutral Analyst",
    prompt: "desk/neutral-analyst",
    phase: Phase::Risk,
    llm: LlmKind::Quick,
    duty: ProvenanceEffect::Other,
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for NeutralAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt {
        debate::discuss(room, case, Stance::Neutral)
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, String> {
        talk.prose().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, argument: String, _: Language) {
        case.state.risk_debate_state.speak(Stance::Neutral, &argument);
        case.discussed.insert(Stance::Neutral, argument);
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        case.state.risk_debate_state.speak(Stance::Neutral, absence);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        let debate = &case.state.risk_debate_state;
        (chars(&debate.history), chars(&debate.current_neutral_response))
    }
}
