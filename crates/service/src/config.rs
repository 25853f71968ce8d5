//! The configuration: a TOML file, overridden by `PAPERTAPE_*` variables, overridden by the command line.

mod agents;
mod auth;
mod chat;
mod explain;
mod external_agents;
pub mod keys;
mod load;
mod mask;
mod otlp;
mod prompts;
mod renamed;
mod server;
mod settings;

use anyhow::{Context as _, Result, anyhow, bail};
use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_core::broker::{CostModel, MarketProfile};
use papertape_core::message::ModelName;
use papertape_llm::ModelsConfig;
use papertape_market::download::DownloadConfig;
use papertape_runtime::budget::Budget;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use mask::{mask_urls, masked};

pub use auth::AuthConfig;
pub use chat::{ChatConfig, SearchService, WebSearchConfig};
pub use external_agents::{ADAPTERS, ExternalAgent};
pub use load::file_in_use;
pub use otlp::OtlpConfig;
pub use prompts::{PromptOverrides, split_overrides};
pub use server::ServerConfig;
pub use settings::{ChatSettings, JobsSettings, Settings};

/// Every key, with its default. `docs/configuration.md` explains each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The file that the config was read from; not a key.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Where all data is stored. Created with mode 0700 if it is missing.
    pub data_dir: PathBuf,
    /// Where imported datasets are stored; absent: `datasets` in the data directory.
    pub datasets_dir: Option<PathBuf>,
    /// Where the server listens.
    pub listen: SocketAddr,
    /// A PostgreSQL URL; absent: SQLite in the data directory.
    pub database_url: Option<String>,
    /// `prod` or `dev`.
    pub mode: Mode,
    /// In `dev`: preserve the data at startup.
    pub preserve_dev_data: bool,
    /// The log level: `error`, `warn`, `info`, `debug`, `trace`, or filters by target. Absent: `info` for
    /// `serve` and `worker`, `warn` for every other command.
    pub log: Option<String>,
    /// The log format.
    pub log_format: LogFormat,
    /// Model providers and prices.
    pub models: ModelsConfig,
    /// Sources of market data.
    pub download: DownloadConfig,
    /// Embedding models.
    pub embeddings: EmbeddingsConfig,
    /// External tool servers (MCP) by name.
    pub tools: BTreeMap<String, ToolServer>,
    /// Your own market profiles by name, in addition to `us_equity`, `cn_a_share` and `crypto`.
    pub markets: BTreeMap<String, MarketProfile>,
    /// Files that replace prompts.
    pub prompts: PromptsConfig,
    /// The defaults of a simulation.
    pub simulation: SimulationDefaults,
    /// Agents, which `--model NAME` and `models: [NAME]` can name.
    pub agents: Vec<AgentConfig>,
    /// External agents by name.
    pub external_agents: BTreeMap<String, ExternalAgent>,
    /// The assistant.
    pub chat: ChatConfig,
    /// The web search service of the assistant.
    pub web_search: WebSearchConfig,
    /// Workers.
    pub worker: WorkerConfig,
    /// The server.
    pub server: ServerConfig,
    /// Automatic cleanup and display settings.
    pub settings: Settings,
    /// Who may use the server.
    pub auth: AuthConfig,
    /// Where finished sessions are exported as spans.
    pub otlp: OtlpConfig,
}

/// How reflections are embedded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingsConfig {
    /// The embedding model, `provider::model`; absent: reflections are searched by keyword only.
    pub model: Option<ModelName>,
}

/// The kind of data that the database holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Production data.
    #[default]
    Prod,
    /// A separate database with house models only, wiped at startup unless preserved.
    Dev,
}

impl Mode {
    /// The name in responses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prod => "prod",
            Self::Dev => "dev",
        }
    }
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines: one JSON object per line.
    Json,
}

/// An external tool server. Set either `command` or `url`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolServer {
    /// A program that serves MCP on its standard streams, with its arguments.
    pub command: Vec<String>,
    /// The address of a server that offers MCP over streamable HTTP.
    pub url: Option<String>,
    /// Environment variables that are passed to the program; it gets no others except `PATH` and `HOME`.
    pub env: Vec<String>,
    /// Its results may postdate the simulated instant: unless this is set, no simulation may use it.
    pub allow_unbounded: bool,
    /// Tools that are known to be read-only or idempotent, so that a call whose outcome is unknown after a
    /// crash is sent again.
    pub idempotent_tools: Vec<String>,
}

/// Where prompts come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptsConfig {
    /// A folder whose files replace the built-in prompts of the same name.
    pub dir: Option<PathBuf>,
}

/// The defaults of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationDefaults {
    /// The dataset's name or hash prefix.
    pub dataset: String,
    /// The tradable symbols; empty: all symbols of the dataset.
    pub symbols: Vec<String>,
    /// The index whose members of each day are traded, in place of `symbols`.
    pub universe: Option<String>,
    /// The market profile's name.
    pub market: String,
    /// Trading costs: `market`, as the market profile defines them, or `frictionless`, none.
    pub costs: CostModel,
    /// The starting cash of each agent.
    pub initial_cash: Decimal,
    /// The symbol or index that results are compared with; absent: none.
    pub benchmark: Option<String>,
    /// Whether to write summaries of what agents say.
    pub summaries: bool,
    /// Which of the traders' memories are on.
    pub memory: MemorySettings,
    /// The budget of a job.
    pub budget: Budget,
}

impl SimulationDefaults {
    fn check(&self) -> Result<()> {
        if self.universe.is_some() && !self.symbols.is_empty() {
            bail!("simulation: set either `universe` or `symbols`, not both");
        }
        if !is_initial_cash(self.initial_cash) {
            bail!(
                "simulation.initial_cash: {} is out of range; expected more than 0 and at most {MAX_INITIAL_CASH}",
                self.initial_cash
            );
        }
        if let Err((field, reason)) = self.memory.check() {
            bail!("simulation.memory.{}: {reason}", renamed::key_of(field));
        }
        self.budget.check().map_err(|reason| anyhow!("simulation.budget.{reason}"))
    }
}

impl Default for SimulationDefaults {
    fn default() -> Self {
        Self {
            dataset: "us-daily-2000-2013".to_owned(),
            symbols: Vec::new(),
            universe: None,
            market: "us_equity".to_owned(),
            costs: CostModel::Market,
            initial_cash: Decimal::from(100_000),
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
    /// The maximum number of jobs that one process runs concurrently.
    pub parallel_jobs: usize,
    /// The maximum number of concurrent model calls per process.
    pub parallel_calls: usize,
    /// Seconds after which the lease of a job whose worker died expires.
    pub lease_secs: u64,
    /// Milliseconds between polls of the queue.
    pub poll_interval_ms: u64,
    /// A job fails after its process has died this many times in a row without progress; 0: never.
    pub max_crashes_per_step: u32,
    /// The number of parts that a job's agents are split into, which different workers run at the same time.
    pub parts: u32,
}

impl WorkerConfig {
    fn check(&self) -> Result<()> {
        in_range(
            "worker",
            &[
                ("parallel_jobs", self.parallel_jobs as u64),
                ("parallel_calls", self.parallel_calls as u64),
                ("lease_secs", self.lease_secs),
                ("poll_interval_ms", self.poll_interval_ms),
                ("parts", u64::from(self.parts)),
            ],
        )
    }
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            parallel_jobs: 4,
            parallel_calls: 256,
            lease_secs: 30,
            poll_interval_ms: 500,
            max_crashes_per_step: 5,
            parts: 1,
        }
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
            external_agents: BTreeMap::new(),
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

/// The maximum starting cash of an agent.
pub(crate) const MAX_INITIAL_CASH: u64 = 1_000_000_000_000;

/// Built-in market profiles.
const PRESETS: [&str; 3] = ["us_equity", "cn_a_share", "crypto"];

impl Config {
    /// Reads the file (`file`, else `PAPERTAPE_CONFIG`, else `papertape.toml` here if there is one) and
    /// applies the `PAPERTAPE_*` variables; `__` separates levels (`PAPERTAPE_WORKER__LEASE_SECS`).
    ///
    /// # Errors
    /// A file that does not exist or is not valid TOML, unknown keys (with the nearest known ones), invalid values.
    pub fn load(file: Option<&Path>) -> Result<Self> {
        let mut config: Self = load::read(file)?;
        config.file = file_in_use(file);
        config.check()?;
        Ok(config)
    }

    /// Where imported datasets are stored.
    #[must_use]
    pub fn datasets_dir(&self) -> PathBuf {
        self.datasets_dir.clone().unwrap_or_else(|| self.data_dir.join("datasets"))
    }

    /// The names of all market profiles: the presets, and the config's own.
    pub fn market_names(&self) -> impl Iterator<Item = &str> {
        let own = self.markets.keys().map(String::as_str);
        PRESETS.into_iter().chain(own.filter(|name| !PRESETS.contains(name)))
    }

    /// The market profile of this name: your own, or a preset.
    ///
    /// # Errors
    /// A message that lists the available profiles.
    pub fn market(&self, name: &str) -> Result<MarketProfile, String> {
        if let Some(profile) = self.markets.get(name) {
            return Ok(profile.clone());
        }
        MarketProfile::preset(name).ok_or_else(|| {
            let known: Vec<&str> = self.market_names().collect();
            format!("unknown market `{name}`; expected one of {}", known.join(", "))
        })
    }

    /// The config as TOML, for `papertape config show`; see [`Self::to_json`].
    ///
    /// # Errors
    /// None in practice.
    pub fn to_toml(&self) -> Result<String> {
        let mut document = self.to_json()?;
        remove_nulls(&mut document);
        Ok(toml::to_string_pretty(&document)?)
    }

    /// The config under the keys that [`Self::load`] reads, without secrets: API keys are only ever named, and the
    /// credentials of every URL are masked, including those in a command's arguments.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_json(&self) -> Result<serde_json::Value> {
        let mut document = serde_json::to_value(self)?;
        mask_urls(&mut document);
        external_agents::mask_variables(&mut document);
        if let Some(url) = &self.database_url {
            document["database_url"] = without_password(url).into();
        }
        renamed::to_keys(&mut document);
        Ok(document)
    }

    fn check(&self) -> Result<()> {
        agents::check(&self.agents)?;
        for (name, market) in &self.markets {
            market.validate().map_err(|reason| {
                anyhow!("markets.{name}: {}", renamed::translate_message(&reason.to_string()))
            })?;
        }
        for (name, server) in &self.tools {
            if server.command.is_empty() == server.url.is_none() {
                bail!("tools.{name}: set either `command` or `url`");
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if name.is_empty() || !name.chars().all(plain) {
                bail!("tools.{name}: invalid name; use letters, digits and `-`");
            }
        }
        external_agents::check(&self.external_agents)?;
        self.server.check()?;
        self.worker.check()?;
        self.chat.check()?;
        self.web_search.check().map_err(|reason| anyhow!(reason))?;
        self.settings.check().map_err(|reason| anyhow!(reason))?;
        self.download.check().map_err(|reason| anyhow!(reason))?;
        self.auth.check()?;
        self.otlp.check()?;
        self.simulation.check()?;
        Ok(())
    }
}

/// Whether an account can start with this much cash.
pub(crate) fn is_initial_cash(amount: Decimal) -> bool {
    amount > Decimal::ZERO && amount <= Decimal::from(MAX_INITIAL_CASH)
}

/// The longest duration that a setting may have, in seconds: a year. Longer ones are mistakes, such as milliseconds, and
/// the largest of them are no instants that a clock or a database can add to now.
const MAX_SECS: u64 = 31_536_000;

/// Rejects keys of a table that are 0 where 0 has no meaning, and durations over a year. A key says its unit.
fn in_range(table: &str, keys: &[(&str, u64)]) -> Result<()> {
    for (key, value) in keys {
        let max = match key.rsplit_once('_') {
            Some((_, "secs")) => MAX_SECS,
            Some((_, "ms")) => MAX_SECS * 1_000,
            _ => u64::MAX,
        };
        if *value == 0 {
            bail!("{table}.{key}: must be greater than 0");
        }
        if *value > max {
            bail!("{table}.{key}: {value} is out of range; expected 1 to {max}");
        }
    }
    Ok(())
}

fn remove_nulls(document: &mut serde_json::Value) {
    if let serde_json::Value::Object(fields) = document {
        fields.retain(|_, value| !value.is_null());
        fields.values_mut().for_each(remove_nulls);
    } else if let serde_json::Value::Array(items) = document {
        items.iter_mut().for_each(remove_nulls);
    }
}

/// A database URL without its password, for display. The other form, `key=value` words, is not shown.
#[must_use]
pub fn without_password(url: &str) -> String {
    if url.contains("://") { masked(url) } else { "***".to_owned() }
}

/// Reads the files of a prompts folder and its subfolders; a name includes the folder: `desk/trader.en.md`.
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
        std::fs::read_dir(dir).with_context(|| format!("prompts.dir: cannot read {}", dir.display()))?;
    for entry in folder {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() && prefix.is_empty() {
            read_prompts(&path, &format!("{name}/"), overrides)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            overrides.insert(name, text);
        }
    }
    Ok(())
}
