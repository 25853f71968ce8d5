//! The assistant's configuration.

use super::in_range;
use anyhow::{Result, anyhow};
use papertape_assistant::settings::ReplyFormat;
use papertape_core::message::{ModelName, check_temperature};
use papertape_runtime::budget::Limit;
use serde::{Deserialize, Serialize};

/// The assistant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatConfig {
    /// The model.
    pub model: ModelName,
    /// The format in which the model replies.
    pub reply_format: ReplyFormat,
    /// The sampling temperature, 0 to 2; absent: the provider's default.
    pub temperature: Option<f64>,
    /// The maximum number of output tokens per response.
    pub max_tokens: Option<u32>,
    /// The maximum number of rounds of a turn, or of a plan's task.
    pub max_rounds: u32,
    /// The maximum number of attempts per model call.
    pub max_attempts: u32,
    /// Seconds after which an attempt is cancelled.
    pub call_timeout_secs: u64,
    /// Seconds after which an attempt at an action times out.
    pub action_timeout_secs: u64,
    /// Seconds that an action waits for a job that it started.
    pub job_wait_secs: u64,
    /// The maximum number of a plan's tasks that run concurrently.
    pub parallel_tasks: usize,
    /// The budget of one turn, decomposition or execution.
    pub budget: Limit,
    /// The shared budget of all simulations that one turn or execution starts.
    pub simulation_budget: Limit,
}

impl ChatConfig {
    pub(super) fn check(&self) -> Result<()> {
        in_range(
            "chat",
            &[
                ("max_rounds", self.max_rounds.into()),
                ("max_attempts", self.max_attempts.into()),
                ("call_timeout_secs", self.call_timeout_secs),
                ("action_timeout_secs", self.action_timeout_secs),
                // 0 does not wait.
                ("job_wait_secs", self.job_wait_secs.max(1)),
                ("parallel_tasks", self.parallel_tasks as u64),
                ("max_tokens", self.max_tokens.unwrap_or(1).into()),
            ],
        )?;
        check_temperature(self.temperature).map_err(|reason| anyhow!("chat.temperature: {reason}"))?;
        self.budget.check().map_err(|(field, reason)| anyhow!("chat.budget.{field}: {reason}"))?;
        // 0 tokens are allowed: the assistant then starts no simulations.
        let simulations = Limit { tokens: None, ..self.simulation_budget };
        simulations.check().map_err(|(field, reason)| anyhow!("chat.simulation_budget.{field}: {reason}"))
    }
}

impl Default for ChatConfig {
    fn default() -> Self {
        Self {
            model: ModelName { provider: "house".to_owned(), model: "assistant".to_owned() },
            reply_format: ReplyFormat::Structured,
            temperature: None,
            max_tokens: None,
            max_rounds: 8,
            max_attempts: 4,
            call_timeout_secs: 120,
            action_timeout_secs: 120,
            job_wait_secs: 600,
            parallel_tasks: 4,
            budget: Limit { tokens: Some(2_000_000), usd: None },
            simulation_budget: Limit { tokens: Some(50_000_000), usd: None },
        }
    }
}

/// The web search service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebSearchConfig {
    /// The service; absent: no web search.
    pub service: Option<SearchService>,
    /// The service's address; absent: the default.
    pub base_url: Option<String>,
    /// The environment variable that holds the key; absent: the service's usual one.
    pub api_key_env: Option<String>,
    /// Seconds after which a search times out.
    pub timeout_secs: u64,
}

impl Default for WebSearchConfig {
    fn default() -> Self {
        Self { service: None, base_url: None, api_key_env: None, timeout_secs: 20 }
    }
}

/// A web search service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchService {
    /// Self-hosted SearXNG; its JSON format must be enabled.
    Searxng,
    /// Tavily.
    Tavily,
    /// Brave Search.
    Brave,
}

impl SearchService {
    /// The default base URL; `None` for a self-hosted service.
    #[must_use]
    pub const fn default_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Tavily => Some("https://api.tavily.com/"),
            Self::Brave => Some("https://api.search.brave.com/"),
        }
    }

    /// The usual variable for the key; `None`: no key is needed.
    #[must_use]
    pub const fn default_key_variable(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::Brave => Some("BRAVE_API_KEY"),
        }
    }
}

impl WebSearchConfig {
    /// The variable that holds the service's key.
    #[must_use]
    pub fn key_variable(&self) -> Option<&str> {
        self.api_key_env.as_deref().or(self.service?.default_key_variable())
    }

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        in_range("web_search", &[("timeout_secs", self.timeout_secs)]).map_err(|error| error.to_string())?;
        let Some(service) = self.service else { return Ok(()) };
        match self.base_url.as_deref().or(service.default_url()) {
            None => Err("web_search.base_url: missing; set the URL of your SearXNG".to_owned()),
            Some(url) => match reqwest::Url::parse(url) {
                Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
                _ => Err("web_search.base_url: invalid URL; expected the form https://host/".to_owned()),
            },
        }
    }
}
