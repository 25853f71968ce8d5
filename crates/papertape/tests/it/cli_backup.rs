//! `papertape backup` and `papertape restore`, with the real binary.

use crate::cli_tool::{SHORT, Tool};
use std::fs;

/// Goal: a backup taken next to a running server and restored into an empty data directory equals the
/// original: the job verifies, its canonical export has the same bytes, the imported dataset is there.
#[test]
fn a_backup_restores_the_database_and_its_datasets() {
    let tool = Tool::new();
    fs::write(
        tool.path("bars.csv"),
        "symbol,date,open,high,low,close,volume\nXYZ,2024-01-02,10,11,9,10.5,100\nXYZ,2024-01-03,10.5,12,10,11,100\n",
    )
    .expect("writes");
    tool.ok(&["data", "import", "bars.csv", "--name", "tiny", "--zone", "America/New_York"]);
    let job = tool.job(&SHORT);
    let exported = tool.ok(&["export", "canonical", &job]).out;
    let server = tool.start(&["serve"]);
    let made = tool.json(&["backup", "copy"]);
    assert!(made["manifest"]["files"].as_array().is_some_and(|files| files.len() > 2), "{made}");
    drop(server);
    tool.ok(&["restore", "copy", "--data-dir", "second"]);
    let there = |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--data-dir", "second"]).collect();
        tool.ok(&args).out
    };
    assert_eq!(there(&["export", "canonical", &job]), exported);
    there(&["verify", &job]);
    assert!(there(&["data", "list"]).contains("tiny"));
    // Neither an existing database nor a directory in use is ever overwritten.
    let again = tool.ends(&["restore", "copy", "--data-dir", "second"], 1);
    assert!(again.err.contains("exists"), "{again:?}");
    let full = tool.ends(&["backup", "copy"], 1);
    assert!(full.err.contains("is not empty"), "{full:?}");
}

/// Goal: a flipped byte anywhere in a backup is detected before anything is written, and the file is named.
#[test]
fn a_damaged_backup_is_not_restored() {
    let tool = Tool::new();
    tool.job(&SHORT);
    tool.ok(&["backup", "copy"]);
    let database = tool.path("copy/papertape.db");
    let mut bytes = fs::read(&database).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&database, bytes).expect("writes");
    let done = tool.ends(&["restore", "copy", "--data-dir", "second"], 1);
    assert!(done.err.contains("papertape.db is damaged"), "{done:?}");
    assert!(!tool.path("second").exists());
    fs::remove_file(tool.path("copy/manifest.json")).expect("removes");
    let done = tool.ends(&["restore", "copy", "--data-dir", "second"], 1);
    assert!(done.err.contains("is not a backup"), "{done:?}");
}

/// Goal: on PostgreSQL the commands are printed without the password.
#[test]
fn on_postgresql_the_commands_are_printed() {
    let tool = Tool::new().with("PAPERTAPE_DATABASE_URL", "postgres://me:secret@db/tape");
    let done = tool.ok(&["backup", "copy"]);
    assert!(done.out.contains("pg_dump --format=custom --schema=papertape"), "{done:?}");
    assert!(!done.out.contains("secret") && !done.err.contains("secret"), "{done:?}");
    assert!(tool.ok(&["restore", "copy"]).out.contains("pg_restore"));
}
