//! The Aggressive Analyst: argues for taking risk that pays.

use super::{Duty, Role, Seat, Task, Work, chars, debate};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Stance;
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Argues for taking risk that pays.
#[derive(Clone, Copy, Debug)]
pub struct AggressiveAnalyst;

static SEAT: Seat = Seat {
    node: "Aggressive Analyst",
    prompt: "desk/aggressive-analyst",
    phase: Phase::Risk,
    llm: LlmKind::Quick,
    duty: Duty::Other,
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for AggressiveAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        debate::discuss(room, case, Stance::Aggressive)
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, String> {
        talk.prose().boxed()
    }

    fn enter(&self, case: &mut Case, argument: String, _: Language) {
        case.state.risk_debate_state.speak(Stance::Aggressive, &argument);
        case.discussed.insert(Stance::Aggressive, argument);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        case.state.risk_debate_state.speak(Stance::Aggressive, absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        let debate = &case.state.risk_debate_state;
        (chars(&debate.history), chars(&debate.current_aggressive_response))
    }
}
