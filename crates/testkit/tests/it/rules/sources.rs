//! Rust files are short enough to read, and tests can be trusted.

use super::{hold, repo};

/// Max lines of a file.
const LONGEST: usize = 500;
/// Max lines of a test file or a generated file.
const LONGEST_TEST: usize = 800;

/// The limit of `house::assistant` as a whole: it stands in for a model, and reads a documented list of requests.
const HOUSE_ASSISTANT: (&str, usize) = ("crates/house/src/assistant/", 600);

/// The part of a Rust file that is compiled only for tests, with the lines before it blanked.
fn tests_of(file: &repo::TextFile) -> String {
    if file.is_test() {
        return file.text.clone();
    }
    let mut in_tests = false;
    let lines = file.text.lines().map(|line| {
        in_tests |= line.trim_start().starts_with("#[cfg(test)]");
        if in_tests { line } else { "" }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A call of something named `sleep`: not its definition, and not a fake clock's method.
fn calls_sleep(line: &str) -> bool {
    line.match_indices(concat!("sle", "ep(")).any(|(at, _)| {
        let before = &line[..at];
        let named = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        !named && !before.ends_with('.') && !before.ends_with("fn ")
    })
}

#[test]
fn files_are_short() {
    let mut findings = Vec::new();
    for file in repo::texts_ending(".rs") {
        let generated = file.text.lines().next().is_some_and(|line| line.contains("@generated"));
        let longest = if generated || file.is_test() { LONGEST_TEST } else { LONGEST };
        let lines = file.text.lines().count();
        if lines > longest {
            findings.push(format!("{}: {lines} lines, {longest} at most", file.path));
        }
    }
    hold("a longer file is a crowded room; split it by what its parts are about:", &findings);
}

#[test]
fn the_house_assistant_is_small() {
    let (folder, most) = HOUSE_ASSISTANT;
    let files = repo::texts_ending(".rs").into_iter().filter(|file| file.path.starts_with(folder));
    let lines: usize = files.map(|file| file.text.lines().count()).sum();
    assert!(lines > 0, "{folder} has moved");
    assert!(lines <= most, "{lines} lines in {folder}, {most} at most: ask back instead of reading more");
}

#[test]
fn no_test_is_switched_off() {
    let off = |line: &str| line.trim_start().starts_with(concat!("#[", "ignore"));
    let findings: Vec<_> = repo::texts_ending(".rs").iter().flat_map(|file| file.lines_where(off)).collect();
    hold("a test that does not run proves nothing; mend it or remove it:", &findings);
}

#[test]
fn no_test_sleeps() {
    let mut findings = Vec::new();
    for file in repo::texts_ending(".rs") {
        let tests = repo::TextFile { text: tests_of(&file), path: file.path };
        findings.extend(tests.lines_where(calls_sleep));
    }
    hold(
        "a test that sleeps is slow when the machine is fast and wrong when it is slow; \
         wait for the event itself, or move a fake clock:",
        &findings,
    );
}

#[test]
fn a_sleeping_call_is_known_from_a_clocks_method() {
    for line in ["std::thread::slee", "tokio::time::slee", "slee", "  slee"] {
        assert!(calls_sleep(&format!("{line}p(duration)")), "{line}");
    }
    for line in ["    fn slee", "host.slee", "no_slee"] {
        assert!(!calls_sleep(&format!("{line}p(duration)")), "{line}");
    }
}
