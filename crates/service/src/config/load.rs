//! Where values come from: the defaults, overridden by a TOML file, overridden by `PAPERTAPE_*` variables.

use super::renamed::Translated;
use super::{Config, explain, keys};
use anyhow::{Result, bail};
use figment::providers::{Format as _, Serialized, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The default file.
const FILE: &str = "papertape.toml";
/// The prefix of our variables.
const PREFIX: &str = "PAPERTAPE_";
/// Variables with our prefix that are not keys. The Python package reads `binary`, `token` and `url`.
const NO_KEYS: &[&str] =
    &["agent_process", "binary", "config", "mcp_token", "mcp_url", "test_postgres_url", "token", "url"];

/// The file to read: `file`, else what `PAPERTAPE_CONFIG` names, else `papertape.toml` here if it exists.
#[must_use]
pub fn file_in_use(file: Option<&Path>) -> Option<PathBuf> {
    let variable = || std::env::var_os("PAPERTAPE_CONFIG").filter(|value| !value.is_empty());
    let here = || Some(PathBuf::from(FILE)).filter(|file| file.is_file());
    file.map(Path::to_path_buf).or_else(|| variable().map(PathBuf::from)).or_else(here)
}

/// Reads the config.
///
/// # Errors
/// All unknown keys and invalid values at once: after each error, the config is read again without that key.
pub(super) fn read(file: Option<&Path>) -> Result<Config> {
    let (mut errors, mut removed) = (Vec::new(), BTreeSet::new());
    loop {
        match figment(file, &removed)?.extract() {
            Ok(config) if errors.is_empty() => return Ok(config),
            Ok(_) => break,
            Err(error) => {
                let before = removed.len();
                for error in error {
                    let path = explain::path(&error);
                    if removed.insert(path.clone()) {
                        errors.push(error);
                    } else if let Some(table) = path.first() {
                        // The table requires the removed key, so it is removed as a whole.
                        removed.insert(vec![table.clone()]);
                    }
                }
                if removed.len() == before {
                    break;
                }
            }
        }
    }
    Err(explain::explain(errors))
}

/// All values except those of removed keys; later sources override earlier ones.
fn figment(file: Option<&Path>, removed: &BTreeSet<Vec<String>>) -> Result<Figment> {
    let mut figment = Figment::from(Serialized::defaults(Config::default()));
    if let Some(path) = file_in_use(file) {
        if !path.is_file() {
            bail!("config file not found: {}", path.display());
        }
        figment = figment.merge(without(removed, Toml::file_exact(path)));
    }
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    variables.sort();
    let variables = variables.into_iter().filter_map(|(name, value)| Variable::new(name, value));
    Ok(variables.map(|variable| without(removed, variable)).fold(figment, Figment::merge))
}

/// A translated source without some keys. A path is that of a key before or after translation.
fn without<P: Provider>(removed: &BTreeSet<Vec<String>>, provider: P) -> impl Provider {
    Without { removed, provider: Translated(Without { removed, provider }) }
}

/// A source without some keys.
struct Without<'a, P> {
    removed: &'a BTreeSet<Vec<String>>,
    provider: P,
}

impl<P: Provider> Provider for Without<'_, P> {
    fn metadata(&self) -> Metadata {
        self.provider.metadata()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let mut profiles = self.provider.data()?;
        for root in profiles.values_mut() {
            self.removed.iter().for_each(|path| remove(root, path));
        }
        Ok(profiles)
    }
}

/// Removes a key. Paths lead through tables and items of lists.
fn remove(table: &mut Dict, path: &[String]) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.remove(key);
        return;
    }
    let (mut value, mut rest) = (table.get_mut(key), rest);
    while let Some(Value::Array(_, items)) = value {
        let Some((index, inner)) = rest.split_first() else { return };
        value = index.parse().ok().and_then(|index: usize| items.get_mut(index));
        rest = inner;
    }
    if let Some(Value::Dict(_, table)) = value {
        remove(table, rest);
    }
}

/// An environment variable.
struct Variable {
    name: String,
    path: String,
    value: Value,
}

impl Variable {
    /// `None` if it is not ours, or empty, which counts as not set.
    fn new(name: String, text: String) -> Option<Self> {
        let key = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
        if key.is_empty() || NO_KEYS.contains(&key.as_str()) || text.trim().is_empty() {
            return None;
        }
        let path = key.replace("__", ".");
        let kind = keys::all().into_iter().find(|key| key.fits(&path)).map(|key| key.kind);
        Some(Self { name, path, value: typed(kind.as_deref(), &text) })
    }
}

/// Parses the text as a value. A value for a string key stays a string, even if it looks like a number.
fn typed(kind: Option<&str>, text: &str) -> Value {
    match kind {
        Some("list") if !text.trim_start().starts_with('[') => {
            Value::from(text.split(',').map(|item| Value::from(item.trim())).collect::<Vec<_>>())
        }
        Some("string" | "path" | "address" | "decimal") => Value::from(text),
        // An unparseable value stays a string, so that the error says what was expected.
        _ => text.parse().unwrap_or_else(|_| Value::from(text)),
    }
}

impl Provider for Variable {
    fn metadata(&self) -> Metadata {
        Metadata::named(format!("the environment variable {}", self.name))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let nested = figment::util::nest(&self.path, self.value.clone());
        let dict = nested.into_dict().unwrap_or_default();
        Ok(Profile::Default.collect(dict))
    }
}
