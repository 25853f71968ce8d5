//! The Bear Researcher: argues against owning the instrument.

use super::{Duty, Role, Seat, Task, Work, debate};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::state::Side;
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Argues against owning the instrument.
#[derive(Clone, Copy, Debug)]
pub struct BearResearcher;

static SEAT: Seat = Seat {
    node: "Bear Researcher",
    prompt: "desk/bear-researcher",
    phase: Phase::Research,
    llm: LlmKind::Quick,
    duty: Duty::Argue(Side::Bear),
    styled: true,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for BearResearcher {
    type Answer = String;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        debate::argue(room, case, Side::Bear)
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, String> {
        talk.prose().boxed()
    }

    fn enter(&self, case: &mut Case, argument: String, _: Language) {
        case.state.investment_debate_state.speak(Side::Bear, &argument);
        case.argued.insert(Side::Bear, argument);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        case.state.investment_debate_state.speak(Side::Bear, absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        debate::research_lengths(case)
    }
}
