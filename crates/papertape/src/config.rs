//! The configuration: a TOML file, `PAPERTAPE_*` variables over it, and the command line over both.

mod auth;
mod chat;
mod explain;
pub mod keys;
mod load;
mod mask;
mod otlp;
mod server;
mod settings;

use anyhow::{Context as _, Result, anyhow, bail};
use papertape_agents::config::AgentConfig;
use papertape_agents::memory::MemorySettings;
use papertape_core::broker::{CostModel, MarketProfile};
use papertape_core::message::ModelName;
use papertape_llm::ModelsConfig;
use papertape_market::download::DownloadConfig;
use papertape_runtime::budget::Budget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use mask::{mask_urls, masked};

pub use auth::{AccessToken, AuthConfig};
pub use chat::{ChatConfig, SearchService, WebSearchConfig};
pub use load::file_in_use;
pub use otlp::OtlpConfig;
pub use server::ServerConfig;
pub use settings::{ChatSettings, JobsSettings, Settings};

/// Every key, with its default. `docs/configuration.md` explains each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The file that it was read from; no key of its own.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Where everything is kept. Made with mode 0700 where it is not there.
    pub data_dir: PathBuf,
    /// Where imported datasets are kept; absent: `datasets` in the data directory.
    pub datasets_dir: Option<PathBuf>,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// A PostgreSQL URL; absent: SQLite in the data directory.
    pub database_url: Option<String>,
    /// `prod` or `dev`.
    pub mode: Mode,
    /// In `dev`: keep the data at start.
    pub preserve_dev_data: bool,
    /// What is logged: `error`, `warn`, `info`, `debug`, `trace`, or filters by target. Absent: `info`
    /// for `serve` and `worker`, `warn` for every other command.
    pub log: Option<String>,
    /// How it is logged.
    pub log_format: LogFormat,
    /// Model providers and prices.
    pub models: ModelsConfig,
    /// Sources of market data.
    pub download: DownloadConfig,
    /// Sentence models.
    pub embeddings: EmbeddingsConfig,
    /// Outside tool servers (MCP) by name.
    pub tools: BTreeMap<String, ToolServer>,
    /// Market profiles of your own by name, beside `us_equity`, `cn_a_share` and `crypto`.
    pub markets: BTreeMap<String, MarketProfile>,
    /// Files that replace prompts.
    pub prompts: PromptsConfig,
    /// What a simulation does where it is not told.
    pub simulation: SimulationDefaults,
    /// Agents by themselves: what `--agent NAME` and `models: [NAME]` can name.
    pub agents: Vec<AgentConfig>,
    /// The assistant.
    pub chat: ChatConfig,
    /// The service that searches the web for it.
    pub web_search: WebSearchConfig,
    /// Workers.
    pub worker: WorkerConfig,
    /// The server.
    pub server: ServerConfig,
    /// What the product does of its own accord.
    pub settings: Settings,
    /// Who may use the server.
    pub auth: AuthConfig,
    /// Where finished sessions are told of as spans.
    pub otlp: OtlpConfig,
}

/// What says what reflections mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// The sentence model, `provider::model`; absent: reflections are found by words alone.
    pub model: Option<ModelName>,
}

/// Whose data it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Data that counts.
    #[default]
    Prod,
    /// A database of its own, house models alone, wiped at start unless preserved.
    Dev,
}

impl Mode {
    /// As answers spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prod => "prod",
            Self::Dev => "dev",
        }
    }
}

/// How lines of the log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines: an object a line.
    Json,
}

/// An outside tool server. Give either `command` or `url`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolServer {
    /// A program that speaks MCP on its standard streams, with its arguments.
    pub command: Vec<String>,
    /// The address of a server that speaks MCP over streamable HTTP.
    pub url: Option<String>,
    /// Names of environment variables that the program gets; it gets no others but `PATH` and `HOME`.
    pub env: Vec<String>,
    /// What it answers is not bounded in time: without this no simulation may use it.
    pub allow_unbounded: bool,
    /// Tools that are known to be read-only or idempotent, so that a call whose outcome is unknown
    /// after a crash is sent again.
    pub repeatable: Vec<String>,
}

/// Where prompts come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptsConfig {
    /// A folder whose files replace the built-in prompts of the same name.
    pub dir: Option<PathBuf>,
}

/// What a simulation does where it is not told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationDefaults {
    /// The dataset's name or hash prefix.
    pub dataset: String,
    /// What may be traded; empty: all that the dataset has.
    pub symbols: Vec<String>,
    /// The market profile's name.
    pub market: String,
    /// What trading costs: `market`, as the market profile says, or `frictionless`, nothing.
    pub costs: CostModel,
    /// What each agent starts with.
    pub initial_cash: rust_decimal::Decimal,
    /// The symbol or index that results are compared with; absent: none.
    pub benchmark: Option<String>,
    /// Write summaries of what agents say?
    pub summaries: bool,
    /// What of the traders' memory is on.
    pub memory: MemorySettings,
    /// What a job may use.
    pub budget: Budget,
}

impl Default for SimulationDefaults {
    fn default() -> Self {
        Self {
            dataset: "us-daily-2000-2013".to_owned(),
            symbols: Vec::new(),
            market: "us_equity".to_owned(),
            costs: CostModel::Market,
            initial_cash: rust_decimal::Decimal::from(100_000),
            benchmark: None,
            summaries: true,
            memory: MemorySettings::default(),
            budget: Budget::default(),
        }
    }
}

/// Workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// Jobs that one process runs at once.
    pub parallel_jobs: usize,
    /// Calls to models that one process has under way at once.
    pub parallel_calls: usize,
    /// Seconds after which a job whose worker died is free again.
    pub lease_secs: u64,
    /// Milliseconds between looks at the queue.
    pub poll_ms: u64,
    /// A job fails whose process has died so many times in a row without any progress; 0: never.
    pub max_crashes_per_step: u32,
}

impl WorkerConfig {
    fn check(&self) -> Result<()> {
        above_zero(
            "worker",
            &[
                ("parallel_jobs", self.parallel_jobs as u64),
                ("parallel_calls", self.parallel_calls as u64),
                ("lease_secs", self.lease_secs),
                ("poll_ms", self.poll_ms),
            ],
        )
    }
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self { parallel_jobs: 4, parallel_calls: 256, lease_secs: 30, poll_ms: 500, max_crashes_per_step: 5 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            file: None,
            data_dir: PathBuf::from("papertape-data"),
            datasets_dir: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database_url: None,
            mode: Mode::Prod,
            preserve_dev_data: false,
            log: None,
            log_format: LogFormat::Text,
            models: ModelsConfig::default(),
            download: DownloadConfig::default(),
            embeddings: EmbeddingsConfig::default(),
            tools: BTreeMap::new(),
            markets: BTreeMap::new(),
            prompts: PromptsConfig::default(),
            simulation: SimulationDefaults::default(),
            agents: Vec::new(),
            chat: ChatConfig::default(),
            web_search: WebSearchConfig::default(),
            worker: WorkerConfig::default(),
            server: ServerConfig::default(),
            settings: Settings::default(),
            auth: AuthConfig::default(),
            otlp: OtlpConfig::default(),
        }
    }
}

/// Market profiles that need no config.
const PRESETS: [&str; 3] = ["us_equity", "cn_a_share", "crypto"];

impl Config {
    /// Reads the file (`file`, else `PAPERTAPE_CONFIG`, else `papertape.toml` here if there is one) and
    /// the `PAPERTAPE_*` variables over it; `__` goes a level down (`PAPERTAPE_WORKER__LEASE_SECS`).
    ///
    /// # Errors
    /// A file that is not there or is no TOML, a key that is not known (with the nearest that is), a
    /// value that does not fit.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        let mut config: Self = load::figment(file)?.extract().map_err(explain::explain)?;
        config.file = file_in_use(file);
        config.check()?;
        Ok(config)
    }

    /// Where imported datasets are kept.
    #[must_use]
    pub fn datasets_dir(&self) -> PathBuf {
        self.datasets_dir.clone().unwrap_or_else(|| self.data_dir.join("datasets"))
    }

    /// The names of all market profiles: the presets, and the config's own.
    pub fn market_names(&self) -> impl Iterator<Item = &str> {
        let own = self.markets.keys().map(String::as_str);
        PRESETS.into_iter().chain(own.filter(|name| !PRESETS.contains(name)))
    }

    /// The market profile of this name: one of the config's own, or a preset.
    ///
    /// # Errors
    /// A sentence that lists what there is.
    pub fn market(&self, name: &str) -> Result<MarketProfile, String> {
        if let Some(profile) = self.markets.get(name) {
            return Ok(profile.clone());
        }
        MarketProfile::preset(name).ok_or_else(|| {
            let known: Vec<&str> = self.market_names().collect();
            format!("there is no market `{name}`; there are: {}", known.join(", "))
        })
    }

    /// The config as TOML, for `papertape config show`. Holds no secret: keys are only ever named.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_toml(&self) -> Result<String> {
        Ok(toml::to_string_pretty(&self.shown()?)?)
    }

    /// The config with the credentials of every URL masked, wherever the URL is: in a key of its own, in an argument
    /// of a command.
    ///
    /// # Errors
    /// None in practice: a masked URL is a URL.
    pub fn shown(&self) -> Result<Self> {
        let mut shown = serde_json::to_value(self)?;
        mask_urls(&mut shown);
        let mut shown: Self = serde_json::from_value(shown)?;
        shown.database_url = self.database_url.as_deref().map(without_password);
        shown.file.clone_from(&self.file);
        Ok(shown)
    }

    fn check(&self) -> Result<()> {
        for (name, market) in &self.markets {
            market.validate().map_err(|reason| anyhow!("markets.{name}: {reason}"))?;
        }
        for (name, server) in &self.tools {
            if server.command.is_empty() == server.url.is_none() {
                bail!("tools.{name}: give either `command` or `url`");
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                bail!("tools.{name}: a name is made of letters, digits and `-`");
            }
        }
        self.server.check()?;
        self.worker.check()?;
        self.chat.check()?;
        self.web_search.check().map_err(|reason| anyhow!(reason))?;
        self.settings.check().map_err(|reason| anyhow!(reason))?;
        self.download.check().map_err(|reason| anyhow!(reason))?;
        self.auth.check()?;
        self.otlp.check()?;
        if let Err((field, reason)) = self.simulation.memory.check() {
            bail!("simulation.memory.{field}: {reason}");
        }
        let mut names = std::collections::BTreeSet::new();
        if let Some(twice) = self.agents.iter().find(|agent| !names.insert(&agent.name)) {
            bail!("agents: the name `{}` stands twice", twice.name);
        }
        Ok(())
    }
}

/// Refuses keys of a table that are 0 and mean nothing then.
fn above_zero(table: &str, keys: &[(&str, u64)]) -> Result<()> {
    match keys.iter().find(|(_, value)| *value == 0) {
        Some((key, _)) => bail!("{table}.{key}: it is not above 0"),
        None => Ok(()),
    }
}

/// A database's URL without its password, for people to read. Its other form, `key=value` words, is not shown.
#[must_use]
pub fn without_password(url: &str) -> String {
    if url.contains("://") { masked(url) } else { "***".to_owned() }
}

/// Reads the files of a prompts folder, and of the folders in it: `desk/trader.en.md` is named so.
///
/// # Errors
/// A folder or a file of it cannot be read.
pub fn prompt_overrides(dir: &Path) -> Result<BTreeMap<String, String>> {
    let mut overrides = BTreeMap::new();
    read_prompts(dir, "", &mut overrides)?;
    Ok(overrides)
}

fn read_prompts(dir: &Path, prefix: &str, overrides: &mut BTreeMap<String, String>) -> Result<()> {
    let folder =
        std::fs::read_dir(dir).with_context(|| format!("prompts.dir {} cannot be read", dir.display()))?;
    for entry in folder {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() && prefix.is_empty() {
            read_prompts(&path, &format!("{name}/"), overrides)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("{} cannot be read", path.display()))?;
            overrides.insert(name, text);
        }
    }
    Ok(())
}
