//! A desk's roles, played by rules: the analysts read their tools, the others read the figures passed on by
//! other roles, and none follows instructions in a text.
//!
//! The role is on the first line of the system prompt, `Role: …` (`角色：…`). The question is in the task's own
//! lines. From fenced texts a role reads only three things, each at its fixed place: the figures (see
//! [`figures`]) of other roles, the plan's rating and the proposal's action.

mod analyst;
mod debate;
mod decide;
mod figures;
mod materials;
mod risk;
mod text;
mod view;

use super::Draft;
use super::language::{Language, choose};
use super::strategy::Strategy;
use materials::RoleMaterials;
use papertape_core::message::{Message, ModelRequest};
use papertape_core::prompt::lines;

/// The role to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Market,
    Sentiment,
    News,
    Fundamentals,
    Bull,
    Bear,
    ResearchManager,
    Trader,
    Aggressive,
    Conservative,
    Neutral,
    PortfolioManager,
}

/// The input of every role.
struct RoleRequest<'a> {
    request: &'a ModelRequest,
    strategy: Strategy,
    language: Language,
    task: RoleMaterials<'a>,
}

/// The role's next turn; `None` when the system prompt names no role of a desk.
pub(super) fn draft(request: &ModelRequest, strategy: Strategy) -> Option<Draft> {
    let first = request.instructions.as_deref()?.trim_start().lines().next()?.trim();
    let english = first.strip_prefix(lines::ROLE.en);
    let name = lines::ROLE.strip(first).or_else(|| first.strip_prefix("角色:"))?.trim();
    let role = Role::named(name)?;
    let language = if english.is_some() { Language::En } else { Language::Zh };
    // The first user message is the task; a later turn requests a repair.
    let task = request.messages.iter().find_map(|message| match message {
        Message::User { content } => Some(content.as_str()),
        _ => None,
    })?;
    let asked = RoleRequest { request, strategy, language, task: RoleMaterials::read(task) };
    Some(match role {
        Role::Market => analyst::market(&asked),
        Role::Sentiment => analyst::sentiment(&asked),
        Role::News => analyst::news(&asked),
        Role::Fundamentals => analyst::fundamentals(&asked),
        Role::Bull => debate::bull(&asked),
        Role::Bear => debate::bear(&asked),
        Role::ResearchManager => decide::plan(&asked),
        Role::Trader => decide::proposal(&asked),
        Role::Aggressive => risk::aggressive(&asked),
        Role::Conservative => risk::conservative(&asked),
        Role::Neutral => risk::neutral(&asked),
        Role::PortfolioManager => decide::decision(&asked),
    })
}

impl Role {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            lines::MARKET_ANALYST => Self::Market,
            lines::SENTIMENT_ANALYST | "Social Analyst" | "Social Media Analyst" => Self::Sentiment,
            lines::NEWS_ANALYST => Self::News,
            lines::FUNDAMENTALS_ANALYST => Self::Fundamentals,
            lines::BULL_RESEARCHER => Self::Bull,
            lines::BEAR_RESEARCHER => Self::Bear,
            lines::RESEARCH_MANAGER => Self::ResearchManager,
            lines::TRADER => Self::Trader,
            lines::AGGRESSIVE_ANALYST => Self::Aggressive,
            lines::CONSERVATIVE_ANALYST => Self::Conservative,
            lines::NEUTRAL_ANALYST => Self::Neutral,
            lines::PORTFOLIO_MANAGER => Self::PortfolioManager,
            _ => return None,
        })
    }
}

impl RoleRequest<'_> {
    /// One of two texts, by the prompt's language.
    fn say(&self, english: impl Into<String>, chinese: impl Into<String>) -> String {
        choose(self.language, english, chinese)
    }
}
