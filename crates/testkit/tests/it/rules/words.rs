//! What no file may contain: the machine it was written on, the host it was fetched from, unfinished work.
//!
//! The patterns are spelled in pieces here, so that this file does not match itself.

use super::{hold, repo};
use regex::Regex;

const MACHINE: &str =
    concat!(r"(^|[^\w./\-}])/(work|root|Users|home/[a-z][\w\-]*)", r"(/|\b)|\b[A-Z]:\\", "Users");
const REGISTRY: &str = concat!(
    r"(index|static)\.crates\.",
    r"io|registry\.(npmjs|yarnpkg)\.",
    r"|\bpypi\.",
    r"org|files\.pythonhosted\.",
    r"|\b(deb|security)\.debian\.",
);
const OPEN_WORK: &str = concat!(r"\b(TO", r"DO|FIX", r"ME)\b|\b(to", r"do|unimple", r"mented)!\s*[(\[{]");
const ALLOWED: &str = r"#!?\[\s*allow\s*\(";

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is well formed")
}

/// The matching lines, except in the lock file, which names its registry, and the license.
fn lines_with(text: &str) -> Vec<String> {
    let pattern = pattern(text);
    let written =
        repo::texts().into_iter().filter(|file| file.path != "Cargo.lock" && file.path != "LICENSE");
    written.flat_map(|file| file.lines_where(|line| pattern.is_match(line))).collect()
}

#[test]
fn no_path_of_a_machine() {
    hold("a path of the machine that a file was written on helps nobody else:", &lines_with(MACHINE));
}

#[test]
fn no_host_of_a_registry() {
    hold("packages come from where the reader's own clients are set to fetch them:", &lines_with(REGISTRY));
}

#[test]
fn no_work_left_open() {
    hold("do it, or say in the documents what is not there and why:", &lines_with(OPEN_WORK));
}

#[test]
fn no_lint_is_allowed_away() {
    let pattern = pattern(ALLOWED);
    let rust = repo::texts_ending(".rs");
    let findings: Vec<_> =
        rust.iter().flat_map(|file| file.lines_where(|line| pattern.is_match(line))).collect();
    hold("write #[expect(lint, reason = \"…\")], which ends when its reason does:", &findings);
}

#[test]
fn the_patterns_bite() {
    for (text, caught, passed) in [
        (
            MACHINE,
            vec!["see /ro@ot/x", "\"/ho@me/ann\"", "cd /wo@rk", "C:\\Us@ers\\ann"],
            vec!["src/work/", "$X/root/"],
        ),
        (REGISTRY, vec!["https://py@pi.org/x", "https://index.cr@ates.io/"], vec!["crates.io", "pypi-token"]),
        (OPEN_WORK, vec!["// TO@DO: x", "to@do!()"], vec!["TODOS", "to do!"]),
        (ALLOWED, vec!["#[al@low(dead_code)]", "#![al@low(x)]"], vec!["#[expect(x)]", "# allow("]),
    ] {
        let pattern = pattern(text);
        for line in caught {
            assert!(pattern.is_match(&line.replace('@', "")), "{line}");
        }
        for line in passed {
            assert!(!pattern.is_match(line), "{line}");
        }
    }
}
