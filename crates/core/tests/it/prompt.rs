use papertape_core::prompt::{Templates, lines};
use std::collections::BTreeMap;

/// Goal: a template gets the lines that code recognizes in its file's language, and they are part of its text: a set
/// that includes them has the same hash as one in which they are written out.
#[test]
fn a_template_includes_the_lines_that_code_recognizes() {
    let set = |files: &[(&str, &str)]| Templates::new(files, &BTreeMap::new()).unwrap();
    let included = "{{ lines.SYMBOLS }} {{ list or lines.NO_SYMBOLS }}\n{{ lines.SYMBOL }} {{ list }}";
    let files = set(&[("day.en.md", included), ("day.zh.md", included)]);
    let written = set(&[
        ("day.en.md", "Symbols: {{ list or \"(none)\" }}\nSymbol: {{ list }}"),
        ("day.zh.md", "标的： {{ list or \"（无）\" }}\nSymbol: {{ list }}"),
    ]);
    assert_eq!(files.hash(), written.hash());
    let values = BTreeMap::from([("list", "")]);
    assert_eq!(files.render("day.en.md", &values).unwrap(), "Symbols: (none)\nSymbol:");
    assert_eq!(files.render("day.zh.md", &values).unwrap(), "标的： （无）\nSymbol:");
    let unknown = set(&[("day.en.md", "{{ lines.UNKNOWN }}")]).check(|_| serde_json::json!({})).unwrap_err();
    assert!(unknown.to_string().contains("`lines` is not a value of this prompt"), "{unknown}");
}

/// Goal: a reader finds a line in either language, and a pattern can hold both.
#[test]
fn a_line_is_read_in_either_language() {
    assert_eq!(lines::ROLE.strip("Role: Trader"), Some(" Trader"));
    assert_eq!(lines::ROLE.strip("角色：Trader"), Some("Trader"));
    assert_eq!(lines::ROLE.strip("The role: Trader"), None);
    assert_eq!(lines::insert("({ROLE.en}|{ROLE.zh}) {other}"), "(Role:|角色：) {other}");
}
