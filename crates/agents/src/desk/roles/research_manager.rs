//! The Research Manager: decides the debate and turns it into a plan.

use super::{Duty, Role, Seat, Task, Work, debate};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::answer::{ResearchPlan, Structured as _};
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Decides the debate and turns it into a plan.
#[derive(Clone, Copy, Debug)]
pub struct ResearchManager;

static SEAT: Seat = Seat {
    node: "Research Manager",
    prompt: "desk/research-manager",
    phase: Phase::Research,
    llm: LlmKind::Deep,
    duty: Duty::JudgeResearch,
    styled: false,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for ResearchManager {
    type Answer = ResearchPlan;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, case: &Case) -> Task {
        Task::with_prices(room, "desk/research-manager-task").materials(case.debate())
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, ResearchPlan> {
        talk.structured().boxed()
    }

    fn enter(&self, case: &mut Case, plan: ResearchPlan, language: Language) {
        case.state.investment_plan = plan.render(language);
        case.state.investment_debate_state.judge(&case.state.investment_plan);
        case.plan = Some(plan);
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        absence.clone_into(&mut case.state.investment_plan);
        case.state.investment_debate_state.judge(absence);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        debate::research_lengths(case)
    }
}
