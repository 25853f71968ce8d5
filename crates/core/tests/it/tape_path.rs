//! Paths of steps.

use papertape_core::tape::{ScopeKey, StepPath};
use proptest::prelude::*;

// Goal: paths are ordered segment by segment, numbers by value.
#[test]
fn numbers_order_by_value() {
    let ordered = [
        "AAPL/Bull Researcher#1/model#1",
        "AAPL/Bull Researcher#2/model#1",
        "AAPL/Bull Researcher#10/model#1",
        "AAPL/Trader#1/model#2",
        "AAPL/Trader#1/model#10",
        "AAPL/Trader#1/tool#1",
        "IBM/Bull Researcher#1/model#1",
    ];
    let mut paths: Vec<StepPath> = ordered.iter().rev().map(StepPath::new).collect();
    paths.sort();
    assert_eq!(paths.iter().map(StepPath::as_str).collect::<Vec<_>>(), ordered);
}

// Goal: kind, scope and node follow from a path.
#[test]
fn a_path_tells_where_it_stands() {
    let path = StepPath::of("AAPL/Bull Researcher#2", "model", 3);
    assert_eq!(path.as_str(), "AAPL/Bull Researcher#2/model#3");
    assert_eq!((path.kind(), path.node()), ("model", "Bull Researcher#2"));
    assert_eq!(path.scope(), "AAPL/Bull Researcher#2");
    for (scope, inside) in [
        ("", true),
        ("AAPL", true),
        ("AAPL/Bull Researcher#2", true),
        ("AAPL/Bull Researcher#1", false),
        ("AAPL/Bull", false),
        ("AAPL/Bull Researcher#2/model#3", false),
    ] {
        assert_eq!(path.is_within(scope), inside, "{scope}");
    }
    let root = StepPath::of("", "message", 1);
    assert_eq!((root.as_str(), root.kind(), root.scope(), root.node()), ("message#1", "message", "", ""));
}

proptest! {
    // Goal: the order is total, and equal only for equal texts.
    #[test]
    fn the_order_agrees_with_equality(a in "[a-b]{0,2}(#[0-9]{1,2})?(/[a-b](#[0-9]{1,2})?)?", b in "[a-b]{0,2}(#[0-9]{1,2})?(/[a-b](#[0-9]{1,2})?)?") {
        let (left, right) = (StepPath::new(&a), StepPath::new(&b));
        prop_assert_eq!(left.cmp(&right).is_eq(), a == b);
        prop_assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
    }

    // Goal: any symbol makes one segment, and different symbols make different segments.
    #[test]
    fn a_name_is_one_segment(a in ".{1,8}", b in ".{1,8}") {
        let segment = |name: &str| ScopeKey::Symbol(name.to_owned()).to_string();
        prop_assert!(!segment(&a).contains(['/', '#']));
        prop_assert_eq!(segment(&a) == segment(&b), a == b);
    }
}
