//! The document's list of codes is complete.

use papertape_agents::desk::sizing::AdjustmentCode;
use papertape_core::broker::RejectCode;
use papertape_core::message::FailureKind;
use papertape_core::tape::OutcomeKind;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

/// The variants that a type accepts, taken from its own error message for an invalid one.
fn words<T: DeserializeOwned>() -> BTreeSet<String> {
    let refused = serde_json::from_str::<T>("\"?\"").err().expect("no word").to_string();
    let (_, expected) = refused.split_once("expected").expect("it says what was expected");
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn listed(document: &Value, list: &str) -> BTreeSet<String> {
    let words = &document["components"]["schemas"]["Codes"]["properties"][list]["enum"];
    let words = words.as_array().unwrap_or_else(|| panic!("{list} is no list of words"));
    words.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Goal: every code of the books, of a desk's sizing, of a node or a step is in the document, and therefore
/// has a text in the pages, which do not compile without it.
#[test]
fn every_code_is_in_the_document() {
    let document = serde_json::to_value(papertape_api::openapi()).expect("it is a document");
    assert_eq!(listed(&document, "order"), words::<RejectCode>());
    assert_eq!(listed(&document, "cut"), words::<AdjustmentCode>());
    assert_eq!(listed(&document, "outcome"), words::<OutcomeKind>());
    let nodes = listed(&document, "node_failure");
    assert!(words::<FailureKind>().is_subset(&nodes));
    assert_eq!(nodes.len(), words::<FailureKind>().len() + 9, "and a node's own");
    assert!(listed(&document, "error").contains("invalid_input"));
}
