//! External agents: programs and URLs that trade through the turn protocol.

use super::mask::masked;
use anyhow::{Result, anyhow, bail};
use papertape_core::message::ModelName;
use papertape_redact::Redactor;
use regex::Regex;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The adapters that come with Papertape's Python package. They need no configuration.
pub const ADAPTERS: [&str; 1] = ["tradingagents"];

/// Sessions of one agent that run at once, unless configured.
const MAX_CONCURRENT: usize = 4;

/// An external agent. Set either `command` or `url`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExternalAgent {
    /// A program that speaks the turn protocol on its standard streams, with its arguments.
    pub command: Vec<String>,
    /// The address that a day is posted to.
    pub url: Option<String>,
    /// The program's working directory; absent: ours, and in a sandbox its writable folder.
    pub cwd: Option<PathBuf>,
    /// Variables that are set for the program.
    pub env: BTreeMap<String, String>,
    /// Variables of our environment that the program gets.
    pub pass_env: Vec<String>,
    /// The variable that holds the bearer key for `url`.
    pub key_env: Option<String>,
    /// The models that its model endpoint serves; the first is the default.
    pub models: Vec<ModelName>,
    /// The maximum number of its sessions that run at once in one process.
    pub max_concurrent: usize,
    /// Whether the program runs in a sandbox.
    pub sandbox: bool,
    /// Files and folders that a program in a sandbox can read, in addition to `cwd`.
    pub sandbox_paths: Vec<PathBuf>,
    /// Regular expressions whose matches are left out of the digests of its model calls.
    pub normalize: Vec<String>,
}

impl Default for ExternalAgent {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            url: None,
            cwd: None,
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            key_env: None,
            models: Vec::new(),
            max_concurrent: MAX_CONCURRENT,
            sandbox: false,
            sandbox_paths: Vec::new(),
            normalize: Vec::new(),
        }
    }
}

impl ExternalAgent {
    /// The adapter of this name; `None`: there is none.
    #[must_use]
    pub fn adapter(name: &str) -> Option<Self> {
        ADAPTERS.contains(&name).then(|| {
            let module = format!("papertape.adapters.{name}");
            Self { command: ["python3", "-m", &module].map(str::to_owned).to_vec(), ..Self::default() }
        })
    }

    /// # Errors
    /// A message that starts with the key.
    fn check(&self) -> Result<()> {
        if let Some(url) = &self.url {
            self.check_url(url)?;
        } else if self.key_env.is_some() {
            bail!("key_env: only an agent with `url` has a key; use `pass_env` for a program");
        }
        if self.command.first().is_some_and(|program| program.trim().is_empty()) {
            bail!("command: the program's name is empty");
        }
        if let Some(path) = self.sandbox_paths.iter().find(|path| !path.is_absolute()) {
            bail!("sandbox_paths: `{}` is not an absolute path", path.display());
        }
        let is_variable = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
        if let Some(name) = self.env.keys().chain(&self.pass_env).find(|name| !is_variable(name)) {
            bail!("env: `{name}` is not a variable's name");
        }
        if self.max_concurrent == 0 {
            bail!("max_concurrent: must be greater than 0");
        }
        for pattern in &self.normalize {
            if let Err(error) = Regex::new(pattern) {
                bail!("normalize: invalid regular expression `{pattern}`: {error}");
            }
        }
        Ok(())
    }

    fn check_url(&self, url: &str) -> Result<()> {
        // The value is not repeated: an address may contain a key.
        if !Url::parse(url).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host()) {
            bail!("url: invalid URL; expected the form http://127.0.0.1:8900/day");
        }
        let of_programs = [
            ("cwd", self.cwd.is_some()),
            ("env", !self.env.is_empty()),
            ("pass_env", !self.pass_env.is_empty()),
            ("sandbox", self.sandbox),
        ];
        match of_programs.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => bail!("{key}: applies only to an agent with `command`"),
            None => Ok(()),
        }
    }

    /// What must stay out of the database and the log, with the names of the variables.
    pub(crate) fn secrets(&self, env: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let set = self.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        let passed = self.pass_env.iter().filter_map(|name| Some((name.clone(), env(name)?)));
        set.chain(passed).collect()
    }
}

/// # Errors
/// A name that cannot be used, or values that cannot work together.
pub(super) fn check(agents: &BTreeMap<String, ExternalAgent>) -> Result<()> {
    for (name, agent) in agents {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            bail!("external_agents.{name}: invalid name; use up to 64 letters, digits, `-` and `_`");
        }
        if agent.command.is_empty() == agent.url.is_none() {
            bail!("external_agents.{name}: set either `command` or `url`");
        }
        agent.check().map_err(|reason| anyhow!("external_agents.{name}.{reason}"))?;
    }
    Ok(())
}

/// Masks the values of variables that look like secrets, for display.
pub(super) fn mask_variables(document: &mut Value) {
    let Some(agents) = document.get_mut("external_agents").and_then(Value::as_object_mut) else { return };
    for variables in agents.values_mut().filter_map(|agent| agent.get_mut("env")?.as_object_mut()) {
        for (name, value) in variables {
            let text = value.as_str().unwrap_or_default();
            let shown = Redactor::default().redact_value(json!({ name: masked(text) })).value;
            *value = shown.get(name).cloned().unwrap_or_default();
        }
    }
}
