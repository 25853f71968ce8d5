//! The Conservative Analyst: protects the capital.

use super::{Duty, Role, Seat, Task, Work, chars, debate};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Stance;
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Protects the capital.
#[derive(Clone, Copy, Debug)]
pub struct ConservativeAnalyst;

static SEAT: Seat = Seat {
    node: "Conservative Analyst",
    prompt: "desk/conservative-analyst",
    phase: Phase::Risk,
    llm: LlmKind::Quick,
    duty: Duty::Other,
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for ConservativeAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        debate::discuss(room, case, Stance::Conservative)
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, String> {
        talk.prose().boxed()
    }

    fn enter(&self, case: &mut Case, argument: String, _: Language) {
        case.state.risk_debate_state.speak(Stance::Conservative, &argument);
        case.discussed.insert(Stance::Conservative, argument);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        case.state.risk_debate_state.speak(Stance::Conservative, absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        let debate = &case.state.risk_debate_state;
        (chars(&debate.history), chars(&debate.current_conservative_response))
    }
}
