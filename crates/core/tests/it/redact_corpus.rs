//! Measures the rules on planted secrets and harmless look-alikes.

use papertape_core::redact::Redactor;
use serde_json::Value;

/// Fixtures split what a secret scanner would trip over with this sign.
const SPLIT: char = '¦';

struct Case {
    name: String,
    input: String,
    secret: Option<String>,
}

fn cases(json: &str) -> Vec<Case> {
    let rows: Vec<Value> = serde_json::from_str(json).expect("a fixture is an array");
    let text = |row: &Value, key: &str| row[key].as_str().map(|text| text.replace(SPLIT, ""));
    rows.iter()
        .map(|row| Case {
            name: text(row, "name").expect("a case has a name"),
            input: text(row, "input").expect("a case has an input"),
            secret: text(row, "secret"),
        })
        .collect()
}

/// Prints both rates and holds them to at least this many percent.
fn check(file: &str, json: &str, least_percent: usize) {
    let redactor = Redactor::default();
    let cases = cases(json);
    let mut counts = [(0, 0); 2];
    for case in &cases {
        let out = redactor.redact_text(&case.input);
        let (kind, good) = match &case.secret {
            Some(secret) => (0, !out.value.contains(secret.as_str()) && out.removed > 0),
            None => (1, out.value == case.input && out.removed == 0),
        };
        counts[kind].0 += usize::from(good);
        counts[kind].1 += 1;
        if !good {
            println!("{file}: {}\n   {}\n-> {}", case.name, case.input, out.value);
        }
    }
    let [(removed, planted), (kept, harmless)] = counts;
    println!("{file}: {removed} of {planted} secrets removed, {kept} of {harmless} look-alikes kept");
    assert!(removed * 100 >= planted * least_percent, "{file}: secrets were missed");
    assert!(kept * 100 >= harmless * least_percent, "{file}: look-alikes were harmed");
}

/// Goal: every planted secret of the project's own corpus goes and every look-alike stays.
#[test]
fn the_own_corpus_is_redacted_without_a_miss() {
    let json = include_str!("fixtures/redact_own.json");
    let planted = cases(json).iter().filter(|case| case.secret.is_some()).count();
    assert!(planted >= 40 && cases(json).len() - planted >= 40);
    check("redact_own", json, 100);
}

/// Goal: the rules hold on cases that their author has not seen.
#[test]
fn the_held_out_corpus_is_redacted_at_95_percent() {
    check("redact_held_out", include_str!("fixtures/redact_held_out.json"), 95);
}

/// Goal: a string keeps its rules when it is carried as a value rather than a text.
#[test]
fn the_own_corpus_is_redacted_as_values_too() {
    let redactor = Redactor::default();
    for case in cases(include_str!("fixtures/redact_own.json")) {
        let value = serde_json::json!({ "content": [{ "text": case.input }] });
        let out = redactor.redact_value(value.clone());
        match &case.secret {
            Some(secret) => assert!(!out.value.to_string().contains(secret.as_str()), "{}", case.name),
            None => assert_eq!(out.value, value, "{}", case.name),
        }
    }
}
