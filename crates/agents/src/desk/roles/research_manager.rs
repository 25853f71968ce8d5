//! The Research Manager: decides the debate and turns it into a plan.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, debate};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::answer::{ResearchPlan, Structured as _};
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Decides the debate and turns it into a plan.
#[derive(Clone, Copy, Debug)]
pub struct ResearchManager;

static SEAT: RoleSpec = RoleSpec {
    node: "Research Manager",
    prompt: "desk/research-manager",
    phase: Phase::Research,
    llm: LlmKind::Deep,
    duty: ProvenanceEffect::JudgeResearch,
    styled: false,
    tools: &[],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for ResearchManager {
    type Answer = ResearchPlan;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt {
        RolePrompt::with_prices(room, "desk/research-manager-task").materials(case.debate())
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, ResearchPlan> {
        talk.structured().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, plan: ResearchPlan, language: Language) {
        case.state.investment_plan = plan.render(language);
        case.state.investment_debate_state.judge(&case.state.investment_plan);
        case.plan = Some(plan);
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        absence.clone_into(&mut case.state.investment_plan);
        case.state.investment_debate_state.judge(absence);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        debate::research_lengths(case)
    }
}
