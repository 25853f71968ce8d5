//! Who sits at the desk: a file a role, with its prompts in `prompts/desk/`.
//!
//! A role says where it sits ([`Seat`]), what it is asked ([`Role::task`]), in which form it answers
//! ([`Role::work`]) and where its answer goes ([`Role::enter`]). Deadlines, provenance and what happens
//! when it gives nothing are the same for all, in `desk::guarded`.

mod aggressive_analyst;
mod bear_researcher;
mod bull_researcher;
mod conservative_analyst;
mod debate;
mod fundamentals_analyst;
mod market_analyst;
mod neutral_analyst;
mod news_analyst;
mod portfolio_manager;
mod research_manager;
mod sentiment_analyst;
mod trader;

pub use aggressive_analyst::AggressiveAnalyst;
pub use bear_researcher::BearResearcher;
pub use bull_researcher::BullResearcher;
pub use conservative_analyst::ConservativeAnalyst;
pub use fundamentals_analyst::FundamentalsAnalyst;
pub use market_analyst::MarketAnalyst;
pub use neutral_analyst::NeutralAnalyst;
pub use news_analyst::NewsAnalyst;
pub use portfolio_manager::PortfolioManager;
pub use research_manager::ResearchManager;
pub use sentiment_analyst::SentimentAnalyst;
pub use trader::Trader;

use super::Room;
use super::case::Case;
use super::config::{Analyst, LlmKind, Phase};
use super::state::Side;
use super::talk::{Talk, Worked};
use crate::config::Language;
use papertape_core::ports::BoxFuture;
use papertape_core::record::Implied;
use papertape_core::tape::{NodeFailure, Stop};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A place at the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The node's name, `Bull Researcher`.
    pub node: &'static str,
    /// The prompt of its instructions.
    pub prompt: &'static str,
    /// The part of the day's work.
    pub phase: Phase,
    /// The model that it thinks with.
    pub llm: LlmKind,
    /// What its answer does to the provenance of the research.
    pub duty: Duty,
    /// Does the desk's style of analyses hold for it?
    pub styled: bool,
    /// The tools that it reads with.
    pub tools: &'static [&'static str],
}

/// What an answer does to the provenance of the research.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// It covers a side of the debate.
    Argue(Side),
    /// It judges the debate.
    JudgeResearch,
    /// Nothing.
    Other,
}

/// What a role is asked: a prompt and its values, and what of the market they show.
#[derive(Debug)]
pub struct Task {
    pub(super) prompt: &'static str,
    pub(super) values: Map<String, Value>,
    pub(super) shown: Vec<Implied>,
}

/// A role's work, ready to be awaited: an answer, a failure or a stop.
pub type Work<'a, A> = BoxFuture<'a, Result<Result<Worked<A>, NodeFailure>, Stop>>;

/// A role.
#[expect(private_interfaces, reason = "a role is public by its name; only the desk can work with it")]
pub trait Role: Send + Sync {
    /// The form of its answer.
    type Answer: Send;

    /// Where it sits.
    fn seat(&self) -> &'static Seat;

    /// What it is asked.
    fn task(&self, room: &Room<'_>, case: &Case) -> Task;

    /// Its work: the form of answer that it needs from its model.
    fn work<'a>(&'a self, talk: Talk<'a>) -> Work<'a, Self::Answer>;

    /// Its answer enters the state, as text.
    fn enter(&self, case: &mut Case, answer: Self::Answer, language: Language);

    /// It gave nothing: the text that says so enters the state.
    fn fall_back(&self, case: &mut Case, absence: &str);

    /// The characters of the debate that it belongs to, and of its own text in the state.
    fn lengths(&self, case: &Case) -> (usize, usize);
}

/// The selected analysts in the order of the graph.
#[must_use]
pub(crate) fn analysts(selected: &BTreeSet<Analyst>) -> Vec<&'static dyn Role<Answer = String>> {
    let role = |analyst: &Analyst| -> &'static dyn Role<Answer = String> {
        match analyst {
            Analyst::Market => &MarketAnalyst,
            Analyst::Social => &SentimentAnalyst,
            Analyst::News => &NewsAnalyst,
            Analyst::Fundamentals => &FundamentalsAnalyst,
        }
    };
    selected.iter().map(role).collect()
}

/// The nodes after the analysts with their rounds, as the graph runs through them.
pub(crate) fn sequence(debate: u32, risk: u32) -> Vec<(&'static str, u32)> {
    let debate = (1..=debate)
        .flat_map(|round| [BullResearcher.seat(), BearResearcher.seat()].map(|seat| (seat.node, round)));
    let judged = [ResearchManager.seat(), Trader.seat()].map(|seat| (seat.node, 1));
    let risk = (1..=risk).flat_map(|round| {
        [AggressiveAnalyst.seat(), ConservativeAnalyst.seat(), NeutralAnalyst.seat()]
            .map(|seat| (seat.node, round))
    });
    debate.chain(judged).chain(risk).chain([(PortfolioManager.seat().node, 1)]).collect()
}

impl Task {
    /// The symbol and the day alone.
    fn plain(room: &Room<'_>, prompt: &'static str) -> Self {
        let (values, _) = room.facts.prices();
        Self { prompt, values, shown: Vec::new() }
    }

    /// With the symbol's prices.
    fn with_prices(room: &Room<'_>, prompt: &'static str) -> Self {
        let (values, shown) = room.facts.prices();
        Self { prompt, values, shown }
    }

    /// With the symbol's prices, the account and its limits.
    fn with_account(room: &Room<'_>, prompt: &'static str) -> Self {
        let (values, shown) = room.facts.account();
        Self { prompt, values, shown }
    }

    /// With what colleagues have said.
    fn materials(mut self, materials: impl IntoIterator<Item = String>) -> Self {
        let materials: Vec<String> = materials.into_iter().collect();
        self.values.insert("materials".to_owned(), json!(materials.join("\n\n")));
        self
    }

    /// With another value.
    fn value(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.to_owned(), value.into());
        self
    }
}

/// How long a text is, in characters.
fn chars(text: &str) -> usize {
    text.chars().count()
}
