//! Measures the rules on planted secrets and harmless lookalikes.

use papertape_redact::Redactor;
use serde_json::Value;

/// Fixtures use this character to split strings that a secret scanner would report.
const SPLIT: char = '¦';

struct Case {
    name: String,
    input: Value,
    secret: Option<String>,
    /// The configured credentials.
    configured: Vec<(String, String)>,
}

impl Case {
    fn text(&self) -> &str {
        self.input.as_str().expect("the own corpus is texts")
    }
}

fn cases(json: &str) -> Vec<Case> {
    let rows: Vec<Value> = serde_json::from_str(json).expect("a fixture is an array");
    let joined: Vec<Value> = rows.into_iter().map(join).collect();
    let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    let pairs = |row: &Value| serde_json::from_value(row["configured"].clone()).unwrap_or_default();
    joined
        .iter()
        .map(|row| Case {
            name: text(row, "name").expect("a case has a name"),
            input: row["input"].clone(),
            secret: text(row, "secret"),
            configured: pairs(row),
        })
        .collect()
}

/// Joins strings that were split for scanners.
fn join(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(SPLIT, "")),
        Value::Array(items) => items.into_iter().map(join).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, join(value))).collect(),
        scalar => scalar,
    }
}

/// A value as text: a string unchanged, anything else as JSON.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Prints both rates and checks that they reach this percentage.
fn check(file: &str, json: &str, least_percent: usize) {
    let cases = cases(json);
    let mut counts = [(0, 0); 2];
    for case in &cases {
        let redactor = Redactor::new(case.configured.clone()).expect("credentials are long enough");
        let out = redactor.redact_value(case.input.clone());
        let (kind, good) = match &case.secret {
            Some(secret) => (0, !shown(&out.value).contains(secret.as_str()) && out.removed > 0),
            None => (1, out.value == case.input && out.removed == 0),
        };
        counts[kind].0 += usize::from(good);
        counts[kind].1 += 1;
        if !good {
            println!("{file}: {}\n   {}\n-> {}", case.name, shown(&case.input), shown(&out.value));
        }
    }
    let [(removed, planted), (kept, harmless)] = counts;
    println!("{file}: {removed} of {planted} secrets removed, {kept} of {harmless} look-alikes kept");
    assert!(removed * 100 >= planted * least_percent, "{file}: secrets were missed");
    assert!(kept * 100 >= harmless * least_percent, "{file}: look-alikes were harmed");
}

/// Goal: every planted secret of the project's own corpus is redacted and every lookalike stays.
#[test]
fn the_own_corpus_is_redacted_without_a_miss() {
    let json = include_str!("fixtures/own.json");
    let planted = cases(json).iter().filter(|case| case.secret.is_some()).count();
    assert!(planted >= 40 && cases(json).len() - planted >= 40);
    check("redact_own", json, 100);
}

/// Goal: the same for escapes, lookalike letters, YAML, exchanges' header fields, other languages and
/// mnemonics.
#[test]
fn names_in_any_dress_are_redacted_without_a_miss() {
    let json = include_str!("fixtures/more.json");
    let planted = cases(json).iter().filter(|case| case.secret.is_some()).count();
    assert!(planted >= 120 && cases(json).len() - planted >= 15);
    check("redact_more", json, 100);
}

/// Goal: each token shape is found in a sentence and in JSON, and no prefix matches before ordinary words.
#[test]
fn every_shape_of_a_token_is_known_by_a_sample_and_a_look_alike() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("fixtures/tokens.json")).expect("an array");
    let table = include_str!("../../src/token_shapes.txt");
    let shapes: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut columns = line.split_whitespace();
            (columns.next().expect("a prefix"), columns.nth(1).expect("a tail"))
        })
        .collect();
    let sampled: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["prefix"].as_str().expect("a prefix"), row["tail"].as_str().expect("a tail")))
        .collect();
    assert_eq!(sampled, shapes, "each shape has its sample");
    let redactor = Redactor::default();
    let mut wrong = Vec::new();
    for row in rows.into_iter().map(join) {
        let (sample, alike) =
            (row["sample"].as_str().expect("text"), row["look_alike"].as_str().expect("text"));
        let nested =
            serde_json::json!({ "note": serde_json::json!({ "seen": sample }).to_string() }).to_string();
        for text in
            [sample.to_owned(), format!("He wrote {sample}. Then he left."), format!("\\n{sample}"), nested]
        {
            let out = redactor.redact_text(&text);
            // All of it is redacted: no long part is left.
            let tail = &sample[sample.len() - 12..];
            if out.removed == 0 || out.value.contains(tail) {
                wrong.push(format!("missed: {text} -> {}", out.value));
            }
        }
        for text in [format!("It is {alike}."), alike.to_owned()] {
            let out = redactor.redact_text(&text);
            if out.removed > 0 {
                wrong.push(format!("harmed: {text} -> {}", out.value));
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

/// Goal: the rules hold on cases that their author has not seen.
#[test]
fn the_held_out_corpus_is_redacted_at_95_percent() {
    check("redact_held_out", include_str!("fixtures/held_out.json"), 95);
}

/// Goal: a string is redacted the same way as a JSON value as it is as text.
#[test]
fn the_own_corpus_is_redacted_as_values_too() {
    let redactor = Redactor::default();
    for case in cases(include_str!("fixtures/own.json")) {
        let value = serde_json::json!({ "content": [{ "text": case.text() }] });
        let out = redactor.redact_value(value.clone());
        match &case.secret {
            Some(secret) => assert!(!out.value.to_string().contains(secret.as_str()), "{}", case.name),
            None => assert_eq!(out.value, value, "{}", case.name),
        }
    }
}
