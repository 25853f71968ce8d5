//! Keys whose names differ from the stored ones, and keys that had other names before.
//!
//! Agents, markets and memory settings are stored with each job and hashed, so their fields keep their stored names. The
//! configuration has better ones: this module translates between the two.

use figment::error::Kind;
use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};
use serde_json::Value as Json;

/// A field whose key has another name. In the path of its table, `*` stands for any name or item.
struct StoredField {
    table: &'static [&'static str],
    stored: &'static str,
    key: &'static str,
}

const STORED_FIELDS: [StoredField; 5] = [
    StoredField { table: &["simulation", "memory"], stored: "keep_rounds", key: "max_stored_rounds" },
    StoredField { table: &["agents", "*", "desk", "sizing"], stored: "least_order", key: "min_order" },
    StoredField { table: &["markets", "*"], stored: "lends", key: "allows_margin" },
    StoredField { table: &["markets", "*"], stored: "financing_bps_a_year", key: "annual_financing_bps" },
    StoredField { table: &["markets", "*"], stored: "trading_days_a_year", key: "trading_days_per_year" },
];

/// Former keys, with the names that replace them.
const FORMER_KEYS: [(&str, &str); 7] = [
    ("server.work", "run_jobs"),
    ("server.connections", "max_connections"),
    ("server.streams_per_client", "max_streams_per_client"),
    ("worker.poll_ms", "poll_interval_ms"),
    ("chat.form", "reply_format"),
    ("chat.wait_secs", "job_wait_secs"),
    ("otlp.every_secs", "export_interval_secs"),
];

/// The last part of a former `tools.NAME.*` key, with its new name.
const FORMER_TOOL_KEY: (&str, &str) = ("repeatable", "idempotent_tools");

/// The name that replaces a former key.
pub(super) fn successor(path: &str) -> Option<&'static str> {
    let is_tool_key = path.starts_with("tools.") && path.rsplit('.').next() == Some(FORMER_TOOL_KEY.0);
    let listed = FORMER_KEYS.iter().find(|(former, _)| *former == path).map(|(_, key)| *key);
    listed.or(is_tool_key.then_some(FORMER_TOOL_KEY.1))
}

/// The key of a stored field.
pub(super) fn key_of(field: &str) -> &str {
    STORED_FIELDS.iter().find(|renamed| renamed.stored == field).map_or(field, |renamed| renamed.key)
}

/// Replaces the stored names in an error message. `lends` is left out, since it is also a word.
pub(super) fn translate_message(message: &str) -> String {
    let renamed = STORED_FIELDS.iter().filter(|renamed| renamed.stored.contains('_'));
    renamed.fold(message.to_owned(), |text, renamed| text.replace(renamed.stored, renamed.key))
}

/// A source of values, with keys translated to stored names.
pub(super) struct Translated<P>(pub(super) P);

impl<P: Provider> Provider for Translated<P> {
    fn metadata(&self) -> Metadata {
        self.0.metadata()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut profiles = self.0.data()?;
        for root in profiles.values_mut() {
            for renamed in &STORED_FIELDS {
                to_stored(root, renamed.table, renamed, &mut Vec::new()).map_err(|path| {
                    let mut error = Error::from(Kind::UnknownField(renamed.stored.to_owned(), &[]));
                    error.path = path;
                    error
                })?;
            }
        }
        Ok(profiles)
    }
}

/// Renames the key in every table at this path below `dict`. The stored name itself is an unknown key: the error is the
/// path of its table.
fn to_stored(
    dict: &mut Dict,
    table: &[&str],
    renamed: &StoredField,
    path: &mut Vec<String>,
) -> Result<(), Vec<String>> {
    let Some((name, rest)) = table.split_first() else {
        if dict.contains_key(renamed.stored) {
            return Err(path.clone());
        }
        if let Some(value) = dict.remove(renamed.key) {
            dict.insert(renamed.stored.to_owned(), value);
        }
        return Ok(());
    };
    for (key, value) in dict.iter_mut().filter(|(key, _)| *name == "*" || key == name) {
        path.push(key.clone());
        match (value, rest.split_first()) {
            (Value::Dict(_, dict), _) => to_stored(dict, rest, renamed, path)?,
            (Value::Array(_, items), Some((&"*", rest))) => {
                for (index, item) in items.iter_mut().enumerate() {
                    path.push(index.to_string());
                    if let Value::Dict(_, dict) = item {
                        to_stored(dict, rest, renamed, path)?;
                    }
                    path.pop();
                }
            }
            _ => {}
        }
        path.pop();
    }
    Ok(())
}

/// Renames the stored fields of a serialized configuration to their keys.
pub(super) fn to_keys(config: &mut Json) {
    for renamed in &STORED_FIELDS {
        rename(config, renamed.table, renamed);
    }
}

fn rename(value: &mut Json, table: &[&str], renamed: &StoredField) {
    match (value, table.split_first()) {
        (Json::Object(fields), None) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            // Removing and inserting each field keeps their order.
            for name in names {
                if let Some(value) = fields.shift_remove(&name) {
                    let name = if name == renamed.stored { renamed.key.to_owned() } else { name };
                    fields.insert(name, value);
                }
            }
        }
        (Json::Object(fields), Some((name, rest))) => {
            for (_, value) in fields.iter_mut().filter(|(key, _)| *name == "*" || key == name) {
                rename(value, rest, renamed);
            }
        }
        (Json::Array(items), Some((&"*", rest))) => {
            items.iter_mut().for_each(|item| rename(item, rest, renamed));
        }
        _ => {}
    }
}
