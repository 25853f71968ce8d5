//! The configuration of a desk.

use super::AgentConfig;
use super::sizing::SizingConfig;
use papertape_core::message::ModelName;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Maximum rounds: more add nothing new, and each costs the whole debate again.
pub const MAX_ROUNDS: u32 = 10;
/// Maximum deadline of a node: a day.
const MAX_DEADLINE_SECS: u64 = 86_400;

/// A desk: its roles, its rounds, and its limits. Deadlines and the number of concurrent symbols do not
/// affect results, and are not part of its fingerprint.
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
    /// The analysts; any subset, at least one.
    pub selected_analysts: BTreeSet<Analyst>,
    /// How many times Bull and Bear each speak.
    pub max_debate_rounds: u32,
    /// How many times each of the three risk analysts speaks.
    pub max_risk_discuss_rounds: u32,
    /// The style of the analyses.
    pub analysis_prompt_style: PromptStyle,
    /// The deadline of Bull, Bear and the Research Manager, in seconds.
    pub research_node_timeout_secs: u64,
    /// The deadline of an analyst, including its data reads, in seconds.
    pub analyst_node_timeout_secs: u64,
    /// The Trader's deadline, in seconds.
    pub trader_node_timeout_secs: u64,
    /// The deadline of a risk analyst, in seconds.
    pub risk_node_timeout_secs: u64,
    /// The Portfolio Manager's deadline, in seconds.
    pub portfolio_node_timeout_secs: u64,
    /// How many symbols of a day run concurrently.
    pub symbols_at_once: usize,
    /// The conversion of ratings to orders.
    pub sizing: SizingConfig,
}

/// The roles that read data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Analyst {
    /// Prices and indicators.
    Market,
    /// Sentiment about the symbol.
    Social,
    /// News about the company and the world.
    News,
    /// The company's reports.
    Fundamentals,
}

papertape_core::words!(Analyst, "analyst" {
    Market = "market", Social = "social", News = "news", Fundamentals = "fundamentals",
});

/// The style of the analyses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptStyle {
    /// A report of one page.
    #[default]
    Standard,
    /// The minimum that supports the decision.
    Compact,
    /// Everything relevant.
    Detailed,
}

papertape_core::words!(PromptStyle { Standard = "standard", Compact = "compact", Detailed = "detailed" });

/// Which of a desk's two models a node uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmKind {
    /// `quick_think_llm`.
    Quick,
    /// `deep_think_llm`.
    Deep,
}

/// The phase of the day's work that a node belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading the data.
    Analyst,
    /// The debate and its decision.
    Research,
    /// The proposal.
    Trading,
    /// The risk debate.
    Risk,
    /// The decision.
    Portfolio,
}

papertape_core::words!(Phase, "phase" {
    Analyst = "analyst", Research = "research", Trading = "trading", Risk = "risk",
    Portfolio = "portfolio",
});

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

impl DeskConfig {
    /// The model of this kind, for an agent with this model.
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

    /// Checks that the numbers are within their limits.
    ///
    /// # Errors
    /// A sentence that names the first invalid key.
    pub fn validate(&self) -> Result<(), String> {
        if self.selected_analysts.is_empty() {
            return Err("selected_analysts must name at least one analyst".to_owned());
        }
        let rounds = [
            ("max_debate_rounds", self.max_debate_rounds),
            ("max_risk_discuss_rounds", self.max_risk_discuss_rounds),
        ];
        if let Some((key, _)) = rounds.iter().find(|(_, rounds)| !(1..=MAX_ROUNDS).contains(rounds)) {
            return Err(format!("{key} must be from 1 to {MAX_ROUNDS}"));
        }
        let deadlines = [
            ("research_node_timeout_secs", self.research_node_timeout_secs),
            ("analyst_node_timeout_secs", self.analyst_node_timeout_secs),
            ("trader_node_timeout_secs", self.trader_node_timeout_secs),
            ("risk_node_timeout_secs", self.risk_node_timeout_secs),
            ("portfolio_node_timeout_secs", self.portfolio_node_timeout_secs),
        ];
        if let Some((key, _)) = deadlines.iter().find(|(_, secs)| !(1..=MAX_DEADLINE_SECS).contains(secs)) {
            return Err(format!("{key} must be from 1 to {MAX_DEADLINE_SECS}"));
        }
        if self.symbols_at_once == 0 {
            return Err("symbols_at_once must be above 0".to_owned());
        }
        self.sizing.validate().map_err(|message| format!("sizing.{message}"))
    }

    /// The settings that determine an outcome, with the models that an agent actually uses.
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
