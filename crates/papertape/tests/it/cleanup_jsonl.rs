//! `papertape cleanup jsonl`: removes only what the database contains, after a backup.

use crate::cli_tool::Tool;
use crate::import_support::{ALPHA, CHINESE, DAYS, folder, log, put};
use serde_json::Value;
use std::path::Path;

fn log_file(tool: &Tool, agent: &str, day: &str) -> std::path::PathBuf {
    tool.path("runs").join("agent_data").join(agent).join("log").join(day).join("log.jsonl")
}

fn names(found: &Value, kind: &str) -> Vec<String> {
    found[kind]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned))
        .collect()
}

/// Goal: nothing is removed before it is imported; afterwards a log is removed if every message of it is in
/// the database, with the folders that become empty; a log with one more message, other files and everything
/// outside the logs stay, and are named; the backup contains what was removed.
#[test]
fn only_imported_logs_are_removed() {
    let tool = Tool::new();
    folder(&tool.path("runs"), 1_000);
    tool.ok(&["import", "ai-trader", "runs", "--write"]);
    // One message more than the database has; a file of another kind; and one whose date is unclear.
    let more = log_file(&tool, ALPHA, DAYS[2]);
    let text = std::fs::read_to_string(&more).expect("reads");
    put(&more, &format!("{text}{}", log(ALPHA, DAYS[2], &["Never imported."])));
    let notes = log_file(&tool, ALPHA, DAYS[1]).with_file_name("notes.txt");
    put(&notes, "mine");
    let odd = tool.path("runs").join("agent_data").join(ALPHA).join("log/old/log.jsonl");
    put(&odd, &log(ALPHA, DAYS[1], &["I look."]));
    let positions = tool.path("runs").join("agent_data").join(ALPHA).join("position/position.jsonl");
    let kept =
        [more.as_path(), &notes, &odd, &positions, &tool.path("runs/merged.jsonl")].map(Path::to_owned);

    let dry = tool.json(&["cleanup", "jsonl", "runs", "--dry-run"]);
    let removed = names(&dry, "removed");
    assert_eq!(removed.len(), 4, "{dry}");
    assert!(log_file(&tool, ALPHA, DAYS[1]).is_file() && dry["backup"].is_null());
    let done = tool.json(&["cleanup", "jsonl", "runs", "--backup", "logs.tar.gz"]);
    assert_eq!(names(&done, "removed"), removed);
    let told = names(&done, "retained").join("\n");
    assert!(told.contains("the database has 2 of its 4 messages") && told.contains("not a date"), "{told}");
    for path in &kept {
        assert!(path.is_file(), "{} is still there", path.display());
    }
    let home = |agent: &str| tool.path("runs").join("agent_data").join(agent);
    assert!(!home(CHINESE).join("log").exists(), "an empty folder goes with the last log");
    assert!(home(CHINESE).join("position/position.jsonl").is_file());
    assert!(!home(ALPHA).join("log").join(DAYS[3]).exists());
    assert!(home(ALPHA).join("log").join(DAYS[1]).is_dir(), "something else lies in it");
    let backup =
        std::process::Command::new("tar").arg("-tzf").arg(tool.path("logs.tar.gz")).output().expect("runs");
    assert!(backup.status.success(), "{backup:?}");
    assert_eq!(String::from_utf8_lossy(&backup.stdout).lines().count(), 4, "another program reads it");
    let again = tool.ends(&["cleanup", "jsonl", "runs", "--backup", "logs.tar.gz"], 0);
    assert!(again.err.contains("removed: 0 file(s)"), "{again:#?}");
}

/// Goal: without a database, every log stays.
#[test]
fn logs_that_were_not_imported_remain() {
    let tool = Tool::new();
    folder(&tool.path("runs"), 1_000);
    tool.ok(&[
        "run",
        "--model",
        "house::momentum",
        "--start",
        "2012-10-01",
        "--end",
        "2012-10-01",
        "--no-summaries",
    ]);
    let done = tool.json(&["cleanup", "jsonl", "runs"]);
    assert_eq!(names(&done, "removed").len(), 0, "{done}");
    assert_eq!(names(&done, "retained").len(), 5);
    assert!(log_file(&tool, ALPHA, DAYS[1]).is_file());
}
