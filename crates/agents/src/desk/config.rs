//! What makes a desk the desk it is.

use super::sizing::SizingConfig;
use crate::config::AgentConfig;
use papertape_core::message::ModelName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// More rounds than this bring nothing new and cost the whole debate again each.
pub const MOST_ROUNDS: u32 = 10;
/// The longest deadline of a node: a day.
const LONGEST_SECS: u64 = 86_400;

/// A desk: who sits at it, how long it talks, and what it may take. Deadlines and how many symbols run
/// side by side decide nothing, and are no part of its fingerprint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeskConfig {
    /// The model of analysts, researchers, Trader and risk analysts, `provider::model`; absent: the
    /// agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_think_llm: Option<ModelName>,
    /// The model of the Research Manager and the Portfolio Manager; absent: the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deep_think_llm: Option<ModelName>,
    /// The analysts; any of them, at least one.
    pub selected_analysts: BTreeSet<Analyst>,
    /// How often Bull and Bear speak each.
    pub max_debate_rounds: u32,
    /// How often each of the three risk analysts speaks.
    pub max_risk_discuss_rounds: u32,
    /// How analyses are to read.
    pub analysis_prompt_style: PromptStyle,
    /// The deadline of Bull, Bear and the Research Manager, in seconds.
    pub research_node_timeout_secs: u64,
    /// The deadline of an analyst, its reading of data included, in seconds.
    pub analyst_node_timeout_secs: u64,
    /// The Trader's deadline, in seconds.
    pub trader_node_timeout_secs: u64,
    /// The deadline of a risk analyst, in seconds.
    pub risk_node_timeout_secs: u64,
    /// The Portfolio Manager's deadline, in seconds.
    pub portfolio_node_timeout_secs: u64,
    /// How many symbols of a day run side by side.
    pub symbols_at_once: usize,
    /// From ratings to orders.
    pub sizing: SizingConfig,
}

/// Who reads the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analyst {
    /// Prices and indicators.
    Market,
    /// How people feel about it.
    Social,
    /// What happened, to the company and in the world.
    News,
    /// What the company reports.
    Fundamentals,
}

/// How analyses are to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptStyle {
    /// A report of a page.
    #[default]
    Standard,
    /// The least that carries the decision.
    Compact,
    /// Everything that bears on it.
    Detailed,
}

/// Which of a desk's two models a node thinks with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmKind {
    /// The quick one.
    Quick,
    /// The deep one.
    Deep,
}

/// The part of the day's work that a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading the data.
    Analyst,
    /// The debate and its judgement.
    Research,
    /// The proposal.
    Trading,
    /// The risk debate.
    Risk,
    /// The decision.
    Portfolio,
}

impl Default for DeskConfig {
    fn default() -> Self {
        Self {
            quick_think_llm: None,
            deep_think_llm: None,
            selected_analysts: Analyst::ALL.into(),
            max_debate_rounds: 1,
            max_risk_discuss_rounds: 1,
            analysis_prompt_style: PromptStyle::Standard,
            research_node_timeout_secs: 30,
            analyst_node_timeout_secs: 75,
            trader_node_timeout_secs: 60,
            risk_node_timeout_secs: 30,
            portfolio_node_timeout_secs: 60,
            symbols_at_once: 4,
            sizing: SizingConfig::default(),
        }
    }
}

impl Analyst {
    /// All of them, in the graph's order.
    pub const ALL: [Self; 4] = [Self::Market, Self::Social, Self::News, Self::Fundamentals];

    /// As configs spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Market => "market",
            Self::Social => "social",
            Self::News => "news",
            Self::Fundamentals => "fundamentals",
        }
    }
}

impl std::str::FromStr for Analyst {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|analyst| analyst.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is no analyst; there are: {known}")
        })
    }
}

impl fmt::Display for Analyst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Phase {
    /// All of them, in the graph's order.
    pub const ALL: [Self; 5] = [Self::Analyst, Self::Research, Self::Trading, Self::Risk, Self::Portfolio];

    /// As steps and traces spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Analyst => "analyst",
            Self::Research => "research",
            Self::Trading => "trading",
            Self::Risk => "risk",
            Self::Portfolio => "portfolio",
        }
    }
}

impl std::str::FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text}` is no phase; there are: {known}")
        })
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PromptStyle {
    /// As configs spell it, and the prompt files' names end.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Compact => "compact",
            Self::Detailed => "detailed",
        }
    }
}

impl DeskConfig {
    /// The model of a kind of thinking, for an agent of this model.
    #[must_use]
    pub fn model<'a>(&'a self, agent: &'a AgentConfig, kind: LlmKind) -> &'a ModelName {
        let own = match kind {
            LlmKind::Quick => &self.quick_think_llm,
            LlmKind::Deep => &self.deep_think_llm,
        };
        own.as_ref().unwrap_or(&agent.model)
    }

    /// The deadline of a node of this phase.
    #[must_use]
    pub const fn deadline(&self, phase: Phase) -> Duration {
        Duration::from_secs(match phase {
            Phase::Analyst => self.analyst_node_timeout_secs,
            Phase::Research => self.research_node_timeout_secs,
            Phase::Trading => self.trader_node_timeout_secs,
            Phase::Risk => self.risk_node_timeout_secs,
            Phase::Portfolio => self.portfolio_node_timeout_secs,
        })
    }

    /// Checks that the numbers make a desk.
    ///
    /// # Errors
    /// A sentence that names the first key that does not.
    pub fn validate(&self) -> Result<(), String> {
        if self.selected_analysts.is_empty() {
            return Err("selected_analysts must name at least one analyst".to_owned());
        }
        let rounds = [
            ("max_debate_rounds", self.max_debate_rounds),
            ("max_risk_discuss_rounds", self.max_risk_discuss_rounds),
        ];
        if let Some((key, _)) = rounds.iter().find(|(_, rounds)| !(1..=MOST_ROUNDS).contains(rounds)) {
            return Err(format!("{key} must be from 1 to {MOST_ROUNDS}"));
        }
        let deadlines = [
            ("research_node_timeout_secs", self.research_node_timeout_secs),
            ("analyst_node_timeout_secs", self.analyst_node_timeout_secs),
            ("trader_node_timeout_secs", self.trader_node_timeout_secs),
            ("risk_node_timeout_secs", self.risk_node_timeout_secs),
            ("portfolio_node_timeout_secs", self.portfolio_node_timeout_secs),
        ];
        if let Some((key, _)) = deadlines.iter().find(|(_, secs)| !(1..=LONGEST_SECS).contains(secs)) {
            return Err(format!("{key} must be from 1 to {LONGEST_SECS}"));
        }
        if self.symbols_at_once == 0 {
            return Err("symbols_at_once must be above 0".to_owned());
        }
        self.sizing.validate().map_err(|message| format!("sizing.{message}"))
    }

    /// What of it decides an outcome, with the models that an agent's slots come to.
    pub(crate) fn fingerprint(&self, agent: &AgentConfig) -> Value {
        json!({
            "quick_think_llm": self.model(agent, LlmKind::Quick),
            "deep_think_llm": self.model(agent, LlmKind::Deep),
            "selected_analysts": self.selected_analysts,
            "max_debate_rounds": self.max_debate_rounds,
            "max_risk_discuss_rounds": self.max_risk_discuss_rounds,
            "analysis_prompt_style": self.analysis_prompt_style,
            "sizing": self.sizing,
        })
    }
}
