//! The configured providers, their base URLs and where their keys are found.

use papertape_core::external::DoorProtocol;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A provider's kind, which determines its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// `OpenAI`'s chat completions.
    Openai,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// `DeepSeek`.
    Deepseek,
    /// Groq.
    Groq,
    /// xAI.
    Xai,
    /// `OpenRouter`.
    Openrouter,
    /// Mistral.
    Mistral,
    /// Together.
    Together,
    /// Moonshot (Kimi).
    Moonshot,
    /// Alibaba's model studio (Qwen).
    Qwen,
    /// A local Ollama, through its chat-completions API. Needs no key.
    Ollama,
    /// Any other chat-completions server, such as vLLM or a gateway. Needs a `base_url`.
    OpenaiCompatible,
}

papertape_core::words!(ProviderKind {
    Openai = "openai", Anthropic = "anthropic", Gemini = "gemini", Deepseek = "deepseek",
    Groq = "groq", Xai = "xai", Openrouter = "openrouter", Mistral = "mistral",
    Together = "together", Moonshot = "moonshot", Qwen = "qwen", Ollama = "ollama",
    OpenaiCompatible = "openai_compatible",
});

impl ProviderKind {
    /// The kinds that are available without configuration, each under its own name.
    pub fn standard_kinds() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| *kind != Self::OpenaiCompatible)
    }

    /// The default base URL.
    #[must_use]
    pub const fn default_base_url(self) -> Option<&'static str> {
        Some(match self {
            Self::Openai => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Self::Deepseek => "https://api.deepseek.com/v1/",
            Self::Groq => "https://api.groq.com/openai/v1/",
            Self::Xai => "https://api.x.ai/v1/",
            Self::Openrouter => "https://openrouter.ai/api/v1/",
            Self::Mistral => "https://api.mistral.ai/v1/",
            Self::Together => "https://api.together.xyz/v1/",
            Self::Moonshot => "https://api.moonshot.ai/v1/",
            Self::Qwen => "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/",
            Self::Ollama => "http://127.0.0.1:11434/v1/",
            Self::OpenaiCompatible => return None,
        })
    }

    /// The environment variable that usually holds the key; `None` when no key is needed.
    #[must_use]
    pub const fn default_api_key_env(self) -> Option<&'static str> {
        Some(match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
            Self::Deepseek => "DEEPSEEK_API_KEY",
            Self::Groq => "GROQ_API_KEY",
            Self::Xai => "XAI_API_KEY",
            Self::Openrouter => "OPENROUTER_API_KEY",
            Self::Mistral => "MISTRAL_API_KEY",
            Self::Together => "TOGETHER_API_KEY",
            Self::Moonshot => "MOONSHOT_API_KEY",
            Self::Qwen => "DASHSCOPE_API_KEY",
            Self::Ollama | Self::OpenaiCompatible => return None,
        })
    }

    /// The standard provider of this name.
    #[must_use]
    pub fn standard(name: &str) -> Option<Self> {
        Self::standard_kinds().find(|kind| kind.as_str() == name)
    }
}

/// A provider. Keys are never stored here, only the name of the variable that holds one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderConfig {
    /// Its kind. Optional for a provider with the name of a standard one.
    pub kind: Option<ProviderKind>,
    /// Its base URL, without `chat/completions`; absent: the kind's default.
    pub base_url: Option<String>,
    /// The environment variable with its key; absent: the kind's usual one. If the environment has
    /// `NAME_FILE`, it names a file with the key.
    pub api_key_env: Option<String>,
    /// Request streamed responses (the default) or whole ones. Not part of the request: both give the same
    /// response.
    pub stream: bool,
    /// The protocols in which the model endpoint of an external agent may send requests to it; absent: the kind's usual
    /// ones.
    pub protocols: Option<Vec<DoorProtocol>>,
}

impl Default for ProviderConfig {
    fn default() -> Self {
        Self { kind: None, base_url: None, api_key_env: None, stream: true, protocols: None }
    }
}

/// The configuration of models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// Providers by the name used in `NAME::model`. The standard ones need no entry; an entry changes one.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// A TOML file of prices that extend or replace the built-in ones.
    pub prices: Option<PathBuf>,
    /// Training cut-offs that extend or replace the built-in ones.
    pub cutoffs: Vec<CutoffConfig>,
}

/// The training cut-off of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutoffConfig {
    /// A model's name, with or without its provider; a trailing `*` matches any ending.
    pub model: String,
    /// The last day that the training data may cover; absent: the vendor states none.
    #[serde(default)]
    pub date: Option<Date>,
}

impl ModelsConfig {
    /// The configured providers and the standard ones, with their kinds.
    ///
    /// # Errors
    /// A provider without a kind, or with the reserved name of the house models.
    pub(crate) fn resolved(&self) -> Result<BTreeMap<String, (ProviderKind, ProviderConfig)>, ConfigError> {
        let mut all: BTreeMap<String, (ProviderKind, ProviderConfig)> = ProviderKind::standard_kinds()
            .map(|kind| (kind.as_str().to_owned(), (kind, ProviderConfig::default())))
            .collect();
        for (name, config) in &self.providers {
            let fault = |what: &str| Err(ConfigError::provider(name, what));
            if name == "house" {
                return fault("uses the name reserved for built-in models");
            }
            if name == papertape_core::message::ModelName::RECORDED {
                return fault("uses the name reserved for imported agents");
            }
            if name.is_empty() || name.contains("::") {
                return fault("has a name that is not valid before `::`");
            }
            let Some(kind) = config.kind.or_else(|| ProviderKind::standard(name)) else {
                return fault("needs a `kind`");
            };
            all.insert(name.clone(), (kind, config.clone()));
        }
        Ok(all)
    }
}

/// An error in the config that must be fixed before anything can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// An invalid provider entry.
    #[error("the provider `{name}` {fault}")]
    Provider {
        /// Its name.
        name: String,
        /// What is wrong.
        fault: String,
    },
    /// An invalid price file.
    #[error("the file of prices {fault}")]
    Prices {
        /// What is wrong.
        fault: String,
    },
    /// Invalid training cut-offs.
    #[error("the training cut-offs {fault}")]
    Cutoffs {
        /// What is wrong.
        fault: String,
    },
    /// The HTTP client cannot be built.
    #[error("the HTTP client {fault}")]
    Http {
        /// What is wrong.
        fault: String,
    },
}

impl ConfigError {
    pub(crate) fn provider(name: &str, fault: &str) -> Self {
        Self::Provider { name: name.to_owned(), fault: fault.to_owned() }
    }
}
