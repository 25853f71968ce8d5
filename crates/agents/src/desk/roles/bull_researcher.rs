//! The Bull Researcher: argues for owning the instrument.

use super::{Duty, Role, Seat, Task, Work, debate};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Side;
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Argues for owning the instrument.
#[derive(Clone, Copy, Debug)]
pub struct BullResearcher;

static SEAT: Seat = Seat {
    node: "Bull Researcher",
    prompt: "desk/bull-researcher",
    phase: Phase::Research,
    llm: LlmKind::Quick,
    duty: Duty::Argue(Side::Bull),
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for BullResearcher {
    type Answer = String;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        debate::argue(room, case, Side::Bull)
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, String> {
        talk.prose().boxed()
    }

    fn enter(&self, case: &mut Case, argument: String, _: Language) {
        case.state.investment_debate_state.speak(Side::Bull, &argument);
        case.argued.insert(Side::Bull, argument);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        case.state.investment_debate_state.speak(Side::Bull, absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        debate::research_lengths(case)
    }
}
