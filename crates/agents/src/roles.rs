//! The desk's roles as one table, and the order in which they speak. Their system prompts are in `prompts/desk/`.

use crate::config::{Analyst, DeskConfig, LlmKind, Phase};

/// A role of the desk: one node of its graph.
#[derive(Debug)]
pub(crate) struct RoleSpec {
    /// The node's name, `Bull Researcher`.
    pub(crate) node: &'static str,
    /// What it writes, and for which part of the state.
    pub(crate) kind: RoleKind,
    pub(crate) phase: Phase,
    pub(crate) llm: LlmKind,
    /// The tools that it may call.
    pub(crate) tools: &'static [&'static str],
}

/// What a role writes: a report, an argument, or a structured answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoleKind {
    Analyst(Analyst),
    Researcher(Side),
    ResearchManager,
    Trader,
    RiskAnalyst(Stance),
    PortfolioManager,
}

/// A side of the research debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// For owning the instrument.
    Bull,
    /// Against owning the instrument.
    Bear,
}

/// A stance on risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stance {
    /// Argues for taking risk that pays.
    Aggressive,
    /// Protects the capital.
    Conservative,
    /// Weighs the other two.
    Neutral,
}

/// Every role, in graph order.
pub(crate) static ROLES: [RoleSpec; 12] = {
    use LlmKind::{Deep, Quick};
    use RoleKind as Kind;
    [
        role("Market Analyst", Kind::Analyst(Analyst::Market), Phase::Analyst, Quick).with_tools(&[
            "get_snapshot",
            "get_price",
            "get_bars",
            "get_indicators",
        ]),
        role("Sentiment Analyst", Kind::Analyst(Analyst::Social), Phase::Analyst, Quick)
            .with_tools(&["get_news", "get_macro"]),
        role("News Analyst", Kind::Analyst(Analyst::News), Phase::Analyst, Quick)
            .with_tools(&["get_news", "get_macro"]),
        role("Fundamentals Analyst", Kind::Analyst(Analyst::Fundamentals), Phase::Analyst, Quick)
            .with_tools(&["get_profile", "get_statements", "get_price", "calculate"]),
        role("Bull Researcher", Kind::Researcher(Side::Bull), Phase::Research, Quick),
        role("Bear Researcher", Kind::Researcher(Side::Bear), Phase::Research, Quick),
        role("Research Manager", Kind::ResearchManager, Phase::Research, Deep),
        role("Trader", Kind::Trader, Phase::Trading, Quick),
        role("Aggressive Analyst", Kind::RiskAnalyst(Stance::Aggressive), Phase::Risk, Quick),
        role("Conservative Analyst", Kind::RiskAnalyst(Stance::Conservative), Phase::Risk, Quick),
        role("Neutral Analyst", Kind::RiskAnalyst(Stance::Neutral), Phase::Risk, Quick),
        role("Portfolio Manager", Kind::PortfolioManager, Phase::Portfolio, Deep),
    ]
};

const fn role(node: &'static str, kind: RoleKind, phase: Phase, llm: LlmKind) -> RoleSpec {
    RoleSpec { node, kind, phase, llm, tools: &[] }
}

impl RoleSpec {
    const fn with_tools(self, tools: &'static [&'static str]) -> Self {
        Self { tools, ..self }
    }

    /// The role of this kind.
    pub(crate) fn of(kind: RoleKind) -> &'static Self {
        ROLES.iter().find(|role| role.kind == kind).expect("every kind has a row")
    }

    /// The role whose node a path's node is, `Trader#1`.
    pub(crate) fn for_node(node: &str) -> Option<&'static Self> {
        let (name, _) = node.split_once('#')?;
        ROLES.iter().find(|role| role.node == name)
    }

    /// The name of its system prompt: `desk/bull-researcher` of the Bull Researcher.
    pub(crate) fn prompt(&self) -> String {
        format!("desk/{}", self.node.to_lowercase().replace(' ', "-"))
    }

    /// Whether the desk's analysis style applies to it: structured answers have none.
    pub(crate) const fn is_prose(&self) -> bool {
        matches!(self.kind, RoleKind::Analyst(_) | RoleKind::Researcher(_) | RoleKind::RiskAnalyst(_))
    }
}

/// The selected analysts in graph order. They run concurrently.
pub(crate) fn analysts(config: &DeskConfig) -> Vec<&'static RoleSpec> {
    config.selected_analysts.iter().map(|analyst| RoleSpec::of(RoleKind::Analyst(*analyst))).collect()
}

/// The roles after the analysts with their rounds, in speaking order.
pub(crate) fn speakers(config: &DeskConfig) -> Vec<(&'static RoleSpec, u32)> {
    let debate = (1..=config.max_debate_rounds)
        .flat_map(|round| Side::ALL.map(|side| (RoleKind::Researcher(side), round)));
    let risk = (1..=config.max_risk_discuss_rounds)
        .flat_map(|round| Stance::ALL.map(|stance| (RoleKind::RiskAnalyst(stance), round)));
    let judged = [(RoleKind::ResearchManager, 1), (RoleKind::Trader, 1)];
    let kinds = debate.chain(judged).chain(risk).chain([(RoleKind::PortfolioManager, 1)]);
    kinds.map(|(kind, round)| (RoleSpec::of(kind), round)).collect()
}

impl Side {
    /// Both sides, in speaking order.
    pub const ALL: [Self; 2] = [Self::Bull, Self::Bear];

    /// The dimension of the research that it covers.
    #[must_use]
    pub const fn dimension(self) -> &'static str {
        match self {
            Self::Bull => "bull",
            Self::Bear => "bear",
        }
    }

    pub(crate) const fn opposite(self) -> Self {
        match self {
            Self::Bull => Self::Bear,
            Self::Bear => Self::Bull,
        }
    }
}

impl Stance {
    /// Every stance, in speaking order.
    pub const ALL: [Self; 3] = [Self::Aggressive, Self::Conservative, Self::Neutral];

    /// The spelling in `latest_speaker`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aggressive => "Aggressive",
            Self::Conservative => "Conservative",
            Self::Neutral => "Neutral",
        }
    }
}
