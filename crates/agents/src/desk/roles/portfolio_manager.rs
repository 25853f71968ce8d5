//! The Portfolio Manager: makes the final decision.

use super::{Duty, Role, Seat, Task, Work, chars};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::answer::{PortfolioDecision, Structured as _};
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Makes the final decision.
#[derive(Clone, Copy, Debug)]
pub struct PortfolioManager;

static SEAT: Seat = Seat {
    node: "Portfolio Manager",
    prompt: "desk/portfolio-manager",
    phase: Phase::Portfolio,
    llm: LlmKind::Deep,
    duty: Duty::Other,
    styled: false,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for PortfolioManager {
    type Answer = PortfolioDecision;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        let materials =
            case.research_plan().into_iter().chain(case.trader_proposal()).chain(case.risk_debate());
        Task::with_account(room, "desk/portfolio-manager-task").materials(materials)
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, PortfolioDecision> {
        talk.structured().boxed()
    }

    fn enter(&self, case: &mut Case, decision: PortfolioDecision, language: Language) {
        case.state.final_trade_decision = decision.render(language);
        case.state.risk_debate_state.judge(&case.state.final_trade_decision);
        case.decision = Some(decision);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        absence.clone_into(&mut case.state.final_trade_decision);
        case.state.risk_debate_state.judge(absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        let history = &case.state.risk_debate_state.history;
        (chars(history), chars(&case.state.final_trade_decision))
    }
}
