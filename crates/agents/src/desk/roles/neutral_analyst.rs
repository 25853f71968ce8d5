//! The Neutral Analyst: weighs the other two.

use super::{Duty, Role, Seat, Task, Work, chars, debate};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Stance;
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Weighs the other two.
#[derive(Clone, Copy, Debug)]
pub struct NeutralAnalyst;

static SEAT: Seat = Seat {
    node: "Neutral Analyst",
    prompt: "desk/neutral-analyst",
    phase: Phase::Risk,
    llm: LlmKind::Quick,
    duty: Duty::Other,
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for NeutralAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        debate::discuss(room, case, Stance::Neutral)
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, String> {
        talk.prose().boxed()
    }

    fn enter(&self, case: &mut Case, argument: String, _: Language) {
        case.state.risk_debate_state.speak(Stance::Neutral, &argument);
        case.discussed.insert(Stance::Neutral, argument);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        case.state.risk_debate_state.speak(Stance::Neutral, absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        let debate = &case.state.risk_debate_state;
        (chars(&debate.history), chars(&debate.current_neutral_response))
    }
}
