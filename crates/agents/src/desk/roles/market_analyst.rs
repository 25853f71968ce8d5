//! The Market Analyst: reads prices and indicators.

use super::{Duty, Role, Seat, Task, Work, chars};
use crate::config::Language;
use crate::desk::Room;
use crate::desk::case::Case;
use crate::desk::config::{LlmKind, Phase};
use crate::desk::talk::Talk;
use futures::FutureExt as _;

/// Reads prices and indicators.
#[derive(Clone, Copy, Debug)]
pub struct MarketAnalyst;

static SEAT: Seat = Seat {
    node: "Market Analyst",
    prompt: "desk/market-analyst",
    phase: Phase::Analyst,
    llm: LlmKind::Quick,
    duty: Duty::Other,
    styled: true,
    tools: &["get_snapshot", "get_price", "get_bars", "get_indicators"],
};

#[expect(private_interfaces, reason = "as the trait's")]
impl Role for MarketAnalyst {
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
        case.state.market_report = report;
    }

    fn fall_back(&self, case: &mut Case, absence: &str) {
        absence.clone_into(&mut case.state.market_report);
    }

    fn lengths(&self, case: &Case) -> (usize, usize) {
        (0, chars(&case.state.market_report))
    }
}
