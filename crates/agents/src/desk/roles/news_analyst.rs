//! The News Analyst: reads the news.

use super::{ProvenanceEffect, Role, RoleFuture, RolePrompt, RoleSpec, chars};
use crate::config::Language;
use crate::desk::DeskContext;
use crate::desk::case::SymbolAnalysis;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::NodeConversation;
use futures::FutureExt as _;

/// Reads the news.
#[derive(Clone, Copy, Debug)]
pub struct NewsAnalyst;

static SEAT: RoleSpec = RoleSpec {
    node: "News Analyst",
    prompt: "desk/news-analyst",
    phase: Phase::Analyst,
    llm: LlmKind::Quick,
    duty: ProvenanceEffect::Other,
    styled: true,
    tools: &["get_news", "get_macro"],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for NewsAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static RoleSpec {
        &SEAT
    }

    fn task(&self, room: &DeskContext<'_>, _: &SymbolAnalysis) -> RolePrompt {
        RolePrompt::plain(room, "desk/analyst-task")
    }

    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, String> {
        talk.report().boxed()
    }

    fn apply_answer(&self, case: &mut SymbolAnalysis, report: String, _: Language) {
        case.state.news_report = report;
    }

    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str) {
        absence.clone_into(&mut case.state.news_report);
    }

    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize) {
        (0, chars(&case.state.news_report))
    }
}
