//! Every crate starts by saying what it is and what it must never know, and uses the workspace's lints.

use super::{hold, repo};

/// The file's opening comment.
fn opening(text: &str) -> String {
    text.lines().map_while(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_crate_says_what_it_is_and_what_it_never_knows() {
    let mut findings = Vec::new();
    let libraries = repo::texts_ending("/src/lib.rs");
    assert!(libraries.len() > 5, "the crates' libraries are found");
    for library in libraries {
        let opening = opening(&library.text);
        let says = opening.lines().next().is_some_and(|line| line.trim().len() > 20);
        let limits = opening.split(|c: char| !c.is_alphabetic()).any(|word| word == "never");
        if !says {
            findings.push(format!("{}: does not open with a `//!` line that says what it is", library.path));
        } else if !limits {
            findings.push(format!(
                "{}: its opening does not say what the crate must never know (the word is looked for)",
                library.path
            ));
        }
    }
    hold("a crate's lib.rs opens with what it is and what it must never know:", &findings);
}

#[test]
fn every_crate_takes_the_workspaces_lints() {
    let manifests = repo::texts_ending("/Cargo.toml");
    let without = manifests.iter().filter(|manifest| {
        let manifest: toml::Table = manifest.text.parse().expect("a manifest is TOML");
        manifest.get("lints").and_then(|lints| lints.get("workspace")) != Some(&toml::Value::Boolean(true))
    });
    let findings: Vec<_> = without.map(|manifest| manifest.path.clone()).collect();
    hold("a crate's manifest has `[lints] workspace = true`:", &findings);
}
