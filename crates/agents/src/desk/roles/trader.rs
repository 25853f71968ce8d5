//! The Trader: turns the research plan into a proposal for the account. It sees the plan, the account, exact
//! prices and its memory, and never a report or news.

use super::{Duty, Role, Seat, Task, Work, chars};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::answer::{Structured as _, TraderProposal};
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Turns the research plan into a proposal for the account.
#[derive(Clone, Copy, Debug)]
pub struct Trader;

static SEAT: Seat = Seat {
    node: "Trader",
    prompt: "desk/trader",
    phase: Phase::Trading,
    llm: LlmKind::Quick,
    duty: Duty::Other,
    styled: false,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for Trader {
    type Answer = TraderProposal;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        Task::with_account(room, "desk/trader-task")
            .value("past_context", case.memory.as_str())
            .materials(case.research_plan())
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, TraderProposal> {
        talk.structured().boxed()
    }

    fn enter(&self, case: &mut Case, proposal: TraderProposal, language: Language) {
        case.state.trader_investment_plan = proposal.render(language);
        case.proposal = Some(proposal);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        absence.clone_into(&mut case.state.trader_investment_plan);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        let history = &case.state.investment_debate_state.history;
        (chars(history), chars(&case.state.trader_investment_plan))
    }
}
