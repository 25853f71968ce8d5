//! The desk's roles: one file per role, with its prompts in `prompts/desk/`.
//!
//! A role declares its place in the graph ([`RoleSpec`]), its prompt ([`Role::task`]), the format of its answer
//! ([`Role::work`]) and where its answer goes ([`Role::apply_answer`]). Deadlines, provenance and fallbacks are the
//! same for all, in `desk::guarded`.

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

use super::DeskContext;
use super::case::SymbolAnalysis;
use super::config::{Analyst, LlmKind, Phase};
use super::state::Side;
use super::talk::{NodeConversation, NodeResult};
use crate::config::Language;
use papertape_core::ports::BoxFuture;
use papertape_core::record::DerivedRow;
use papertape_core::tape::{NodeFailure, SessionStop};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A role's place in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleSpec {
    /// The node's name, `Bull Researcher`.
    pub node: &'static str,
    /// The name of its system prompt.
    pub prompt: &'static str,
    /// The phase of the day's work.
    pub phase: Phase,
    /// The model it uses.
    pub llm: LlmKind,
    /// The effect of its answer on the provenance of the research.
    pub duty: ProvenanceEffect,
    /// Whether the desk's analysis style applies to it.
    pub styled: bool,
    /// The tools it may call.
    pub tools: &'static [&'static str],
}

/// The effect of an answer on the provenance of the research.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvenanceEffect {
    /// It covers a side of the debate.
    Argue(Side),
    /// It decides the debate.
    JudgeResearch,
    /// No effect.
    Other,
}

/// A role's prompt with its values, and the rows for the market data in it.
#[derive(Debug)]
pub struct RolePrompt {
    pub(super) prompt: &'static str,
    pub(super) values: Map<String, Value>,
    pub(super) shown: Vec<DerivedRow>,
}

/// A role's work as a future: an answer, a failure or a stop.
pub type RoleFuture<'a, A> = BoxFuture<'a, Result<Result<NodeResult<A>, NodeFailure>, SessionStop>>;

/// A role.
#[expect(private_interfaces, reason = "a role is public by its name; only the desk can work with it")]
pub trait Role: Send + Sync {
    /// The type of its answer.
    type Answer: Send;

    /// Its place in the graph.
    fn seat(&self) -> &'static RoleSpec;

    /// Its prompt.
    fn task(&self, room: &DeskContext<'_>, case: &SymbolAnalysis) -> RolePrompt;

    /// Its conversation with the model, which determines the format of its answer.
    fn work<'a>(&'a self, talk: NodeConversation<'a>) -> RoleFuture<'a, Self::Answer>;

    /// Writes its answer to the state, as text.
    fn apply_answer(&self, case: &mut SymbolAnalysis, answer: Self::Answer, language: Language);

    /// Writes the fallback text to the state.
    fn apply_fallback(&self, case: &mut SymbolAnalysis, absence: &str);

    /// The lengths of its debate and of its own text in the state, in characters.
    fn transcript_lengths(&self, case: &SymbolAnalysis) -> (usize, usize);
}

/// The selected analysts in graph order.
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

/// The nodes after the analysts with their rounds, in graph order.
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

impl RolePrompt {
    /// A prompt with only the symbol and the day.
    fn plain(room: &DeskContext<'_>, prompt: &'static str) -> Self {
        let (values, _) = room.facts.prices();
        Self { prompt, values, shown: Vec::new() }
    }

    /// A prompt with the symbol's prices.
    fn with_prices(room: &DeskContext<'_>, prompt: &'static str) -> Self {
        let (values, shown) = room.facts.prices();
        Self { prompt, values, shown }
    }

    /// A prompt with the symbol's prices, the account and its limits.
    fn with_account(room: &DeskContext<'_>, prompt: &'static str) -> Self {
        let (values, shown) = room.facts.account();
        Self { prompt, values, shown }
    }

    /// Adds the texts of other roles.
    fn materials(mut self, materials: impl IntoIterator<Item = String>) -> Self {
        let materials: Vec<String> = materials.into_iter().collect();
        self.values.insert("materials".to_owned(), json!(materials.join("\n\n")));
        self
    }

    /// Adds another value.
    fn value(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.to_owned(), value.into());
        self
    }
}

/// The length of a text in characters.
fn chars(text: &str) -> usize {
    text.chars().count()
}
