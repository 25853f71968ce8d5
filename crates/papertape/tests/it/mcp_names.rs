//! Every tool name can be encoded for a model, and decoded.

use papertape_integrations::mcp::names::{is_too_long, to_model, to_server};
use proptest::prelude::*;

/// Names that are valid already stay unchanged, except one that looks like an escape group.
#[test]
fn names_as_models_say_them() {
    let check = |name: &str, expected: &str| {
        assert_eq!(to_model(name), expected);
        assert_eq!(to_server(expected), name);
    };
    check("get_price", "get_price");
    check("get_xrp-price", "get_xrp-price");
    check("_x_x2", "_x_x2");
    check("news.search", "news_x2e_search");
    check("新闻/搜索", "_x65b0__x95fb__x2f__x641c__x7d22_");
    check("a_x2e_b", "a_x5f_x2e_b");
    check("a_x2e.b", "a_x5f_x2e_x2e_b");
    check("$list", "_x24_list");
}

/// Decoding a name that no server's name encodes to does no harm.
#[test]
fn groups_that_stand_for_no_character_are_left() {
    for name in ["_x_", "_x110000_", "_xd800_", "_xffffffffffff_", "_X2E_", "_x2E_", "_x2e"] {
        assert_eq!(to_server(name), name);
    }
}

/// Providers accept 64 characters, including the server's name.
#[test]
fn long_names_are_found() {
    assert!(!is_too_long("desk", &"x".repeat(58)));
    assert!(is_too_long("desk", &"x".repeat(59)));
}

proptest! {
    #[test]
    fn any_name_comes_back(name in "\\PC{0,40}|[_x0-9a-f.]{0,24}") {
        let said = to_model(&name);
        prop_assert!(said.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        prop_assert_eq!(to_server(&said), name);
    }
}
