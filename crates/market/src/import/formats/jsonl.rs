//! Any kind of rows as JSON Lines: one object per line.

use super::kind::{self, Kind};
use super::records::{ColumnNames, Records, RowReader, normal};
use crate::input::Source;

use crate::input::{Format, ReadAbort, each_line};
use serde_json::Value;
use std::collections::BTreeMap;

/// Any kind of rows as JSON Lines.
pub(super) const JSONL: Format = Format {
    name: "jsonl",
    description: "One JSON object per line: bars, actions, news, fundamentals, a calendar",
    detect: |_, head| {
        let text = String::from_utf8_lossy(head);
        // A line longer than the head is a news item with its text.
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match serde_json::from_str::<BTreeMap<String, Value>>(line) {
            Ok(object) => Kind::of(&columns(&object)).is_some(),
            Err(_) => line.trim_start().starts_with('{') && line.contains("published"),
        }
    },
    read: |source, hints, sink| kind::read(&Lines { source }, source, hints, sink),
};

fn columns(object: &BTreeMap<String, Value>) -> Vec<String> {
    object.keys().map(|key| normal(key)).collect()
}

/// A file.
pub(super) struct Lines<'s> {
    pub(super) source: &'s Source,
}

impl Records for Lines<'_> {
    /// The keys of the first object.
    fn columns(&self) -> Result<Vec<String>, ReadAbort> {
        let mut found = None;
        let ended = each_line(self.source, &mut |number, line| {
            let object = line.and_then(object).map_err(|reason| ReadAbort::file(number, reason))?;
            found = Some(columns(&object));
            Err(ReadAbort::Enough)
        });
        match (ended, found) {
            (_, Some(columns)) => Ok(columns),
            (Ok(()) | Err(ReadAbort::Enough), None) => Err(ReadAbort::file(1, "the file is empty")),
            (Err(halt), None) => Err(halt),
        }
    }

    fn each(&self, slots: &[ColumnNames], take: RowReader<'_>) -> Result<(), ReadAbort> {
        each_line(self.source, &mut |number, line| {
            let raw = *line.as_ref().unwrap_or(&"");
            let fields = line.and_then(object).map(|object| {
                let named: BTreeMap<String, String> =
                    object.into_iter().map(|(key, value)| (normal(&key), text(value))).collect();
                let field = |slot: &ColumnNames| {
                    let values = slot.iter().filter_map(|name| named.get(*name));
                    values.into_iter().find(|value| !value.is_empty()).cloned().unwrap_or_default()
                };
                slots.iter().map(field).collect::<Vec<String>>()
            });
            match fields {
                Ok(fields) => {
                    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
                    take(number, Ok(&fields), &raw)
                }
                Err(reason) => take(number, Err(reason), &raw),
            }
        })
    }
}

fn object(line: &str) -> Result<BTreeMap<String, Value>, String> {
    serde_json::from_str(line).map_err(|error| format!("not a JSON object: {error}"))
}

/// A value as a table field: lists are joined by commas.
fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Array(items) => items.into_iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
