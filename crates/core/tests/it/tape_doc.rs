//! Documents are read back as written, whatever they contain.

use papertape_core::id::ContentHash;
use papertape_core::json::{self, canonical, hash};
use papertape_core::prepared::PreparedText;
use papertape_core::tape::{ContentDoc, inline, references, text};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

fn kept(doc: &ContentDoc) -> BTreeMap<ContentHash, String> {
    doc.texts.iter().map(|text| (text.hash, text.body.clone())).collect()
}

fn read_back(doc: &ContentDoc) -> Value {
    let texts = kept(doc);
    let stored: Value = serde_json::from_str(&texts[&doc.hash]).expect("JSON");
    inline(&stored, &|hash| texts.get(&hash).cloned()).expect("all texts are there")
}

/// Any JSON, often with values that look like our own markers.
fn any_json() -> impl Strategy<Value = Value> {
    let hex = proptest::array::uniform4(any::<u8>()).prop_map(|b| ContentHash::of(&b).to_hex());
    let long = proptest::collection::vec(any::<char>(), 20..120).prop_map(String::from_iter);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-1.0e4..1.0e4_f64).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        long.prop_map(Value::from),
        hex.prop_map(Value::from),
    ];
    let key = prop_oneof![Just("$text".to_owned()), Just("$literal".to_owned()), ".{0,5}", "[a-c]"];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let key = key.clone();
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner.clone()), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            (key, inner).prop_map(|pair| Value::Object(Map::from_iter([pair]))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    // Goal: what is stored is read back equal, to the last digit, with the same hash.
    #[test]
    fn any_document_reads_back(value in any_json()) {
        let doc = ContentDoc::of(&value);
        let back = read_back(&doc);
        prop_assert_eq!(canonical(&back), canonical(&value));
        prop_assert_eq!(ContentDoc::of(&back).hash, doc.hash);
    }

    // Goal: a value is put in its stored form without writing and reading it.
    #[test]
    fn a_value_is_read_back_from_its_canonical_json(value in any_json()) {
        let read: Value = serde_json::from_str(&canonical(&value)).expect("JSON");
        let found = json::read_back(value).expect("is shallow");
        prop_assert_eq!(found.to_string(), read.to_string(), "the order of the keys included");
    }

    // Goal: a document with prepared strings is the same document, whatever is around them.
    #[test]
    fn prepared_strings_change_no_document(
        strings in prop::collection::vec(prop_oneof![".{0,40}", "[a-z\"\n]{90,200}"], 0..5),
        around in prop::collection::btree_map("[a-d$]{1,3}", any_json(), 0..4),
        path in prop::collection::vec(prop_oneof!["[a-d]", Just("$text".to_owned())], 1..4),
        is_there in any::<bool>(),
    ) {
        let mut value = if is_there { json!(strings) } else { Value::Null };
        for key in path.iter().rev() {
            let mut map: Map<String, Value> = around.clone().into_iter().collect();
            map.insert(key.clone(), value);
            value = Value::Object(map);
        }
        let prepared: Vec<PreparedText> = strings.into_iter().map(PreparedText::new).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let doc = ContentDoc::with_prepared(&value, &path, &prepared.iter().collect::<Vec<_>>());
        prop_assert_eq!(doc, ContentDoc::of(&value));
    }

    // Goal: the references of a stored document are exactly the texts that it needs.
    #[test]
    fn references_are_what_it_needs(value in any_json()) {
        let doc = ContentDoc::of(&value);
        let texts = kept(&doc);
        let stored: Value = serde_json::from_str(&texts[&doc.hash]).expect("JSON");
        let mut named = references(&stored);
        named.push(doc.hash);
        named.sort_unstable();
        named.dedup();
        prop_assert_eq!(named, texts.keys().copied().collect::<Vec<_>>());
    }

    // Goal: canonical JSON does not depend on the insertion order of keys.
    #[test]
    fn the_hash_does_not_depend_on_key_order(pairs in proptest::collection::btree_map("[a-f]{1,3}", any_json(), 0..6)) {
        let forth: Map<String, Value> = pairs.clone().into_iter().collect();
        let back: Map<String, Value> = pairs.into_iter().rev().collect();
        prop_assert_eq!(hash(&Value::Object(forth)), hash(&Value::Object(back)));
    }
}

// Goal: a long string that occurs several times is stored once.
#[test]
fn a_long_text_is_stored_once() {
    let long = "word ".repeat(100);
    let doc = ContentDoc::of(&json!({ "a": long, "b": [long, { "c": long }] }));
    let sizes: usize = kept(&doc).values().map(String::len).sum();
    assert!(sizes < 2 * long.len(), "{sizes}");
    assert_eq!(text(&*long).hash, text(&*long).hash);
    assert!(kept(&doc).contains_key(&text(long).hash), "under its own hash");
}

// Goal: a document whose JSON equals a plain text has a different hash.
#[test]
fn documents_and_texts_live_apart() {
    assert_ne!(ContentDoc::of(&json!("x")).hash, text("\"x\"").hash);
}

// Goal: a missing text is named.
#[test]
fn a_missing_text_is_named() {
    let doc = ContentDoc::of(&json!({ "a": "x".repeat(200) }));
    let texts = kept(&doc);
    let stored: Value = serde_json::from_str(&texts[&doc.hash]).expect("JSON");
    let missing = inline(&stored, &|_| None).expect_err("a text is gone");
    assert_eq!(missing.0, text("x".repeat(200)).hash);
}

// Goal: what no reader of JSON would read is not in a stored form.
#[test]
fn a_value_too_deep_to_be_read_has_no_stored_form() {
    for levels in [126, 127, 128, 129] {
        let list = (1..levels).fold(json!([]), |inner, _| json!([inner]));
        let map = (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
        for value in [list, map] {
            let is_read = serde_json::from_str::<Value>(&canonical(&value)).is_ok();
            assert_eq!(json::read_back(value).is_some(), is_read, "{levels} levels");
        }
    }
}
