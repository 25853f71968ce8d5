//! Bounds of an answer: what a model can read at once.

use crate::error::ServiceError;
use serde_json::{Value, json};

/// The maximum length of an answer as JSON text.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Max characters of a text and max items of a list, from mild to harsh: the first that is enough is used.
const LIMITS: [(usize, usize); 7] =
    [(16_000, 1_000), (8_000, 250), (4_000, 100), (2_000, 50), (1_000, 20), (400, 10), (200, 5)];
/// How many places are listed that were shortened.
const MAX_PLACES: usize = 20;

/// Whether an answer is within the bound.
pub(super) fn fits(answer: &Value) -> bool {
    serde_json::to_vec(answer).is_ok_and(|text| text.len() <= MAX_ANSWER_BYTES)
}

/// Shortens long texts and lists until the answer is within the bound, and says where, in `truncated`.
///
/// # Errors
/// An answer that has too many fields.
pub(super) fn shorten(answer: Value) -> Result<Value, ServiceError> {
    for (chars, items) in LIMITS {
        let mut shortening = Shortening { chars, items, places: Vec::new(), count: 0 };
        let mut short = shortening.value(&answer, "");
        short["truncated"] = json!({
            "note": "the answer was too long: these texts and lists were shortened to their beginning. Narrow the \
                     query (one agent, fewer days, a smaller page) to read all of it",
            "max_bytes": MAX_ANSWER_BYTES,
            "max_text_chars": chars,
            "max_list_items": items,
            "shortened": shortening.count,
            "places": shortening.places,
        });
        if fits(&short) {
            return Ok(short);
        }
    }
    Err(ServiceError::Conflict(format!(
        "the answer exceeds {MAX_ANSWER_BYTES} bytes even when it is shortened; narrow the query"
    )))
}

struct Shortening {
    chars: usize,
    items: usize,
    places: Vec<String>,
    count: usize,
}

impl Shortening {
    fn value(&mut self, value: &Value, path: &str) -> Value {
        match value {
            Value::String(text) => match text.char_indices().nth(self.chars) {
                None => value.clone(),
                Some((end, _)) => {
                    self.note(format!("{path}: {} of {} characters", self.chars, text.chars().count()));
                    format!("{}…", &text[..end]).into()
                }
            },
            Value::Array(items) => {
                if items.len() > self.items {
                    self.note(format!("{path}: {} of {} items", self.items, items.len()));
                }
                let first = items.iter().take(self.items).enumerate();
                first.map(|(at, item)| self.value(item, &format!("{path}[{at}]"))).collect()
            }
            Value::Object(fields) => {
                let below =
                    |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                fields.iter().map(|(name, value)| (name.clone(), self.value(value, &below(name)))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn note(&mut self, place: String) {
        self.count += 1;
        if self.places.len() < MAX_PLACES {
            self.places.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: an answer over the bound is within it afterwards, and says what was left out; one with too many fields is
    /// an error, never a longer answer.
    #[test]
    fn long_answers_are_shortened_and_say_so() {
        let days: Vec<Value> = (0..4_000).map(|day| json!({ "day": day, "value": 10_000.5 })).collect();
        let answer =
            json!({ "results": [{ "days": days, "note": "é".repeat(50_000) }], "next_cursor": null });
        assert!(!fits(&answer));
        let short = shorten(answer).expect("it can be shortened");
        assert!(fits(&short));
        let places = short["truncated"]["places"].as_array().expect("a list");
        assert!(places[0].as_str().expect("a text").starts_with("results[0].days: "), "{places:?}");
        assert!(places[1].as_str().expect("a text").ends_with("of 50000 characters"), "{places:?}");
        assert_eq!(short["results"][0]["days"][0]["value"], json!(10_000.5));
        let wide: serde_json::Map<String, Value> =
            (0..10_000).map(|at| (format!("field {at}"), json!(at))).collect();
        assert!(shorten(Value::Object(wide)).is_err());
    }
}
