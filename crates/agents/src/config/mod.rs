//! The configuration of an agent, and of its memory.

mod desk;
mod external;
mod memory;
mod sizing;

pub use desk::{Analyst, DeskConfig, LlmKind, MAX_ROUNDS, Phase, PromptStyle};
pub use external::{ExternalConfig, NormalizeRules};
pub use memory::{MAX_WINDOW, MemoryMode, MemorySettings};
pub use sizing::{SizingConfig, Weights};

use papertape_core::id::{AgentName, ContentHash};
use papertape_core::json;
use papertape_core::language::Language;
use papertape_core::message::{ModelName, Sampling};
use papertape_core::tape::CallOptions;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// The longest deadline that can be set: a year, in seconds.
const MAX_TIMEOUT_SECS: u64 = 31_536_000;

/// The models of a run that names none: house models, which need no key and no network.
pub const DEFAULT_MODELS: [&str; 3] = ["house::momentum", "house::contrarian", "house::buy_and_hold"];

/// One configured trader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Its name, the `model` signature of tables and API. Unique in a job.
    pub name: AgentName,
    /// Its kind.
    #[serde(default)]
    pub kind: AgentKind,
    /// The model that it uses, `provider::model`.
    pub model: ModelName,
    /// The model's sampling parameters.
    #[serde(default)]
    pub sampling: Sampling,
    /// The language of its prompts.
    #[serde(default = "prompt_language")]
    pub language: Language,
    /// A strategy or other instructions of your own, added to the system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Names of the configured tool servers that it may use. Their data may be from after the decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The limits of its day.
    #[serde(default)]
    pub limits: Limits,
    /// The settings of a desk, only for the kind `desk`; absent: the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desk: Option<DeskConfig>,
    /// The external agent, only for the kind `external`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalConfig>,
}

/// The kind of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// One conversation with tools.
    #[default]
    Solo,
    /// Analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
    Desk,
    /// A program of your own.
    External,
}

papertape_core::words!(AgentKind { Solo = "solo", Desk = "desk", External = "external" });

/// The limits of an agent's day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum model calls of a day's conversation; of a desk, of each analyst's.
    pub max_steps: u32,
    /// Maximum attempts of one call.
    pub max_attempts: u32,
    /// The timeout of one attempt, in seconds.
    pub call_timeout_secs: u64,
    /// The wall clock limit of a day's conversation, in seconds; calls after it fail as timed out.
    pub session_timeout_secs: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_steps: 30, max_attempts: 4, call_timeout_secs: 120, session_timeout_secs: 1800 }
    }
}

impl Limits {
    /// The options of a call under these limits.
    #[must_use]
    pub fn call_options(&self) -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(self.call_timeout_secs),
            max_attempts: self.max_attempts.max(1),
        }
    }
}

const fn prompt_language() -> Language {
    Language::DEFAULT_FOR_PROMPTS
}

impl AgentConfig {
    /// A solo agent with defaults.
    #[must_use]
    pub fn solo(name: AgentName, model: ModelName) -> Self {
        Self {
            name,
            kind: AgentKind::Solo,
            model,
            sampling: Sampling::default(),
            language: prompt_language(),
            instructions: None,
            tools: Vec::new(),
            limits: Limits::default(),
            desk: None,
            external: None,
        }
    }

    /// An external agent with defaults.
    #[must_use]
    pub fn external(name: AgentName, external: ExternalConfig) -> Self {
        let model = external.model();
        Self { kind: AgentKind::External, external: Some(external), ..Self::solo(name, model) }
    }

    /// A desk with defaults.
    #[must_use]
    pub fn desk(name: AgentName, model: ModelName) -> Self {
        Self { kind: AgentKind::Desk, desk: Some(DeskConfig::default()), ..Self::solo(name, model) }
    }

    /// The desk's settings, or the defaults.
    #[must_use]
    pub fn desk_config(&self) -> DeskConfig {
        self.desk.clone().unwrap_or_default()
    }

    /// The models that it may call. An external agent may have none.
    #[must_use]
    pub fn models(&self) -> BTreeSet<ModelName> {
        if self.kind == AgentKind::External {
            return self.external.iter().flat_map(|external| external.models.iter().cloned()).collect();
        }
        let mut models = BTreeSet::from([self.model.clone()]);
        if self.kind == AgentKind::Desk {
            let desk = self.desk_config();
            models.extend([LlmKind::Quick, LlmKind::Deep].map(|kind| desk.model(self, kind).clone()));
        }
        models
    }

    /// Whether only rules of house models decide. What decides in an external agent is unknown.
    #[must_use]
    pub fn is_rule_based(&self) -> bool {
        self.kind != AgentKind::External && self.models().iter().all(ModelName::is_house)
    }

    /// Checks what can be checked from the config itself.
    ///
    /// # Errors
    /// A sentence that names the first invalid key.
    pub fn validate(&self) -> Result<(), String> {
        let limits = [
            ("max_steps", u64::from(self.limits.max_steps)),
            ("call_timeout_secs", self.limits.call_timeout_secs),
        ];
        if let Some((key, _)) = limits.iter().find(|(_, limit)| *limit == 0) {
            return Err(format!("limits.{key} must be above 0"));
        }
        let deadlines = [
            ("call_timeout_secs", self.limits.call_timeout_secs),
            ("session_timeout_secs", self.limits.session_timeout_secs),
        ];
        if let Some((key, secs)) = deadlines.iter().find(|(_, secs)| *secs > MAX_TIMEOUT_SECS) {
            return Err(format!("limits.{key}: {secs} is out of range; expected at most {MAX_TIMEOUT_SECS}"));
        }
        self.sampling.check().map_err(|reason| format!("sampling.{reason}"))?;
        match (self.kind, &self.external) {
            (AgentKind::External, Some(external)) => external.validate(self)?,
            (AgentKind::External, None) => {
                return Err("`external` is missing: the name of the external agent".to_owned());
            }
            (_, Some(_)) => return Err("`external` is for agents of the kind `external`".to_owned()),
            (_, None) => {}
        }
        match (self.kind, &self.desk) {
            (AgentKind::Solo | AgentKind::External, Some(_)) => {
                Err("`desk` is for agents of the kind `desk`".to_owned())
            }
            (AgentKind::Desk, _) if !self.tools.is_empty() => {
                Err("`tools` is for solo agents; a desk's analysts read the market view".to_owned())
            }
            (_, Some(desk)) => desk.validate().map_err(|message| format!("desk.{message}")),
            (_, None) => Ok(()),
        }
    }

    /// The hash of all settings that determine its results; deadlines and retries do not.
    #[must_use]
    pub fn fingerprint(&self) -> ContentHash {
        let mut whole = json::to_value(self);
        whole["limits"] = json!({ "max_steps": self.limits.max_steps });
        if self.kind == AgentKind::Desk {
            whole["desk"] = self.desk_config().fingerprint(self);
        }
        json::hash(&whole)
    }
}
