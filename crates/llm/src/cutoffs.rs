//! The training cut-offs that vendors state for their models.

use crate::config::{ConfigError, CutoffConfig};
use papertape_core::message::ModelName;
use papertape_core::time::Date;
use serde::Deserialize;
use std::collections::BTreeMap;

const BUILT_IN: &str = include_str!("../cutoffs.toml");
/// The statement of a vendor that states no date.
const NOT_STATED: &str = "not stated";

/// What a vendor states about the end of a model's training data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutoff {
    /// The last day that the data may cover; `None` if the vendor states none.
    pub date: Option<Date>,
    /// The statement.
    pub states: String,
    /// Where it is stated: a URL, or `config`.
    pub source: String,
    /// When the source was checked; `None` for an entry of the config.
    pub checked: Option<Date>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutoffFile {
    cutoff: Vec<CutoffEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CutoffEntry {
    models: Vec<String>,
    date: Option<Date>,
    states: String,
    source: String,
    checked: Date,
}

/// The known cut-offs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cutoffs {
    /// By pattern, in lower case. Patterns of the config may start with a provider.
    by_pattern: BTreeMap<String, Cutoff>,
    /// Those of the config, which take precedence.
    configured: BTreeMap<String, Cutoff>,
}

impl Cutoffs {
    /// The built-in cut-offs, with those of a config.
    ///
    /// # Errors
    /// An entry without a name, or a built-in table that cannot be read.
    pub fn load(configured: &[CutoffConfig]) -> Result<Self, ConfigError> {
        let fault = |fault: String| ConfigError::Cutoffs { fault };
        let file: CutoffFile =
            toml::from_str(BUILT_IN).map_err(|error| fault(format!("are malformed: {error}")))?;
        let mut cutoffs = Self::default();
        for CutoffEntry { models, date, states, source, checked } in file.cutoff {
            let cutoff = Cutoff { date, states, source, checked: Some(checked) };
            cutoffs.by_pattern.extend(models.into_iter().map(|model| (model, cutoff.clone())));
        }
        for CutoffConfig { model, date } in configured {
            let pattern = model.trim().to_lowercase();
            if pattern.is_empty() || pattern == "*" {
                return Err(fault(format!("name no model in `{model}`")));
            }
            let states = date.map_or_else(|| NOT_STATED.to_owned(), |date| date.to_string());
            let cutoff = Cutoff { date: *date, states, source: "config".to_owned(), checked: None };
            cutoffs.configured.insert(pattern, cutoff);
        }
        Ok(cutoffs)
    }

    /// What is stated for a model; `None`: unknown.
    #[must_use]
    pub fn get(&self, model: &ModelName) -> Option<&Cutoff> {
        let name = model.model.to_lowercase();
        let whole = format!("{}::{name}", model.provider.to_lowercase());
        // Gateways put the vendor before the name: `anthropic/claude-opus-5`.
        let bare = name.rsplit('/').next().unwrap_or(&name);
        let find = |patterns: &BTreeMap<String, Cutoff>, names: &[&str]| {
            let matching = patterns.keys().filter(|pattern| names.iter().any(|name| matches(pattern, name)));
            matching.max_by_key(|pattern| pattern.len()).cloned()
        };
        let configured =
            find(&self.configured, &[&whole, &name, bare]).and_then(|key| self.configured.get(&key));
        configured.or_else(|| find(&self.by_pattern, &[bare]).and_then(|key| self.by_pattern.get(&key)))
    }

    /// The built-in patterns with their cut-offs.
    pub fn built_in(&self) -> impl Iterator<Item = (&str, &Cutoff)> {
        self.by_pattern.iter().map(|(pattern, cutoff)| (pattern.as_str(), cutoff))
    }
}

/// Whether a name matches a pattern: exactly, by its start before a `*`, or up to a snapshot's date, `-latest` or a tag.
fn matches(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        return name.starts_with(start);
    }
    let Some(rest) = name.strip_prefix(pattern) else { return false };
    let is_date = rest.len() > 8
        && rest.starts_with('-')
        && rest[1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    rest.is_empty() || rest == "-latest" || rest.starts_with([':', '@']) || is_date
}

#[cfg(test)]
mod tests {
    use super::Cutoffs;
    use crate::config::CutoffConfig;
    use papertape_core::time::Date;

    fn date(cutoffs: &Cutoffs, model: &str) -> Option<Option<Date>> {
        cutoffs.get(&model.parse().expect("a model")).map(|cutoff| cutoff.date)
    }

    // Goal: a model is found under any provider and with the date of a snapshot; a longer name is another model; what is
    // not in the table is unknown, which differs from `not stated`.
    #[test]
    fn models_are_found_by_name() {
        let cutoffs = Cutoffs::load(&[]).expect("the table is valid");
        let day = |text: &str| Some(Some(text.parse::<Date>().expect("a date")));
        assert_eq!(date(&cutoffs, "openai::gpt-4.1-mini-2025-04-14"), day("2024-06-01"));
        assert_eq!(date(&cutoffs, "openai::gpt-5-2025-08-07"), day("2024-09-30"));
        assert_eq!(date(&cutoffs, "openai::gpt-5-mini"), None);
        assert_eq!(date(&cutoffs, "openrouter::anthropic/claude-opus-5"), day("2026-05-31"));
        assert_eq!(date(&cutoffs, "anthropic::claude-opus-5-5"), day("2026-06-30"));
        assert_eq!(date(&cutoffs, "together::meta-llama/Llama-3.3-70B-Instruct-Turbo"), day("2023-12-31"));
        assert_eq!(date(&cutoffs, "ollama::llama3.3:70b"), day("2023-12-31"));
        assert_eq!(date(&cutoffs, "deepseek::deepseek-chat"), Some(None));
        assert_eq!(date(&cutoffs, "lab::one"), None);
    }

    // Goal: the config adds and overrides, with or without a provider; an entry that would match everything is an error.
    #[test]
    fn the_config_overrides_the_table() {
        let load = |model: &str, date: Option<&str>| {
            let date = date.map(|date| date.parse().expect("a date"));
            Cutoffs::load(&[CutoffConfig { model: model.to_owned(), date }])
        };
        let cutoffs = load("lab::one", Some("2020-06-30")).expect("it is valid");
        assert_eq!(date(&cutoffs, "lab::one"), Some("2020-06-30".parse().ok()));
        assert_eq!(date(&cutoffs, "other::one"), None);
        assert_eq!(date(&load("gpt-4.1*", None).expect("it is valid"), "openai::gpt-4.1"), Some(None));
        assert!(load("*", None).is_err());
    }

    // Goal: every entry says where and when it was checked, and no date lies after that.
    #[test]
    fn every_entry_has_a_source() {
        let cutoffs = Cutoffs::load(&[]).expect("the table is valid");
        for (pattern, cutoff) in cutoffs.built_in() {
            assert!(cutoff.source.starts_with("https://"), "{pattern}");
            assert!(cutoff.checked.is_some() && cutoff.date <= cutoff.checked, "{pattern}");
            assert_eq!(cutoff.date.is_none(), cutoff.states == "not stated", "{pattern}");
        }
    }
}
