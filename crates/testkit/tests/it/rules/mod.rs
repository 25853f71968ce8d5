//! The project's rules: what a reader may rely on without having read every file.
//!
//! Each test collects everything that breaks its rule and fails once with the list and the reason.

mod crates;
mod dependencies;
mod documents;
mod language;
mod modules;
mod repo;
mod sources;
mod words;

/// Fails with all findings, one per line, under the rule that they break.
#[track_caller]
fn hold(rule: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{rule}\n  {}\n", findings.join("\n  "));
}
