//! Injection attempts in outside texts.

use serde_json::Value;

/// The corpus of injection attempts, English and Chinese.
pub(crate) fn all() -> Vec<String> {
    include_str!("answers/injections.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("an attempt")["text"]
                .as_str()
                .expect("a text")
                .to_owned()
        })
        .collect()
}
