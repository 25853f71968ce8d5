//! Links in documents resolve, and decisions state their status.

use super::{hold, repo};
use regex::Regex;
use std::collections::BTreeMap;
use std::path::Path;

const DECISIONS: &str = "docs/decisions/";

/// The text without code, whose brackets are not links; line numbers are preserved.
fn prose(text: &str) -> String {
    let code = Regex::new("`[^`]*`").expect("the pattern is well formed");
    let mut fenced = false;
    let lines = text.lines().map(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if fenced || fence { String::new() } else { code.replace_all(line, "").into_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Targets of a text's links within the repository.
fn local_links(text: &str) -> Vec<String> {
    let inline = Regex::new(r#"\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)"#).expect("the pattern is well formed");
    let reference = Regex::new(r"(?m)^\[[^\]^]+\]:\s+<?([^\s>]+)").expect("the pattern is well formed");
    let elsewhere = Regex::new(r"^([a-z][a-z0-9+.\-]*:|#|/)").expect("the pattern is well formed");
    let text = prose(text);
    let targets = inline.captures_iter(&text).chain(reference.captures_iter(&text));
    let targets = targets.map(|found| found[1].split('#').next().unwrap_or_default().to_owned());
    targets.filter(|target| !target.is_empty() && !elsewhere.is_match(target)).collect()
}

#[test]
fn links_lead_to_files() {
    let mut findings = Vec::new();
    for file in repo::texts_ending(".md") {
        let folder = repo::root().join(Path::new(&file.path).parent().unwrap_or(Path::new("")));
        for target in local_links(&file.text) {
            if !folder.join(&target).exists() {
                findings.push(format!("{}: {target}", file.path));
            }
        }
    }
    hold("a link in a document leads to a file that is there:", &findings);
}

#[test]
fn decisions_are_numbered_titled_and_have_a_status() {
    let name = Regex::new(r"^(\d{4})-[a-z0-9\-]+\.md$").expect("the pattern is well formed");
    let title = Regex::new(r"\A# .*\w").expect("the pattern is well formed");
    let status = Regex::new(r"(?m)^Status: \w+").expect("the pattern is well formed");
    let mut numbers = BTreeMap::new();
    let mut findings = Vec::new();
    for file in repo::texts().into_iter().filter(|file| file.path.starts_with(DECISIONS)) {
        let Some(found) = name.captures(&file.path[DECISIONS.len()..]) else {
            findings.push(format!("{}: is not named NNNN-title.md", file.path));
            continue;
        };
        if let Some(other) = numbers.insert(found[1].to_owned(), file.path.clone()) {
            findings.push(format!("{}: has the number of {other}", file.path));
        }
        if !title.is_match(&file.text) {
            findings.push(format!("{}: does not open with `# ` and a title", file.path));
        }
        if !status.is_match(&file.text) {
            findings.push(format!("{}: has no line `Status: …`", file.path));
        }
    }
    assert!(!numbers.is_empty(), "there are decisions under {DECISIONS}");
    hold("a decision has a number, a title and a status:", &findings);
}

#[test]
fn links_are_told_from_code_and_from_the_web() {
    let text = "See [a](a.md#top), [b](https://b.example/x.md) and `[c](c.md)`.\n\
                ```\n[d](d.md)\n```\n[e](#here) ![f](img/f.png \"F\")\n[g]: docs/g.md\n";
    assert_eq!(local_links(text), ["a.md", "img/f.png", "docs/g.md"]);
}
