//! The first difference between a recomputed document and the stated one.

use papertape_core::json;
use serde::Serialize;
use serde_json::Value;

/// Figures that were computed in floats may differ in the last digits between machines.
const TOLERANCE: f64 = 1e-9;

/// `None` if they are equal.
pub(super) fn difference(recomputed: &impl Serialize, stated: &impl Serialize) -> Option<String> {
    match (value(recomputed), value(stated)) {
        (Some(recomputed), Some(stated)) => find(&recomputed, &stated, String::new()),
        _ => Some("it cannot be compared".to_owned()),
    }
}

fn value(document: &impl Serialize) -> Option<Value> {
    // Through the text, because exact numbers are written as they are.
    serde_json::from_str(&serde_json::to_string(document).ok()?).ok()
}

fn find(recomputed: &Value, stated: &Value, path: String) -> Option<String> {
    match (recomputed, stated) {
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).find_map(|key| {
            let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
            find(&of(a), &of(b), format!("{path}/{key}"))
        }),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| find(a, b, format!("{path}/{at}")))
        }
        (Value::Number(a), Value::Number(b)) if is_close(a.as_f64(), b.as_f64()) => None,
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path} is {}, recomputed: {}", excerpt(b), excerpt(a))),
    }
}

fn is_close(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(TOLERANCE))
}

fn excerpt(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = json::canonical(value);
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Goal: rounding in the last digits is not a difference; everything else is, and it is located.
    #[test]
    fn the_first_difference_is_located() {
        let stated = json!({ "a": [1.0, { "b": 0.1 }], "c": null });
        assert_eq!(difference(&json!({ "a": [1.0, { "b": 0.100_000_000_000_01 }] }), &stated), None);
        let found = difference(&json!({ "a": [1.0, { "b": 0.100_001 }] }), &stated).expect("a difference");
        assert_eq!(found, "/a/1/b is 0.1, recomputed: 0.100001");
        assert!(difference(&json!({ "a": [1.0] }), &stated).is_some());
        assert!(difference(&json!({ "a": "1" }), &json!({ "a": 1 })).is_some());
    }
}
