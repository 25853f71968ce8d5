//! The settings of an external agent, as far as its results depend on them. How it is started is the server's config.

use super::AgentConfig;
use papertape_core::message::{ModelName, Sampling};
use regex::Regex;
use serde::{Deserialize, Serialize};

/// Maximum requests of a day, by default.
const DEFAULT_MAX_REQUESTS: u32 = 500;
/// Maximum orders of a day, by default.
const DEFAULT_MAX_ORDERS: u32 = 100;

/// An external agent of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalConfig {
    /// Its name in the server's config.
    pub name: String,
    /// The models that its model endpoint serves; the first is the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelName>,
    /// Regular expressions whose matches are left out of the digests of its model calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normalize: Vec<String>,
    /// Whether it runs in a sandbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,
    /// Maximum requests of a day.
    #[serde(default = "max_requests")]
    pub max_requests: u32,
    /// Maximum orders of a day.
    #[serde(default = "max_orders")]
    pub max_orders: u32,
}

const fn max_requests() -> u32 {
    DEFAULT_MAX_REQUESTS
}

const fn max_orders() -> u32 {
    DEFAULT_MAX_ORDERS
}

impl ExternalConfig {
    /// An agent without models.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            models: Vec::new(),
            normalize: Vec::new(),
            sandbox: false,
            max_requests: DEFAULT_MAX_REQUESTS,
            max_orders: DEFAULT_MAX_ORDERS,
        }
    }

    /// The model that stands for the agent: its first one, or `external::NAME`.
    #[must_use]
    pub fn model(&self) -> ModelName {
        let own = || ModelName { provider: ModelName::EXTERNAL.to_owned(), model: self.name.clone() };
        self.models.first().cloned().unwrap_or_else(own)
    }

    pub(super) fn validate(&self, agent: &AgentConfig) -> Result<(), String> {
        let is_name = !self.name.is_empty()
            && self.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !is_name {
            return Err(format!("`{}` is not the name of an external agent", self.name));
        }
        if agent.model != self.model() {
            return Err(format!("the model of the external agent `{}` is {}", self.name, self.model()));
        }
        if !agent.tools.is_empty() {
            return Err(
                "`tools` is for solo agents; an external agent reads with its own requests".to_owned()
            );
        }
        if agent.instructions.is_some() {
            return Err("`instructions` is for agents with a prompt; an external agent has none".to_owned());
        }
        if agent.sampling != Sampling::default() {
            return Err(
                "`sampling` is for agents whose model calls are ours; an external agent sends its own"
                    .to_owned(),
            );
        }
        if self.max_requests == 0 {
            return Err("external.max_requests must be above 0".to_owned());
        }
        NormalizeRules::of(&self.normalize).map(|_| ())
    }
}

/// Compiled rules of [`ExternalConfig::normalize`].
#[derive(Clone, Debug)]
pub struct NormalizeRules(Vec<Regex>);

impl NormalizeRules {
    /// Compiles the rules.
    ///
    /// # Errors
    /// A sentence that names the first rule that is not a regular expression.
    pub fn of(rules: &[String]) -> Result<Self, String> {
        let compile = |rule: &String| {
            Regex::new(rule).map_err(|error| format!("external.normalize: `{rule}`: {error}"))
        };
        rules.iter().map(compile).collect::<Result<_, _>>().map(Self)
    }

    /// The text without what the rules match.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for rule in &self.0 {
            if rule.is_match(&text) {
                text = rule.replace_all(&text, "").into_owned();
            }
        }
        text
    }
}
