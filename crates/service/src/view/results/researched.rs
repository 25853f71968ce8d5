//! The research quality of a day, from a session's stored metadata: only the keys that it needs are parsed, since a
//! long run has tens of thousands of sessions.

use papertape_core::provenance::{DayQuality, SampleQuality, extract};
use papertape_core::record::DayStatus;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The research quality in a session's metadata.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(in crate::view) struct Researched {
    #[serde(default)]
    point_in_time: Value,
    #[serde(default, skip_serializing)]
    point_in_time_reason: Value,
    /// The outcome of an imported day.
    #[serde(default, skip_serializing)]
    recorded: Value,
    #[serde(default)]
    research: Value,
    #[serde(default)]
    investment_debate_state: Value,
    #[serde(default)]
    by_symbol: Value,
    #[serde(default)]
    degradations: Value,
    #[serde(default)]
    data_quality: Value,
    /// Could the metadata be parsed?
    #[serde(skip)]
    is_known: bool,
}

/// Is a session with this metadata a day of full research?
pub(crate) fn is_full_research(metadata: Option<&str>) -> bool {
    Researched::read(metadata).is_full()
}

/// Whether days are days of full research. The sessions of a run differ in their books, hardly in their research: what
/// was found for one is found again for those like it.
#[derive(Debug, Default)]
pub(in crate::view) struct FullResearch(HashMap<String, bool>);

/// The keys of [`Researched`] that decide, not parsed.
#[derive(Debug, Default, Deserialize, Serialize)]
struct ResearchKeys<'a> {
    #[serde(borrow, default)]
    point_in_time: Option<&'a RawValue>,
    #[serde(borrow, default)]
    research: Option<&'a RawValue>,
    #[serde(borrow, default)]
    investment_debate_state: Option<&'a RawValue>,
    #[serde(borrow, default)]
    by_symbol: Option<&'a RawValue>,
    #[serde(borrow, default)]
    degradations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data_quality: Option<&'a RawValue>,
}

impl FullResearch {
    /// Is a session with this metadata a day of full research?
    pub(in crate::view) fn of(&mut self, metadata: &str) -> bool {
        let Ok(keys) = serde_json::from_str::<ResearchKeys<'_>>(metadata) else {
            return Researched::read(Some(metadata)).is_full();
        };
        let values = [
            keys.point_in_time,
            keys.research,
            keys.investment_debate_state,
            keys.by_symbol,
            keys.degradations,
            keys.data_quality,
        ];
        let mut key = String::new();
        for value in values {
            // No JSON value contains this character as it is.
            key.push('\0');
            key.push_str(value.map_or("", RawValue::get));
        }
        *self.0.entry(key).or_insert_with(|| Researched::read(Some(metadata)).is_full())
    }
}

impl Researched {
    /// Parses metadata; without any, or if it cannot be parsed, nothing is known.
    pub(in crate::view) fn read(metadata: Option<&str>) -> Self {
        let read = metadata.and_then(|metadata| serde_json::from_str::<Self>(metadata).ok());
        read.map(|read| Self { is_known: true, ..read }).unwrap_or_default()
    }

    /// Is it a day of full research?
    pub(in crate::view) fn is_full(&self) -> bool {
        let known = self.known();
        known.is_some_and(|known| extract(&known).sample_quality() == SampleQuality::FullResearch)
    }

    /// The quality of the day.
    pub(in crate::view) fn quality(&self, status: DayStatus, error: Option<&str>) -> Option<DayQuality> {
        DayQuality::of(status, error, self.known().as_ref())
    }

    fn known(&self) -> Option<Value> {
        self.is_known.then(|| serde_json::to_value(self).ok()).flatten()
    }

    /// Is the session verified as point-in-time?
    pub(super) fn is_verified(&self) -> bool {
        self.point_in_time == "verified"
    }

    /// The metadata that says why it is not.
    pub(super) fn point_in_time(&self) -> Value {
        json!({
            "point_in_time": self.point_in_time,
            "point_in_time_reason": self.point_in_time_reason,
            "recorded": self.recorded,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FullResearch, ResearchKeys, Researched, is_full_research};
    use serde::Serialize;
    use std::collections::BTreeSet;

    /// Goal: what decides whether a day is one of full research is part of the key under which the answer is remembered.
    #[test]
    fn the_key_has_all_that_decides() {
        let decides = names(&Researched::default());
        assert!(decides.contains("degradations"), "{decides:?}");
        assert_eq!(names(&ResearchKeys::default()), decides);
    }

    /// The names of the fields that are serialized.
    fn names(value: &impl Serialize) -> BTreeSet<String> {
        let value = serde_json::to_value(value).expect("JSON");
        value.as_object().expect("an object").keys().cloned().collect()
    }

    /// Goal: what is remembered of one session never answers for another with other research.
    #[test]
    fn remembered_answers_are_those_of_each_session() {
        let degradation = r#"{"node":"bull_researcher","reason_code":"bull_researcher_bad_request"}"#;
        let found: Vec<String> = [
            r#"{"is_llm":true,"books":{"cash":"1"}}"#.to_owned(),
            r#"{"is_llm":true,"books":{"cash":"2"},"data_quality":{"state":"ok"}}"#.to_owned(),
            r#"{"books":{"cash":"3"},"data_quality":{"state":"degraded"}}"#.to_owned(),
            format!(r#"{{"books":{{"cash":"4"}},"degradations":[{degradation}]}}"#),
            format!(r#"{{"books":{{"cash":"5"}},"research":[{degradation}]}}"#),
            r#"{"books":{"cash":"6"},"point_in_time":"unverified"}"#.to_owned(),
            "null".to_owned(),
            "not JSON".to_owned(),
            String::new(),
        ]
        .into();
        let mut remembered = FullResearch::default();
        let expected: Vec<bool> = found.iter().map(|metadata| is_full_research(Some(metadata))).collect();
        assert!(expected.contains(&true) && expected.contains(&false), "{expected:?}");
        for _ in 0..2 {
            let answers: Vec<bool> = found.iter().map(|metadata| remembered.of(metadata)).collect();
            assert_eq!(answers, expected);
        }
        assert_eq!(remembered.of(&found[0].replace("\"1\"", "\"7\"")), expected[0]);
    }
}
