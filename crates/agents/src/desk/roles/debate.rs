//! The prompts of a debate's speakers: an opening when no other speaker has argued yet, otherwise a reply.

use super::{RolePrompt, chars};
use crate::desk::DeskContext;
use crate::desk::case::SymbolAnalysis;
use crate::desk::state::{Side, Stance};

/// A turn in the debate of Bull and Bear.
pub(super) fn argue(room: &DeskContext<'_>, case: &SymbolAnalysis, side: Side) -> RolePrompt {
    let other = match side {
        Side::Bull => case.argument(Side::Bear, "Bear Researcher"),
        Side::Bear => case.argument(Side::Bull, "Bull Researcher"),
    };
    let prompt = if other.is_some() { "desk/debate-reply" } else { "desk/debate-opening" };
    let materials = case.reports().into_iter().chain(case.debate()).chain(other);
    RolePrompt::plain(room, prompt).materials(materials)
}

/// A turn in the risk debate.
pub(super) fn discuss(room: &DeskContext<'_>, case: &SymbolAnalysis, stance: Stance) -> RolePrompt {
    let others = case.others(stance);
    let prompt = if others.is_empty() { "desk/risk-opening" } else { "desk/risk-reply" };
    let materials = case
        .reports()
        .into_iter()
        .chain(case.research_plan())
        .chain(case.trader_proposal())
        .chain(case.risk_debate())
        .chain(others);
    RolePrompt::with_prices(room, prompt).materials(materials)
}

/// The length of the research debate and of its latest argument, in characters.
pub(super) fn research_lengths(case: &SymbolAnalysis) -> (usize, usize) {
    let debate = &case.state.investment_debate_state;
    (chars(&debate.history), chars(&debate.current_response))
}
