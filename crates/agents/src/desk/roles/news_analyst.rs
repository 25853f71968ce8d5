//! The News Analyst: reads the news.

use super::{Duty, Role, Seat, Task, Work, chars};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Reads the news.
#[derive(Clone, Copy, Debug)]
pub struct NewsAnalyst;

static SEAT: Seat = Seat {
    node: "News Analyst",
    prompt: "desk/news-analyst",
    phase: Phase::Analyst,
    llm: LlmKind::Quick,
    duty: Duty::Other,
    styled: true,
    tools: &["get_news", "get_macro"],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for NewsAnalyst {
    type Answer = String;

    fn seat(&self) -> &'static Seat {
        &SEAT
    }

    fn task(&self, room: &Room<'_>, _: &Case) -> Task {
        Task::plain(room, "desk/analyst-task")
    }

    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, String> {
        talk.report().boxed()
    }

    fn enter(&self, case: &mut Case, report: String, _: Language) {
        case.state.news_report = report;
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        absence.clone_into(&mut case.state.news_report);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        (0, chars(&case.state.news_report))
    }
}
