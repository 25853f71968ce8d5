//! Where the values come from: the defaults, a TOML file over them, `PAPERTAPE_*` variables over both.

use super::Config;
use super::keys;
use anyhow::{Result, bail};
use figment::providers::{Format as _, Serialized, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use std::path::{Path, PathBuf};

/// The file that is read where no other is named.
const FILE: &str = "papertape.toml";
/// What our variables begin with.
const PREFIX: &str = "PAPERTAPE_";
/// Variables that begin like ours and are no keys.
const NO_KEYS: &[&str] = &["config", "test_postgres_url"];

/// The file that is read: `file`, else what `PAPERTAPE_CONFIG` names, else `papertape.toml` here, if
/// there is one.
#[must_use]
pub fn file_in_use(file: Option<&Path>) -> Option<PathBuf> {
    let variable = || std::env::var_os("PAPERTAPE_CONFIG").filter(|value| !value.is_empty());
    let here = || Some(PathBuf::from(FILE)).filter(|file| file.is_file());
    file.map(Path::to_path_buf).or_else(|| variable().map(PathBuf::from)).or_else(here)
}

/// All values, the later ones over the earlier ones.
pub(super) fn figment(file: Option<&Path>) -> Result<Figment> {
    let mut figment = Figment::from(Serialized::defaults(Config::default()));
    if let Some(path) = file_in_use(file) {
        if !path.is_file() {
            bail!("the config file {} is not there", path.display());
        }
        figment = figment.merge(Toml::file_exact(path));
    }
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    variables.sort();
    let variables = variables.into_iter().filter_map(|(name, value)| Variable::new(name, value));
    Ok(variables.fold(figment, Figment::merge))
}

/// One variable of the environment.
struct Variable {
    name: String,
    path: String,
    value: Value,
}

impl Variable {
    /// `None` where it is none of ours, or empty, which is as good as not set.
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

/// The text as a value. What is to be a text stays one, even where it looks like a number.
fn typed(kind: Option<&str>, text: &str) -> Value {
    match kind {
        Some("list") if !text.trim_start().starts_with('[') => {
            Value::from(text.split(',').map(|item| Value::from(item.trim())).collect::<Vec<_>>())
        }
        Some("text" | "path" | "address" | "amount") => Value::from(text),
        // What cannot be read is a text: the error then says what was expected.
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
